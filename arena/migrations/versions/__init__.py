"""Revisions of the schema, one module each, numbered in order."""
