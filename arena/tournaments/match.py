"""The words every format speaks: who is there, what was played, what to play next. Pure data.

A format is a function of these, `step(document, seeds, played, ahead) -> NextStep`: called again with the same games it
asks for nothing new, so planning may be repeated at any time. Refuses to know databases, bots and rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

State: TypeAlias = Literal["open", "done", "void", "cancelled"]


class PlanAfter(Enum):
    """When a format may have something new to ask for: what it says as its `PLAN_AFTER`."""

    EACH_RESULT = "after each result"
    ALL_HANDED_OUT = "when every planned game is with a slot or over"
    ALL_OVER = "when every planned game is over"


@dataclass(frozen=True, slots=True)
class Seed:
    """An entry as formats see it: its number (the seeding, 0 is the best or the challenger) and its present rating."""

    number: int
    is_withdrawn: bool = False
    mu: float = 25.0
    sigma: float = 25.0 / 3


class TournamentGame(NamedTuple):  # a tournament has ten thousand of them
    """One game of the tournament, whatever its state. `points` are those of `first`, None unless it is done.

    `order` is the place of its result among all results (the commit number), 0 without one.
    """

    sequence: int
    round: int
    pair: int
    first: int
    second: int
    state: State
    points: float | None = None
    order: int = 0

    @property
    def is_open(self) -> bool:
        """Still to be played, or being played."""
        return self.state == "open"

    @property
    def match(self) -> tuple[int, int, int]:
        """(round, lower seat, higher seat): the games of one match share it."""
        return self.round, min(self.first, self.second), max(self.first, self.second)

    def points_of(self, seat: int) -> float:
        """What a seat scored in it; nothing unless it is done."""
        if self.points is None or seat not in (self.first, self.second):
            return 0.0
        return self.points if seat == self.first else 1 - self.points


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """Games to be planned: `games` of them, sides swapped in turn, each pair of them from one opening.

    `opening` is the number of the first opening in the book of the tournament.
    """

    round: int
    first: int
    second: int
    opening: int = 0
    games: int = 2


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do now. `calls_off`: the games without a result are not needed any more. `reason`: why it is finished."""

    matches: tuple[PlannedMatch, ...] = ()
    is_finished: bool = False
    calls_off: bool = False
    reason: str = ""


@dataclass(slots=True)
class Match:
    """All games of two seeds in one round."""

    round: int
    low: int
    high: int
    games: list[TournamentGame] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether any game is still to come."""
        return any(game.is_open for game in self.games)

    def points(self, seat: int) -> float:
        """The points of one of the two, void and cancelled games not counted."""
        return sum(game.points_of(seat) for game in self.games)


def matches(played: Iterable[TournamentGame]) -> dict[tuple[int, int, int], Match]:
    """The games by match, in order of planning."""
    found: dict[tuple[int, int, int], Match] = {}
    for game in sorted(played, key=lambda game: game.sequence):
        if game.match not in found:
            found[game.match] = Match(*game.match)
        found[game.match].games.append(game)
    return found


def finish(played: Sequence[TournamentGame], reason: str = "all games played") -> NextStep:
    """The step of a format that has nothing more to plan: finished once nothing is open."""
    return NextStep(is_finished=not any(game.is_open for game in played), reason=reason)
