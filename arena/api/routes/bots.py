"""Bots and their versions: lists, documents, uploads, retirement. Refuses to know how a bot is checked."""

from __future__ import annotations

from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from arena.api import handle, idempotency
from arena.api.page import Page, PageQuery, page
from arena.api.registry import PREFIX, Routes
from arena.api.schemas import (
    BotChange,
    BotDocument,
    BotItem,
    BotName,
    ChangeItem,
    FamilyName,
    GameItem,
    In,
    Number,
    PoolName,
    PoolRating,
    Sha256,
    Submission,
    UserName,
    VersionItem,
)
from arena.http.call import Answer, Call
from arena.http.problem import Problem, not_found
from arena.http.upload import Upload
from arena.store import NotFoundError
from arena.store.models import Bot
from arena.store.versions import VersionLine
from arena.submission import receive

routes = Routes()


class BotQuery(PageQuery):
    """Which bots."""

    family: FamilyName | None = None
    owner: UserName | None = None
    retired: bool = False


class SubmitQuery(In):
    """What an upload claims to be; `bot.toml` may name the families instead. `sha256` is compared with what came in."""

    family: Annotated[list[FamilyName], Field(default_factory=list, max_length=20)]
    sha256: Sha256 | None = None


class ChangeQuery(PageQuery):
    """The ratings of which pool."""

    pool: PoolName


async def found(call: Call, name: str) -> Bot:
    """The bot of that name. Raises Problem with near names."""
    try:
        return await call.run(call.store.bots.find, name)
    except NotFoundError:
        raise not_found("bot", name, await call.run(call.store.bots.names)) from None


async def owned(call: Call, name: str) -> Bot:
    """The bot of that name, for its owner and for admins. Raises Problem (403, 404)."""
    bot = await found(call, name)
    if bot.owner_id != call.user.user_id and not call.may("admin"):
        raise Problem("forbidden", f"bot {name} is not yours", hint="its owner or an admin can do that")
    return bot


def version_item(line: VersionLine) -> VersionItem:
    """A row as a document."""
    return VersionItem(
        id=line.id,
        bot=line.bot,
        owner=line.owner,
        number=line.number,
        name=line.name,
        state=line.state,  # type: ignore[arg-type]
        problem=line.problem,
        sha256=line.bundle,
        size_bytes=line.size_bytes,
        created=line.created,
        checked=line.checked,
        families={family: list(variants) for family, variants in line.families.items()},
    )


@routes.get("/bots", tag="bots", summary="All bots", problems=("not-found",), example="/api/v1/bots?family=loa")
async def list_bots(call: Call, query: BotQuery) -> Page[BotItem]:
    """Bots by name: all, of one owner, or those with an active version in a family."""
    owner = (await call.run(call.store.users.find, query.owner)).id if query.owner else None
    rows = await call.run(
        lambda: call.store.bots.page(
            owner_id=owner,
            family=query.family,
            with_retired=query.retired,
            limit=query.limit,
            after=query.after,
        )
    )
    return page(rows, BotItem.model_validate)


@routes.get("/bots/{bot}", tag="bots", summary="A bot with its versions", example="/api/v1/bots/greedy")
async def show(call: Call, bot: BotName) -> BotDocument:
    """A bot with all its versions, newest first, and their ratings in every pool."""
    return await _document(call, await found(call, bot))


async def _document(call: Call, row: Bot) -> BotDocument:
    assert row.id is not None
    owner = await call.run(call.store.users.get, row.owner_id)
    versions = await call.run(call.store.versions.of_bot, row.id)
    ratings = await call.run(call.store.ratings.of_versions, [line.id for line in versions]) if versions else []
    return BotDocument(
        name=row.name,
        owner=owner.name,
        description=row.description,
        is_retired=row.is_retired,
        created=row.created,
        versions=[version_item(line) for line in versions],
        ratings=[PoolRating.model_validate(line) for line in ratings],
    )


@routes.patch(
    "/bots/{bot}",
    tag="bots",
    summary="Change a bot's description",
    scope="submit",
    example="""/api/v1/bots/zeta -d '{"description": "plays well"}'""",
)
async def change(call: Call, bot: BotName, body: BotChange) -> BotDocument:
    """Change what is said of a bot."""
    row = await owned(call, bot)
    assert row.id is not None
    await call.run(call.store.bots.describe, row.id, body.description)
    return await _document(call, await found(call, bot))


@routes.post("/bots/{bot}/retire", tag="bots", summary="Retire a bot", scope="submit", problems=("conflict",))
async def retire(call: Call, bot: BotName) -> BotDocument:
    """No version of the bot is entered any more; its games and ratings stay. Twice is as good as once."""
    row = await owned(call, bot)
    assert row.id is not None
    await call.run(call.store.bots.retire, row.id)
    await call.note("bot.retire", f"bot:{bot}")
    return await _document(call, await found(call, bot))


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
    call: Call, bot: BotName, query: SubmitQuery, upload: Upload
) -> Answer[Submission] | web.StreamResponse:
    """Upload the next version of a bot; a new name makes a new bot. It is checked, then active or failed.

    The body is the file itself. The answer has its SHA-256 and where to watch the check.
    """
    await _check_name(call, bot)
    await _check_safe(call)
    async with upload.received(query.sha256) as file:
        call.context.metrics.upload_bytes.inc(file.size)

        async def take() -> web.StreamResponse:
            version = await call.run(
                lambda: receive.receive(
                    call.store,
                    call.context.bundles,
                    file.file,
                    name=bot,
                    families=list(dict.fromkeys(query.family)),
                    user=call.user,
                    quota=receive.Quota.of(call.context.settings),
                )
            )
            assert version.id is not None
            call.wake()
            await call.note("bot.submit", f"version:{version.name}", sha256=file.sha256)
            body = await submission(call, version.id)
            body = body.model_copy(update={"sha256": file.sha256, "size_bytes": file.size})
            given = Answer(body, status=202, headers={"Location": body.url}, is_private=True)
            return handle.render(call.request, given, is_private=True)

        return await idempotency.once(call, file.sha256.encode(), take)


