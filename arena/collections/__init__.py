"""Collections of imported games, opening books, and the monthly dumps of games played here.

- `collection` reads a text of many games; `conversion` turns them into games of the archive and back
- `notation`, `recorded`: one game in the notations of its family, or as a record
- `following` adds games played here to the archive
- `dumps` writes the monthly files
- `book` makes opening books

`arena.store.archive.archive` stores the games.
"""
