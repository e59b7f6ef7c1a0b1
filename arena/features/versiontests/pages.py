"""Pages of tests: those of a bot with the form that begins one, and those of the user who is logged in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.bot import BotQuery
from arena.features.versiontests import service
from arena.features.versiontests.documents import MAX_BOOK_LENGTH, TESTS, VersionTestRequest
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages.html_table import sorted_table
from arena.pages.page import (
    allow_parameters,
    arena_of,
    error_sentence,
    read_fields,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.session import checked_form
from referee.errors import ArenaError

routes = web.RouteTableDef()
_FIELDS = ("candidate", "baseline", "family", "variant", "time", "elo0", "elo1", "games", "openings", "book")


@routes.get("/tests")
@allow_parameters("sort")
async def mine(request: web.Request) -> web.Response:
    """Show the tests of the user, or the log-in form."""
    identity = await session_of(request)
    if identity is None:
        return redirect("/login?next=/tests")
    tests = await run(service.of_author, arena_of(request), identity.name)
    return render(
        request,
        "versiontests/mine.html",
        keep="no-store",
        tests=sorted_table(request, TESTS, tests.items),
        found=tests,
        max_open=tests.max_open,
        bots=(await run(services.bot.page, arena_of(request), BotQuery(owner=identity.name, limit=100))).items,
    )


@routes.get("/bots/{bot}/tests")
@allow_parameters("sort")
async def of_bot(request: web.Request) -> web.Response:
    """Show the tests of a bot; its owner gets a form that begins one."""
    return await _show(request, {})


@routes.post("/bots/{bot}/tests")
async def begin(request: web.Request) -> web.Response:
    """Begin a test of two versions."""
    given = await checked_form(request)
    fields: dict[str, Any] = {name: given[name] for name in _FIELDS if given.get(name)}
    try:
        test = await run_use_case(
            service.begin, arena_of(request), read_fields(VersionTestRequest, **fields), request[IDENTITY]
        )
    except ArenaError as error:
        return await _show(request, given, error_sentence(error), status=422)
    return redirect(f"/tournaments/{test.id}")


@routes.post("/tests/{tournament}/stop")
async def stop(request: web.Request) -> web.Response:
    """Stop a test, and return to those of the user."""
    await checked_form(request)
    name = request.match_info["tournament"]
    number = int(name) if name.isascii() and name.isdecimal() and len(name) < 10 else 0
    await run(service.stop, arena_of(request), number, request[IDENTITY])
    return redirect("/tests")


async def _show(request: web.Request, given: Mapping[str, str], problem: str = "", status: int = 200) -> web.Response:
    arena, identity = arena_of(request), await session_of(request)
    bot = await run(services.bot.read, arena, request.match_info["bot"])
    tests = await run(service.of_bot, arena, bot.name)
    versions = [version for version in bot.versions if version.state == "active" and not version.place]
    settings = request.app[CONTEXT].settings
    return render(
        request,
        "versiontests/of_bot.html",
        status=status,
        keep="no-store" if identity else "no-cache",
        bot=bot,
        tests=sorted_table(request, TESTS, tests.items),
        found=tests,
        max_open=tests.max_open,
        versions=[version.name for version in versions],
        plays=sorted({name for version in versions for name in version.families}),
        is_own=identity is not None and identity.name == bot.owner and "submit" in identity.scopes,
        given=given,
        problem=problem,
        max_games=settings.version_test_games,
        max_book=MAX_BOOK_LENGTH,
    )
