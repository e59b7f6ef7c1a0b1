"""Input of commands: texts from a file or standard input, passwords and tokens."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path

from arena.cli.terminal.exit import CommandError
from arena.plain_text import decoded
from referee.bot.input_file import refuse_special


def read_text(name: str | Path) -> str:
    """Read the text of a file, or of standard input for `-`.

    Raises OSError, also for a device or a pipe, and CommandError for text that is neither UTF-8 nor UTF-16.
    """
    if str(name) != "-":
        refuse_special(name)
    try:
        raw = sys.stdin.buffer.read() if str(name) == "-" else Path(name).read_bytes()
        return decoded(raw)
    except UnicodeDecodeError as error:
        where = "standard input" if str(name) == "-" else str(name)
        raise CommandError(f"{where}: not UTF-8 text from byte {error.start}; is it the right file?") from None


def token_end(expires: str | None) -> str:
    """Describe when a token expires: `ends on 2027-02-22`."""
    return f"ends on {expires[:10]}" if expires else "does not end until it is revoked"


def ask_secret(prompt: str, others: str = "") -> str:
    """Read a secret from the terminal without echo, or the first line of a pipe; `others` are other ways to give it.

    Raises CommandError.
    """
    secret = getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if not secret:
        raise CommandError(f"no {prompt.rstrip(': ')} given; type it, or pipe it in{others}")
    return secret
