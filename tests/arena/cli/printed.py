"""Finds commands in texts, and tries whether the parser takes them."""

from __future__ import annotations

import re
import shlex
from functools import cache

from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.parser import Parser, build

VALUES = {"FAMILY": "loa", "FORMAT": "swiss", "LANGUAGE": "c", "MB": "64", "LEVEL": "auto"}
"""Values of the words in capital letters that a reader replaces; of others 1 will do."""


@cache
def parser() -> Parser:
    """Return the parser of all commands, which takes as long to build as to parse hundreds of lines."""
    return build()


def printed(text: str) -> list[str]:
    """Return the commands that a text names between back quotes, without the program's name."""
    return [" ".join(line.split()) for line in re.findall(r"`arena ([a-z-][^`]*)`", text)]


def in_document(text: str) -> list[str]:
    """Return the commands of a page: those of its blocks, and those that it names between back quotes."""
    blocks = re.findall(r"^ *```(?:sh|console|)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    blocks += re.findall(r"(?:^ {4}.*\n)+", rest, re.MULTILINE)
    lines = [line for block in blocks for line in re.sub(r" *\\\n *", " ", block).splitlines()]
    commands = [match[1] for line in lines if (match := re.match(r" *(?:[A-Z_]+=\S+ )*arena ([a-z-].*)", line))]
    return commands + printed(rest)


def alone(line: str) -> str:
    """Return a command line without its comment, and without other programs."""
    return " ".join(re.split(r" (?:>|<|\||#|&&?|2>|;) |   +", f"{line} ")[0].split())


def is_whole(line: str) -> bool:
    """Return whether a command has all its arguments, and can be run."""
    if re.search(r"…|\.\.\.|--help|\|", line):
        return False
    try:
        parser().parse_known_args(words_of(line))
    except CommandError:
        return False
    return True


def words_of(line: str) -> list[str]:
    """Return the words of a command line, with values for those that a reader replaces."""
    words = [re.sub(r"^[A-Z]+(?=$|\.|=)", lambda name: VALUES.get(name[0], "1"), word) for word in shlex.split(line)]
    return [word.strip("[]") for word in words]


def fault_of(line: str) -> str:
    """Return what the parser has against a command; a command that is only named may lack its arguments."""
    line = alone(line)
    words = words_of(line)
    if "…" in words or words[-1:] == ["..."] or "--help" in words:
        return ""
    try:
        _, others = parser().parse_known_args(words)
    except CommandError as error:
        is_named = re.search("^missing|expected one argument", str(error))
        return "" if is_named else f"arena {line}: {error}"
    return f"arena {line}: {others}" if others else ""
