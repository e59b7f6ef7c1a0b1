"""Recent forfeits and void games with their evidence, so that anyone can check decisions."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena.documents.game import GameItem
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT
from arena.pages.columns import text_column
from arena.pages.html_table import Column, choice, sorted_table
from arena.pages.page import allow_parameters, render, run, store_of
from arena.services.access import shown_void
from referee.rules import families
from referee.rules.core import Termination

routes = web.RouteTableDef()
_FORFEITS = (
    text_column("", "Game"),
    text_column("guilty", "At fault"),
    text_column("opponent", "Opponent"),
    text_column("termination", "Why"),
    Column("plies", "At ply"),
    text_column("detail", "Evidence"),
    text_column("", "Log"),
    Column("finished_at", "When"),
)
_VOIDS = (
    text_column("", "Game"),
    text_column("first", "First"),
    text_column("second", "Second"),
    Column("attempt", "Attempt"),
    text_column("termination", "Why"),
    text_column("detail", "Evidence"),
    text_column("lease_owner", "Lease owner"),
    Column("voided_at", "When"),
)


@routes.get("/errors")
@allow_parameters("family", "after", "voids", "sort", "order")
async def show(request: web.Request) -> web.Response:
    """List forfeits, latest first, of all families or one; then void games."""
    family = choice(request.query, "family", families())
    store = store_of(request)

    def read() -> dict[str, Any]:
        return {
            "forfeits": store.games.latest(
                termination_class="forfeit",
                without=(Termination.RESIGNED.value,),  # resigning is not an error
                family=family or None,
                limit=50,
                after=request.query.get("after") or None,
            ),
            "voids": store.voids.page(limit=50, after=request.query.get("voids") or None),
        }

    found = await run(read)
    settings, identity = request.app[CONTEXT].settings, await session_of(request)
    attempts = [shown_void(settings, identity, one) for one in found["voids"].items]
    return render(
        request,
        "errors.html",
        family=family,
        guilty=sorted_table(request, _FORFEITS, found["forfeits"].items, value=_value),
        attempts=sorted_table(request, _VOIDS, attempts, parameter="order"),
        **found,
    )


def _value(line: GameItem, key: str) -> Any:
    is_first = line.winner == "second"
    if key == "guilty":
        return line.first if is_first else line.second
    return (line.second if is_first else line.first) if key == "opponent" else getattr(line, key)
