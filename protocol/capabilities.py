"""What a bot can take, as data: real engines know less than the protocol, and are never sent what they cannot take.

Refuses to find anything out by itself: a probe learns it, a store keeps it, the referee asks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from protocol.messages import Go
from protocol.options import OptionDecl, parse_option

QueryStyle: TypeAlias = Literal["none", "response", "bare"]
SetOptionStyle: TypeAlias = Literal["standard", "bare"]

CLOCKS_OPTION = "UGI_Clocks"
RESULT_OPTION = "UGI_Result"

MOVES_TO_GO = 25
"""The share of its clock a bot without clocks gets for one move is a 25th."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one version of a bot can take.

    `clocks`: `go p1time …`; else it gets `go movetime`. `stop`: interrupts a search. `repeated_isready`: more than one
    a process. `query`: how it answers, if at all. `setoption`: `bare` is `setoption N V`. `newgame`: `uginewgame`.
    `result`: the line `result …`. `depth`, `nodes`: `go depth N`, `go nodes N`. `overshoot_ms`: by how much it exceeds
    a `movetime`. `families`, `name`, `author`, `options`: what it said in the handshake.
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


def movetime_for(time_ms: int, inc_ms: int, overhead_ms: int) -> int:
    """The `movetime` of a bot that knows no clocks: a 25th of its clock and three quarters of its increment.

    `overhead_ms` is what the bot overshoots a movetime by. It is taken off, so never more than the remaining time
    minus the overhead comes out, and always at least 1.
    """
    share = time_ms // MOVES_TO_GO + inc_ms * 3 // 4
    return max(1, min(share, time_ms) - overhead_ms)


def adapted(go: Go, capabilities: Capabilities, *, p1_to_move: bool, overhead_ms: int) -> Go:
    """`go` as this bot can take it: clocks become a movetime for a bot without them."""
    time_ms = go.p1time if p1_to_move else go.p2time
    if capabilities.clocks or time_ms is None:
        return go
    inc_ms = (go.p1inc if p1_to_move else go.p2inc) or 0
    return Go(movetime=movetime_for(time_ms, inc_ms, overhead_ms))
