"""Scores of bots in a tournament, game by game, as curves with bands of their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from arena.pages import filters
from arena.pages.drawing import plot
from arena.services.standings_cache import FinishedGame

MIN_GAMES = 4
"""Games of a bot after which its curve begins: before that a score says little."""
_WIDE = 1.96


def draw(names: Sequence[str], results: Sequence[FinishedGame]) -> Markup:
    """Draw the points per game of the named bots over the games of the tournament; empty without enough games."""
    points = {name: [0.0, 0.0, 0.0] for name in names}
    """Games, points, and squares of the points of each bot."""
    curves: dict[str, list[plot.Point]] = {name: [] for name in names}
    for number, game in enumerate(results, 1):
        for name, scored in zip((game.first, game.second), game.points, strict=True):
            if name not in points:
                continue
            sums = points[name]
            for index, more in enumerate((1.0, scored, scored * scored)):
                sums[index] += more
            if sums[0] >= MIN_GAMES:
                mean = sums[1] / sums[0]
                spread = _WIDE * math.sqrt(max(sums[2] / sums[0] - mean * mean, 0.0) / sums[0])
                curves[name].append(plot.Point(number, 100 * mean, 100 * spread))
    series = [plot.Series(filters.plain(name, 60), curves[name], index) for index, name in enumerate(names, 1)]
    return plot.lines("Score in percent by number of games", series)
