"""The fairness of starts, which the atlas adds to the families of the JSON interface."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.api.registry import FamilyName, Routes
from arena.api.routes.families import checked
from arena.http.request_context import RequestContext
from referee.game import starts as published
from referee.game.starts import StartFigures
from referee.meaning import meaning

routes = Routes()


@dataclass(frozen=True, slots=True)
class StartsResponse:
    """The measured fairness of the starts of a family, and `remarks` on the measurement.

    Both are empty if nothing was measured.
    """

    family: str
    remarks: str = field(metadata=meaning("lines of text for people"))
    starts: list[StartFigures]


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
