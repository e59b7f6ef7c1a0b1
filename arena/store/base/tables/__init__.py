"""The tables of the arena: one schema for SQLite and PostgreSQL.

Times are UTC. JSON columns contain plain data; values that lists and filters need have columns of their own. Every
foreign key and every column by which a page filters or sorts has an index.
"""
