"""Bots and their versions: lists, details, uploads, retirement."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from aiohttp import web
from pydantic import Field

from arena import services
from arena.api import handle, idempotency
from arena.api.registry import BotName, FamilyName, In, Number, Prose, Routes, Sha256
from arena.documents.bot import BotItem, BotQuery, BotResponse, MeetingsQuery, SubmissionResponse
from arena.documents.game import GameItem, GameQuery
from arena.documents.query import PageQuery, PageResponse
from arena.documents.rating import ChangeItem, ChangeQuery
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult
from arena.http.response_cache import CachePolicy
from arena.http.upload import Upload

routes = Routes()


class BotChange(In):
    """Changes of a bot. Omitted fields keep their values. `plays_people`: people may play against it."""

    description: Prose | None = None
    plays_people: bool | None = None


class SubmitQuery(In):
    """Details of an upload. `family` may be omitted if `bot.toml` names the families. `sha256` is compared with the
    received file.

    `tc` is a time control such as `5/move`: the check tries the bot with this time per move only.
    """

    family: Annotated[list[FamilyName], Field(default_factory=list, max_length=20)]
    sha256: Sha256 | None = None
    tc: Annotated[str, Field(max_length=40)] = ""


@routes.get("/bots", tag="bots", summary="List bots", problems=("not-found",), example="/api/v1/bots?family=loa")
async def list_bots(call: RequestContext, query: BotQuery) -> PageResponse[BotItem]:
    """List bots by name: all, those of one owner, or those with an active version in a family."""
    return await call.run(services.bot.page, call.arena, query)


@routes.get("/bots/{bot}", tag="bots", summary="Get a bot with its versions", example="/api/v1/bots/greedy")
async def show(call: RequestContext, bot: BotName) -> BotResponse:
    """Return a bot with all its versions, newest first, and their ratings in every pool."""
    return await call.run(services.bot.read, call.arena, bot)


@routes.patch(
    "/bots/{bot}",
    tag="bots",
    summary="Change a bot",
    scope="submit",
    example="""/api/v1/bots/zeta -d '{"description": "plays well"}'""",
)
async def change(call: RequestContext, bot: BotName, body: BotChange) -> BotResponse:
    """Change the description of a bot, or whether people may play against it."""
    if body.description is not None:
        await call.run(services.bot.describe, call.arena, bot, body.description, call.user)
    if body.plays_people is not None:
        await call.run(services.bot.allow_people, call.arena, bot, body.plays_people, call.user)
    return await call.run(services.bot.read, call.arena, bot)


@routes.post("/bots/{bot}/retire", tag="bots", summary="Retire a bot", scope="submit", problems=("conflict",))
async def retire(call: RequestContext, bot: BotName) -> BotResponse:
    """Retire all versions of the bot: they enter no new tournaments, but keep their games and ratings. Retiring it
    again has no effect.
    """
    await call.run(services.bot.retire, call.arena, bot, call.user)
    return await call.run(services.bot.read, call.arena, bot)


@routes.post(
    "/bots/{bot}/versions",
    tag="bots",
    summary="Submit a bot",
    scope="submit",
    status=202,
    cost="upload",
    problems=("conflict",),
    example="/api/v1/bots/zeta/versions?family=loa --data-binary @zeta.zip",
    is_idempotent=True,
)
async def submit(
    call: RequestContext, bot: BotName, query: SubmitQuery, upload: Upload
) -> RouteResult[SubmissionResponse] | web.StreamResponse:
    """Upload the next version of a bot; an unused name creates a bot. The version is checked, then becomes active or
    failed.

    The body is the file. The response has its SHA-256 and the address of the check.
    """
    admission = await call.run(services.submission.admit, call.arena, bot, call.user)
    async with upload.received(query.sha256) as file:
        call.context.metrics.upload_bytes.inc(file.size)

        async def take() -> web.StreamResponse:
            submitted = await call.run(
                services.submission.submit,
                call.arena,
                admission,
                file.file,
                families=query.family,
                tc=query.tc,
                sha256=file.sha256,
            )
            body = _submission(submitted)
            given = RouteResult(body, status=202, headers={"Location": body.url}, is_private=True)
            return handle.render(call.request, given, SubmissionResponse, is_private=True)

        return await idempotency.once(call, file.sha256.encode(), take)


@routes.get(
    "/bots/{bot}/versions/{number}", tag="bots", summary="Get a version", example="/api/v1/bots/greedy/versions/1"
)
async def show_version(call: RequestContext, bot: BotName, number: Number) -> RouteResult[SubmissionResponse]:
    """Return a version with its check report. Its owner also gets the bot's standard error."""
    return _shown(await call.run(services.bot.version, call.arena, bot, number, call.identity))


@routes.post(
    "/bots/{bot}/versions/{number}/retire",
    tag="bots",
    summary="Retire a version",
    scope="submit",
    problems=("conflict",),
)
async def retire_version(call: RequestContext, bot: BotName, number: Number) -> SubmissionResponse:
    """Retire the version: it enters no new tournaments, but keeps its games and ratings. Retiring it again has no
    effect.
    """
    return _submission(await call.run(services.bot.retire_version, call.arena, bot, number, call.user))


@routes.get(
    "/bots/{bot}/versions/{number}/changes",
    tag="bots",
    summary="List a version's rating changes",
    example="/api/v1/bots/greedy/versions/1/changes?pool=loa",
)
async def changes(call: RequestContext, bot: BotName, number: Number, query: ChangeQuery) -> PageResponse[ChangeItem]:
    """List the changes of the version's rating in a pool, game by game in order, for a plot."""
    return await call.run(services.bot.changes, call.arena, bot, number, query)


@routes.get("/bots/{bot}/games", tag="bots", summary="List a bot's games", example="/api/v1/bots/greedy/games?limit=5")
async def games(call: RequestContext, bot: BotName, query: PageQuery) -> PageResponse[GameItem]:
    """List the results of all versions of a bot, latest first."""
    return await call.run(services.game.search, call.arena, GameQuery(bot=bot, limit=query.limit, after=query.after))


@routes.get(
    "/bots/{bot}/vs/{other}",
    tag="bots",
    summary="List games between two bots",
    example="/api/v1/bots/greedy/vs/random",
)
async def meetings(call: RequestContext, bot: BotName, other: BotName, query: MeetingsQuery) -> PageResponse[GameItem]:
    """List the results between two bots, of all their versions or of one each, latest first."""
    return await call.run(services.bot.meetings, call.arena, bot, other, query)


@routes.get("/submissions/{submission_id}", tag="bots", summary="Get a submission and its check")
async def show_submission(call: RequestContext, submission_id: Number) -> RouteResult[SubmissionResponse]:
    """Return the progress of an upload: the steps of its check and the verdict. Its owner also gets the bot's standard
    error.
    """
    return _shown(await call.run(services.submission.read, call.arena, submission_id, call.identity))


def _shown(found: SubmissionResponse) -> RouteResult[SubmissionResponse]:
    keep: CachePolicy = "never" if found.is_moving else "revalidate"
    return RouteResult(_submission(found), keep=keep, is_private=found.log is not None)


def _submission(found: SubmissionResponse) -> SubmissionResponse:
    """Return a submission with its address."""
    return replace(found, url=f"{PREFIX}/submissions/{found.id}")
