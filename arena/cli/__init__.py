"""The command line: one module per command, imported only when that command is used.

`parser` knows the names, `run` turns what went wrong into an exit code, `output` is the only place that prints.
"""
