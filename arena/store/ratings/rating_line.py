"""Lines of leaderboards, current or past, built from the best to the last."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from arena.documents.attributes import of_attributes
from arena.documents.rating import LeaderboardLine
from referee.ratings.trueskill import TrueSkillRating


class StrengthEstimate(Protocol):
    """A strength as a normal distribution."""

    @property
    def mu(self) -> float: ...

    @property
    def sigma(self) -> float: ...


@dataclass(slots=True)
class Ranking:
    """Counters of the lines built so far, best first: `place` counts all lines, `rank` skips provisional ones."""

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
    ) -> LeaderboardLine:
        """Build the next line. `version` is (id, name, bot, number, owner, state).

        `opposition` is the sum of the opponents' mu, `follower` the rating of the line below it.
        """
        self.place += 1
        self.rank += not rating.is_provisional
        version_id, name, bot, number, owner, state = version
        return of_attributes(
            LeaderboardLine,
            rating,
            place=self.place,
            rank=None if rating.is_provisional else self.rank,
            name=name,
            bot=bot,
            number=number,
            owner=owner,
            state=state,
            score=(rating.wins + rating.draws / 2) / rating.games,
            forfeits=forfeits,
            opponents=opposition / rating.games,
            beats_next=probability(rating, follower) if follower else None,
            version_id=version_id,
        )


def probability(one: StrengthEstimate, two: StrengthEstimate) -> float:
    """Return the probability that `one` is stronger than `two`, for independent normal estimates."""
    spread = math.sqrt(one.sigma**2 + two.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - two.mu) / (spread * math.sqrt(2))))
