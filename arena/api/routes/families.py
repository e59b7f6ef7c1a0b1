"""Families: what can be played."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.page import Page
from arena.api.registry import Routes
from arena.api.schemas import (
    FamilyDocument,
    FamilyItem,
    FamilyName,
    In,
    MoveDocument,
    MovesDocument,
    OptionDocument,
    OutcomeDocument,
    StartsDocument,
    VariantDocument,
    VariantName,
)
from arena.atlas import published
from arena.http.problem import not_found
from arena.http.request_context import RequestContext, RouteResult
from referee.rules import families, load
from referee.rules.rules import Rules

routes = Routes()


def checked(family: str) -> Rules:
    """The rules of a family. Raises Problem (404) with the nearest names."""
    if family not in families():
        raise not_found("family", family, families())
    return load(family)


@routes.get("/families", tag="families", summary="All families of games", example="/api/v1/families")
async def page(call: RequestContext) -> Page[FamilyItem]:
    """All families of games."""
    items = [await call.run(load, name) for name in families()]
    return Page(items=[FamilyItem.model_validate(rules) for rules in items])


@routes.get("/families/{family}", tag="families", summary="A family", example="/api/v1/families/loa")
async def show(call: RequestContext, family: FamilyName) -> FamilyDocument:
    """A family with its variants and rule options, and what they change."""
    rules = await call.run(checked, family)
    return FamilyDocument(
        family=rules.family,
        title=rules.title,
        summary=rules.summary,
        version=rules.version,
        sides=list(rules.sides),
        variants=[
            VariantDocument(name=one.name, position=one.position, options=dict(one.options), note=one.note)
            for one in rules.variants
        ],
        options=[
            OptionDocument(
                name=one.name,
                type=one.type,
                default=one.default,
                values=list(one.names()),
                changes=one.changes,
                meaning=one.meaning,
            )
            for one in rules.options
        ],
    )


class MovesQuery(In):
    """Which position: a variant's start or a position string, under rule options (`name=value,name=value`), behind
    `moves` in any spelling, separated by blanks."""

    variant: VariantName | None = None
    options: Annotated[str, Field(max_length=1000)] = ""
    position: Annotated[str, Field(max_length=1000)] = ""
    moves: Annotated[str, Field(max_length=7000)] = ""


@routes.get(
    "/families/{family}/moves",
    tag="families",
    summary="The legal moves of a position",
    example="/api/v1/families/loa/moves?moves=b1b3",
    problems=("invalid",),
)
async def moves(call: RequestContext, family: FamilyName, query: MovesQuery) -> RouteResult[MovesDocument]:
    """What may be played, with the cells that a person picks for each move; none when the game is over."""
    await call.run(checked, family)
    found = await call.run(
        services.study.choice, family, query.variant or "", query.options, query.position, query.moves
    )
    end = found.outcome
    document = MovesDocument(
        position=found.position,
        side=found.side,
        moves=[MoveDocument.model_validate(one) for one in found.moves],
        outcome=OutcomeDocument(winner=end.winner, termination=end.reason) if end else None,
    )
    return RouteResult(document, keep="settled")


@routes.get(
    "/families/{family}/starts",
    tag="families",
    summary="How fair the starts of a family are",
    example="/api/v1/families/tablut/starts",
)
async def starts(call: RequestContext, family: FamilyName) -> StartsDocument:
    """The atlas of the family that comes with the program; images of one start are one."""
    rules = await call.run(checked, family)
    found = await call.run(published.published, rules.family)
    return StartsDocument(family=rules.family, remarks=published.remarks(rules.family), starts=list(found))
