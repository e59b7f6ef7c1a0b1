"""Entry and withdrawal of versions after a tournament was created."""

from __future__ import annotations

from arena.documents.tournament import TournamentItem
from arena.errors import ConflictError
from arena.store import Store
from arena.tournaments import format
from arena.tournaments.entry import eligibility_of, read_name, resolve
from arena.tournaments.participants import participants, played, seeds_of, stored
from arena.tournaments.settings import Document, SettingsError, read


def enter(store: Store, tournament_id: int, version_id: int) -> str:
    """Enter a version in a tournament that has not started, or in a ladder; return why it may play.

    Raises SettingsError if the version may not play; ConflictError if it is already entered, or it is too late.
    """
    tournament = store.tournaments.get(tournament_id)
    document = read(tournament.settings)
    version = store.versions.get(version_id)
    if version.state != "active":
        raise SettingsError(f"{version.name} is {version.state}; only active versions play", "version")
    verdict = eligibility_of(version, store.versions.families(version_id), document)
    if not verdict.may_play:
        raise SettingsError(f"{version.name}: {verdict.reason}", "version")
    if tournament.started_at is None:
        if format.is_closed(document.format):
            raise ConflictError("no bot can be added to a sequential test: create another one", tournament.state)
        present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
        if version_id in present:
            raise ConflictError(f"{version.name} has already been entered", tournament.state)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [*wanted.bots, version.name],
                "exclude": [name for name in wanted.exclude if name != version.name],
            }
        )
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))
    elif format.is_open(document.format) and tournament.state in ("running", "paused", "draining"):
        if version.name not in document.entries.bots:
            changed = document.entries.model_copy(update={"bots": [*document.entries.bots, version.name]})
            settings = document.model_copy(update={"entries": changed}).as_json()
            store.tournaments.extend(tournament_id, settings)
        store.tournaments.enter(tournament_id, version_id, verdict.reason)
    else:
        raise ConflictError(
            f"tournament {tournament_id} has already started; only ladders accept bots then", tournament.state
        )
    return verdict.reason


def withdraw(store: Store, tournament_id: int, version_id: int) -> None:
    """Withdraw a version: it is no longer paired, and its planned games are cancelled. Raises ConflictError."""
    tournament = store.tournaments.get(tournament_id)
    name = store.versions.get(version_id).name
    present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
    if version_id not in present:
        raise ConflictError(f"{name} does not play in tournament {tournament_id}", tournament.state)
    if tournament.started_at is not None:
        if tournament.state not in ("running", "paused", "draining"):
            raise ConflictError(f"tournament {tournament_id} is {tournament.state}", tournament.state)
        store.tournaments.withdraw(tournament_id, version_id)
        store.queue.cancel(tournament_id, states=("planned",), version_id=version_id)
        if tournament.later_games:
            document = read(tournament.settings)
            entries = participants(store, tournament)
            games = played(stored(store, tournament), entries)
            store.queue.set_later(tournament_id, format.later(document, seeds_of(store, tournament, entries), games))
    else:
        document = read(tournament.settings)
        bot, _ = read_name(name)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [entry for entry in wanted.bots if entry not in (name, bot)],
                "exclude": [*wanted.exclude, name],
            }
        )
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))


def _reseat(store: Store, tournament: TournamentItem, document: Document) -> None:
    field = resolve(store, document)
    store.tournaments.seat(tournament.id, field.entries, field.refused, settings=document.as_json())
