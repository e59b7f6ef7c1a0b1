"""Rating plots: the versions of one bot in a pool, or several bots in one pool."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import Any

from babel.dates import format_datetime
from markupsafe import Markup

from arena.documents.rating import ChangeItem, RatingCurve
from arena.pages import filters
from arena.pages.drawing import plot
from arena.pages.language import digits, locale, number, text
from arena.services.bot import LISTED_CHANGES

MAX_DOTS = 30
"""Most games of a bot that are dots on the line of a comparison."""
_HOUR_S, _DAY_S = 3600, 86_400
_STEPS_S = (
    *(1, 2, 5, 15, 30, 60, 120, 300, 600, 1800),
    *(hours * _HOUR_S for hours in (1, 3, 6, 12)),
    *(days * _DAY_S for days in (1, 2, 7, 14, 28)),
)
"""Distances of the labels of a time axis: whole days begin at midnight UTC."""
_SHORT_S = 5 * _DAY_S
"""Below this span the time axis shows hours as well as days."""


@dataclass(frozen=True, slots=True)
class RatingPlot:
    """A plot of the ratings of some versions in a pool, and their latest rating changes; `count` is that of all."""

    pool: str
    drawing: Any
    changes: Sequence[tuple[str, ChangeItem]]
    count: int


def _day(value: float) -> str:
    return format_datetime(datetime.fromtimestamp(value, UTC), "dd MMM", locale=locale())


def _hour(value: float) -> str:
    return _zoned(value, "dd MMM HH:mm", "hour")


def _second(value: float) -> str:
    return _zoned(value, "HH:mm:ss", "second")


def _zoned(value: float, form: str, unit: str) -> str:
    """Return a time in UTC, which times.js writes in the reader's zone."""
    shown = format_datetime(datetime.fromtimestamp(value, UTC), form, locale=locale())
    return Markup('<tspan data-at="{:.0f}" data-unit="{}">{}</tspan>').format(value, unit, shown)


def _moment(change: ChangeItem) -> float:
    return change.finished_at.timestamp() if change.finished_at else 0.0


def _placed(versions: Iterable[Sequence[ChangeItem]], by: str) -> Iterator[list[tuple[float, ChangeItem]]]:
    """Yield the changes of each version with their places on the x axis: by date, or by game, on from version to
    version.
    """
    before = 0
    for changes in versions:
        yield [(_moment(change) if by == "date" else float(before + change.number), change) for change in changes]
        before += changes[-1].number if changes else 0


def _tooltip(change: ChangeItem) -> str:
    return text("%(points)s against %(rival)s: mu %(mu)s") % {
        "points": filters.points(change.points),
        "rival": filters.plain(change.opponent, 60),
        "mu": number(change.mu, 2),
    }


def rating_plot(pool: str, versions: Mapping[str, Sequence[ChangeItem]], by: str) -> RatingPlot:
    """Plot the ratings of versions (oldest first) in a pool by `date` or `game`.

    A labelled vertical line marks the first game of each version.
    """
    series: list[plot.Series] = []
    breaks: list[tuple[float, str]] = []
    rows: list[tuple[str, ChangeItem]] = []
    for (name, changes), placed in zip(versions.items(), _placed(versions.values(), by), strict=True):
        points = [plot.Point(place, change.mu, 2 * change.sigma, partial(_tooltip, change)) for place, change in placed]
        if points:
            series.append(plot.Series(name, points))
            if len(versions) > 1:
                breaks.append((points[0].x, name.rsplit(" ", 1)[-1]))
            first = changes[-1].number - LISTED_CHANGES
            rows += [(name, change) for change in changes if change.number > first]
    axis = _time_axis(series, by, breaks)
    form = (
        text("Rating in %(pool)s by date: mu with its band of two sigma")
        if by == "date"
        else text("Rating in %(pool)s by game number: mu with its band of two sigma")
    )
    title = form % {"pool": pool}
    count = sum(changes[-1].number for changes in versions.values() if changes)
    return RatingPlot(pool, plot.lines(title, series, axis), rows[::-1][:LISTED_CHANGES], count)


def comparison_plot(pool: str, bots: Mapping[str, RatingCurve], by: str) -> Any:
    """Plot the ratings of several bots in a pool; the versions of a bot form one line."""
    series = []
    for style, (bot, curve) in enumerate(bots.items(), 1):
        # Versions may have played at the same time.
        placed = sorted(itertools.chain.from_iterable(_placed(curve.versions, by)), key=itemgetter(0))
        points = [
            plot.Point(
                place,
                change.mu,
                2 * change.sigma,
                partial("{} · mu {}".format, bot, number(change.mu, 2)) if len(placed) <= MAX_DOTS else None,
            )
            for place, change in placed
        ]
        series.append(plot.Series(bot, points, style))
    form = (
        text("Ratings in %(pool)s by date: mu with bands of two sigma")
        if by == "date"
        else text("Ratings in %(pool)s by game number: mu with bands of two sigma")
    )
    size = {"width": plot.WIDE_WIDTH, "height": plot.WIDE_HEIGHT}
    return plot.lines(form % {"pool": pool}, series, _time_axis(series, by), **size)


def _time_axis(series: Sequence[plot.Series], by: str, breaks: Sequence[tuple[float, str]] = ()) -> plot.Axis:
    places = [point.x for one in series for point in one.points]
    span = max(places) - min(places) if places else 0.0
    is_short = span < _SHORT_S
    date = _second if span < _HOUR_S else _hour if is_short else _day
    if by != "date":
        return plot.Axis(text=digits, breaks=breaks)
    return plot.Axis(text=date, breaks=breaks, ticks=4 if is_short else 6, steps=_STEPS_S)
