"""Values of arguments: families, numbers within bounds, names; and the rules that arguments choose."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from arena.cli.terminal.exit import CommandError
from arena.names import NAME_RULE, as_name, is_name
from referee.machine.cores import usable_cores

if TYPE_CHECKING:
    from referee.rules.rules import Ruleset


def family(text: str) -> str:
    """Translate the name of a family in any language to the arena's name; return an unknown name unchanged."""
    from referee.rules import family_named

    return family_named(text)


def read_options(options: Sequence[str]) -> dict[str, str]:
    """Parse the values of `--option`, `["k=v", ...]`. Raises CommandError."""
    values: dict[str, str] = {}
    for option in options:
        name, sign, value = option.partition("=")
        if not sign or not name.strip():
            raise CommandError(f'--option {option!r} is not of the form NAME=VALUE; write "--option repetition=0"')
        values[name.strip()] = value.strip()
    return values


def settle(family: str, variant: str | None, options: Sequence[str]) -> Ruleset:
    """Return the rules of these names. Raises UnknownNameError, ParseError or CommandError."""
    from referee.rules import load

    return load(family).settle(variant, read_options(options))


MAX_NUMBER = 10**18 - 1
"""The largest number an argument may be."""


def between(text: str, least: int, most: int = MAX_NUMBER) -> int:
    """Parse a whole number within bounds. Raises ArgumentTypeError."""
    digits = text.removeprefix("-") if least < 0 else text
    if digits.isascii() and digits.isdecimal() and len(digits) <= 18 and least <= int(text) <= most:
        return int(text)
    bounds = f"from {least}" if most == MAX_NUMBER else f"from {least:,} to {most:,}"
    raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number {bounds}")


def up_to(most: int) -> Callable[[str], int]:
    """Return the parser of whole numbers from 1 to `most`."""
    return partial(between, least=1, most=most)


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


SANDBOXES = ("auto", "bwrap", "landlock", "rlimits", "none")
AT_ONCE_PER_CORE = 32
"""Many more games at once than processors make sense only where bots do not use them."""


def refuse_concurrency(count: int) -> None:
    """Raise CommandError for more games at once than this machine can start."""
    cores = usable_cores()
    if count > cores * AT_ONCE_PER_CORE:
        raise CommandError(
            f"--concurrency: {cores * AT_ONCE_PER_CORE} games at once at most on the {cores} processors here; "
            f"{cores} is a good number"
        )


def name(text: str) -> str:
    """Take the name of a user or a bot. Raises ArgumentTypeError for what can be none."""
    if is_name(text):
        return text
    nearest = as_name(text)
    example = f"; did you mean {nearest}?" if nearest else ""
    raise argparse.ArgumentTypeError(f"invalid name {text[:60]!r}: write {NAME_RULE}{example}")


def entry(text: str) -> str:
    """Take the name of a bot, or that of a version such as `zeta v3`. Raises ArgumentTypeError."""
    bot, sign, number = text.rpartition(" v")
    name(bot if sign and number.isdecimal() else text)
    return text


def days(text: str) -> int:
    """Parse a number of days, at most ten years; 0 or `never` means without end."""
    return 0 if text == "never" else between(text, 0, 3650)
