"""The archive of imported games and games played here: search, show, export in the notations people use, import."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import Field

from arena import services
from arena.api.page import PageQuery
from arena.api.registry import Routes
from arena.api.schemas import FamilyName, In, Number, OneLine, VariantName
from arena.api.schemas.archive import (
    ArchiveItem,
    ArchivePage,
    ArchiveResponse,
    ArchiveSource,
    ArchiveSources,
    ImportResponse,
)
from arena.http import cache_control
from arena.http.problem import Problem
from arena.http.request_context import RequestContext, RouteResult
from arena.http.upload import Upload
from arena.services.archive import MAX_TEXT_BYTES, ArchiveSearchForm
from arena.store.archive.archived_game import ArchivedGame
from arena.store.archive.line import ArchiveLine
from arena.store.base.page import read_cursor, write_cursor

routes = Routes()
TEXT = "text/plain"
_Words = Annotated[str, Field(min_length=1, max_length=200)]
_Plies = Annotated[int, Field(ge=0, le=100_000)]
_Day = Annotated[str, Field(pattern=r"^[0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?$")]


_Count = Annotated[int, Field(ge=0, le=10_000)]
_Share = Annotated[int, Field(ge=0, le=100)]


class ArchiveQuery(PageQuery):
    """Filters and order of games. `id` is a game's ID, `number` its number in the archive or in its collection.

    `player`, `first` and `second` are parts of names, `name` is a whole name. `moves` (the first moves) and `position`
    (up to symmetry, anywhere in the game) need a `family`. `source` is a collection; `arena` means games played here.

    `blunders`, `accuracy` (of the less accurate side) and `min_turning_points` are lower bounds, `max_blunders` and
    `max_accuracy` upper bounds. `blown_win` selects games in which a side reached a winning position and did not win.
    These filters, and sorting by these figures, leave out games without an analysis.
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
    min_plies: _Plies | None = None
    max_plies: _Plies | None = None
    since: _Day | None = None
    until: _Day | None = None
    moves: Annotated[str, Field(min_length=1, max_length=4000)] | None = None
    position: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    blunders: _Count | None = None
    max_blunders: _Count | None = None
    accuracy: _Share | None = None
    max_accuracy: _Share | None = None
    min_turning_points: _Count | None = None
    blown_win: Literal["yes", "no"] | None = None
    sort: Literal[
        "number", "date", "length", "blunders", "accuracy", "first_accuracy", "second_accuracy", "turning_points"
    ] = "number"
    order: Literal["falling", "rising"] = "falling"


@routes.get(
    "/archive",
    tag="archive",
    summary="Search the archive",
    example="/api/v1/archive?family=loa&result=draw&sort=length",
    problems=("invalid",),
)
async def search(call: RequestContext, query: ArchiveQuery) -> ArchivePage:
    """List the matching games, latest first by default, with their total number."""
    given = query.model_dump(exclude={"limit", "after", "sort", "order"})
    after = read_cursor(query.after, int)
    found = await call.run(
        lambda: services.archive.search(
            call.arena,
            ArchiveSearchForm(**given),
            sort=query.sort,
            is_falling=query.order == "falling",
            limit=query.limit,
            after=after[0] if after else None,
        )
    )
    items = [ArchiveItem.model_validate(line) for line in found.games]
    return ArchivePage(items=items, total=found.total, next=write_cursor(found.next) if found.next else None)


@routes.get("/archive/sources", tag="archive", summary="List the collections of the archive")
async def sources(call: RequestContext) -> ArchiveSources:
    """List the collections, with the number of games of each variant."""
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
    summary="Get a game of the archive",
    problems=("not-found",),
)
async def show(call: RequestContext, serial: Number) -> RouteResult[ArchiveResponse]:
    """Return a game with its moves, by its number in the archive."""
    line, game = await call.run(services.archive.read, call.arena, serial)
    return RouteResult(await call.run(_document, line, game))


def _document(line: ArchiveLine, game: ArchivedGame) -> ArchiveResponse:
    about: dict[str, Any] = ArchiveItem.model_validate(line).model_dump()
    return ArchiveResponse(
        **about,
        options=dict(game.options),
        position=game.position,
        moves=list(game.moves),
        tags=dict(game.tags),
        notations=[form.name for form in game.ruleset().rules.formats],
    )


class NotationQuery(In):
    """The notation of the family to write the game in. Without one, the text is the imported one."""

    notation: Annotated[str, Field(min_length=1, max_length=40)] | None = None


@routes.get(
    "/archive/{serial}/text",
    tag="archive",
    summary="Get a game of the archive as text",
    forms={TEXT: "the game in `notation`"},
    problems=("not-found", "invalid"),
)
async def write(call: RequestContext, serial: Number, query: NotationQuery) -> web.StreamResponse:
    """Return the game as it was imported, or in a notation of its family."""
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
    """The `family` of the games, the name of the collection (`source`), and details that the text lacks."""

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
async def take_in(call: RequestContext, query: ImportQuery, upload: Upload) -> ImportResponse:
    """Import the games of a text, in `notation` or in the one that fits best.

    The body is the text. Valid games are stored, invalid ones are reported. A game is stored once, whatever its
    notation.
    """
    async with upload.received() as file:
        if file.size > MAX_TEXT_BYTES:
            raise Problem("too-large", f"the text is too large: at most {MAX_TEXT_BYTES:,} bytes", limit=MAX_TEXT_BYTES)
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
    return ImportResponse.model_validate(found.as_json())
