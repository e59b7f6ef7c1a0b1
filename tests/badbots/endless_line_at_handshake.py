"""Begins with a line that never ends."""

from loop import write

while True:
    write(b"x" * 65_536)
