"""Alembic revisions of the database schema; `arena.store.schema` runs them."""
