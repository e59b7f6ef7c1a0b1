"""TrueSkill of games of two, compiled: the very operations of the package `trueskill`, in its order, digit by digit.

The package passes messages between objects; for two players and tau = 0 what it computes is written out here. It stays
the canon: `is_exact` plays games with both before a process relies on this, and a game out of the ordinary (an upset so
deep that the package gives up) is left to the package.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.ratings.trueskill import BETA, SIGMA, Rating, counted, draw_margin, update
from referee.rules.jit import jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ENOUGH = 1e-4
_ROUNDS = 10
"""When the package is content with the message of the result, and after how many rounds at the latest."""
_ROOT2 = math.sqrt(2)
_PEAK = 1 / math.sqrt(2 * math.pi)
_VARIANCE = BETA**2
_SQUARE = 2.0
_TRIALS = 500
"""Games played with the package as well before a process relies on this; a tenth of a second."""


@jit
def _cdf(x: float) -> float:
    y = -x / _ROOT2
    z = abs(y)
    t = 1.0 / (1.0 + z / 2.0)
    # fmt: off
    r = t * math.exp(-z * z - 1.26551223 + t * (1.00002368 + t * (
        0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (
            0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (
                -0.82215223 + t * 0.17087277
            )))
        )))
    )))
    # fmt: on
    return 0.5 * (2.0 - r) if y < 0 else 0.5 * r


@jit
def _pdf(x: float, square: float) -> float:
    return _PEAK * math.exp(-(x**square / 2))


@jit
def _win(diff: float, margin: float, square: float) -> tuple[float, float]:
    """V and W of a game that was won; W is not a number where the package gives up."""
    x = diff - margin
    denominator = _cdf(x)
    v = _pdf(x, square) / denominator if denominator != 0 else -x
    w = v * (v + x)
    return v, w if 0 < w < 1 else math.nan


@jit
def _draw(diff: float, margin: float, square: float) -> tuple[float, float]:
    """V and W of a drawn game; W is not a number where the package gives up."""
    gap = abs(diff)
    a, b = margin - gap, -margin - gap
    denominator = _cdf(a) - _cdf(b)
    if denominator == 0:
        return 0.0, math.nan
    pa, pb = _pdf(a, square), _pdf(b, square)
    v = (pb - pa) / denominator
    w = v**square + (a * pa - b * pb) / denominator
    return -v if diff < 0 else v, w


@jit
def _mean(pi: float, tau: float) -> float:
    return tau / pi if pi != 0 else 0.0


@jit
def _rate(  # noqa: PLR0915 - one after the other, as the messages go
    ratings: Any, margin: float, is_draw: bool, square: float, minus_square: float
) -> bool:
    """Put (mu, sigma) of the winner and (mu, sigma) of the loser in `ratings` in order; False: ask the package.

    pi and tau are those of the package: precision, and precision times mean. The exponents are arguments, as the
    compiler would make a product of a square, which is not always the last digit of `pow`.
    """
    pi = np.empty(2)
    tau = np.empty(2)
    skill_pi, skill_tau = np.empty(2), np.empty(2)
    own_pi, own_tau = np.empty(2), np.empty(2)
    team_pi, team_tau = np.empty(2), np.empty(2)
    for seat in range(2):
        first_pi = ratings[2 * seat + 1] ** minus_square
        first_tau = first_pi * ratings[2 * seat]
        sigma = math.sqrt(math.sqrt(1 / first_pi) ** square + 0.0)
        pi[seat] = sigma**minus_square
        tau[seat] = pi[seat] * (first_tau / first_pi)
        a = 1.0 / (1.0 + _VARIANCE * pi[seat])
        own_pi[seat], own_tau[seat] = a * pi[seat], a * tau[seat]
        team_pi[seat] = 1.0 / (1 / own_pi[seat])
        team_tau[seat] = team_pi[seat] * (own_tau[seat] / own_pi[seat])
    mean = team_tau[0] / team_pi[0] + -(team_tau[1] / team_pi[1])
    down_pi = 1.0 / (1 / team_pi[0] + 1 / team_pi[1])
    down_tau = down_pi * mean
    old_pi = old_tau = cut_pi = cut_tau = diff_pi = diff_tau = 0.0
    for _ in range(_ROUNDS):
        diff_pi, diff_tau = diff_pi - old_pi + down_pi, diff_tau - old_tau + down_tau
        old_pi, old_tau = down_pi, down_tau
        rest_pi, rest_tau = diff_pi - cut_pi, diff_tau - cut_tau
        root = math.sqrt(rest_pi)
        if is_draw:
            v, w = _draw(rest_tau / root, margin * root, square)
        else:
            v, w = _win(rest_tau / root, margin * root, square)
        new_pi, new_tau = rest_pi / (1.0 - w), (rest_tau + root * v) / (1.0 - w)
        cut_pi, cut_tau = new_pi + cut_pi - diff_pi, new_tau + cut_tau - diff_tau
        delta = max(abs(diff_tau - new_tau), math.sqrt(abs(diff_pi - new_pi)))
        diff_pi, diff_tau = new_pi, new_tau
        if delta <= _ENOUGH:
            break
    up_pi, up_tau = diff_pi - down_pi, diff_tau - down_tau
    # To the winner: what the result says, plus what is known of the loser; then the other way round.
    other_pi, other_tau = team_pi[1], team_tau[1]
    for seat in range(2):
        if seat == 0:
            mean = _mean(up_pi, up_tau) + _mean(other_pi, other_tau)
            message_pi = 1.0 / (1.0 / up_pi + 1.0 / other_pi)
        else:
            mean = _mean(other_pi, other_tau) + -_mean(up_pi, up_tau)
            message_pi = 1.0 / (1.0 / other_pi + 1.0 / up_pi)
        message_tau = message_pi * mean
        whole_pi, whole_tau = team_pi[seat] + message_pi, team_tau[seat] + message_tau
        other_pi, other_tau = whole_pi - message_pi, whole_tau - message_tau
        share_pi, share_tau = whole_pi - team_pi[seat], whole_tau - team_tau[seat]
        mean = _mean(share_pi, share_tau)
        share_pi = 1.0 / (1.0 / share_pi)
        share_tau = share_pi * mean
        skill_pi[seat] = own_pi[seat] + share_pi - own_pi[seat]
        skill_tau[seat] = own_tau[seat] + share_tau - own_tau[seat]
    for seat in range(2):
        a = 1.0 / (1.0 + _VARIANCE * skill_pi[seat])
        last_pi, last_tau = pi[seat] + a * skill_pi[seat], tau[seat] + a * skill_tau[seat]
        mu, sigma = _mean(last_pi, last_tau), math.sqrt(1 / last_pi)
        stored_pi = sigma**minus_square
        stored_tau = stored_pi * mu
        mu, sigma = stored_tau / stored_pi, math.sqrt(1 / stored_pi)
        if not (math.isfinite(mu) and math.isfinite(sigma)):
            return False
        pi[seat], tau[seat] = mu, sigma
    for seat in range(2):
        ratings[2 * seat], ratings[2 * seat + 1] = pi[seat], tau[seat]
    return True


@jit
def _rate_all(  # noqa: PLR0917 - columns of one table
    table: Any, seats: Any, points: Any, margins: Any, changes: Any, begin: int, square: float, minus_square: float
) -> int:
    """Rate the games from `begin` on, in order; the first one that is the package's to rate, else how many there are.

    `table` has (mu, sigma) of every line and is changed; `seats` the lines of first and second of every game, `points`
    those of first. Into `changes` go mu and sigma before and after: of first, then of second.
    """
    both = np.empty(4)
    for game in range(begin, len(points)):
        for seat in range(2):
            line = seats[game, seat]
            changes[game, 4 * seat] = table[line, 0]
            changes[game, 4 * seat + 1] = table[line, 1]
        winner = 1 if points[game] == 0.0 else 0
        for place in range(2):
            line = seats[game, winner if place == 0 else 1 - winner]
            both[2 * place], both[2 * place + 1] = table[line, 0], table[line, 1]
        if not _rate(both, margins[game], points[game] == 0.5, square, minus_square):
            return game
        for place in range(2):
            seat = winner if place == 0 else 1 - winner
            line = seats[game, seat]
            for number in range(2):
                table[line, number] = both[2 * place + number]
                changes[game, 4 * seat + 2 + number] = both[2 * place + number]
    return len(points)


def play(table: Floats, seats: Ints, points: Floats, chances: Sequence[float], *, compiled: bool = True) -> Floats:
    """Rate games one after the other; `table`, (mu, sigma) of every line, is changed.

    `seats` are the lines of first and second of every game, `points` those of first, `chances` the probabilities of a
    draw. A row for every game: mu and sigma before and after, of first, then of second.
    """
    changes = np.empty((len(points), 8))
    compiled = compiled and all(map(is_exact, set(chances)))
    margins = np.array([draw_margin(chance) for chance in chances])
    game = 0
    while game < len(points):
        if compiled:
            game = _rate_all(table, seats, points, margins, changes, game, _SQUARE, -_SQUARE)
        if game < len(points):
            one, two = seats[game].tolist()
            before = Rating(*table[one].tolist()), Rating(*table[two].tolist())
            after = update(*before, float(points[game]), chances[game])
            for seat, line in enumerate((one, two)):
                old, new = before[seat], after[seat]
                changes[game, 4 * seat : 4 * seat + 4] = old.mu, old.sigma, new.mu, new.sigma
                table[line] = new.mu, new.sigma
            game += 1
    return changes


class _Lists:
    """Stands for numpy where nothing is compiled: lists of few numbers are quicker, and their numbers are Python's."""

    @staticmethod
    def empty(size: int) -> list[float]:
        """So many numbers."""
        return [0.0] * size


