"""The form that adds a problem."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from arena import services
from arena.errors import BadValueError
from arena.features.problems import service
from arena.features.problems.documents import WinProblemRequest
from arena.http.identity import session_of
from arena.pages import language
from arena.pages.drawing import board
from arena.pages.drawing.chart import chart
from arena.pages.page import (
    ANALYSIS_LINES,
    allow_parameters,
    arena_of,
    error_sentence,
    path_family,
    read_fields,
    redirect,
    render,
    run_use_case,
)
from arena.pages.session import checked_form
from referee.errors import ArenaError
from referee.rules.rules import Rules

routes = web.RouteTableDef()
_FIELDS = ("position", "variant", "options", "max_moves", "condition", "title", "text", "source")


@routes.get("/{family}/problems/new")
@allow_parameters("position", "variant", "options")
async def form(request: web.Request) -> web.Response:
    """Show the form that adds a problem; `?position=` is the position to begin with."""
    return await _form(request, path_family(request), request.query)


async def _form(
    request: web.Request, rules: Rules, given: Mapping[str, str], problem: str = "", status: int = 200
) -> web.Response:
    fields = {name: given.get(name, "")[:1000] for name in _FIELDS}
    try:
        ruleset = await run_use_case(services.study.settle, rules.family, fields["variant"], fields["options"])
        study = await run_use_case(services.study.read, ruleset, fields["position"], ())
    except BadValueError as error:
        problem = problem or error_sentence(error)
        ruleset = await run_use_case(services.study.settle, rules.family, "", "")
        study = await run_use_case(services.study.read, ruleset, "", ())
    scene = (await run_use_case(request.app[ANALYSIS_LINES].scenes, ruleset, study.start, ()))[0]
    return render(
        request,
        "problems/form.html",
        status=status,
        keep="no-store",
        rules=rules,
        ruleset=ruleset,
        scene=scene,
        given={**fields, "position": study.start, "options": services.study.options_text(ruleset)},
        counters=getattr(rules.kernel, "COUNTERS", ()),
        palette=chart(rules, scene)["pieces"] if rules.position_setup else {},
        variants=[variant.name for variant in rules.variants],
        drawing=board.svg(rules, scene, label=language.text("Position of the problem")),
        sprites=board.sprites([rules]),
        problem=problem,
    )


@routes.post("/{family}/problems/new")
async def add(request: web.Request) -> web.Response:
    """Store a problem, which the solver will check, and redirect to its page."""
    rules = path_family(request)
    fields = await checked_form(request)
    try:
        wish = read_fields(
            WinProblemRequest,
            family=rules.family,
            position=fields.get("position", ""),
            variant=fields.get("variant") or None,
            max_moves=_whole(fields.get("max_moves", "")),
            **{
                name: fields.get(name, "").replace("\r", "")
                for name in ("options", "condition", "title", "text", "source")
            },
        )
        added = await run_use_case(service.add, arena_of(request), wish, await session_of(request))
    except ArenaError as error:
        if error.status >= 500:
            raise
        return await _form(request, rules, fields, error_sentence(error), error.status)
    return redirect(f"/problems/{added.id}")


def _whole(text: str) -> int | str:
    """Return a number of a form; any other text is returned as it is, so that validation names the field."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else text
