"""Arguments that name a family, a variant, options and a position, and the rules that they choose."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.cli.terminal.exit import CommandError

if TYPE_CHECKING:
    from referee.rules.position import Position
    from referee.rules.rules import Ruleset


def family(text: str) -> str:
    """Translate the name of a family in any language to the arena's name; return an unknown name unchanged."""
    from referee.rules import family_named

    return family_named(text)


def add_rules(parser: argparse.ArgumentParser, *, has_family: bool = True) -> None:
    """Add `--variant` and `--option`, and FAMILY unless the command declares that itself."""
    if has_family:
        parser.add_argument(
            "family", metavar="FAMILY", type=family, help='family of games; "arena rules list" shows them'
        )
    parser.add_argument("--variant", metavar="VARIANT", help="variant of the family (default: its first)")
    parser.add_argument(
        "--option",
        dest="options",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="rule option, in addition to the variant's own; may be repeated",
    )


def add_position(parser: argparse.ArgumentParser) -> None:
    """Add `--position`."""
    parser.add_argument("--position", metavar="POSITION", help="position string (default: the variant's start)")


def read_options(options: Sequence[str]) -> dict[str, str]:
    """Parse the values of `--option`, `["k=v", ...]`. Raises CommandError."""
    found: dict[str, str] = {}
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or not name.strip():
            raise CommandError(f'--option {option!r} is not of the form NAME=VALUE; write "--option repetition=0"')
        found[name.strip()] = value.strip()
    return found


def settle(arguments: argparse.Namespace) -> Ruleset:
    """Return the rules that the arguments choose. Raises UnknownNameError, ParseError or CommandError."""
    from referee.rules import load

    return load(arguments.family).settle(arguments.variant, read_options(arguments.options))


def start(arguments: argparse.Namespace) -> Position:
    """Return the position that the arguments choose. Raises what `settle` raises."""
    from referee.rules.position import Position

    return Position.start(settle(arguments), arguments.position)


MAX_NUMBER = 10**18 - 1
"""The largest number an argument may be."""


def between(text: str, least: int, most: int = MAX_NUMBER) -> int:
    """Parse a whole number within bounds. Raises ArgumentTypeError."""
    if text.isascii() and text.isdecimal() and len(text) <= 18 and least <= int(text) <= most:
        return int(text)
    bounds = f"from {least}" if most == MAX_NUMBER else f"from {least:,} to {most:,}"
    raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number {bounds}")


def whole(text: str) -> int:
    """Parse a whole number, 0 or more."""
    return between(text, 0)


def positive(text: str) -> int:
    """Parse a whole number, 1 or more."""
    return between(text, 1)


def port(text: str) -> int:
    """Parse a port; 0 means a free one."""
    return between(text, 0, 65535)


MIN_MEMORY_MB, MAX_MEMORY_MB = 16, 1_048_576
"""Less starts no interpreter; no machine has more."""


def memory(text: str) -> int:
    """Parse the memory of a bot in MiB."""
    return between(text, MIN_MEMORY_MB, MAX_MEMORY_MB)


AT_ONCE_PER_CORE = 32
"""Many more games at once than processors make sense only where bots do not use them."""


def refuse_concurrency(count: int) -> None:
    """Raise CommandError for more games at once than this machine can start."""
    cores = len(os.sched_getaffinity(0))
    if count > cores * AT_ONCE_PER_CORE:
        raise CommandError(
            f"--concurrency: {cores * AT_ONCE_PER_CORE} games at once at most on the {cores} processors here; "
            f"{cores} is a good number"
        )


def days(text: str) -> int:
    """Parse a number of days, at most ten years; 0 or `never` means without end."""
    return 0 if text == "never" else between(text, 0, 3650)
