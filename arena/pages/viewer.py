"""The viewer of a game at a ply: the board, its parts in words, marks, chances, charts and moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from aiohttp import web

from arena.documents.analysis import AnalysisResponse
from arena.http.problem import Problem, quoted
from arena.pages import filters, language, times
from arena.pages.drawing import board
from arena.pages.drawing.chart import chart, described, legend
from arena.pages.drawing.piece_shapes import key, looks
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scene, piece_names
from arena.pages.html_table import choice
from referee.rules.core import SIDES, ParseError
from referee.rules.move_input import legal_moves
from referee.rules.position import Position
from referee.rules.rules import Rules
from referee.rules.text_board import rows


def viewer_context(request: web.Request, replay: Replay, analysis: AnalysisResponse | None = None) -> dict[str, Any]:
    """Return the template variables of the viewer, at the requested ply."""
    ply, flip = ply_of(request, replay), choice(request.query, "flip", ("0", "1"), "0") == "1"
    scene = replay.scenes[ply]
    label = board_label(replay.rules, ply)
    chances = chances_of(replay, analysis)
    return {
        "replay": replay,
        "rules": replay.rules,
        "ply": ply,
        "flip": flip,
        "scene": scene,
        "drawing": board.svg(replay.rules, scene, label=label, flip=flip, mark=mark_of(replay, analysis, ply)),
        "sprites": board.sprites([replay.rules]),
        "legend": legend(replay.rules, scene),
        "analysis": analysis,
        "mistakes": _mistakes(replay, analysis),
        "is_first_light": is_first_light(replay.rules),
        "gauge": gauge(chances, ply),
        "has_chances": any(value is not None for value in chances),
        "has_scores": any(report.score is not None or report.pv for report in replay.plies),
        "has_times": any(report.own_ms or report.book for report in replay.plies),
        "grid": grid(replay.rules, scene),
        "piece_key": piece_key(replay.rules),
        "taken": (taken := _taken(replay, ply)),
        "lead": _leads(taken),
        "table": replay.rows(),
    }


def ply_of(request: web.Request, replay: Replay) -> int:
    """Return the ply in the address: a number, or a move and its side (`17y`); by default the last. Raises Problem."""
    text = request.query.get("ply", "").strip()
    if not text:
        return replay.last
    try:
        return replay.ply_named(text)
    except ParseError as error:
        raise Problem("bad-request", f"ply={quoted(text)}: {error.problem}", field="ply", hint=error.hint) from None


def board_label(rules: Rules, ply: int) -> str:
    """Return the alternative text for the drawing of a board."""
    values = {"family": language.translated(rules.title), "ply": ply}
    return (
        language.text("%(family)s board after ply %(ply)s") if ply else language.text("%(family)s board, start")
    ) % values


def legal_as_json(position: Position) -> list[dict[str, Any]]:
    """Return the legal moves for the scripts that enter moves."""
    return [asdict(one) | {"effect": language.translated(one.effect)} for one in legal_moves(position)]


def is_first_light(rules: Rules) -> bool:
    """Return whether the pieces of the first side are light."""
    sides = zip(looks(rules.pieces), rules.pieces, strict=True)
    return any(look.tone == "light" for look, piece in sides if piece.side == "first")


def grid(rules: Rules, scene: Scene) -> list[list[str]]:
    """Describe the board in words, row by row."""
    return [[described(rules, scene, cell) for cell in row if cell.kind != "hole"] for row in rows(scene.board)]


def piece_key(rules: Rules) -> list[tuple[list[str], str, str]]:
    """Return the kinds of pieces that need an explanation: the symbols of both sides, name, note."""
    kinds: dict[str, tuple[list[str], str, str]] = {}
    for piece in rules.pieces:
        if piece.note:
            looks, *_ = kinds.setdefault(
                piece.name, ([], language.translated(piece.name), language.translated(piece.note))
            )
            looks.append(board.prefix(rules.family) + key(piece.symbol))
    return list(kinds.values())


def _taken(replay: Replay, ply: int) -> dict[str, list[tuple[str, str, int]]]:
    """Return the pieces off the board by the side that captured them: (identifier, name, count)."""
    captured: dict[str, list[tuple[str, str, int]]] = {"first": [], "second": []}
    gone, owners = replay.scenes[ply].gone, replay.scenes[ply].owners
    for piece in replay.rules.pieces:
        if count := gone.get(piece.symbol):
            identifier = board.prefix(replay.rules.family) + key(piece.symbol)
            name = language.translated(piece_names(replay.rules)[piece.symbol])
            captured["second" if owners.get(piece.symbol) == "first" else "first"].append((identifier, name, count))
    return captured


def _leads(taken: dict[str, list[tuple[str, str, int]]]) -> dict[str, int]:
    """Return how many more pieces each side has captured than the other."""
    first, second = (sum(count for *_, count in taken[side]) for side in SIDES)
    return {"first": first - second, "second": second - first}


def mark_of(replay: Replay, analysis: AnalysisResponse | None, ply: int) -> str:
    """Return the mark of a ply, such as `??`: the one written after the move by an annotator, else the engine's."""
    if annotation := replay.scenes[ply].annotation:
        return annotation
    analysed = analysis.by_ply.get(ply) if analysis else None
    return analysed.mark if analysed else ""


