"""Passwords and tokens: how commands ask for them, and when a token expires."""

from __future__ import annotations

import getpass
import sys

from arena.cli.terminal.exit import CommandError


def token_end(expires: str | None) -> str:
    """Describe when a token expires: `ends on 2027-02-22`."""
    return f"ends on {expires[:10]}" if expires else "does not end until it is revoked"


def ask_secret(prompt: str) -> str:
    """Read a secret from the terminal without echo, or the first line of a pipe. Raises CommandError."""
    found = getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if not found:
        raise CommandError(f"no {prompt.rstrip(': ')} given; use --token, --user NAME, or pipe it in")
    return found
