"""TrueSkill ratings of pools of games: one game updates two ratings, in the order in which games were stored.

A version of a bot never changes, so its strength is constant and tau is 0. Another order of the games would change mu
by a good part of sigma, so live ratings and rebuilds use the same order. TrueSkill: Herbrich, Minka, Graepel 2006.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from referee.ratings.scored import ScoredGame
from referee.rules.core import Kind
from referee.rules.rules import Ruleset

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
TAU = 0.0

SUCCESSOR_SIGMA = 5.0
"""Sigma of a new version, which starts from its predecessor's mu: provisional, and wide enough for mu to move fast."""

PROVISIONAL_GAMES = 20
PROVISIONAL_SIGMA = 4.0
"""A rating is provisional below that number of games or above that sigma."""


def conservative(mu: float, sigma: float) -> float:
    """Return mu - 3 sigma: with 99.9 % confidence the bot is at least that strong."""
    return mu - 3 * sigma


class TrueSkillRating(NamedTuple):  # not a dataclass: a rebuild of all ratings makes two for each game
    """Rating of one bot in one pool. Leaderboards sort by `conservative`."""

    mu: float = MU
    sigma: float = SIGMA
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def conservative(self) -> float:
        """The rating's lower bound (see `conservative`)."""
        return conservative(self.mu, self.sigma)

    @property
    def is_provisional(self) -> bool:
        """True if the rating gets no rank yet: too few games, or sigma too large."""
        return self.games < PROVISIONAL_GAMES or self.sigma > PROVISIONAL_SIGMA

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON object, unrounded."""
        return {
            "mu": self.mu,
            "sigma": self.sigma,
            "conservative": self.conservative,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "provisional": self.is_provisional,
        }


def start(predecessor: TrueSkillRating | None = None) -> TrueSkillRating:
    """Return the rating of a version before its first game: the default, or its predecessor's mu with a wide sigma.

    Pass the predecessor's rating at the moment of the version's first game, so that a rebuild in the same order gives
    the same result.
    """
    if predecessor is None:
        return TrueSkillRating()
    # A predecessor with few games is less certain than that.
    return TrueSkillRating(predecessor.mu, max(SUCCESSOR_SIGMA, predecessor.sigma))


@lru_cache(maxsize=16)
def _model(draw_probability: float) -> tuple[Any, float]:
    """Return the package's model for this probability of a draw, and its draw margin for two players."""
    import warnings

    with warnings.catch_warnings():
        # trueskill 0.4.5 has an invalid escape sequence in a docstring, of which Python 3.12 and newer warn.
        warnings.simplefilter("ignore", SyntaxWarning)
        import trueskill

    model = trueskill.TrueSkill(MU, SIGMA, BETA, TAU, draw_probability)
    return model, trueskill.calc_draw_margin(draw_probability, 2, model)


def update(
    first: TrueSkillRating, second: TrueSkillRating, points: float, draw_probability: float, weight: float = 1.0
) -> tuple[TrueSkillRating, TrueSkillRating]:
    """Compute both ratings after one game in which the first bot scored `points` (1, 0.5 or 0).

    A `weight` below 1 moves both ratings by that share.

    Between two players the messages of the factor graph end after one pass: the equations of Herbrich, Minka, Graepel
    2006, section 3, whose functions V and W are the package's. Its `rate_1vs1` gives the same, in twenty times the
    time.
    """
    model, margin = _model(draw_probability)
    variance = 2 * BETA**2 + first.sigma**2 + second.sigma**2
    scale = math.sqrt(variance)
    # V and W are functions of the winner's lead: after a loss the difference is turned round.
    sign = -1 if points == 0 else 1
    v, w = _v_and_w(model, sign * (first.mu - second.mu) / scale, margin / scale, is_draw=points == 0.5)
    shift, shrinkage = sign * v / scale * weight, w / variance * weight
    return _moved(first, shift, shrinkage, points), _moved(second, -shift, shrinkage, 1 - points)