def _mistakes(replay: Replay, analysis: AnalysisResponse | None) -> list[dict[str, Any]]:
    """Return the moves of a game that the engine marked as mistakes, with the moves it prefers."""
    return [
        {
            "ply": ply.number,
            "side": replay.sides[ply.side == "second"],
            "mark": ply.mark,
            "move": replay.scenes[ply.number].move,
            "played": replay.scenes[ply.number].canonical,
            "best": ply.best,
        }
        for ply in (analysis.plies if analysis else ())
        if ply.mark in ("?", "??") and ply.best and ply.number <= replay.last
    ]


def chances_of(replay: Replay, analysis: AnalysisResponse | None = None) -> list[float | None]:
    """Return the first side's winning chances (-1 to 1) after every ply: the engine's or those the mover reported."""
    by_ply = analysis.by_ply if analysis else {}
    found: list[float | None] = []
    for ply in range(replay.last + 1):
        engines = following.chances_of_first if (following := by_ply.get(ply + 1)) else None
        found.append(replay.chances(ply) if engines is None else engines)
    return found


def gauge(chances: Sequence[float | None], ply: int) -> int:
    """Return the percentage of the evaluation bar that belongs to the first side, by the latest chances up to a ply."""
    return round(50 + 50 * next((one for one in chances[ply::-1] if one is not None), 0.0))


Chart = tuple[str, Any, Sequence[tuple[str, str]]]
"""A title, a drawing, and the key of its colours: class of the style sheet and name."""


def engine_charts(replay: Replay, analysis: AnalysisResponse | None) -> list[Chart]:
    """Return the engine's charts of an analysed game."""
    if analysis is None or not analysis.plies:
        return []
    chances = {ply.number: found for ply in analysis.plies if (found := ply.chances_of_first) is not None}
    title = language.text("Winning chances (up: %(side)s)") % {"side": replay.sides[0]}
    return [(title, replay.chances_chart(chances), ())]


def charts_of(replay: Replay, analysis: AnalysisResponse | None = None) -> list[Chart]:
    """Return the charts of a game that have something to show."""
    sides = tuple((f"key{number}", name) for number, name in enumerate(replay.sides, 1))
    charts: list[Chart] = [
        *engine_charts(replay, analysis),
        (
            language.text("Evaluation (up: %(side)s)") % {"side": replay.sides[0]},
            replay.scores_chart(),
            (*sides, ("key3", language.text("engines disagree"))),
        ),
        (language.text("Time per move"), replay.times_chart(), sides),
        (language.text("Time left"), replay.clocks_chart(), sides),
    ]
    return [plot for plot in charts if plot[1]]


def scenes_body(replay: Replay, after: int, analysis: AnalysisResponse | None = None) -> dict[str, Any]:
    """Return the scenes after the ply `after`, with times and clocks; if it is -1, also the layout of the board."""
    chances = chances_of(replay, analysis)
    body: dict[str, Any] = {
        "last": replay.last,
        "scenes": [scene.as_json() for scene in replay.scenes[after + 1 :]],
        "plies": [
            _ply(replay, index) | {"chance": chances[index], "mark": mark_of(replay, analysis, index)}
            if index
            else None
            for index in range(after + 1, replay.last + 1)
        ],
        "to_move": replay.scenes[-1].to_move,
        "left_ms": replay.clocks[-1],
        "left": [[replay.share(ply, side) for side in (0, 1)] for ply in range(after + 1, replay.last + 1)],
        "clocks": [[times.clock(ms) if ms is not None else "" for ms in pair] for pair in replay.clocks[after + 1 :]],
    }
    if after < 0:
        body["chart"] = chart(replay.rules, replay.scenes[0])
        body["sides"] = list(replay.sides)
    return body


def _ply(replay: Replay, number: int) -> dict[str, Any]:
    """Return a ply for the move list and the panel; the score is from the view of the first side."""
    ply, score = replay.plies[number - 1], replay.score(number)
    return {
        "ms": ply.ms or 0,
        "time": language.text("book") if ply.book else times.milliseconds(ply.own_ms),
        "score": filters.score(score) if score is not None else "",
        "search": filters.thought(ply),
        "pv": bool(ply.pv),
    }
