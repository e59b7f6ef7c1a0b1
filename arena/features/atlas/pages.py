"""Fairness of the starts of a family, by the games that an engine played from each of them (the atlas): a table, a
histogram, boards, and a page for each start.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.archive import ExplorerQuery, PlayedFigures
from arena.documents.table import Column, text_column
from arena.features.atlas.report import STARTS
from arena.http.problem import not_found
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.filters import path_part
from arena.pages.html_table import sorted_table
from arena.pages.language import number, text
from arena.pages.page import allow_parameters, arena_of, cached_page, path_family, redirect, render, run, run_use_case
from referee.game import starts as published
from referee.game.starts import StartFigures
from referee.ratings.interval import wilson
from referee.rules.rules import Rules

routes = web.RouteTableDef()
_MAX_LINES, _MAX_BOARDS = 100, 4
_COLUMNS: tuple[Column[StartFigures], ...] = (
    *STARTS,
    Column("others", "At other strengths", lambda start: start.variant, "at_other_strengths", is_sortable=False),
)
_FIGURES: tuple[Column[StartFigures], ...] = (
    Column("nodes", "Nodes per move", lambda start: start.nodes, is_heading=True),
    *(
        replace(column, form="share_with_range") if column.key == "advantage" else column
        for column in STARTS
        if column.key != "variant"
    ),
    text_column("endings", "Terminations", lambda start: start.endings, "endings", is_sortable=False),
)
FAIREST, SOURCE, _NEAR = "fairest", "arena", 2
_WIDTH, _HEIGHT, _BARS = 560, 160, 40


@dataclass(frozen=True, slots=True)
class StartLine:
    """The results of a start at the highest number of nodes per move; `others` has (nodes, advantage) for the lower
    numbers.
    """

    figures: StartFigures
    others: Sequence[tuple[int, float]]


@routes.get("/{family}/starts")
@cached_page
@allow_parameters("sort")
async def show(request: web.Request) -> web.Response:
    """Show the starts of a family, by default the fairest first."""
    rules = path_family(request)
    lines = await run(_lines, rules.family)
    table = sorted_table(request, _COLUMNS, [line.figures for line in lines])
    ends = (
        [*lines[:_MAX_BOARDS], *reversed(lines[-_MAX_BOARDS:])]
        if len(lines) > 2 * _MAX_BOARDS
        else lines[: 2 * _MAX_BOARDS]
    )
    return render(
        request,
        "atlas/starts.html",
        rules=rules,
        lines=lines,
        table=replace(table, rows=table.rows[:_MAX_LINES]),
        others={line.figures.variant: line.others for line in lines},
        uneven=sum(line.figures.is_uneven for line in lines),
        mean=sum(line.figures.shrunk * line.figures.games for line in lines)
        / max(1, sum(line.figures.games for line in lines)),
        histogram=_histogram([line.figures.shrunk for line in lines]),
        boards=await run(_boards, rules, ends),
        handicaps=published.handicaps(rules.family),
        bound=f"{published.narrowest_bound(rules.settle()) or 0.05:g}",
        remarks=published.remarks(rules.family),
        sprites=board.sprites([rules]),
    )


@routes.get("/{family}/starts/{start}")
@cached_page
@allow_parameters("sort")
async def show_one(request: web.Request) -> web.Response:
    """Show the results of one start at every strength of the engine; `fairest` redirects to the fairest start."""
    rules = path_family(request)
    lines = await run(_lines, rules.family)
    names = [line.figures.variant for line in lines]
    name = request.match_info["start"]
    if name == FAIREST and names:
        return redirect(f"/{rules.family}/starts/{path_part(names[0])}")
    if name not in names:
        raise not_found("start", name, names[:_MAX_LINES])
    place = names.index(name)
    variant, *given = name.split("+")
    ruleset = await run_use_case(services.study.settle, rules.family, variant, ",".join(given))
    played = None
    if not given:  # the archive distinguishes variants, but not options
        query = ExplorerQuery(variant=variant, source=SOURCE)
        played = await run_use_case(services.explorer.explore, arena_of(request), rules.family, query)
    figures = [figure for figure in published.published(rules.family) if figure.variant == name]
    scene = await run(lambda: Scenes(ruleset).items[0])
    return render(
        request,
        "atlas/start.html",
        rules=rules,
        ruleset=ruleset,
        name=name,
        options=",".join(given),
        best=lines[place].figures,
        place=place + 1,
        count=len(lines),
        neighbours=[
            (lines[other].figures, other < place)
            for other in range(max(0, place - _NEAR), min(len(lines), place + _NEAR + 1))
            if other != place
        ],
        table=sorted_table(request, _FIGURES, figures),
        played=played,
        interval=_interval(played) if played else None,
        drawing=board.svg(rules, scene, label=text("start of %(name)s") % {"name": name}, is_small=False),
        sprites=board.sprites([rules]),
    )


def _interval(figures: PlayedFigures) -> tuple[float, float, float] | None:
    """Return the first side's advantage in archived games with its Wilson interval; None without a result."""
    games = figures.first + figures.draw + figures.second
    if not games:
        return None
    points = figures.first + figures.draw / 2
    low, high = wilson(points, games)
    return points / games - 0.5, low - 0.5, high - 0.5


