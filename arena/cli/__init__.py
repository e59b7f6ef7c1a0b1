"""The command line: one module per command, imported only when that command is used.

`terminal` parses and prints, `source` reads an arena, and the commands are in `local`, `client` and `server`.
"""
