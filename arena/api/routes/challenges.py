"""Challenges: matches that the author of a remote bot starts."""

from __future__ import annotations

from arena import services
from arena.api.registry import BotName, Routes
from arena.documents.tournament import Challenge, TournamentResponse
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()


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
    """Start a match of your bot. A remote bot plays it in the pool of remote bots, unrated if both bots are yours.

    Matches of an uploaded bot are tests: unrated, short, and played when few other games wait. The opponent is then a
    sample, another bot of yours, or an uploaded bot that plays people.
    """
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
