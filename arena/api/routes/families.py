"""Families of games, their rules and legal moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.registry import Routes
from arena.api.words import FamilyName, In, VariantName
from arena.atlas import published
from arena.atlas.report import StartFigures
from arena.documents.attributes import of_attributes
from arena.documents.family import (
    FamilyItem,
    FamilyResponse,
    MoveResponse,
    MovesResponse,
    OptionResponse,
    OutcomeResponse,
    VariantResponse,
)
from arena.documents.page import PageResponse
from arena.http.problem import not_found
from arena.http.request_context import RequestContext, RouteResult
from referee.rules import families, load
from referee.rules.rules import Rules

routes = Routes()


@dataclass(frozen=True, slots=True)
class StartsResponse:
    """The measured fairness of the starts of a family, and `remarks` on the measurement.

    Both are empty if nothing was measured.
    """

    family: str
    remarks: str
    starts: list[StartFigures]


def checked(family: str) -> Rules:
    """Return the rules of a family. Raises Problem (404) with similar names."""
    if family not in families():
        raise not_found("family", family, families())
    return load(family)


@routes.get("/families", tag="families", summary="List families", example="/api/v1/families")
async def page(call: RequestContext) -> PageResponse[FamilyItem]:
    """List all families of games."""
    items = [await call.run(load, name) for name in families()]
    return PageResponse([of_attributes(FamilyItem, rules) for rules in items])


@routes.get("/families/{family}", tag="families", summary="Get a family", example="/api/v1/families/loa")
async def show(call: RequestContext, family: FamilyName) -> FamilyResponse:
    """Return a family with its variants and rule options, and what the options change."""
    rules = await call.run(checked, family)
    return of_attributes(
        FamilyResponse,
        rules,
        variants=[of_attributes(VariantResponse, one) for one in rules.variants],
        options=[of_attributes(OptionResponse, one, values=one.names()) for one in rules.options],
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
    found = await call.run(
        services.study.choice, family, query.variant or "", query.options, query.position, query.moves
    )
    end = found.outcome
    document = MovesResponse(
        position=found.position,
        side=found.side,
        moves=[of_attributes(MoveResponse, one) for one in found.moves],
        outcome=OutcomeResponse(end.winner, end.reason) if end else None,
    )
    return RouteResult(document, keep="settled")


@routes.get(
    "/families/{family}/starts",
    tag="families",
    summary="Get the fairness of a family's starts",
    example="/api/v1/families/tablut/starts",
)
async def starts(call: RequestContext, family: FamilyName) -> StartsResponse:
    """Return how fair the family's starts are, as measured by self-play. Symmetric starts are pooled."""
    rules = await call.run(checked, family)
    found = await call.run(published.published, rules.family)
    return StartsResponse(family=rules.family, remarks=published.remarks(rules.family), starts=list(found))
