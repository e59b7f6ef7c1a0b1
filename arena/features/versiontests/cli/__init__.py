"""The command `arena test`."""
