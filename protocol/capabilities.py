"""What a bot can take, as data: real engines know less than the protocol, and are never sent what they cannot take.

Refuses to find anything out by itself: a probe learns it, a store keeps it, the referee asks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from protocol.options import OptionDecl, parse_option

QueryStyle: TypeAlias = Literal["none", "response", "bare"]
SetOptionStyle: TypeAlias = Literal["standard", "bare"]

CLOCKS_OPTION = "UGI_Clocks"
RESULT_OPTION = "UGI_Result"

MOVES_TO_GO = 25
"""The share of its clock a bot without clocks gets for one move is a 25th."""
MOVES_OF_A_GAME = 40
"""How many moves of one side a game is expected to have."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one version of a bot can take.

    `clocks`: `go p1time …`; else it gets `go movetime`. `stop`: interrupts a search. `repeated_isready`: more than one
    a process. `query`: how it answers, if at all. `setoption`: `bare` is `setoption N V`. `newgame`: `uginewgame`.
    `result`: the line `result …`. `depth`, `nodes`: `go depth N`, `go nodes N`. `overshoot_ms`: by how much it exceeds
    a `movetime`, seldom more. `first_overshoot_ms`: the same of the first answer of a process. `fit_from_ms`: the
    shortest time for a move that it keeps, 0 = not known. `startpos_only`: it cannot set up positions.
    `families`, `name`, `author`, `options`: what it said in the handshake.
    """

    clocks: bool = True
    stop: bool = True
    repeated_isready: bool = True
    query: QueryStyle = "response"
    setoption: SetOptionStyle = "standard"
    newgame: bool = True
    result: bool = False
    depth: bool = True
    nodes: bool = True
    overshoot_ms: int = 0
    first_overshoot_ms: int = 0
    fit_from_ms: int = 0
    startpos_only: bool = False
    families: tuple[str, ...] = ()
    name: str = ""
    author: str = ""
    options: tuple[OptionDecl, ...] = ()

    @classmethod
    def default(cls) -> Capabilities:
        """A bot that follows the protocol, of which nothing else is known."""
        return cls()

    @property
    def option_map(self) -> dict[str, OptionDecl]:
        """The announced options by name."""
        return {option.name: option for option in self.options}

    def as_json(self) -> dict[str, Any]:
        """A JSON object; options are the lines that announced them."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return found | {"families": list(self.families), "options": [str(option) for option in self.options]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Capabilities:
        """The capabilities `as_json` wrote; missing keys have their defaults, unknown ones are dropped.

        Raises BadLine for an option that is none.
        """
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        given["families"] = tuple(given.get("families", ()))
        given["options"] = tuple(parse_option(line) for line in given.get("options", ()))
        return cls(**given)


def movetime_for(time_ms: int, inc_ms: int, usual_ms: float, worst_ms: float, moves_to_go: int | None = None) -> int:
    """The `movetime` of a bot that knows no clocks: a share of its clock, less what it will take beyond it.

    The share is a 25th of the clock (where more time is added after fewer moves, one of those `moves_to_go`) and three
    quarters of the increment, a sixth of it kept back. `usual_ms` is what
    the bot exceeds a move time by as a rule, `worst_ms` at worst: of the share, the usual is taken off but never more
    than half, as long as the clock can pay for what a game's moves cost beyond the increment; what the worst case
    would need is no part of any share. At least 1.
    """
    moves = min(moves_to_go or MOVES_TO_GO, MOVES_TO_GO)
    share = max(0.0, min(time_ms / moves + inc_ms * 0.75, time_ms - worst_ms))
    to_spare = time_ms - worst_ms - min(moves_to_go or MOVES_OF_A_GAME, MOVES_OF_A_GAME) * max(0.0, usual_ms - inc_ms)
    return max(1, int(max(share * 5 / 6 - usual_ms, min(share, to_spare) / 2)))


def shortened(movetime_ms: int, worst_ms: float) -> int:
    """What to tell a bot that is to answer within `movetime_ms` and exceeds its times by `worst_ms`: at least half."""
    return max(1, -(-movetime_ms // 2), int(movetime_ms - worst_ms))
