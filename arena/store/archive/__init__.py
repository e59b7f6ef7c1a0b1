"""The archive of all games, imported and played here: SQL tables, and an index from positions to games."""
