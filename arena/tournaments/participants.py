"""The participants of a tournament: later entries and withdrawals."""

from __future__ import annotations

from collections.abc import Mapping

from arena.documents.tournament import TournamentItem
from arena.errors import ConflictError
from arena.store import Store
from arena.tournaments.entry import eligibility_of, read_name, resolve
from arena.tournaments.stored_tournament import games_to_plan_from, participants, seeds_of
from referee.tournament.document import Document, read
from referee.tournament.part import SettingsError


def enter(store: Store, tournament_id: int, version_id: int) -> str:
    """Enter a version in a tournament that has not started, in a ladder, or for the next round of a Swiss.

    Return why it may play.

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
        if document.system.is_closed:
            raise ConflictError(document.system.is_closed, tournament.state)
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
    elif not (document.system.is_open or document.system.takes_late_entries):
        problem = f"tournament {tournament_id} has already started; only ladders and Swiss tournaments accept bots then"
        raise ConflictError(problem, tournament.state)
    elif tournament.state not in ("running", "paused", "draining"):
        raise ConflictError(f"tournament {tournament_id} is {tournament.state}", tournament.state)
    else:
        players = len(participants(tournament, store.tournaments.entries(tournament.id)))

        def with_entry(settings: Mapping[str, object], rounds: int) -> Mapping[str, object]:
            return _with_late_entry(tournament, read(settings), version.name, players, rounds)

        store.tournaments.enter(tournament_id, version_id, verdict.reason, with_entry)
    return verdict.reason


def _with_late_entry(
    tournament: TournamentItem, document: Document, name: str, players: int, rounds: int
) -> Mapping[str, object]:
    """Return the settings with a bot that enters when `rounds` rounds are planned.

    Raises ConflictError if it is too late, SettingsError if no round could be paired with it.
    """
    changed = document.system.late_entry(document, name, players, rounds)
    if changed is None:
        raise ConflictError(f"all {rounds} rounds of tournament {tournament.id} are planned", tournament.state)
    if name not in changed.entries.bots:
        entries = changed.entries.model_copy(update={"bots": [*changed.entries.bots, name]})
        changed = changed.model_copy(update={"entries": entries})
    return read(changed.as_json()).as_json()


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
            entries = participants(tournament, store.tournaments.entries(tournament.id))
            games = games_to_plan_from(store, tournament, entries)
            later = document.system.count_later(document, seeds_of(store, tournament, document, entries), games)
            store.queue.set_later(tournament_id, later)
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
        document = document.system.without(document, (name, bot))
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))


def _reseat(store: Store, tournament: TournamentItem, document: Document) -> None:
    field = resolve(store, document)
    store.tournaments.seat(tournament.id, field.entries, field.refused, settings=document.as_json())
