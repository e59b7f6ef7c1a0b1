"""Bridges by name: turns `bridge:bologna -- ./client` into the command that runs the bridge with the arena's Python."""

from __future__ import annotations

from collections.abc import Sequence

from referee.rules.core import UnknownNameError

PREFIX = "bridge:"
FAMILY = "{family}"
"""Placeholder in the command of a bot file for the family that is played."""
BRIDGES = {
    "bologna": "bologna",
    "command": "command",
    "python": "python_agent",
    "tcp": "tcp",
    "uci": "uci",
    "xboard": "xboard",
}
"""Modules of `bots.bridges` by the bridge's name."""
_WITH_FAMILY = frozenset({"command", "python", "uci", "xboard"})
"""Bridges that need the option `--family`."""
_WITH_PROGRAM = frozenset({"bologna", "command", "uci", "xboard"})
"""Bridges that take a command after `--`."""

_WITH_NETWORK = frozenset({"bologna", "tcp"})
"""Bridges that talk to a program by TCP."""


def uses_network(command: Sequence[str]) -> bool:
    """Return whether a command runs a bridge that talks to a program by TCP."""
    return any(word == f"bots.bridges.{BRIDGES[name]}" for word in command for name in _WITH_NETWORK)


def starts_programs(command: Sequence[str]) -> bool:
    """Return whether a command runs the bridge that starts its program again for every move."""
    return f"bots.bridges.{BRIDGES['command']}" in command


def is_bridge(words: Sequence[str]) -> bool:
    return bool(words) and words[0].startswith(PREFIX)


def bridged(words: Sequence[str], family: str, interpreter: str) -> tuple[str, ...]:
    """Return the command of `bridge:NAME …`; `--family` and `--` are added if missing.

    Raises UnknownNameError for an unknown bridge, ValueError for a bridge without arguments.
    """
    name, rest = words[0].removeprefix(PREFIX), list(words[1:])
    if name not in BRIDGES:
        raise UnknownNameError("bridge", name, tuple(BRIDGES))
    if not rest or rest[-1] == "--":
        raise ValueError(f"{words[0]}: missing command; write it after the bridge, as in {_EXAMPLES[name]}")
    if name in _WITH_PROGRAM and "--" not in rest and not rest[0].startswith("-"):
        rest.insert(0, "--")
    own = rest[: rest.index("--")] if "--" in rest else rest
    if name in _WITH_FAMILY and not any(word.split("=")[0] == "--family" for word in own):
        rest = ["--family", family, *rest]
    # -P: a folder `bots` where the bridge runs is not the arena's.
    return (interpreter, "-P", "-m", f"bots.bridges.{BRIDGES[name]}", *rest)


_EXAMPLES = {
    "bologna": "bridge:bologna -- ./client",
    "command": "bridge:command ./program",
    "python": "bridge:python file.py:choose",
    "tcp": "bridge:tcp HOST PORT",
    "uci": "bridge:uci ./engine",
    "xboard": "bridge:xboard ./engine",
}
