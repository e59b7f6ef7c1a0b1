"""Estimate strength from scores: Elo, normalised Elo, pentanomial counts, likelihood of superiority.

Confidence intervals are computed from pairs of games with swapped sides if there are pairs: the two games of an opening
are not independent. Normalised Elo is M. Van den Bergh's ("Normalized Elo", 2020): the score in units of the standard
deviation of one game, so that it does not depend on openings and draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from referee.ratings.bradley_terry import ELO, Z95

NORMALISED = 800 / math.log(10)
"""Normalised Elo per standard deviation of one game."""
FLOOR = 1e-4
"""Minimum distance of a score from 0 and 1, so that no Elo is infinite."""
MAX_ERROR = 400
"""Greatest half-width of an interval that is shown as an error."""


def elo_of(score: float) -> float:
    """Return the logistic Elo difference of an expected score, which is first limited to `FLOOR` … 1 - `FLOOR`."""
    bounded = min(max(score, FLOOR), 1 - FLOOR)
    return ELO * math.log(bounded / (1 - bounded))


def elo_words(elo: float, low: float, high: float) -> str:
    """Describe an Elo difference with its 95 % confidence interval: `+35 ± 61`.

    If the interval is open or very wide, the text has only its bound nearer to 0 (`> +386`), or `no estimate` if the
    interval contains 0: after few games, or after any number of games all won or all lost.
    """
    if _is_narrow(low, high):
        return f"{elo:+z.0f} ± {(high - low) / 2:.0f}"
    if not is_estimate(low, high):
        return "no estimate"
    return f"> {low:+z.0f}" if low > 0 else f"< {high:+z.0f}"


def is_estimate(low: float, high: float) -> bool:
    """Return whether a 95 % interval of an Elo difference says anything, so that `elo_words` is not `no estimate`."""
    return low > 0 or high < 0 or _is_narrow(low, high)


def _is_narrow(low: float, high: float) -> bool:
    return elo_of(0) < low and high < elo_of(1) and (high - low) / 2 <= MAX_ERROR


def _phi(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


@dataclass(frozen=True, slots=True)
class Estimate:
    """Strength of one bot relative to its opponents (or one opponent). Elo values are differences.

    `*_low` and `*_high` are the 95 % confidence interval. `los` is the likelihood of superiority (LOS): the probability
    that the true score is above one half.
    """

    games: int
    pairs: int
    pentanomial: tuple[int, int, int, int, int]
    """Numbers of pairs in which the bot scored 0, ½, 1, 1½ and 2 points."""
    score: float
    elo: float
    elo_low: float
    elo_high: float
    normalised_elo: float
    los: float

    def as_json(self) -> dict[str, Any]:
        numbers = {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(self).items()}
        return numbers | {"pentanomial": list(self.pentanomial)}


def pentanomial(pair_points: Sequence[float]) -> tuple[int, int, int, int, int]:
    """Count the pairs with 0, ½, 1, 1½ and 2 points."""
    counts = [0] * 5
    for points in pair_points:
        counts[round(2 * points)] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def estimate(pair_points: Sequence[float], single_points: Sequence[float] = ()) -> Estimate:
    """Estimate strength from the points of complete pairs, and of single games, whose pairs lack the other game."""
    singles = [0] * 3
    for points in single_points:
        singles[round(2 * points)] += 1
    return estimate_counts(pentanomial(pair_points), singles)


def estimate_counts(pairs_by_points: Sequence[int], singles_by_points: Sequence[int]) -> Estimate:
    """Estimate strength from the numbers of pairs with 0, ½, 1, 1½ and 2 points, and of single games with 0, ½ and 1.

    Single games count in the score; the variance is computed from the pairs alone if there are at least two.
    """
    pairs = sum(pairs_by_points)
    games = 2 * pairs + sum(singles_by_points)
    if games == 0:
        return Estimate(0, 0, (0, 0, 0, 0, 0), 0.5, 0.0, elo_of(0), elo_of(1), 0.0, 0.5)
    score = (_total(pairs_by_points) + _total(singles_by_points)) / games
    if pairs >= 2:
        game_variance = 2 * _variance(pairs_by_points)
    else:
        losses, draws, wins = singles_by_points
        singles = (losses, 0, draws, 0, wins)
        game_variance = _variance([2 * pair + single for pair, single in zip(pairs_by_points, singles, strict=True)])
    if game_variance == 0:  # all scores equal: use the variance of one more half game with the other result
        game_variance = max(0.25 / games, FLOOR)
    error = math.sqrt(game_variance / games)
    return Estimate(
        games,
        pairs,
        (pairs_by_points[0], pairs_by_points[1], pairs_by_points[2], pairs_by_points[3], pairs_by_points[4]),
        score,
        elo_of(score),
        elo_of(score - Z95 * error),
        elo_of(score + Z95 * error),
        NORMALISED * (score - 0.5) / math.sqrt(game_variance),
        _phi((score - 0.5) / error),
    )


def _total(counts: Sequence[int]) -> float:
    """Return the total points; `counts` are the numbers of results with 0, ½, 1 … points."""
    return sum(place * count for place, count in enumerate(counts)) / 2


def _variance(counts: Sequence[int]) -> float:
    """Return the variance of scores; `counts` are the numbers of scores 0, 1/4, 1/2, 3/4 and 1."""
    total = sum(counts)
    mean = sum(place * count for place, count in enumerate(counts)) / (4 * total)
    return sum(count * (place / 4 - mean) ** 2 for place, count in enumerate(counts)) / total
