"""Tournaments are steered by people: begun at once, paused, drained, resumed, cancelled, made longer."""

from __future__ import annotations

from datetime import datetime

from arena.store import ConflictError, Store
from arena.store.models import Tournament
from arena.tournaments import format
from arena.tournaments.extension import Plan, extended, planned
from arena.tournaments.seating import played, seated, seats_of
from arena.tournaments.settings import read


def start(store: Store, tournament_id: int, at: datetime) -> Tournament:
    """Let a scheduled tournament begin now, whatever time it was announced for."""
    return store.tournaments.reschedule(tournament_id, at)


def pause(store: Store, tournament_id: int, at: datetime) -> Tournament:
    """Stop at once: running games are called off, and played anew after the resumption."""
    return store.tournaments.move(tournament_id, "paused")


def drain(store: Store, tournament_id: int, at: datetime) -> Tournament:
    """Let the running games finish, then pause."""
    return store.tournaments.move(tournament_id, "draining")


def resume(store: Store, tournament_id: int, at: datetime) -> Tournament:
    """Go on after a pause; one that had not begun waits for its time again."""
    tournament = store.tournaments.get(tournament_id)
    state = "running" if tournament.started_at or tournament.state == "draining" else "scheduled"
    return store.tournaments.move(tournament_id, state, only_from=("paused", "draining"), problem=tournament.problem)


def cancel(store: Store, tournament_id: int, at: datetime) -> Tournament:
    """End it for good: games without a result never get one; those with one stand."""
    tournament = store.tournaments.move(tournament_id, "cancelled")
    store.queue.cancel(tournament_id)
    return tournament


def extend(store: Store, tournament_id: int, *, to: int | None = None, amount: int | None = None) -> Plan:
    """Make a tournament longer, up to `to` or by `amount` of what its format counts; return the plan that follows.

    A finished one goes on. Raises SettingsError, and ConflictError where more games would change nothing.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state == "cancelled":
        raise ConflictError(f"tournament {tournament_id} is cancelled; create it anew", tournament.state)
    entries = seated(store, tournament)
    document = read(extended(read(tournament.settings), len(entries), to=to, amount=amount))
    seats, games = seats_of(store, tournament, entries), played(store.queue.outline(tournament_id), entries)
    found = format.step(document, seats, games)
    if tournament.started_at and (found.is_finished or found.calls_off):
        raise ConflictError(f"more games would change nothing: {found.reason}", tournament.state)
    store.tournaments.extend(tournament_id, document.as_json())
    if tournament.state == "finished":
        store.tournaments.move(tournament_id, "running", only_from=("finished",))
    return planned(document, seats, games)
