"""Verifies finished games by replaying them, and families by testing their invariants."""
