"""Commands of organisers: start at once, pause, drain, resume, cancel, extend."""

from __future__ import annotations

from datetime import datetime

from arena.documents.tournament import PlanItem, TournamentItem, TournamentState
from arena.errors import ConflictError
from arena.store import Store
from arena.tournaments import format
from arena.tournaments.extension import extended, planned
from arena.tournaments.participants import participants, played, seeds_of, stored
from arena.tournaments.settings import read


def start(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Start a scheduled tournament now instead of at its start time."""
    return store.tournaments.reschedule(tournament_id, at)


def pause(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Pause at once: running games are aborted, and played again after `resume`."""
    return store.tournaments.move(tournament_id, "paused")


def drain(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Let the running games finish, then pause."""
    return store.tournaments.move(tournament_id, "draining")


def resume(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Continue after a pause; a tournament that had not started waits for its start time again."""
    tournament = store.tournaments.get(tournament_id)
    state: TournamentState = "running" if tournament.started_at or tournament.state == "draining" else "scheduled"
    return store.tournaments.move(tournament_id, state, only_from=("paused", "draining"), problem=tournament.problem)


def cancel(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Cancel a tournament for good: results stand, all other games are cancelled."""
    tournament = store.tournaments.move(tournament_id, "cancelled")
    store.queue.cancel(tournament_id)
    store.queue.set_later(tournament_id, 0)
    return tournament


def extend(store: Store, tournament_id: int, *, to: int | None = None, amount: int | None = None) -> PlanItem:
    """Extend a tournament up to `to` or by `amount` of the unit that its format counts; return its new size.

    A finished tournament resumes. Raises SettingsError, and ConflictError if more games would change nothing.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state == "cancelled":
        raise ConflictError(f"tournament {tournament_id} is cancelled; create a new one", tournament.state)
    entries = participants(store, tournament)
    document = read(extended(read(tournament.settings), len(entries), to=to, amount=amount))
    seeds, games = seeds_of(store, tournament, entries), played(stored(store, tournament), entries)
    upcoming = format.step(document, seeds, games)
    if tournament.started_at and (upcoming.is_finished or upcoming.calls_off):
        raise ConflictError(f"more games would change nothing: {upcoming.reason}", tournament.state)
    store.tournaments.extend(tournament_id, document.as_json())
    if tournament.state == "finished":
        store.tournaments.move(tournament_id, "running", only_from=("finished",))
    return planned(document, seeds, games, tournament.planned_games - tournament.later_games)
