"""Data types of all formats: seeds, games played, matches to plan.

A format plans by its function `next_step`, which takes seeds and games and returns a `NextStep`. Called again with the
same games it plans nothing new, so planning may be repeated at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from referee.meaning import meaning

MAX_ROUNDS = 200
"""Rounds of a Swiss at most."""
State: TypeAlias = Literal["open", "done", "void", "cancelled"]
PRIORITIES = (-100, 0, 100)
"""The lowest, the default and the highest priority of a tournament's games."""


class PlanAfter(Enum):
    """The event after which a format may plan more games; each format names one."""

    EACH_RESULT = "after each result"
    ALL_HANDED_OUT = "when every planned game is with a slot or over"
    ALL_OVER = "when every planned game is over, or nearly all of a plan that is stored in windows are handed out"


@dataclass(frozen=True, slots=True)
class Seed:
    """An entry: its seat number (0 is the best seed, or a gauntlet's challenger), and its current rating.

    `is_suspended`: the coordinator has withdrawn it, and the rest of its games are forfeited. `is_absent`: its games
    wait until it connects.
    """

    number: int
    is_withdrawn: bool = False
    mu: float = 25.0
    sigma: float = 25.0 / 3
    is_suspended: bool = False
    is_absent: bool = False
    rounds: int = 0
    """Rounds that had begun when it was withdrawn, for formats that need them."""
    left: int = 0
    """Its place in the order of withdrawals, from 1; 0: it is not withdrawn, or the order is not known."""
    first_round: int = 1
    """The first round in which it plays; above 1 for a late entry."""
    half_point_byes: frozenset[int] = frozenset()
    """Rounds for which it asked for a half-point bye."""
    forbidden: frozenset[int] = frozenset()
    """Seats that it must not meet."""


class TournamentGame(NamedTuple):  # not a dataclass: a tournament has 10,000 of them
    """One game of the tournament in any state; `first` and `second` are seats. `points` are those of `first` once the
    game is done.

    `order` is its commit number, which orders all results; 0 without a result.
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
        """True if the game is planned or running."""
        return self.state == "open"

    @property
    def match(self) -> tuple[int, int, int]:
        """(round, lower seat, higher seat): the key shared by the games of one match."""
        return self.round, min(self.first, self.second), max(self.first, self.second)

    def points_of(self, seat: int) -> float:
        """Return the points of a seat; 0 unless the game is done."""
        if self.points is None or seat not in (self.first, self.second):
            return 0.0
        return self.points if seat == self.first else 1 - self.points


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """A match to plan: `games` games, in pairs with one opening and sides swapped.

    `opening` is the index of the first opening in the tournament's book. `pair` and `sequence` are the numbers of its
    first pair and its first game in a plan known in advance; 0: they follow the stored games.
    """

    round: int
    first: int
    second: int
    opening: int = 0
    games: int = 2
    pair: int = 0
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class NextStep:
    """Result of a format's `next_step`. `calls_off`: the open games are no longer needed. `reason`: why the
    tournament is finished.

    `later`: number of games of a plan known in advance that follow these `matches`.
    """

    matches: tuple[PlannedMatch, ...] = ()
    is_finished: bool = False
    calls_off: bool = False
    reason: str = ""
    later: int = 0


@dataclass(frozen=True, slots=True)
class PlanItem:
    """The plan of a tournament. `games` counts all games, played and planned; with `is_most` it is an upper bound.

    `games_per_pairing` and `rounds` are null in formats without them.
    """

    games: int = field(metadata=meaning("single games, not pairs"))
    is_most: bool = False
    games_per_pairing: int | None = None
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Length:
    """Length of a tournament: `count` in `unit`, extended in steps of `step`.

    `table` and `key` are the place of the length in the document.
    """

    count: int
    unit: str
    step: int
    table: str
    key: str


@dataclass(slots=True)
class Match:
    """All games between two seats in one round."""

    round: int
    low: int
    high: int
    games: list[TournamentGame] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """True if any game is still open."""
        return any(game.is_open for game in self.games)

    def points(self, seat: int) -> float:
        """Return the points of one of the two seats; void and cancelled games count 0."""
        return sum(game.points_of(seat) for game in self.games)


def matches(played: Iterable[TournamentGame]) -> dict[tuple[int, int, int], Match]:
    """Group games by match, in the order of planning."""
    by_key: dict[tuple[int, int, int], Match] = {}
    for game in sorted(played, key=lambda game: game.sequence):
        if game.match not in by_key:
            by_key[game.match] = Match(*game.match)
        by_key[game.match].games.append(game)
    return by_key


def absent(left: Mapping[int, int], low: int, high: int) -> set[int]:
    """Return which of two seats had withdrawn when they were to meet; `left` has the order in which bots withdrew.

    Of two that withdrew one after the other it is the first: the other was still there and has the walkover.
    """
    gone = {low, high} & left.keys()
    return {min(gone, key=left.__getitem__)} if len({left[seat] for seat in gone}) == 2 else gone


def finish(played: Sequence[TournamentGame], reason: str = "all games played") -> NextStep:
    """Return the step of a format that has nothing more to plan: finished once no game is open."""
    return NextStep(is_finished=not any(game.is_open for game in played), reason=reason)
