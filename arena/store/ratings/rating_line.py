"""One line of a leaderboard, current or past."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from referee.ratings.trueskill import TrueSkillRating


@dataclass(frozen=True, slots=True)
class RatingLine:
    """One line of a leaderboard. `place` counts all lines, `rank` only those that are not provisional.

    `opponents` is the average mu of the opponents, `beats_next` the probability of being stronger than the next line.
    `elo` with its 95 % `elo_interval` is fitted to the chosen games if only some count.
    """

    place: int
    rank: int | None
    version_id: int
    name: str
    bot: str
    number: int
    owner: str
    state: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    forfeits: int
    opponents: float
    is_provisional: bool
    beats_next: float | None
    elo: float | None = None
    elo_interval: float | None = None


class StrengthEstimate(Protocol):
    """A strength as a normal distribution."""

    @property
    def mu(self) -> float: ...

    @property
    def sigma(self) -> float: ...


@dataclass(slots=True)
class Ranking:
    """Counters of places and ranks while lines are built, best first; they hold the values of the last line."""

    place: int = 0
    rank: int = 0

    def line(
        self,
        version: tuple[int, str, str, int, str, str],
        rating: TrueSkillRating,
        *,
        forfeits: int,
        opposition: float,
        follower: StrengthEstimate | None,
    ) -> RatingLine:
        """Build the next line. `version` is (id, name, bot, number, owner, state).

        `opposition` is the sum of the opponents' mu, `follower` the rating of the next line.
        """
        self.place += 1
        self.rank += not rating.is_provisional
        return RatingLine(
            self.place,
            None if rating.is_provisional else self.rank,
            *version,
            rating.mu,
            rating.sigma,
            rating.conservative,
            rating.games,
            rating.wins,
            rating.draws,
            rating.losses,
            (rating.wins + rating.draws / 2) / rating.games,
            forfeits,
            opposition / rating.games,
            rating.is_provisional,
            probability(rating, follower) if follower else None,
        )


def probability(one: StrengthEstimate, two: StrengthEstimate) -> float:
    """Return the probability that the first is the stronger one, for independent normal estimates."""
    spread = math.sqrt(one.sigma**2 + two.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - two.mu) / (spread * math.sqrt(2))))
