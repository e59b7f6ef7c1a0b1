"""The analysis board: a line of moves, a pasted game, a position set up by hand, and the variations as a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web
from yarl import URL

from arena import services
from arena.errors import BadValueError
from arena.http.problem import Problem, as_json
from arena.http.request_context import charge
from arena.pages import language
from arena.pages.drawing import board
from arena.pages.drawing.chart import chart, legend
from arena.pages.html_table import choice, number
from arena.pages.page import (
    ANALYSIS_LINES,
    allow_parameters,
    arena_of,
    error_sentence,
    error_text,
    path_family,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.routes.board_line import LINE_PARAMETERS, MAX_PLY, BoardLine, read_line
from arena.pages.session import own_form
from arena.pages.viewer import board_label, grid, is_first_light, legal_as_json, piece_key
from arena.services.study import Study
from referee.rules.core import SIDES, Side
from referee.rules.rules import Rules, Ruleset

routes = web.RouteTableDef()
_MAX_PIECES_LENGTH = 4000
"""Maximum length of the text that lists the pieces of a position."""
_LETTERS_PER_TOKEN = 5_000
"""Length of a pasted game or of a tree that counts as one request."""
_LINKED_PLIES = 50
"""Number of last plies that have a link: each link holds the whole line up to its ply."""


@routes.get("/{family}/board")
@allow_parameters(*LINE_PARAMETERS, "flip", "move")
async def show(request: web.Request) -> web.Response:
    """Show the board at the end of the line. `?move=` appends a move in any notation; `?flip=1` turns the board."""
    rules = path_family(request)
    problem, status = "", 200
    try:
        line = await read_line(request, rules)
        if request.query.get("move", "").strip():
            return redirect(line.address(rules))
    except BadValueError as error:
        problem, status = f"{error_text(error)}.", 400
        line = await read_line(request.clone(rel_url=request.rel_url.with_query({})), rules)
    tree = await _annotations(request, line)
    return _page(request, rules, line, status=status, problem=problem, tree=tree)


async def _annotations(request: web.Request, line: BoardLine) -> str:
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
        return _page(request, rules, line, status=error.status, problem=error_sentence(error), pasted=text)
    return _page(request, rules, line, tree=tree)


async def _pasted(request: web.Request, ruleset: Ruleset, position: str, moves: Sequence[str]) -> BoardLine:
    """Return the line of these moves under these rules. Raises BadValueError."""
    study = await run_use_case(services.study.read, ruleset, position, moves)
    scenes = await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, study.start, study.moves)
    kept = {"variant": ruleset.variant.name, "options": services.study.options_text(ruleset), "position": position}
    return BoardLine(study, scenes, kept=tuple((name, value) for name, value in kept.items() if value))


@routes.post("/{family}/board/notation")
async def write(request: web.Request) -> web.Response:
    """Serve the variations on the board, or the line in the address, as a game in a notation."""
    rules = path_family(request)
    fields = await own_form(request)
    tree = fields.get("tree", "")
    await charge(request, len(tree) / _LETTERS_PER_TOKEN)
    try:
        line = await read_line(request, rules)
        text = await run_use_case(services.study.write_tree, line.study, tree, fields.get("notation", ""))
    except BadValueError as error:
        raise Problem("invalid", str(error), hint=error.hint) from None
    headers = {"Content-Disposition": f'attachment; filename="{rules.family}.txt"', "Cache-Control": "no-store"}
    return web.Response(text=text, content_type="text/plain", charset="utf-8", headers=headers)


def _page(
    request: web.Request,
    rules: Rules,
    line: BoardLine,
    *,
    status: int = 200,
    problem: str = "",
    tree: str = "",
    pasted: str = "",
) -> web.Response:
    """Return the page of a line. `tree` is a game with variations as text, `pasted` an unparsable text."""
    scenes, ruleset = line.scenes, line.study.ruleset
    scene, flip = scenes[-1], choice(request.query, "flip", ("0", "1"), "0") == "1"
    return render(
        request,
        "board.html",
        status=status,
        rules=rules,
        ruleset=ruleset,
        line=line,
        problem=problem,
        tree=tree,
        pasted=pasted,
        scene=scene,
        flip=flip,
        drawing=board.svg(rules, scene, label=board_label(rules, scene.ply), flip=flip),
        sprites=board.sprites([rules]),
        legend=legend(rules, scene),
        grid=grid(rules, scene),
        piece_key=piece_key(rules),
        palette=chart(rules, scene)["pieces"] if rules.position_setup else {},
        options=services.study.options_text(ruleset),
        plies=[(scene, _link(rules, line, scene.ply)) for scene in scenes],
        variants=[variant.name for variant in rules.variants],
        notations=[notation.name for notation in rules.formats],
        asked_position=request.query.get("position", "")[:1000],
        example=rules.notation.write_move(line.study.end.moves[0]) if line.study.end.moves else "",
        standing=_state_sentence(line.study),
        address=line.address(rules),
        data=f"/{rules.family}/board/scenes.json",
        board_nodes=arena_of(request).settings.analysis_board_nodes,
        is_first_light=is_first_light(rules),
        fields=list(URL(line.address(rules)).query.items()),
    )


def _link(rules: Rules, line: BoardLine, ply: int) -> str:
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


@routes.get("/{family}/board/scenes.json")
@allow_parameters(*LINE_PARAMETERS, "after", "move")
async def scenes(request: web.Request) -> web.Response:
    """Return the scenes of the line after `?after=` plies, and the legal moves at its end."""
    rules = path_family(request)
    line = await read_line(request, rules)
    after = number(request.query, "after", -1, low=0, high=MAX_PLY)
    body: dict[str, Any] = {
        "base": line.base,
        "last": len(line.scenes) - 1,
        "scenes": [scene.as_json() | {"canonical": scene.canonical} for scene in line.scenes[after + 1 :]],
        "standing": _state_sentence(line.study),
        "to_move": line.study.end.side if line.study.end.outcome is None else "",
        "legal": await run_use_case(legal_as_json, line.study.end),
    }
    if after < 0:
        body["chart"] = chart(rules, line.scenes[0])
    response = web.json_response(body, dumps=as_json)
    response.headers["Cache-Control"] = "no-cache"
    response.enable_compression()
    return response


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
