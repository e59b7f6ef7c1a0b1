"""Line, band and bar charts as SVG, coloured by classes of the style sheet, without scripts or third-party code.

Every chart has a title for screen readers. The pages also show the numbers as tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from markupsafe import Markup, escape

from arena.pages.language import digits

P = TypeVar("P")

WIDTH, HEIGHT = 560, 220
WIDE_WIDTH, WIDE_HEIGHT = 800, 320
"""Size of charts of several lines, which are shown larger."""
SMALL_WIDTH, SMALL_HEIGHT = 380, 110
"""Size of charts side by side, drawn smaller so that their letters keep their size."""
_RIGHT, _TOP, _BOTTOM = 10, 12, 26
_LETTER = {WIDTH: 10, WIDE_WIDTH: 12.5}
"""Width of a digit where letters are largest: on phones, see `.chart text` in the style sheet."""
_SMALL_LETTER = 6.5
_GAP = 5
"""Between the labels of the y axis and its lines."""
_MAX_POINTS = 600
"""Longer lines are thinned: the drawing has no more columns."""
_MAX_DOTS = 80
_STYLE = Markup("""
body { font: 15px system-ui, sans-serif; margin: 1rem auto; max-width: 45rem; padding: 0 1rem; }
body { color: #222; background: #fff; }
svg { display: block; width: 100%; } text { fill: #666; font-size: 11px; }
.axis { stroke: #ddd; fill: none; } .line { fill: none; stroke: #1460a8; stroke-width: 2; stroke-linejoin: round; }
""")
"""Style sheet of a page of charts that needs no other file."""
_NEAR_EDGE = 30
"""Labels of the x axis this near the right edge end there, so that none is cut off."""


class Rated(Protocol):
    """A rating, of any pool or of a problem, of which a plot needs mean and deviation."""

    @property
    def mu(self) -> float:
        """Its mean."""

    @property
    def sigma(self) -> float:
        """Its standard deviation."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line. `spread` is half the height of the band around it; `text` returns its tooltip.

    Only a few points of a long line have dots, and only for those the tooltip is made.
    """

    x: float
    y: float
    spread: float = 0.0
    text: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A named line. `style`, 1 to 6, selects its colour and dashes in the style sheet."""

    name: str
    points: Sequence[Point]
    style: int = 1


@dataclass(frozen=True, slots=True)
class Axis:
    """Scale of a chart. `text` formats a value of the x axis; `breaks` are labelled vertical lines."""

    text: Callable[[float], str] = digits
    breaks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    ticks: int = 6
    """Approximate number of labels on the x axis."""
    steps: Sequence[float] = (1, 2, 5)
    """Distances to choose from for the labels on the x axis, round numbers beyond. Counts have no fractions."""
    bounds: tuple[float, float] | None = None
    """The ends of the y axis, by default those of the values. Bands are cut off there."""
    unit: str = ""
    """What follows the numbers of the y axis."""
    spans: Sequence[tuple[float, float]] = field(default_factory=tuple)
    """Shaded intervals of the x axis."""
    span_name: str = ""
    """Tooltip of the shaded intervals."""
    levels: Sequence[tuple[float, str]] = ()
    """Horizontal lines with their names, such as bounds. They are always in sight."""


def ticks(low: float, high: float, count: int = 5, steps: Sequence[float] = ()) -> list[float]:
    """Return about `count` round values within the bounds, if possible multiples of one of the `steps`."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((step for step in steps if step >= raw), 0.0) or next(
        size * power for size in (1, 2, 2.5, 5, 10) if size * power >= raw * 0.999
    )
    start = math.ceil(low / step - 1e-9)
    return [round(index * step, 10) for index in range(start, math.floor(high / step + 1e-9) + 1)]


def thin(points: Sequence[P], limit: int = _MAX_POINTS) -> list[P]:
    """Return at most `limit` points, or what points are made of, the first and the last among them."""
    if len(points) <= limit:
        return list(points)
    step = (len(points) - 1) / (limit - 1)
    return [points[round(index * step)] for index in range(limit)]


def without_wide_band(points: Sequence[Point], most: float) -> list[Point]:
    """Return the points without their band up to the last one at which its half height exceeds `most`."""
    begin = max((place for place, point in enumerate(points, 1) if point.spread > most), default=0)
    return [replace(point, spread=0.0) for point in points[:begin]] + list(points[begin:])


class _Scale:
    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        if not high > low:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)


def _labels(y: _Scale, axis: Axis, height: int) -> list[tuple[float, str]]:
    """Return the labelled values of the y axis."""
    return [(value, digits(value) + axis.unit) for value in ticks(y.low, y.high, 5 if height > SMALL_HEIGHT else 3)]


def _left(y: _Scale, axis: Axis, height: int, width: int) -> float:
    """Return the left margin, which the widest label of the y axis fits in."""
    return _GAP + max(len(label) for _, label in _labels(y, axis, height)) * _LETTER.get(width, _SMALL_LETTER)


def _frame(x: _Scale, y: _Scale, axis: Axis, height: int, width: int) -> Markup:
    parts = [
        Markup('<path class="span" d="M{a} {t}H{b}V{l}H{a}Z"><title>{}</title></path>').format(
            axis.span_name, a=x(start), b=x(end), t=_TOP, l=height - _BOTTOM
        )
        for start, end in axis.spans
    ]
    for value, label in _labels(y, axis, height):
        parts.append(
            Markup('<path class="axis" d="M{} {}H{}"/><text x="{}" y="{}" text-anchor="end">{}</text>').format(
                x.start, y(value), x.end, x.start - _GAP, y(value) + 4, label
            )
        )
    for value in ticks(x.low, x.high, axis.ticks, axis.steps):
        parts.append(
            Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
                x(value), height - 8, "end" if x(value) > width - _NEAR_EDGE else "middle", axis.text(value)
            )
        )
    for value, name in axis.breaks:
        if x.low <= value <= x.high:
            parts.append(
                Markup('<path class="break" d="M{a} {}V{}"/><text x="{b}" y="{}">{}</text>').format(
                    _TOP, height - _BOTTOM, _TOP + 10, name, a=x(value), b=x(value) + 3
                )
            )
    for value, name in axis.levels:
        parts.append(
            Markup('<path class="level" d="M{} {y}H{}"/><text x="{}" y="{}">{}</text>').format(
                x.start, x.end, x.start + 4, y(value) - 4, name, y=y(value)
            )
        )
    return Markup("").join(parts)


def lines(
    title: str, series: Sequence[Series], axis: Axis | None = None, *, width: int = WIDTH, height: int = HEIGHT
) -> Markup:
    """Draw a chart of lines with bands; an empty text without points."""
    axis = axis or Axis()
    drawn = [Series(line.name, thin(line.points), line.style) for line in series if line.points]
    everything = [point for line in drawn for point in line.points]
    if not everything:
        return Markup("")
    low = min(*(point.y - point.spread for point in everything), *(value for value, _ in axis.levels), math.inf)
    high = max(*(point.y + point.spread for point in everything), *(value for value, _ in axis.levels), -math.inf)
    low, high = axis.bounds or (low, high)
    pad = (high - low) * 0.05
    y = _Scale(low - pad, high + pad, height - _BOTTOM, _TOP)
    left = _left(y, axis, height, width)
    x = _Scale(min(p.x for p in everything), max(p.x for p in everything), left, width - _RIGHT)
    parts = [_frame(x, y, axis, height, width)]
    for curve in drawn:
        placed = [(x(p.x), p) for p in curve.points]
        if any(point.spread for point in curve.points):
            upper = [f"{at},{y(min(p.y + p.spread, high))}" for at, p in placed]
            lower = [f"{at},{y(max(p.y - p.spread, low))}" for at, p in reversed(placed)]
            parts.append(Markup('<polygon class="band s{}" points="{}"/>').format(curve.style, " ".join(upper + lower)))
        way = " ".join(f"{at},{y(p.y)}" for at, p in placed)
        parts.append(
            Markup('<polyline class="line s{}" points="{}"><title>{}</title></polyline>').format(
                curve.style, way, curve.name
            )
        )
        dots = (
            # Not by `Markup.format`, which takes ten times as long: only the title is text.
            f'<circle class="dot s{curve.style}" cx="{x(p.x)}" cy="{y(p.y)}" r="3"><title>{_title(p)}</title></circle>'
            for p in thin(curve.points, _MAX_DOTS)
            if p.text or len(curve.points) == 1
        )
        parts.append(Markup("".join(dots)))  # noqa: S704 - titles are escaped, the rest are numbers
    return _svg(title, Markup("").join(parts), (width, height), x)


def bars(
    title: str, series: Sequence[Series], axis: Axis | None = None, *, width: int = WIDTH, height: int = HEIGHT
) -> Markup:
    """Draw a chart of thin bars from zero, such as the time of every move."""
    axis = axis or Axis()
    everything = [point for line in series for point in line.points]
    if not everything:
        return Markup("")
    first, last = min(p.x for p in everything), max(p.x for p in everything)
    y = _Scale(0, max(*(p.y for p in everything), 1e-9), height - _BOTTOM, _TOP)
    x = _Scale(first - 0.5, last + 0.5, _left(y, axis, height, width), width - _RIGHT)
    bar = max(0.6, min(12.0, (x.end - x.start) / (last - first + 1) * 0.8))
    parts = [_frame(x, y, axis, height, width)]
    for group in series:
        shapes = "".join(f"M{x(p.x) - bar / 2:.1f} {y(0)}V{y(p.y)}h{bar:.1f}V{y(0)}Z" for p in group.points if p.y > 0)
        parts.append(
            Markup('<path class="bar{}" d="{}"><title>{}</title></path>').format(group.style, shapes, group.name)
        )
    return _svg(title, Markup("").join(parts), (width, height), x)


def _title(point: Point) -> str:
    """Return the tooltip of a dot, escaped."""
    return escape(point.text() if point.text else "")


def _svg(title: str, body: Markup, size: tuple[int, int], x: _Scale) -> Markup:
    # data-x: the scale, by which the viewer's script places the line of the current ply.
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}" data-x="{:g} {:g} {:g} {:g}">{}'
        '<path class="cursor" d="M0 0" data-top="{}" data-bottom="{}" visibility="hidden"/></svg>'
    ).format(*size, title, x.low, x.high, x.start, x.end, body, _TOP, size[1] - _BOTTOM)


def spark(values: Sequence[float]) -> Markup:
    """Draw a small curve without axes; an empty text for fewer than two values. The page writes the last value."""
    if len(values) < 2:
        return Markup("")
    points = thin([Point(index, value) for index, value in enumerate(values)], 60)
    x, y = _Scale(0, len(values) - 1, 1, 99), _Scale(min(values), max(values), 27, 3)
    way = " ".join(f"{x(point.x)},{y(point.y)}" for point in points)
    return Markup(
        '<svg class="spark" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">'
        '<polyline points="{}"/></svg>'
    ).format(way)


def interval(line: Rated, spread: tuple[float, float]) -> Markup:
    """Draw mu and two sigma around it on a scale with the ends `spread`; the page writes the numbers next to it."""
    scale = _Scale(*spread, 1, 99)
    return Markup(
        '<svg class="interval" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect x="{low}" y="2" width="{width:.1f}" height="2"/>'
        '<rect class="middle" x="{middle:.1f}" width="2" height="6"/></svg>'
    ).format(
        low=(low := scale(line.mu - 2 * line.sigma)),
        width=scale(line.mu + 2 * line.sigma) - low,
        middle=scale(line.mu) - 1,
    )


def share(parts: Sequence[tuple[str, float]]) -> Markup:
    """Draw one bar divided into `parts`, pairs of a CSS class and a value."""
    whole = sum(value for _, value in parts) or 1.0
    at, drawn = 0.0, []
    for name, value in parts:
        width = 100 * value / whole
        if width > 0:
            drawn.append(
                Markup('<rect class="{}" x="{:.2f}" y="0" width="{:.2f}" height="10"/>').format(name, at, width)
            )
        at += width
    return Markup('<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        Markup("").join(drawn)
    )


def page(title: str, charts: Sequence[tuple[str, Markup]], refresh_s: int = 0) -> str:
    """Render a page of charts, each below its heading, that needs no other file.

    The page reloads itself every `refresh_s` seconds unless that is 0.
    """
    refresh = Markup('<meta http-equiv="refresh" content="{}">').format(refresh_s) if refresh_s else ""
    body = Markup("").join(Markup("<h2>{}</h2>\n{}\n").format(heading, chart) for heading, chart in charts)
    return Markup(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">{}\n<title>{}</title>\n<style>{}</style>\n'
        "<h1>{}</h1>\n{}</html>\n"
    ).format(refresh, title, _STYLE, title, body)
