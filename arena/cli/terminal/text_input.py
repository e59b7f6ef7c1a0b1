"""Texts given to a command: from a file, or from standard input for `-`."""

from __future__ import annotations

import sys
from pathlib import Path

from arena.cli.terminal.exit import CommandError
from referee.bot.input_file import refuse_special


def read_text(name: str | Path) -> str:
    """Read the text of a file, or of standard input for `-`.

    Raises OSError, also for a device or a pipe, and CommandError for text that is not UTF-8.
    """
    if str(name) != "-":
        refuse_special(name)
    try:
        raw = sys.stdin.buffer.read() if str(name) == "-" else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "standard input" if str(name) == "-" else str(name)
        raise CommandError(f"{where}: not UTF-8 text from byte {error.start}; is it the right file?") from None
