"""Ratings over time as plots: of the versions of a bot in a pool, or of several bots in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from arena.pages import filters
from arena.pages.drawing import plot
from arena.store import Store
from arena.store.ratings.ratings import ChangeLine

MAX_POINTS = 3000
"""Points of a rating plot that are read; the latest ones."""
MAX_ROWS = 150
_SHORT_S = 5 * 86_400
"""Below that a plot shows hours as well as days."""


@dataclass(frozen=True, slots=True)
class RatingPlot:
    """The rating of one or more versions in a pool: its drawing, and the numbers behind it, latest first."""

    pool: str
    drawing: Any
    changes: Sequence[tuple[str, ChangeLine]]
    count: int


def _changes(store: Store, version_id: int, pool: str) -> list[ChangeLine]:
    found: list[ChangeLine] = []
    after = None
    while len(found) < MAX_POINTS:
        part = store.ratings.changes(version_id, pool, limit=500, after=after)
        found += part.items
        after = part.next
        if after is None:
            break
    return found


def _day(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%d %b")


def _hour(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%d %b %H:%M")


def _second(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%H:%M:%S")


def rating_plot(store: Store, pool: str, versions: Sequence[tuple[int, str]], by: str) -> RatingPlot:
    """The ratings of versions (oldest first) in a pool by `date` or `game`, a labelled break at each one's first."""
    series: list[plot.Series] = []
    breaks: list[tuple[float, str]] = []
    rows: list[tuple[str, ChangeLine]] = []
    count = 0
    for version_id, name in versions:
        changes = _changes(store, version_id, pool)
        points = []
        for change in changes:
            count += 1
            x = change.finished_at.timestamp() if by == "date" and change.finished_at else float(count)
            text = f"{filters.points(change.points)} against {filters.plain(change.opponent, 60)}: mu {change.mu:.2f}"
            points.append(plot.Point(x, change.mu, 2 * change.sigma, text))
        if points:
            series.append(plot.Series(name, points))
            if len(versions) > 1:
                breaks.append((points[0].x, name.rsplit(" ", 1)[-1]))
        rows += [(name, change) for change in changes]
    axis = _axis(series, by, breaks)
    title = f"Rating in {pool} by {'date' if by == 'date' else 'game number'}: mu with its band of two sigma"
    return RatingPlot(pool, plot.lines(title, series, axis), rows[::-1][:MAX_ROWS], count)


def comparison_plot(store: Store, pool: str, bots: Mapping[str, Sequence[int]], by: str) -> Any:
    """The ratings of several bots in a pool in one plot, each by its versions one after the other."""
    series = []
    for number, (bot, versions) in enumerate(bots.items(), 1):
        changes = [change for version_id in versions for change in _changes(store, version_id, pool)]
        points = [
            plot.Point(
                change.finished_at.timestamp() if by == "date" and change.finished_at else float(count),
                change.mu,
                2 * change.sigma,
                f"{bot}: mu {change.mu:.2f}",
            )
            for count, change in enumerate(changes, 1)
        ]
        series.append(plot.Series(bot, sorted(points, key=lambda point: point.x), number))
    title = f"Ratings in {pool} by {'date' if by == 'date' else 'game number'}: mu with bands of two sigma"
    return plot.lines(title, series, _axis(series, by))


def _axis(series: Sequence[plot.Series], by: str, breaks: Sequence[tuple[float, str]] = ()) -> plot.Axis:
    places = [point.x for one in series for point in one.points]
    span = max(places) - min(places) if places else 0.0
    is_short = span < _SHORT_S
    date = _second if span < 3600 else _hour if is_short else _day
    return plot.Axis(text=date if by == "date" else "{:g}".format, breaks=breaks, ticks=4 if is_short else 6)
