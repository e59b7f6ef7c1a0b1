"""Actions on tournaments: start, pause, drain, resume, cancel, extend, enter and withdraw."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from arena import services
from arena.api.registry import In, Number, Routes
from arena.documents.tournament import EntryRequest, PriorityRequest, TournamentResponse
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()


class Extension(In):
    """The new length in rounds or games. Give either the total to reach (`to`) or the number to add (`amount`)."""

    to: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Rounds of a Swiss, games that a ladder, race or test limits, else games of each pairing."""
    amount: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """In the same unit; games must be even."""


async def _steer(call: RequestContext, tournament: int, act: str) -> RouteResult[TournamentResponse]:
    await call.run(services.tournament.steer, call.arena, tournament, act, call.user)
    return await _changed(call, tournament)


async def _changed(call: RequestContext, tournament: int) -> RouteResult[TournamentResponse]:
    return RouteResult(await call.run(services.tournament.show, call.arena, tournament), is_private=True)


_ROUTE: dict[str, Any] = {"tag": "tournaments", "scope": "organise", "problems": ("conflict",)}


@routes.post("/tournaments/{tournament}/start", summary="Start a tournament now", **_ROUTE)
async def start(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """Start the tournament before its start time."""
    return await _steer(call, tournament, "start")


@routes.post("/tournaments/{tournament}/pause", summary="Pause a tournament", **_ROUTE)
async def pause(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """Cancel the running games; they are played again after `resume`."""
    return await _steer(call, tournament, "pause")


@routes.post("/tournaments/{tournament}/drain", summary="Finish running games, then pause", **_ROUTE)
async def drain(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """Start no new games. The tournament is paused when the running ones are over."""
    return await _steer(call, tournament, "drain")


@routes.post("/tournaments/{tournament}/resume", summary="Resume a tournament", **_ROUTE)
async def resume(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """Resume a paused tournament."""
    return await _steer(call, tournament, "resume")


@routes.post("/tournaments/{tournament}/cancel", summary="Cancel a tournament", **_ROUTE)
async def cancel(call: RequestContext, tournament: Number) -> RouteResult[TournamentResponse]:
    """End the tournament for good; its results stay."""
    return await _steer(call, tournament, "cancel")


@routes.post(
    "/tournaments/{tournament}/extend",
    summary="Extend a tournament",
    example="""/api/v1/tournaments/1/extend -d '{"amount": 2}'""",
    **_ROUTE,
)
async def extend(call: RequestContext, tournament: Number, body: Extension) -> RouteResult[TournamentResponse]:
    """Add rounds to a Swiss, games to a ladder, race or sequential test, or games per pairing in other formats.

    A finished tournament continues. The response has the new plan.
    """
    plan = await call.run(
        partial(services.tournament.extend, to=body.to, amount=body.amount), call.arena, tournament, call.user
    )
    shown = await call.run(services.tournament.show, call.arena, tournament)
    return RouteResult(replace(shown, plan=plan), is_private=True)


@routes.post(
    "/tournaments/{tournament}/priority",
    summary="Set the priority of a tournament",
    example="""/api/v1/tournaments/1/priority -d '{"priority": 10}'""",
    **_ROUTE,
)
async def prioritise(
    call: RequestContext, tournament: Number, body: PriorityRequest
) -> RouteResult[TournamentResponse]:
    """Set the priority: from now on, the share of the tournament in the games that are handed out."""
    await call.run(services.tournament.prioritise, call.arena, tournament, body.priority, call.user)
    return await _changed(call, tournament)


@routes.post(
    "/tournaments/{tournament}/entries",
    summary="Enter a version",
    example="""/api/v1/tournaments/1/entries -d '{"bot": "zeta", "number": 3}'""",
    **_ROUTE,
)
async def enter(call: RequestContext, tournament: Number, body: EntryRequest) -> RouteResult[TournamentResponse]:
    """Enter a version before the tournament starts, or into a running ladder. A bot without number means its newest
    active version.
    """
    await call.run(services.tournament.enter, call.arena, tournament, body.bot, body.number, call.user)
    return await _changed(call, tournament)


@routes.post("/tournaments/{tournament}/withdraw", summary="Withdraw a version", **_ROUTE)
async def withdraw(call: RequestContext, tournament: Number, body: EntryRequest) -> RouteResult[TournamentResponse]:
    """Withdraw a version: it gets no new games, and its planned games are cancelled."""
    await call.run(services.tournament.withdraw, call.arena, tournament, body.bot, body.number, call.user)
    return await _changed(call, tournament)
