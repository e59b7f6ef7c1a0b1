"""Bridges by name: `bridge:bologna -- ./client` as the command that runs, wherever the arena's Python is.

Refuses to know what a bridge does with its words.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.rules.core import UnknownNameError

PREFIX = "bridge:"
FAMILY = "{family}"
"""Stands in the command of a bot file for the family that is played."""
BRIDGES = {"bologna": "bologna", "command": "command", "python": "python_agent", "tcp": "tcp"}
"""By the name people write: the module of `bots.bridges`."""
_WITH_FAMILY = frozenset({"command", "python"})
"""Those that must be told which family is played."""
_WITH_PROGRAM = frozenset({"bologna", "command"})
"""Those with a command of their own behind `--`."""


def is_bridge(words: Sequence[str]) -> bool:
    """Whether a command names a bridge."""
    return bool(words) and words[0].startswith(PREFIX)


def bridged(words: Sequence[str], family: str, interpreter: str) -> tuple[str, ...]:
    """The command of `bridge:NAME …`: the family is told and `--` put before the program where they are left out.

    Raises UnknownNameError for a bridge that there is not, ValueError for one that is given nothing to bridge.
    """
    name, rest = words[0].removeprefix(PREFIX), list(words[1:])
    if name not in BRIDGES:
        raise UnknownNameError("bridge", name, tuple(BRIDGES))
    if not rest:
        raise ValueError(f"{words[0]}: nothing to bridge; write what it runs behind it, such as {_EXAMPLES[name]}")
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
}
