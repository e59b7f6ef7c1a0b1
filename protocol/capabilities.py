"""Capabilities of a bot: which messages of the protocol it supports. Many real engines support only a part.

Capabilities are measured by a check, stored with the version of the bot, and used by the referee.
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
LEGAL_MOVES_OPTION = "UGI_LegalMoves"
REUSE_OPTION = "UGI_Reuse"

MOVES_TO_GO, MIN_MOVES_TO_GO = 25, 9
"""A bot without clock support gets a 25th of its remaining time for one move in long games; see `shares_of_game`."""
MOVES_OF_A_GAME = 40
"""Expected number of moves of one side in a game."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The parts of the protocol that one version of a bot supports, and what it announced.

    - `clocks`: it understands `go p1time …`; otherwise it gets `go movetime`
    - `stop`: `stop` interrupts a search
    - `repeated_isready`: it answers more than one `isready` per process
    - `query`: the form of its answer to `query`, if it answers
    - `setoption`: `bare` is the form `setoption N V`
    - `newgame`: it accepts `uginewgame`
    - `result`: it accepts the line `result …`
    - `legal_moves`: it wants the line `legal …` before every `go`
    - `depth`, `nodes`: it obeys `go depth N`, `go nodes N`
    - `overshoot_ms`: nearly all of its answers exceed a `movetime` by at most this
    - `first_overshoot_ms`: the same for the first answer of a process
    - `fit_from_ms`: the shortest `movetime` that it keeps, 0 if unknown
    - `startpos_only`: it cannot set up positions
    - `families`, `name`, `author`, `options`: what it announced in the handshake
    """

    clocks: bool = True
    stop: bool = True
    repeated_isready: bool = True
    query: QueryStyle = "response"
    setoption: SetOptionStyle = "standard"
    newgame: bool = True
    result: bool = False
    legal_moves: bool = False
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
        """Return the capabilities assumed for a bot that has not been checked: the whole protocol."""
        return cls()

    @property
    def option_map(self) -> dict[str, OptionDecl]:
        """The announced options by name."""
        return {option.name: option for option in self.options}

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON object; options become the lines that announce them."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return found | {"families": list(self.families), "options": [str(option) for option in self.options]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Capabilities:
        """Read a JSON object made by `as_json`. Missing keys get their defaults, unknown keys are ignored.

        Raises BadLine for an invalid option.
        """
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        given["families"] = tuple(given.get("families", ()))
        given["options"] = tuple(parse_option(line) for line in given.get("options", ()))
        return cls(**given)


def shares_of_game(game_moves: int) -> int:
    """Return the number of shares into which a bot without clock support divides its remaining time.

    In games of `game_moves` moves of a side, it then uses about four fifths of the time that a strong bot with clock
    support uses, which is assumed to spend a tenth of its remaining time on every move.
    """
    return min(MOVES_TO_GO, MIN_MOVES_TO_GO + game_moves // 3)


def movetime_for(
    time_ms: int,
    inc_ms: int,
    usual_ms: float,
    worst_ms: float,
    moves_to_go: int | None = None,
    *,
    shares: int = MOVES_TO_GO,
) -> int:
    """Compute the `movetime` for a bot without clock support: a share of its remaining time, less its overshoot.

    The share is the remaining time divided by `shares` (MOVES_TO_GO without an increment), plus three quarters of the
    increment; a sixth of the share is kept in reserve. If time is added after fewer moves than the divisor,
    `moves_to_go` replaces it. `usual_ms` and `worst_ms` are the usual and the worst overshoot. The usual overshoot is
    subtracted from the share, but at most half of the share as long as the clock can pay for the overshoot of all
    expected moves. Time for the worst overshoot is never part of a share. Returns at least 1.
    """
    shares = shares if inc_ms else MOVES_TO_GO  # without an increment nothing comes back
    moves = min(moves_to_go or shares, shares)
    share = max(0.0, min(time_ms / moves + inc_ms * 0.75, time_ms - worst_ms))
    to_spare = time_ms - worst_ms - min(moves_to_go or MOVES_OF_A_GAME, MOVES_OF_A_GAME) * max(0.0, usual_ms - inc_ms)
    return max(1, int(max(share * 5 / 6 - usual_ms, min(share, to_spare) / 2)))


def shorten_movetime(movetime_ms: int, worst_ms: float) -> int:
    """Subtract the worst overshoot from `movetime_ms`, but never more than half of `movetime_ms`.

    The bot gets the result as its `movetime`, so that it answers within `movetime_ms`.
    """
    return max(1, -(-movetime_ms // 2), int(movetime_ms - worst_ms))