async def _check_safe(call: Call) -> None:
    """Refuse what this server could not confine."""
    is_admin = "admin" in call.user.scopes
    try:
        await call.run(lambda: receive.refuse_unsafe(call.context.settings, is_admin=is_admin))
    except receive.UnsafeError as error:
        raise Problem("forbidden", str(error), hint="ask the people who run this server") from None


async def _check_name(call: Call, name: str) -> None:
    """Tell somebody before the upload, rather than after it, that the name is another one's."""
    try:
        bot = await call.run(call.store.bots.find, name)
    except NotFoundError:
        return
    if bot.owner_id != call.user.user_id:
        raise Problem("forbidden", f"bot {name} is not yours", hint="take another name")


@routes.get("/bots/{bot}/versions/{number}", tag="bots", summary="A version", example="/api/v1/bots/greedy/versions/1")
async def show_version(call: Call, bot: BotName, number: Number) -> Answer[Submission]:
    """One version with the report of its check, and for its owner the bot's own words."""
    await found(call, bot)
    version = await call.run(call.store.versions.find, bot, number)
    return await _shown(call, version.id or 0)


@routes.post(
    "/bots/{bot}/versions/{number}/retire",
    tag="bots",
    summary="Retire a version",
    scope="submit",
    problems=("conflict",),
)
async def retire_version(call: Call, bot: BotName, number: Number) -> Submission:
    """The version is entered no more; its games and ratings stay. Twice is as good as once."""
    await owned(call, bot)
    version = await call.run(call.store.versions.find, bot, number)
    assert version.id is not None
    await call.run(call.store.versions.retire, version.id)
    await call.note("version.retire", f"version:{version.name}")
    return await submission(call, version.id)


@routes.get(
    "/bots/{bot}/versions/{number}/changes",
    tag="bots",
    summary="A version's rating, game by game",
    example="/api/v1/bots/greedy/versions/1/changes?pool=loa",
)
async def changes(call: Call, bot: BotName, number: Number, query: ChangeQuery) -> Page[ChangeItem]:
    """What every game did to the version's rating in one pool, in order: the line of a plot."""
    await found(call, bot)
    version = await call.run(call.store.versions.find, bot, number)
    assert version.id is not None
    rows = await call.run(call.store.ratings.changes, version.id, query.pool, limit=query.limit, after=query.after)
    return page(rows, ChangeItem.model_validate)


@routes.get("/bots/{bot}/games", tag="bots", summary="A bot's games", example="/api/v1/bots/greedy/games?limit=5")
async def games(call: Call, bot: BotName, query: PageQuery) -> Page[GameItem]:
    """The results of all versions of a bot, latest first."""
    return await _games(call, await found(call, bot), None, query)


@routes.get(
    "/bots/{bot}/vs/{other}",
    tag="bots",
    summary="Two bots against each other",
    example="/api/v1/bots/greedy/vs/random",
)
async def meetings(call: Call, bot: BotName, other: BotName, query: PageQuery) -> Page[GameItem]:
    """All results between two bots, whatever their versions, latest first."""
    return await _games(call, await found(call, bot), await found(call, other), query)


async def _games(call: Call, one: Bot, other: Bot | None, query: PageQuery) -> Page[GameItem]:
    ids = []
    for row in (one, other):
        if row is not None:
            assert row.id is not None
            ids.append([line.id for line in await call.run(call.store.versions.of_bot, row.id)])
    if not all(ids):
        return Page(items=[])
    rows = await call.run(
        lambda: call.store.games.latest(
            versions=ids[0], against=ids[1] if other else None, limit=query.limit, after=query.after
        )
    )
    return page(rows, GameItem.model_validate)


@routes.get("/submissions/{submission_id}", tag="bots", summary="A submission and its check")
async def show_submission(call: Call, submission_id: Number) -> Answer[Submission]:
    """An upload on its way: the steps of its check, the verdict, and for its owner the bot's own words."""
    return await _shown(call, submission_id)


async def _shown(call: Call, version_id: int) -> Answer[Submission]:
    body = await submission(call, version_id)
    is_moving = body.state in ("uploaded", "checking")
    return Answer(body, keep="never" if is_moving else "revalidate", is_private=body.log is not None)


def _public(report: dict[str, Any]) -> dict[str, Any]:
    """The report of a check without the command: it names folders of a machine."""
    families = {
        family: {name: value for name, value in part.items() if name != "command"}
        for family, part in report.get("families", {}).items()
    }
    return {**report, "families": families} if families else report


async def submission(call: Call, version_id: int) -> Submission:
    """The document of a version; its log only for those who may read it."""
    lines = await call.run(call.store.versions.lines, [version_id])
    if version_id not in lines:
        raise not_found("submission", str(version_id))
    line, version = lines[version_id], await call.run(call.store.versions.get, version_id)
    is_mine = call.identity is not None and (call.identity.name == line.owner or call.may("organise"))
    return Submission(
        **version_item(line).model_dump(),
        report=_public(version.report),
        log=version.log if is_mine else None,
        url=f"{PREFIX}/submissions/{version_id}",
    )
