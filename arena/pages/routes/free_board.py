"""The analysis board: a line from a start, a position or a ply of a game, all of it in the address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from yarl import URL

from arena import services
from arena.analysis.engine import EngineBusyError
from arena.errors import BadValueError
from arena.http.identity import session_of
from arena.http.problem import Problem, as_json
from arena.http.request_context import IDENTITY, charge
from arena.pages import filters, language
from arena.pages.drawing import board
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scene
from arena.pages.html_table import choice, number
from arena.pages.page import (
    ANALYSIS_LINES,
    GAME_ID,
    allow_parameters,
    arena_of,
    error_sentence,
    error_text,
    path_family,
    path_number,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.routes.archive import replay_at
from arena.pages.routes.game import replay_of
from arena.pages.session import checked_form, own_form
from arena.pages.viewer import board_label, grid, is_first_light, legal_as_json, piece_key, ply_of
from arena.services.study import Study
from referee.game.record import GameRecord, read_record, ruleset_of
from referee.rules.core import SIDES, Side
from referee.rules.position import Position
from referee.rules.rules import Rules, Ruleset

routes = web.RouteTableDef()
_ADDRESS = ("variant", "options", "position", "game", "archive", "ply", "moves")
_MAX_PLY = 100_000
_MAX_PIECES_LENGTH = 4000
"""Maximum length of the text that lists the pieces of a position."""
_PLIES_PER_TOKEN = 20
"""Plies of a game that count as one request. Moves in the address count by its length."""
_FIRST_NODES, _MAX_NODES = 2_000, 10_000_000
_NODES_PER_TOKEN = 100_000
"""Nodes of an evaluation that count as one request."""
_MAX_LINES = 5
_SHOWN_LINE = 8
"""Number of moves of an evaluation's variation."""
_LETTERS_PER_TOKEN = 5_000
"""Length of a pasted game or of a tree that counts as one request."""
_LINKED_PLIES = 50
"""Number of last plies that have a link: each link holds the whole line up to its ply."""
_SHOWN = 4
"""Number of moves drawn of the engine's principal variation."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line and the game it branches off from.

    The first `base` plies are the game's, `back` is its address, and `kept` are the query parameters that name the
    start.
    """

    study: Study
    scenes: list[Scene]
    base: int = 0
    back: str = ""
    kept: tuple[tuple[str, str], ...] = ()

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves of the line after those of the game."""
        return self.study.moves[self.base :]

    def address(self, rules: Rules, end: int | None = None) -> str:
        """Return the address of the line, or of its beginning up to a ply."""
        end = len(self.study.moves) if end is None else end
        base = min(self.base, end)
        query = dict(self.kept)
        if self.back:
            query["ply"] = str(base)
        if moves := self.study.moves[base:end]:
            query["moves"] = " ".join(moves)
        return str(URL(f"/{rules.family}/board").with_query(query))


async def _read(request: web.Request, rules: Rules) -> _Line:
    """Return the line in the address, with `move` appended to `moves`. Raises BadValueError, Problem (400, 404)."""
    query = request.query
    text = {name: query.get(name, "").strip() for name in _ADDRESS}
    kept = tuple((name, text[name]) for name in ("variant", "options", "position") if text[name])
    base, back = 0, ""
    moves = [*text["moves"].split(), *([query["move"].strip()] if query.get("move", "").strip() else [])]
    if text["game"] or text["archive"]:
        replay, back = await _game(request, text)
        if replay.ruleset is None or replay.rules.family != rules.family:
            raise BadValueError(f"that game belongs to the family {replay.rules.family}", field="game")
        base = ply_of(request, replay)
        await charge(request, base / _PLIES_PER_TOKEN)
        before = [scene.canonical for scene in replay.scenes[1 : base + 1]]
        kept = (("game", text["game"]),) if text["game"] else (("archive", text["archive"]),)
        study = await run_use_case(services.study.read, replay.ruleset, replay.scenes[0].position, [*before, *moves])
    else:
        ruleset = await run_use_case(services.study.settle, rules.family, text["variant"], text["options"])
        study = await run_use_case(services.study.read, ruleset, text["position"], moves)
    scenes = await run_use_case(request.app[ANALYSIS_LINES].scenes, study.ruleset, study.start, study.moves)
    return _Line(study, scenes, base, back, kept)


async def _game(request: web.Request, text: dict[str, str]) -> tuple[Replay, str]:
    """Return the game from which a line branches off, and its address."""
    if text["game"]:
        if not GAME_ID.fullmatch(text["game"]):
            raise BadValueError("invalid game id", field="game", hint="expected 16 to 32 characters of 0-9 and a-f")
        replay, _ = await replay_of(request, text["game"])
        return replay, f"/games/{text['game']}"
    serial = number(request.query, "archive", 0, low=1, high=2**31 - 1)
    return await replay_at(request, serial), f"/archive/{serial}"


@routes.get("/{family}/board")
@allow_parameters(*_ADDRESS, "flip", "move")
async def show(request: web.Request) -> web.Response:
    """Show the board at the end of the line. `?move=` appends a move in any notation; `?flip=1` turns the board."""
    rules = path_family(request)
    problem, status = "", 200
    try:
        line = await _read(request, rules)
        if request.query.get("move", "").strip():
            return redirect(line.address(rules))
    except BadValueError as error:
        problem, status = f"{error_text(error)}.", 400
        line = await _read(request.clone(rel_url=request.rel_url.with_query({})), rules)
    tree = await _annotations(request, line)
    return render(request, "board.html", status=status, **_shown(request, rules, line, problem=problem, tree=tree))


async def _annotations(request: web.Request, line: _Line) -> str:
    """Return the game that a line branches off from as a tree, if people or an engine added variations or comments."""
    arena, (kind, name) = arena_of(request), (line.kept[0] if line.back else ("", ""))
    record = None
    if kind == "game":
        record = await run(services.game.record_of, arena, name)
    elif kind == "archive":
        record = await run(services.archive.record_of, arena, int(name))
    if record is None:
        return ""
    record = await run(services.analysis.annotated, arena, record)
    return services.study.tree_of_game(record) if record.variations or record.comments else ""


@routes.post("/{family}/board")
async def paste(request: web.Request) -> web.Response:
    """Show a pasted game with its variations and notes."""
    rules = path_family(request)
    fields = await own_form(request)
    text = fields.get("text", "")
    await charge(request, len(text) / _LETTERS_PER_TOKEN)
    try:
        ruleset = await run_use_case(services.study.settle, rules.family, fields.get("variant", ""), "")
        collected, tree = await run_use_case(services.study.tree_of_text, ruleset, text)
        line = await _pasted(request, collected.ruleset, collected.game.position or "", collected.game.moves)
    except BadValueError as error:
        line = await _pasted(request, await run_use_case(services.study.settle, rules.family, "", ""), "", ())
        shown = _shown(request, rules, line, problem=error_sentence(error), pasted=text)
        return render(request, "board.html", status=error.status, **shown)
    return render(request, "board.html", **_shown(request, rules, line, tree=tree))


async def _pasted(request: web.Request, ruleset: Ruleset, position: str, moves: Sequence[str]) -> _Line:
    """Return the line of these moves under these rules. Raises BadValueError."""
    study = await run_use_case(services.study.read, ruleset, position, moves)
    scenes = await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, study.start, study.moves)
    kept = {"variant": ruleset.variant.name, "options": services.study.options_text(ruleset), "position": position}
    return _Line(study, scenes, kept=tuple((name, value) for name, value in kept.items() if value))


@routes.post("/{family}/board/notation")
async def write(request: web.Request) -> web.Response:
    """Serve the variations on the board, or the line in the address, as a game in a notation."""
    rules = path_family(request)
    fields = await own_form(request)
    tree = fields.get("tree", "")
    await charge(request, len(tree) / _LETTERS_PER_TOKEN)
    try:
        line = await _read(request, rules)
        text = await run_use_case(services.study.write_tree, line.study, tree, fields.get("notation", ""))
    except BadValueError as error:
        raise Problem("invalid", str(error), hint=error.hint) from None
    headers = {"Content-Disposition": f'attachment; filename="{rules.family}.txt"', "Cache-Control": "no-store"}
    return web.Response(text=text, content_type="text/plain", charset="utf-8", headers=headers)


def _shown(
    request: web.Request, rules: Rules, line: _Line, *, problem: str = "", tree: str = "", pasted: str = ""
) -> dict[str, Any]:
    """Return the template variables. `tree` is a game with variations as text, `pasted` an unparsable text."""
    scenes, ruleset = line.scenes, line.study.ruleset
    scene, flip = scenes[-1], choice(request.query, "flip", ("0", "1"), "0") == "1"
    return {
        "rules": rules,
        "ruleset": ruleset,
        "line": line,
        "problem": problem,
        "tree": tree,
        "pasted": pasted,
        "scene": scene,
        "flip": flip,
        "drawing": board.svg(rules, scene, label=board_label(rules, scene.ply), flip=flip),
        "sprites": board.sprites([rules]),
        "legend": board.legend(rules, scene),
        "grid": grid(rules, scene),
        "piece_key": piece_key(rules),
        "palette": board.chart(rules, scene)["pieces"] if rules.position_setup else {},
        "options": services.study.options_text(ruleset),
        "plies": [(scene, _link(rules, line, scene.ply)) for scene in scenes],
        "variants": [variant.name for variant in rules.variants],
        "notations": [notation.name for notation in rules.formats],
        "asked_position": request.query.get("position", "")[:1000],
        "example": rules.notation.write_move(line.study.end.moves[0]) if line.study.end.moves else "",
        "standing": _state_sentence(line.study),
        "address": line.address(rules),
        "data": f"/{rules.family}/board/scenes.json",
        "board_nodes": arena_of(request).settings.analysis_board_nodes,
        "is_first_light": is_first_light(rules),
        "fields": [(name, value) for name, value in URL(line.address(rules)).query.items()],
    }


def _link(rules: Rules, line: _Line, ply: int) -> str:
    """Return the address of the line up to a ply, if it is 0 or one of the last `_LINKED_PLIES`; else an empty text."""
    return line.address(rules, ply) if ply == 0 or ply > len(line.scenes) - 1 - _LINKED_PLIES else ""


def _state_sentence(study: Study) -> str:
    """Describe the position: the side to move, or the result."""
    end, sides = study.end, [language.translated(side) for side in study.ruleset.sides]
    outcome = end.outcome
    if outcome is None:
        return language.text("%(side)s to move") % {"side": sides[end.side == "second"]}
    values = {"side": sides[outcome.winner == "second"], "end": language.translated(outcome.reason.sentence)}
    if outcome.winner == "draw":
        return language.text("Game over, drawn: %(end)s") % values
    return language.text("Game over, %(side)s won: %(end)s") % values


@routes.post("/{family}/board/question")
async def ask(request: web.Request) -> web.Response:
    """Request an analysis of the position at the end of the line, for logged-in users."""
    rules = path_family(request)
    await checked_form(request)
    line = await _read(request, rules)
    found = await run_use_case(services.analysis.ask_position, arena_of(request), line.study, request[IDENTITY])
    return redirect(f"/{rules.family}/board/questions/{found.id}")


@routes.get("/{family}/board/questions/{question}")
@allow_parameters()
async def answer(request: web.Request) -> web.Response:
    """Show an analysis to the user who requested it, for a day. The page reloads itself until the analysis is done."""
    rules = path_family(request)
    number_of = path_number(request, "question", "analysis")
    identity = await session_of(request)
    if identity is None:
        return redirect(f"/login?next={request.rel_url.raw_path}")
    question = await run(services.analysis.read_answer, arena_of(request), number_of, identity)
    record = read_record(question.record)
    if record.family != rules.family:
        return redirect(f"/{record.family}/board/questions/{number_of}")
    ruleset = await run_use_case(ruleset_of, record)
    scenes: list[Scene] = []
    if question.answer:
        expected = (question.answer.line or [question.answer.best])[:_SHOWN]
        moves = [*record.moves, *(await run_use_case(_playable, ruleset, record, expected))]
        lines = await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, record.position, moves)
        scenes = lines[len(record.moves) + 1 :]
    return render(
        request,
        "question.html",
        keep="no-store",
        rules=rules,
        sprites=board.sprites([rules]),
        found=question,
        side=ruleset.sides[question.answer is not None and question.answer.side == "second"],
        drawings=[
            (
                scene.move,
                board.svg(
                    rules, scene, label=language.text("Board after %(move)s") % {"move": scene.move}, is_small=True
                ),
            )
            for scene in scenes
        ],
    )


def _playable(ruleset: Ruleset, record: GameRecord, expected: Sequence[str]) -> list[str]:
    """Return the legal beginning of a variation after a game. A bot wrote it, so it may contain illegal moves."""
    legal: list[str] = []
    with suppress(ValueError):
        at = Position.start(ruleset, record.position).play_all(record.moves)
        for move in expected:
            at = at.play(move)
            legal.append(move)
    return legal


@routes.get("/{family}/board/scenes.json")
@allow_parameters(*_ADDRESS, "after", "move")
async def scenes(request: web.Request) -> web.Response:
    """Return the scenes of the line after `?after=` plies, and the legal moves at its end."""
    rules = path_family(request)
    line = await _read(request, rules)
    after = number(request.query, "after", -1, low=0, high=_MAX_PLY)
    body: dict[str, Any] = {
        "base": line.base,
        "last": len(line.scenes) - 1,
        "scenes": [scene.as_json() | {"canonical": scene.canonical} for scene in line.scenes[after + 1 :]],
        "standing": _state_sentence(line.study),
        "to_move": line.study.end.side if line.study.end.outcome is None else "",
        "legal": await run_use_case(_legal, line.study),
    }
    if after < 0:
        body["chart"] = board.chart(rules, line.scenes[0])
    response = web.json_response(body, dumps=as_json)
    response.headers["Cache-Control"] = "no-cache"
    response.enable_compression()
    return response


@routes.get("/{family}/board/evaluation.json")
@allow_parameters(*_ADDRESS, "nodes", "lines")
async def evaluate(request: web.Request) -> web.Response:
    """Evaluate the end of the line with `?nodes=`, and with up to `?lines=` moves, the best first.

    Winning chances and scores are those of the first side.

    The answer is `{"is_busy": true}` if the engine has no time now, and empty if the game is over.
    """
    line = await _read(request, path_family(request))
    nodes = number(request.query, "nodes", _FIRST_NODES, low=0, high=_MAX_NODES)
    count = number(request.query, "lines", 1, low=1, high=_MAX_LINES)
    # The further lines together take about as long as the first.
    await charge(request, (nodes if count == 1 else 2 * nodes) / _NODES_PER_TOKEN)
    end = line.study.end
    if end.outcome is not None:
        return web.json_response({}, headers={"Cache-Control": "no-store"})
    try:
        best, others = await run_use_case(services.analysis.evaluate_now, arena_of(request), line.study, nodes, count)
    except EngineBusyError:
        return web.json_response({"is_busy": True}, headers={"Cache-Control": "no-store"})
    sign = 1 if best.side == "first" else -1
    lines = [(best.score, best.line or [best.best]), *((other.score, other.line) for other in others)]
    body = {
        "depth": best.depth,
        "chance": None if best.winning_chances is None else sign * best.winning_chances,
        "engine": best.engine,
        "lines": [
            {
                "score": filters.score(None if score is None else sign * score),
                "moves": await run_use_case(_displayed, end, moves),
            }
            for score, moves in lines
        ],
    }
    return web.json_response(body, dumps=as_json, headers={"Cache-Control": "no-store"})


def _displayed(at: Position, line: Sequence[str]) -> list[dict[str, str]]:
    """Return the legal beginning of a variation, each move in canonical (`move`) and displayed (`shown`) notation."""
    moves = []
    with suppress(ValueError):
        for move in line[:_SHOWN_LINE]:
            code = at.read(move)
            moves.append({"move": at.ruleset.rules.notation.write_move(code), "shown": at.display(code)})
            at = at.play(code)
    return moves


@routes.get("/{family}/board/position.json")
@allow_parameters("variant", "options", "pieces", "side")
async def set_up(request: web.Request) -> web.Response:
    """Return the text of a position that was set up by hand, with its state or the reason why it is invalid."""
    rules, query = path_family(request), request.query
    ruleset = await run_use_case(
        services.study.settle, rules.family, query.get("variant", ""), query.get("options", "")
    )
    side: Side = "second" if choice(query, "side", SIDES, "first") == "second" else "first"
    try:
        study = await run_use_case(services.study.set_up, ruleset, query.get("pieces", "")[:_MAX_PIECES_LENGTH], side)
        body = {"position": study.start, "message": await run_use_case(_state_sentence, study)}
    except BadValueError as error:  # usual while a position is being set up
        body = {"position": "", "message": error_text(error)}
    return web.json_response(body, dumps=as_json, headers={"Cache-Control": "no-cache"})


def _legal(study: Study) -> list[dict[str, Any]]:
    return legal_as_json(study.end)
