"""The plot of the points per game of the leaders of a tournament, game by game."""

from __future__ import annotations

import math
from dataclasses import replace

from markupsafe import Markup

from arena import services
from arena.pages import language
from arena.pages.drawing import plot
from arena.pages.filters import plain
from arena.services import Arena
from arena.services.standings_cache import TournamentStandings
from referee.tournament.formats import format_named

MAX_CURVES = 6
"""Most bots whose scores are drawn: there are as many styles of lines."""
MAX_SPREAD = 25.0
"""Half the height of the widest band drawn with a curve, in percent: wider ones say little and hide the rest."""
MAX_BANDS = 3
"""Most of these curves with a band: further bands would cover each other."""
MIN_CURVE_GAMES = 4
"""Games of a bot after which its curve begins: before that a score says little."""


def draw_scores(arena: Arena, tables: TournamentStandings) -> Markup | None:
    """Draw the points per game of the leaders of a ladder or a race, game by game, the first with 95 % bands."""
    if not format_named(tables.tournament.format).has_curves:
        return None
    results = services.standings.results_in_order(arena, tables)
    names = [line.name for line in tables.standing.lines[:MAX_CURVES]]
    curves: dict[str, list[plot.Point]] = {name: [] for name in names}
    sums = {name: [0.0, 0.0, 0.0] for name in names}  # of games, points, and squared points
    for at, game in enumerate(results, 1):
        for name, scored in zip((game.first, game.second), game.points, strict=True):
            if name not in sums:
                continue
            sums[name] = [total + more for total, more in zip(sums[name], (1, scored, scored * scored), strict=True)]
            count, mean = sums[name][0], sums[name][1] / sums[name][0]
            if count >= MIN_CURVE_GAMES:
                spread = 1.96 * math.sqrt(max(sums[name][2] / count - mean * mean, 0.0) / count)
                curves[name].append(plot.Point(at, 100 * mean, 100 * spread))
    for place, points in enumerate(curves.values()):
        points[:] = plot.without_wide_band(points, MAX_SPREAD if place < MAX_BANDS else 0.0)
        if points:  # all lines end at the last game
            points.append(replace(points[-1], x=len(results)))
    series = [plot.Series(plain(name, 60), curves[name], index) for index, name in enumerate(names, 1)]
    title = language.text("Score in percent by number of games")
    size = {"width": plot.WIDE_WIDTH, "height": plot.WIDE_HEIGHT}
    return plot.lines(title, series, plot.Axis(bounds=(0.0, 100.0), unit=" %"), **size) or None
