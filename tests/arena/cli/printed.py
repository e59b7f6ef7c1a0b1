"""Finds commands in texts, and tries whether the parser takes them."""

from __future__ import annotations

import re
import shlex

from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.parser import build

VALUES = {"FAMILY": "loa", "FORMAT": "swiss", "LANGUAGE": "c", "MB": "64", "LEVEL": "auto"}
"""Values of the words in capital letters that a reader replaces; of others 1 will do."""


def printed(text: str) -> list[str]:
    """Return the commands that a text names between back quotes, without the program's name."""
    return [" ".join(line.split()) for line in re.findall(r"`arena ([a-z-][^`]*)`", text)]


def fault_of(line: str) -> str:
    """Return what the parser has against a command; a command that is only named may lack its arguments."""
    line = re.split(r" (?:>|<|\||#|&&?|2>|;) ", f"{line} ")[0]
    words = [re.sub(r"^[A-Z]+(?=$|\.|=)", lambda name: VALUES.get(name[0], "1"), word) for word in shlex.split(line)]
    if "…" in words or words[-1:] == ["..."] or "--help" in words:
        return ""
    try:
        _, others = build().parse_known_args([word.strip("[]") for word in words])
    except CommandError as error:
        is_named = re.search("^missing|expected one argument", str(error))
        return "" if is_named else f"arena {line}: {error}"
    return f"arena {line}: {others}" if others else ""