def _v_and_w(model: Any, lead: float, margin: float, *, is_draw: bool) -> tuple[float, float]:
    """Return how far a result moves the mean, and how far it narrows the variance.

    An upset of some 50 betas underflows in the package: the ratings then stay the same.
    """
    if is_draw:
        with suppress(FloatingPointError):
            return model.v_draw(lead, margin), model.w_draw(lead, margin)
    else:
        v = model.v_win(lead, margin)
        w = v * (v + (lead - margin))  # the package's `w_win`, which would compute V a second time
        if 0 < w < 1:
            return v, w
    return 0.0, 0.0


def _moved(before: TrueSkillRating, shift: float, shrinkage: float, points: float) -> TrueSkillRating:
    """Return the rating after a game that moves mu by `shift` and reduces the variance by `shrinkage`, both relative
    to the variance.
    """
    variance = before.sigma**2
    sigma = before.sigma * math.sqrt(1 - shrinkage * variance)
    return counted(before, before.mu + shift * variance, sigma, points)


Update: TypeAlias = Callable[
    [TrueSkillRating, TrueSkillRating, float, float, float], tuple[TrueSkillRating, TrueSkillRating]
]
"""Type of `update`."""


def counted(before: TrueSkillRating, mu: float, sigma: float, points: float) -> TrueSkillRating:
    """Return the rating with this mu and sigma and one more game, in which the bot scored `points`."""
    return TrueSkillRating(
        mu,
        sigma,
        before.games + 1,
        before.wins + (points == 1),
        before.draws + (points == 0.5),
        before.losses + (points == 0),
    )


def fold(
    records: Iterable[ScoredGame], draw_probability: float, ratings: dict[str, TrueSkillRating] | None = None
) -> dict[str, TrueSkillRating]:
    """Rate the records in the order given, starting from `ratings` (default: all bots new). Void games are ignored."""
    table = dict(ratings or {})
    for record in records:
        # A bot against itself says nothing of its strength.
        if record.kind is Kind.VOID or record.first == record.second:
            continue
        first, second = table.get(record.first, TrueSkillRating()), table.get(record.second, TrueSkillRating())
        table[record.first], table[record.second] = update(first, second, record.points[0], draw_probability)
    return table


def leaderboard(table: dict[str, TrueSkillRating]) -> list[dict[str, Any]]:
    """Rank by mu - 3 sigma, best first; each row has `rank`, `name` and the numbers of `TrueSkillRating.as_json`."""
    order = sorted(table.items(), key=lambda item: (-item[1].conservative, item[0]))
    return [{"rank": rank, "name": name, **rating.as_json()} for rank, (name, rating) in enumerate(order, 1)]


PoolKind = Literal["bots", "people", "remote"]
"""Players of a pool: bots in the arena's sandbox, people, or bots on their authors' machines."""


def pool_of(ruleset: Ruleset, kind: PoolKind = "bots") -> str:
    """Return the pool of a game: its family; if moves or results differ from the family's default, also the variant and
    the options that make the difference.

    Variants that differ only in their start position share a pool: `loa`, `loa/zen`, `tablut/bell+king_max_step=4`.
    People and remote bots have pools of their own: `loa/remote`, `loa/zen/people`.
    """
    name = _class_of(ruleset)
    return name if kind == "bots" else f"{name}/{kind}"


def _class_of(ruleset: Ruleset) -> str:
    rules, default = ruleset.rules, ruleset.rules.variants[0]
    changed = ruleset.changed()
    if not changed and ruleset.variant.params == default.params:
        return rules.family
    preset = rules.settle(ruleset.variant.name).changed() if ruleset.variant in rules.variants else {}
    extra = [f"{name}={value}" for name, value in changed.items() if preset.get(name) != value]
    name = ruleset.variant.name if preset or ruleset.variant.params != default.params else default.name
    return f"{rules.family}/" + "+".join([name, *extra])
