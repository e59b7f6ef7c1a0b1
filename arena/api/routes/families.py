"""Families of games, their rules and legal moves."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.registry import FamilyName, In, Routes, VariantName
from arena.documents.family import (
    FamilyItem,
    FamilyResponse,
    MoveResponse,
    MovesResponse,
    OptionResponse,
    OutcomeResponse,
    VariantResponse,
)
from arena.documents.query import PageResponse
from arena.http.problem import not_found
from arena.http.request_context import RequestContext, RouteResult
from referee.rules import families, load
from referee.rules.rules import Rules

routes = Routes()


def checked(family: str) -> Rules:
    """Return the rules of a family. Raises Problem (404) with similar names."""
    if family not in families():
        raise not_found("family", family, families())
    return load(family)


@routes.get("/families", tag="families", summary="List families", example="/api/v1/families")
async def page(call: RequestContext) -> PageResponse[FamilyItem]:
    """List all families of games."""
    items = [await call.run(load, name) for name in families()]
    return PageResponse([FamilyItem(rules.family, rules.title, rules.summary) for rules in items])


@routes.get("/families/{family}", tag="families", summary="Get a family", example="/api/v1/families/loa")
async def show(call: RequestContext, family: FamilyName) -> FamilyResponse:
    """Return a family with its variants and rule options, and what the options change."""
    rules = await call.run(checked, family)
    return FamilyResponse(
        family=rules.family,
        title=rules.title,
        summary=rules.summary,
        version=rules.version,
        sides=rules.sides,
        variants=[
            VariantResponse(variant.name, variant.position, variant.options, variant.note) for variant in rules.variants
        ],
        options=[
            OptionResponse(
                name=option.name,
                type=option.type,
                default=option.default,
                values=option.names(),
                changes=option.changes,
                meaning=option.meaning,
            )
            for option in rules.options
        ],
    )


class MovesQuery(In):
    """A position: `moves` (any spelling, separated by blanks) after `position`, or after the start of the variant.

    `options` are rule options (`name=value,name=value`).
    """

    variant: VariantName | None = None
    options: Annotated[str, Field(max_length=1000)] = ""
    position: Annotated[str, Field(max_length=1000)] = ""
    moves: Annotated[str, Field(max_length=7000)] = ""


@routes.get(
    "/families/{family}/moves",
    tag="families",
    summary="List the legal moves of a position",
    example="/api/v1/families/loa/moves?moves=b1b3",
    problems=("invalid",),
)
async def moves(call: RequestContext, family: FamilyName, query: MovesQuery) -> RouteResult[MovesResponse]:
    """List the legal moves, with the cells a person picks for each; empty when the game is over."""
    await call.run(checked, family)
    choice = await call.run(
        services.study.choice, family, query.variant or "", query.options, query.position, query.moves
    )
    end = choice.outcome
    document = MovesResponse(
        position=choice.position,
        side=choice.side,
        moves=[MoveResponse(move.move, move.shown, move.ways, move.effect) for move in choice.moves],
        outcome=OutcomeResponse(end.winner, end.reason) if end else None,
    )
    return RouteResult(document, keep="settled")
