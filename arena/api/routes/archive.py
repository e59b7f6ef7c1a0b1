"""The archive: games of all times searched, shown, written in the notations people use, and imported."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import Field

from arena import services
from arena.api.page import PageQuery
from arena.api.registry import Routes
from arena.api.schemas import FamilyName, In, Number, OneLine, VariantName
from arena.api.schemas.archive import (
    ArchiveDocument,
    ArchiveItem,
    ArchivePage,
    ArchiveSource,
    ArchiveSources,
    ImportDocument,
)
from arena.http import cache_control
from arena.http.problem import Problem
from arena.http.request_context import RequestContext, RouteResult
from arena.http.upload import Upload
from arena.services.archive import MOST_TEXT_BYTES, Query
from arena.store.archive_line import ArchiveLine
from arena.store.archived_game import ArchivedGame
from arena.store.page import read_cursor, write_cursor

routes = Routes()
TEXT = "text/plain"
_Words = Annotated[str, Field(min_length=1, max_length=200)]
_Plies = Annotated[int, Field(ge=0, le=100_000)]
_Day = Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?$")]


_Count = Annotated[int, Field(ge=0, le=10_000)]
_Share = Annotated[int, Field(ge=0, le=100)]


class ArchiveQuery(PageQuery):
    """Which games, and in which order. `id` is a game's id, `number` that of the archive or of the collection;
    `player`, `first` and `second` are parts of names, `name` is a whole one; `moves` (the first ones) and `position`
    (that occurred, however the board is turned) need a `family`; `source` is a collection, `arena` the games played
    here. `gaffes`, `accuracy` (of the less accurate side), `turns` (turning points, all three: at least),
    `most_gaffes`, `most_accuracy` and `thrown` (somebody who stood as good as won did not win) leave games that were
    analysed, and so do sorts by them.
    """

    id: _Words | None = None
    number: _Words | None = None
    family: FamilyName | None = None
    variant: VariantName | None = None
    player: _Words | None = None
    first: _Words | None = None
    second: _Words | None = None
    name: _Words | None = None
    result: Literal["first", "second", "draw", "none"] | None = None
    ending: _Words | None = None
    source: _Words | None = None
    shortest: _Plies | None = None
    longest: _Plies | None = None
    since: _Day | None = None
    until: _Day | None = None
    moves: Annotated[str, Field(min_length=1, max_length=4000)] | None = None
    position: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    gaffes: _Count | None = None
    most_gaffes: _Count | None = None
    accuracy: _Share | None = None
    most_accuracy: _Share | None = None
    turns: _Count | None = None
    thrown: Literal["yes", "no"] | None = None
    sort: Literal["number", "date", "length", "gaffes", "accuracy", "first_accuracy", "second_accuracy", "turns"] = (
        "number"
    )
    order: Literal["falling", "rising"] = "falling"


@routes.get(
    "/archive",
    tag="archive",
    summary="Games of all times",
    example="/api/v1/archive?family=loa&result=draw&sort=length",
    problems=("invalid",),
)
async def search(call: RequestContext, query: ArchiveQuery) -> ArchivePage:
    """The games that match, the latest first unless asked otherwise, and how many match in all."""
    given = query.model_dump(exclude={"limit", "after", "sort", "order"})
    after = read_cursor(query.after, int)
    found = await call.run(
        lambda: services.archive.search(
            call.arena,
            Query(**given),
            sort=query.sort,
            is_falling=query.order == "falling",
            limit=query.limit,
            after=after[0] if after else None,
        )
    )
    items = [ArchiveItem.model_validate(line) for line in found.games]
    return ArchivePage(items=items, total=found.total, next=write_cursor(found.next) if found.next else None)


@routes.get("/archive/sources", tag="archive", summary="Where games of all times come from")
async def sources(call: RequestContext) -> ArchiveSources:
    """The collections, and how many games of each variant they have."""
    found = await call.run(call.arena.store.archive.sources)
    return ArchiveSources(
        items=[
            ArchiveSource(source=source, family=family, variant=variant, games=games)
            for source, family, variant, games in found
        ]
    )


@routes.get(
    "/archive/{serial}",
    tag="archive",
    summary="A game of the archive",
    problems=("not-found",),
)
async def show(call: RequestContext, serial: Number) -> RouteResult[ArchiveDocument]:
    """A game by its number in the archive, whole."""
    line, game = await call.run(services.archive.read, call.arena, serial)
    return RouteResult(await call.run(_document, line, game))


def _document(line: ArchiveLine, game: ArchivedGame) -> ArchiveDocument:
    about: dict[str, Any] = ArchiveItem.model_validate(line).model_dump()
    return ArchiveDocument(
        **about,
        options=dict(game.options),
        position=game.position,
        moves=list(game.moves),
        tags=dict(game.tags),
        notations=[form.name for form in game.ruleset().rules.formats],
    )


class NotationQuery(In):
    """How the game is written: a notation of its family. Without it as it was imported."""

    notation: Annotated[str, Field(min_length=1, max_length=40)] | None = None


@routes.get(
    "/archive/{serial}/text",
    tag="archive",
    summary="A game of the archive as text",
    forms={TEXT: "the game in `notation`"},
    problems=("not-found", "invalid"),
)
async def write(call: RequestContext, serial: Number, query: NotationQuery) -> web.StreamResponse:
    """The game as it was imported, or in a notation of its family."""
    call.accepts(TEXT)
    text = await call.run(services.archive.write, call.arena, serial, query.notation)
    response = cache_control.respond(
        call.request,
        text.encode(),
        status=200,
        keep="never",
        is_private=False,
        content_type=f"{TEXT}; charset=utf-8",
    )
    response.headers["Content-Disposition"] = f'attachment; filename="archive-{serial}.txt"'
    return response


class ImportQuery(In):
    """Whose games they are: `family`, the name of the collection (`source`), and what the text does not say."""

    family: FamilyName
    source: OneLine
    variant: VariantName | None = None
    notation: Annotated[str, Field(min_length=1, max_length=40)] | None = None


@routes.post(
    "/archive",
    tag="archive",
    summary="Import games",
    scope="organise",
    cost="upload",
    problems=("invalid", "too-large"),
    example="/api/v1/archive?family=abalone&source=migs --data-binary @migs.txt",
)
async def take_in(call: RequestContext, query: ImportQuery, upload: Upload) -> ImportDocument:
    """Import the games of a text, in `notation` or in what fits best. Bad games are named, good ones kept.

    The body is the text itself. The same game is kept once, in whatever notation it comes.
    """
    async with upload.received() as file:
        if file.size > MOST_TEXT_BYTES:
            raise Problem("too-large", f"a text has {MOST_TEXT_BYTES:,} bytes at most", limit=MOST_TEXT_BYTES)
        data = await call.run(file.file.read)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem("invalid", "the text is not UTF-8", hint="save it as UTF-8") from None
    found = await call.run(
        lambda: services.archive.upload(
            call.arena,
            text,
            call.user,
            family=query.family,
            source=query.source,
            variant=query.variant,
            notation=query.notation,
        )
    )
    return ImportDocument.model_validate(found.as_json())