_plain: dict[str, Any] = {**globals(), "np": _Lists}
"""The same functions as ordinary Python: for so few games that loading what is compiled would take longer."""
for _one in (_cdf, _pdf, _win, _draw, _mean, _rate):
    _code = getattr(_one, "py_func", _one).__code__
    _plain[_code.co_name] = FunctionType(_code, _plain)


def update_quickly(first: Rating, second: Rating, points: float, draw_probability: float) -> tuple[Rating, Rating]:
    """What `update` of `referee.ratings.trueskill` says, in a fraction of its time."""
    one, two = (second, first) if points == 0 else (first, second)
    both = [one.mu, one.sigma, two.mu, two.sigma]
    try:
        is_rated = _plain["_rate"](both, draw_margin(draw_probability), points == 0.5, _SQUARE, -_SQUARE)
    except (ArithmeticError, ValueError):
        is_rated = False
    if not is_rated:
        return update(first, second, points, draw_probability)
    if points == 0:
        both = [*both[2:], *both[:2]]
    return counted(first, both[0], both[1], points), counted(second, both[2], both[3], 1 - points)


@cache
def is_exact(chance: float) -> bool:
    """Whether what is compiled here agrees with the package in every digit, over random games."""
    rng = random.Random(1)
    strengths = [(rng.uniform(0, 50), rng.choice((SIGMA, rng.uniform(0.3, SIGMA)))) for _ in range(50)]
    seats = np.array([rng.sample(range(len(strengths)), 2) for _ in range(_TRIALS)])
    points = np.array([rng.choice((0.0, 0.5, 1.0)) for _ in range(_TRIALS)])
    canon = play(np.array(strengths), seats, points, [chance] * _TRIALS, compiled=False)
    margins = np.full(_TRIALS, draw_margin(chance))
    mine, table, game = np.empty_like(canon), np.array(strengths), 0
    while (game := _rate_all(table, seats, points, margins, mine, game, _SQUARE, -_SQUARE)) < _TRIALS:
        mine[game] = canon[game]  # the package's to rate
        table[seats[game]] = canon[game, [[2, 3], [6, 7]]]
        game += 1
    return bool((mine == canon).all())
