"""Verifies finished games and installed families: a record is replayed by the rules, a family tested for its
invariants.
"""
