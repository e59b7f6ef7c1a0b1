"""Alembic revisions of the database schema; `arena.store.base.schema` runs them."""
