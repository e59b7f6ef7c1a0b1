"""What is done to tournaments: begun and ended, paused and resumed, made longer, entered and left."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from arena import services
from arena.api.registry import Routes
from arena.api.routes.tournaments import document_of, found
from arena.api.schemas import BotName, In, Number, TournamentDocument
from arena.http.call import Answer, Call

routes = Routes()


class Extension(In):
    """How much longer: rounds or games, as the format has it."""

    amount: Annotated[int, Field(ge=1, le=1_000_000)]


class EntryWish(In):
    """A version: that number, or the newest active one."""

    bot: BotName
    number: Number | None = None


async def _steer(call: Call, tournament: int, act: str) -> Answer[TournamentDocument]:
    await call.run(services.tournament.steer, call.arena, tournament, act, call.user)
    return await _changed(call, tournament)


async def _changed(call: Call, tournament: int) -> Answer[TournamentDocument]:
    row = await found(call, tournament)
    return Answer(await call.run(document_of, call, row), is_private=True)


_WORDS: dict[str, Any] = {"tag": "tournaments", "scope": "organise", "problems": ("conflict",)}


@routes.post("/tournaments/{tournament}/start", summary="Start a tournament now", **_WORDS)
async def start(call: Call, tournament: Number) -> Answer[TournamentDocument]:
    """Do not wait for its time."""
    return await _steer(call, tournament, "start")


@routes.post("/tournaments/{tournament}/pause", summary="Pause a tournament", **_WORDS)
async def pause(call: Call, tournament: Number) -> Answer[TournamentDocument]:
    """Call off what is being played; it is played again after `resume`."""
    return await _steer(call, tournament, "pause")


@routes.post("/tournaments/{tournament}/drain", summary="Finish running games, then pause", **_WORDS)
async def drain(call: Call, tournament: Number) -> Answer[TournamentDocument]:
    """Start no more games; paused when the running ones are over."""
    return await _steer(call, tournament, "drain")


@routes.post("/tournaments/{tournament}/resume", summary="Go on with a tournament", **_WORDS)
async def resume(call: Call, tournament: Number) -> Answer[TournamentDocument]:
    """Go on where it was paused."""
    return await _steer(call, tournament, "resume")


@routes.post("/tournaments/{tournament}/cancel", summary="Cancel a tournament", **_WORDS)
async def cancel(call: Call, tournament: Number) -> Answer[TournamentDocument]:
    """End it for good; results so far stay."""
    return await _steer(call, tournament, "cancel")


@routes.post(
    "/tournaments/{tournament}/extend",
    summary="Make a tournament longer",
    example="""/api/v1/tournaments/1/extend -d '{"amount": 2}'""",
    **_WORDS,
)
async def extend(call: Call, tournament: Number, body: Extension) -> Answer[TournamentDocument]:
    """By so many rounds of a Swiss, games per pairing of a round robin, games of a ladder or a test.

    A finished one goes on.
    """
    await call.run(services.tournament.extend, call.arena, tournament, body.amount, call.user)
    return await _changed(call, tournament)


@routes.post(
    "/tournaments/{tournament}/entries",
    summary="Enter a version",
    example="""/api/v1/tournaments/1/entries -d '{"bot": "zeta", "number": 3}'""",
    **_WORDS,
)
async def enter(call: Call, tournament: Number, body: EntryWish) -> Answer[TournamentDocument]:
    """Before the tournament begins, or into a running ladder. Without `number` it is the newest active version."""
    await call.run(services.tournament.enter, call.arena, tournament, body.bot, body.number, call.user)
    return await _changed(call, tournament)


@routes.post("/tournaments/{tournament}/withdraw", summary="Withdraw a version", **_WORDS)
async def withdraw(call: Call, tournament: Number, body: EntryWish) -> Answer[TournamentDocument]:
    """It is paired no more; its planned games are called off."""
    await call.run(services.tournament.withdraw, call.arena, tournament, body.bot, body.number, call.user)
    return await _changed(call, tournament)
