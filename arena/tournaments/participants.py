"""The participants of a tournament: its entries and games as its format sees them, and later entries and withdrawals.

A format knows only seats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.documents.tournament import EntryItem, TournamentItem
from arena.errors import ConflictError
from arena.store import Store
from arena.tournaments.entry import eligibility_of, read_name, resolve, with_requests
from referee.ratings.trueskill import TrueSkillRating
from referee.tournament.document import Document, read
from referee.tournament.formats import format_named
from referee.tournament.match import Seed, TournamentGame
from referee.tournament.part import SettingsError


@dataclass(frozen=True)
class StoredTournament:
    """A tournament with what its standings and its course follow from; each part is read on first use."""

    store: Store
    tournament: TournamentItem

    @classmethod
    def read(cls, store: Store, tournament_id: int) -> StoredTournament:
        """Return the tournament with this id. Raises NotFoundError."""
        return cls(store, store.tournaments.get(tournament_id))

    @cached_property
    def listed(self) -> Sequence[EntryItem]:
        """All entries, also those that do not take part."""
        return self.store.tournaments.entries(self.tournament.id)

    @cached_property
    def entries(self) -> list[EntryItem]:
        """The entries that take part."""
        return participating(self.tournament, self.listed)

    @cached_property
    def document(self) -> Document:
        """The settings. Raises SettingsError if another version of the program stored them."""
        return read(self.tournament.settings)

    @cached_property
    def seeds(self) -> Sequence[Seed]:
        """The entries as the format takes them. Raises SettingsError for unreadable settings."""
        return seeds_of(self.store, self.tournament, self.document, self.entries)

    @cached_property
    def games(self) -> list[TournamentGame]:
        """All stored games, as the format takes them."""
        return self.store.queue.games(self.tournament.id, seats_by_version(self.entries))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of games in each state."""
        return self.store.games.counts(self.tournament.id)

    @cached_property
    def undone(self) -> int:
        """The number of results, of any tournament, that were ever undone."""
        return self.store.results.undone()


def participants(store: Store, tournament: TournamentItem) -> list[EntryItem]:
    """Return the entries that take part: not those refused or withdrawn before the start."""
    return participating(tournament, store.tournaments.entries(tournament.id))


def participating(tournament: TournamentItem, entries: Sequence[EntryItem]) -> list[EntryItem]:
    """Select the entries of a tournament that take part."""
    begun = tournament.started_at
    return [entry for entry in entries if entry.withdrawn is None or (begun is not None and entry.withdrawn > begun)]


def seats_by_version(entries: Sequence[EntryItem]) -> dict[int, int]:
    """Return the seats of entries by the ids of their versions."""
    return {entry.version_id: entry.seat for entry in entries}


def stored(store: Store, tournament: TournamentItem, entries: Sequence[EntryItem]) -> list[TournamentGame]:
    """Return the stored games from which the next ones are planned.

    If the plan is known in advance, these are the open games and the last in planned order; else all.
    """
    if format_named(tournament.format).is_known_in_advance:
        return store.queue.frontier(tournament.id, seats_by_version(entries))
    return store.queue.games(tournament.id, seats_by_version(entries))


def seeds_of(
    store: Store,
    tournament: TournamentItem,
    document: Document,
    entries: list[EntryItem],
    absent: Collection[str] = (),
) -> Sequence[Seed]:
    """Return the entries as seeds, with their current ratings if the format uses them.

    `absent` are the versions of remote bots that are not connected, whose games wait.
    """
    system = document.system
    times = sorted(entry.withdrawn for entry in entries if entry.withdrawn)
    starts = store.queue.starts(tournament.id) if times and system.needs_rounds else []
    places = {time: place for place, time in enumerate(times, 1)}
    seeds = [
        Seed(
            entry.seat,
            entry.withdrawn is not None,
            is_suspended=bool(entry.suspended),
            is_absent=entry.name in absent,
            rounds=sum(entry.withdrawn is not None and start <= entry.withdrawn for start in starts),
            left=places.get(entry.withdrawn, 0) if entry.withdrawn else 0,
        )
        for entry in entries
    ]
    if system.looks_at_ratings:
        strengths = store.ratings.strengths(tournament.pool, [entry.version_id for entry in entries])
        ratings = [strengths.get(entry.version_id, TrueSkillRating()) for entry in entries]
        seeds = [replace(seed, mu=rating.mu, sigma=rating.sigma) for seed, rating in zip(seeds, ratings, strict=True)]
    names = {entry.seat: entry.name for entry in entries}
    return with_requests(document, seeds, names, {entry.seat: entry.owner_id for entry in entries})


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
        players = len(participants(store, tournament))

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
            entries = participants(store, tournament)
            games = stored(store, tournament, entries)
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
