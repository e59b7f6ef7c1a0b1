"""The revisions of the tables of notices."""
