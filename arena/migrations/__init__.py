"""The history of the schema, as Alembic revisions; `arena.store.base.schema` runs them."""