def _lines(family: str) -> list[StartLine]:
    measured = published.published(family)
    others: dict[str, list[tuple[int, float]]] = {}
    for start in measured:
        others.setdefault(start.variant, []).append((start.nodes, start.shrunk))
    lines = [
        StartLine(start, [(nodes, share) for nodes, share in others[start.variant] if nodes != start.nodes])
        for start in published.strongest(measured)
    ]
    return sorted(lines, key=lambda line: (abs(line.figures.shrunk), line.figures.variant))


def _boards(rules: Rules, lines: Sequence[StartLine]) -> list[tuple[StartLine, Any]]:
    """Draw starts as small boards."""
    drawn = []
    for line in lines:
        name = line.figures.variant.partition("+")[0]
        scene = Scenes(rules.settle(name)).items[0]
        label = text("start of %(name)s") % {"name": line.figures.variant}
        drawn.append((line, board.svg(rules, scene, label=label, is_small=True)))
    return drawn


def _histogram(shares: Sequence[float]) -> Markup:
    """Draw a histogram of the starts by the advantage of the first side; the scale ends at a multiple of 10 %."""
    reach = max(1, min(5, math.ceil(10 * max((abs(share) for share in shares), default=0)))) / 10
    counts = Counter(min(_BARS - 1, int((share / reach + 1) / 2 * _BARS)) for share in shares)
    most, width = max(counts.values(), default=1), _WIDTH / _BARS
    bars = Markup("").join(
        Markup(
            '<rect class="bar{side}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"><title>{t}</title></rect>'
        ).format(
            side=1 if place >= _BARS // 2 else 2,
            x=place * width + 0.5,
            y=(_HEIGHT - 24) * (1 - count / most) + 4,
            w=width - 1,
            h=(_HEIGHT - 24) * count / most,
            t=text("%(low)s %% to %(high)s %%: %(count)s")
            % {
                "low": number(100 * reach * (2 * place / _BARS - 1), 1, is_signed=True),
                "high": number(100 * reach * (2 * (place + 1) / _BARS - 1), 1, is_signed=True),
                "count": count,
            },
        )
        for place, count in sorted(counts.items())
    )
    labels = Markup("").join(
        Markup('<text x="{x:.0f}" y="{y}" text-anchor="middle">{t}</text>').format(
            x=_WIDTH * (part + 1) / 2,
            y=_HEIGHT - 4,
            t=f"{number(100 * reach * part, is_signed=True)}\N{NO-BREAK SPACE}%" if part else text("even"),
        )
        for part in (-0.8, -0.4, 0.0, 0.4, 0.8)
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">'
        '<path class="axis" d="M0 {y}H{w}M{m} 0V{y}"/>{bars}{labels}</svg>'
    ).format(
        label=text("Number of starts by advantage"),
        w=_WIDTH,
        h=_HEIGHT,
        y=_HEIGHT - 20,
        m=_WIDTH // 2,
        bars=bars,
        labels=labels,
    )
