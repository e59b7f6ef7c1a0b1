"""Programs that measure or try something; no tests."""
