"""Overview of a running tournament: a bracket, rounds, or the next matches.

Each format computes its own from the seeds and games of its next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.tournament.match import TournamentGame

UPCOMING = 6
"""Matches of a ladder or a race shown in advance."""


@dataclass(frozen=True, slots=True)
class BracketMatch:
    """A match of a bracket. A name is empty while the player is unknown, and for a bye.

    `reason` says how it was decided: `points`, `bye`, `walkover`, `both withdrew` or `seeding, after N extra pairs`;
    empty while it is open. `games` are the numbers of its games in the plan.
    """

    one: str
    two: str
    points: tuple[float, float] = (0.0, 0.0)
    winner: str = ""
    reason: str = ""
    games: tuple[int, ...] = ()

    @property
    def is_bye(self) -> bool:
        return self.reason == "bye"


@dataclass(frozen=True, slots=True)
class BracketRound:
    """A round with its name, such as `Semi-finals`."""

    name: str
    matches: tuple[BracketMatch, ...]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """A bot's result in a round: its opponent, its points, the opponent's points.

    `bye` has the kind of a bye, such as `half-point bye`; then there is no opponent. `games` are the numbers of its
    games in the plan; `is_open`: some of them are not over yet.
    """

    rival: str
    points: float
    against: float
    games: tuple[int, ...] = ()
    is_open: bool = False
    bye: str = ""


@dataclass(frozen=True, slots=True)
class UpcomingMatch:
    """A match that is planned, or that comes next; then `reason` says why."""

    first: str
    second: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TournamentOverview:
    """Overview of a tournament; fields that belong to other formats than its own are empty."""

    bracket: tuple[BracketRound, ...] = ()
    champion: str = ""
    third: str = ""
    rounds: tuple[int, ...] = ()
    results: Mapping[str, Mapping[int, RoundResult]] | None = None
    """Results of the rounds by name of the bot and round."""
    planned: tuple[UpcomingMatch, ...] = ()
    upcoming: tuple[UpcomingMatch, ...] = ()


def planned(played: Sequence[TournamentGame], names: Mapping[int, str]) -> tuple[UpcomingMatch, ...]:
    """Return the pairings with games that are planned or running, once, in the order of planning."""
    pairings: dict[frozenset[int], UpcomingMatch] = {}
    for game in sorted(played, key=lambda game: game.sequence):
        if game.is_open:
            pairings.setdefault(
                frozenset((game.first, game.second)), UpcomingMatch(names[game.first], names[game.second])
            )
    return tuple(pairings.values())
