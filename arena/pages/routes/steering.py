"""The organisers' controls of a tournament: steer it, extend it, enter and withdraw bots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from arena import services
from arena.documents.account import Identity
from arena.documents.tournament import NEXT_STATES, EntryItem, TournamentItem, TournamentState
from arena.http.request_context import IDENTITY
from arena.pages.page import arena_of, path_number, redirect, run_use_case
from arena.pages.session import checked_form
from arena.services import Arena
from arena.tournaments.stored_tournament import participants
from referee.tournament.document import read
from referee.tournament.formats import format_named
from referee.tournament.match import Length
from referee.tournament.part import SettingsError

routes = web.RouteTableDef()
_WAITING = ("scheduled", "paused")
"""States in which a tournament that has not started accepts entries and withdrawals."""
_GOING = ("running", "paused", "draining")


@dataclass(frozen=True, slots=True)
class Button:
    """A control: its label, its meaning, and the states in which it is shown."""

    word: str
    meaning: str
    states: tuple[str, ...]


def _before(state: TournamentState) -> tuple[str, ...]:
    """Return the states from which a state can be reached."""
    return tuple(name for name, following in NEXT_STATES.items() if state in following)


_STEERING = {
    "start": Button("Start now", "without waiting for the start time", ("scheduled",)),
    "drain": Button("Drain", "finish running games, start no new ones, then pause", _before("draining")),
    "pause": Button("Pause", "stop running games; they restart on resume", _before("paused")),
    "resume": Button("Resume", "continue where it was paused", ("paused", "draining")),
    "cancel": Button("Cancel", "final; results so far are kept", _before("cancelled")),
}


@dataclass(frozen=True, slots=True)
class Controls:
    """The controls of a tournament in its present state. `length` is None if its length cannot change."""

    buttons: Mapping[str, Button]
    length: Length | None
    may_enter: bool
    may_withdraw: bool

    @classmethod
    def of(cls, tournament: TournamentItem, entries: Sequence[EntryItem]) -> Controls:
        """Return the controls of a tournament with these entries."""
        has_begun, state = tournament.started_at is not None, tournament.state
        system = format_named(tournament.format)
        takes_more = system.is_open or system.takes_late_entries if has_begun else not system.is_closed
        is_changing = state in (_GOING if has_begun else _WAITING)
        return cls(
            {name: button for name, button in _STEERING.items() if state in button.states},
            _length(tournament, entries),
            is_changing and takes_more,
            is_changing,
        )


def _length(tournament: TournamentItem, entries: Sequence[EntryItem]) -> Length | None:
    if tournament.state == "cancelled":
        return None
    try:
        document = read(tournament.settings)
        return document.system.length(document, len(participants(tournament, entries)))
    except SettingsError:
        return None


@routes.post("/tournaments/{tournament}/extend")
async def extend(request: web.Request) -> web.Response:
    """Extend a tournament."""
    fields = await checked_form(request)
    tournament_id, to = path_number(request, "tournament", "tournament"), fields.get("to", "")
    longer = partial(services.tournament.extend, to=int(to[:9]) if to.isascii() and to.isdecimal() else 0)
    await run_use_case(longer, arena_of(request), tournament_id, request[IDENTITY])
    return redirect(f"/tournaments/{tournament_id}")


@routes.post("/tournaments/{tournament}/enter")
async def enter(request: web.Request) -> web.Response:
    """Enter a bot in a tournament."""
    return await _enrol(request, services.tournament.enter)


@routes.post("/tournaments/{tournament}/withdraw")
async def withdraw(request: web.Request) -> web.Response:
    """Withdraw an entry."""
    return await _enrol(request, services.tournament.withdraw)


async def _enrol(
    request: web.Request, use_case: Callable[[Arena, int, str, int | None, Identity], None]
) -> web.Response:
    fields = await checked_form(request)
    tournament_id = path_number(request, "tournament", "tournament")
    await run_use_case(
        use_case, arena_of(request), tournament_id, fields.get("bot", "").strip()[:60], None, request[IDENTITY]
    )
    return redirect(f"/tournaments/{tournament_id}#entries")


@routes.post("/tournaments/{tournament}/steer")
async def steer(request: web.Request) -> web.Response:
    """Start, drain, pause, resume or cancel a tournament."""
    fields = await checked_form(request)
    tournament_id = path_number(request, "tournament", "tournament")
    await run_use_case(
        services.tournament.steer, arena_of(request), tournament_id, fields.get("verb", ""), request[IDENTITY]
    )
    return redirect(f"/tournaments/{tournament_id}")
