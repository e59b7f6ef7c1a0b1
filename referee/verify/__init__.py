"""Verifies finished games by replaying them, and installed families by testing their invariants."""
