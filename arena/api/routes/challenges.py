"""Challenges: matches that the author of a remote bot starts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.registry import Routes
from arena.api.words import BotName, FamilyName, In, VariantName
from arena.documents.tournament import TournamentResponse
from arena.http.api_paths import PREFIX
from arena.http.request_context import RequestContext, RouteResult
from arena.services.remote import MAX_GAMES

routes = Routes()


class Challenge(In):
    """A match to start. `opponent` is a sample bot, another bot of yours, or a remote bot open to challenges."""

    opponent: Annotated[str, Field(min_length=1, max_length=60)]
    family: FamilyName
    variant: VariantName | None = None
    games: Annotated[int, Field(ge=1, le=MAX_GAMES)] = 2
    time: Annotated[str, Field(max_length=40)] = "10+0.1"


@routes.post(
    "/bots/{bot}/challenges",
    tag="bots",
    summary="Challenge a bot to a match",
    scope="submit",
    status=201,
    is_idempotent=True,
    problems=("conflict", "not-found"),
    example="""/api/v1/bots/zeta/challenges -d '{"opponent": "greedy", "family": "loa"}'""",
)
async def challenge(call: RequestContext, bot: BotName, body: Challenge) -> RouteResult[TournamentResponse]:
    """Start a match of your remote bot in the pool of remote bots. A match between two bots of yours is unrated."""
    row = await call.run(
        lambda: services.remote.challenge(
            call.arena,
            bot,
            body.opponent,
            call.user,
            family=body.family,
            variant=body.variant,
            games=body.games,
            time=body.time,
        )
    )
    document = await call.run(services.tournament.show, call.arena, row.id)
    return RouteResult(document, status=201, headers={"Location": f"{PREFIX}/tournaments/{row.id}"}, is_private=True)
