"""A line of the standings of a tournament."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.meaning import HIDDEN, meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingItem:
    """A line of the standings, provisional until all games are over. `points` include the byes of a Swiss.

    `round` is the last one reached in a knockout. `estimate` has Elo ± 95 %, nElo, LOS and the pentanomial counts.
    """

    rank: int = field(metadata=meaning("from 1; no two entries share a rank"))
    place: str = field(default="", metadata=HIDDEN)
    """The rank as people write it: `2=` if the criteria do not tell it from the next."""
    seed: int = field(metadata=meaning("place in the seeding, from 1 for the best; late entries follow"))
    name: str = field(metadata=meaning("full name of the version, such as `zeta v3`"))
    points: float = field(metadata=meaning("1 for a win, 0.5 for a draw"))
    games: int = field(metadata=meaning("single games with a result, without byes"))
    wins: int
    draws: int
    losses: int
    score: float = field(metadata=meaning("share of points in these games, from 0 to 1"))
    sonneborn_berger: float = field(
        metadata=meaning("sum over the opponents: the points against each times that opponent's points")
    )
    byes: int = field(metadata=meaning("rounds of a Swiss without an opponent, worth a won match; 0 in other formats"))
    half_point_byes: int = field(metadata=meaning("rounds of a Swiss missed for half of the points of a match"))
    buchholz: float = field(metadata=meaning("sum of the opponents' points in a Swiss; 0 in other formats"))
    buchholz_cut: float = field(metadata=meaning("the same without the lowest"))
    round: int = field(metadata=meaning("from 1, one more for the winner of the final; 0 in other formats"))
    forfeits: int = field(metadata=meaning("losses by forfeit, resignations included"))
    is_withdrawn: bool = field(metadata=meaning("true: it gets no new games"))
    estimate: Mapping[str, Any] = field(
        metadata=meaning(
            "Elo and normalised Elo relative to its opponents, `los`, and `pentanomial`: pairs with 0 to 2 points"
        )
    )
    version_id: int = field(metadata=HIDDEN)
    """The number of the version in the results; a local run has seats."""

    @property
    def byes_in_matches(self) -> float:
        """The byes, counted in won matches: a half-point bye is half of one."""
        return self.byes + self.half_point_byes / 2

    @property
    def most_points(self) -> float:
        """The points of a bot that had won all these games; byes count what they gave."""
        return self.games + self.points - (self.wins + self.draws / 2)
