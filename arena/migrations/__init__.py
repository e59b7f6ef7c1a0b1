"""The history of the schema, as Alembic revisions; `arena.store.schema` runs them."""
