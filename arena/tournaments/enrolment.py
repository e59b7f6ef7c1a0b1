"""Versions are entered in a tournament after its creation, and withdrawn from it."""

from __future__ import annotations

from arena.store import ConflictError, Store
from arena.store.models import Tournament
from arena.tournaments import format
from arena.tournaments.entry import read_name, resolve, verdict_on
from arena.tournaments.settings import Document, SettingsError, read


def enter(store: Store, tournament_id: int, version_id: int) -> str:
    """Enter a version in a tournament that has not begun, or in a ladder; returns why it may play.

    Raises SettingsError when it may not, ConflictError when it is too late.
    """
    tournament = store.tournaments.get(tournament_id)
    document = read(tournament.settings)
    version = store.versions.get(version_id)
    if version.state != "active":
        raise SettingsError(f"{version.name} is {version.state}; only active versions play", "version")
    verdict = verdict_on(version, store.versions.families(version_id), document)
    if not verdict.may_play:
        raise SettingsError(f"{version.name}: {verdict.reason}", "version")
    if tournament.started_at is None:
        if format.is_closed(document.format):
            raise ConflictError("a sequential test is between the two bots it was made for", tournament.state)
        present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
        if version_id in present:
            raise ConflictError(f"{version.name} is entered already", tournament.state)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [*wanted.bots, version.name],
                "without": [name for name in wanted.without if name != version.name],
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
        raise ConflictError(f"tournament {tournament_id} has begun: too late to enter", tournament.state)
    return verdict.reason


def withdraw(store: Store, tournament_id: int, version_id: int) -> None:
    """Take a version out: it is paired no more, its planned games are cancelled. Raises ConflictError."""
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
    else:
        document = read(tournament.settings)
        bot, _ = read_name(name)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [entry for entry in wanted.bots if entry not in (name, bot)],
                "without": [*wanted.without, name],
            }
        )
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))


def _reseat(store: Store, tournament: Tournament, document: Document) -> None:
    field = resolve(store, document)
    assert tournament.id is not None
    store.tournaments.seat(tournament.id, field.entries, field.refused, settings=document.as_json())
