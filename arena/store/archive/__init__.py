"""The index of all games, imported and played here: rows and indexes of SQL, and one index of positions."""
