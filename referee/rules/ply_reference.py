"""References to a ply: by its number, or by the number of a move and its player (`17y`).

`x` is the first side, `y` the second.
"""

from __future__ import annotations

import re
from typing import Final

from referee.rules.core import ParseError
from referee.rules.rules import Ruleset

HINT: Final = "write 33, ply 33, or the move and its player: 17x for the first, 17y for the second"

_PLY: Final = re.compile(r"(?:ply|coup|no\.?|n°)?\s*([0-9]{1,9})", re.IGNORECASE)
_MOVE: Final = re.compile(r"([0-9]{1,9})\s*(\.{3}|…|\.|[^\W\d_]+)")

_SIGNS: Final = {"x": 0, "y": 1, ".": 0, "...": 1, "…": 1}


def read_ply(text: str, ruleset: Ruleset, begins: int = 0) -> int:
    """Return the ply, counted from 1, of a reference: `33`, `ply 33`, `17y`, `17...`, `17 White`.

    `begins` is 0 if the first side has the first move of the game, else 1. Raise ParseError.
    """
    if match := _PLY.fullmatch(text.strip()):
        return int(match[1])
    match = _MOVE.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise ParseError("not a reference to a ply", text=text, hint=HINT)
    side = _SIGNS.get(match[2].lower(), ruleset.side_named(match[2]))
    if side is None:
        raise ParseError(f"unknown side {match[2]!r}", text=text, index=match.start(2), hint=HINT)
    ply = 2 * int(match[1]) - 1 + side - begins
    if ply < 1:
        raise ParseError(
            "this ply precedes the first move", text=text, hint="the second side has the first move of this game"
        )
    return ply


def write_ply(ply: int, begins: int = 0) -> str:
    """Return the reference to a ply by move and player: 34 is `17y`; the start, 0, is `0`."""
    return f"{(ply + begins + 1) // 2}{'yx'[(ply + begins) % 2]}" if ply else "0"
