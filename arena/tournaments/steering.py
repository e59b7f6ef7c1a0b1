"""Tournaments are steered by people: begun at once, paused, drained, resumed, cancelled, made longer."""

from __future__ import annotations

from datetime import datetime

from arena.store import ConflictError, Store
from arena.store.models import Tournament
from arena.tournaments import format
from arena.tournaments.seating import seated
from arena.tournaments.settings import SettingsError, read


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
    state = "running" if tournament.started or tournament.state == "draining" else "scheduled"
    return store.tournaments.move(tournament_id, state, only_from=("paused", "draining"), problem=tournament.problem)


def cancel(store: Store, tournament_id: int, at: datetime) -> Tournament:
    """End it for good: games without a result never get one; those with one stand."""
    tournament = store.tournaments.move(tournament_id, "cancelled")
    store.queue.cancel(tournament_id)
    return tournament


def extend(store: Store, tournament_id: int, *, amount: int) -> Tournament:
    """Make it longer: by so many rounds of a Swiss, games per pairing of a round robin, games of a ladder or a test.

    A finished one goes on. Raises SettingsError, ConflictError.
    """
    if not 1 <= amount <= 1_000_000:
        raise SettingsError("between 1 and 1,000,000", "amount")
    tournament = store.tournaments.get(tournament_id)
    if tournament.state == "cancelled":
        raise ConflictError(f"tournament {tournament_id} is cancelled; create it anew", tournament.state)
    settings = format.extended(read(tournament.settings), amount, len(seated(store, tournament)))
    read(settings)
    store.tournaments.extend(tournament_id, settings)
    if tournament.state == "finished":
        return store.tournaments.move(tournament_id, "running", only_from=("finished",))
    return store.tournaments.get(tournament_id)
