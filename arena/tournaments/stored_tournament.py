"""A stored tournament as its format sees it: settings, entries as seeds, and games. A format knows only seats."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.documents.tournament import EntryItem, TournamentItem
from arena.store import Store
from arena.tournaments.entry import with_requests
from referee.ratings.trueskill import TrueSkillRating
from referee.tournament.document import Document, read
from referee.tournament.formats import format_named
from referee.tournament.match import Seed, TournamentGame


@dataclass(frozen=True)
class StoredTournament:
    """A tournament with what its standings and its course follow from; each part is read on first use."""

    store: Store
    tournament: TournamentItem

    @classmethod
    def get(cls, store: Store, tournament_id: int) -> StoredTournament:
        """Return the tournament with this id. Raises NotFoundError."""
        return cls(store, store.tournaments.get(tournament_id))

    @cached_property
    def listed(self) -> Sequence[EntryItem]:
        """All entries, also those that do not take part."""
        return self.store.tournaments.entries(self.tournament.id)

    @cached_property
    def entries(self) -> list[EntryItem]:
        return participants(self.tournament, self.listed)

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


def participants(tournament: TournamentItem, entries: Sequence[EntryItem]) -> list[EntryItem]:
    """Select the entries that take part: not those refused or withdrawn before the start."""
    begun = tournament.started_at
    return [entry for entry in entries if entry.withdrawn is None or (begun is not None and entry.withdrawn > begun)]


def seats_by_version(entries: Sequence[EntryItem]) -> dict[int, int]:
    """Return the seats of entries by the ids of their versions."""
    return {entry.version_id: entry.seat for entry in entries}


def games_to_plan_from(store: Store, tournament: TournamentItem, entries: Sequence[EntryItem]) -> list[TournamentGame]:
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
