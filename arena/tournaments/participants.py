"""Converts the entries and games of a tournament to the input of its format, which knows only seats."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from arena.documents.tournament import EntryItem, TournamentItem
from arena.store import Store
from arena.store.tournaments.queue import GameOutline
from arena.tournaments import format
from arena.tournaments.match import Seed, State, TournamentGame
from referee.ratings.trueskill import TrueSkillRating


def participants(store: Store, tournament: TournamentItem) -> list[EntryItem]:
    """Return the entries that take part: not those refused or withdrawn before the start."""
    return participating(tournament, store.tournaments.entries(tournament.id))


def participating(tournament: TournamentItem, entries: Sequence[EntryItem]) -> list[EntryItem]:
    """Select the entries of a tournament that take part."""
    begun = tournament.started_at
    return [entry for entry in entries if entry.withdrawn is None or (begun is not None and entry.withdrawn > begun)]


def stored(store: Store, tournament: TournamentItem) -> list[GameOutline]:
    """Return the stored games from which the next ones are planned.

    If the plan is known in advance, these are the open games and the last in planned order; else all.
    """
    if format.is_known_in_advance(tournament.format):
        return store.queue.frontier(tournament.id)
    return store.queue.outline(tournament.id)


def seeds_of(
    store: Store, tournament: TournamentItem, entries: list[EntryItem], absent: Collection[str] = ()
) -> list[Seed]:
    """Return the entries as seeds, with their current ratings if the format uses them.

    `absent` are the versions of remote bots that are not connected, whose games wait.
    """
    if not format.looks_at_ratings(tournament.format):
        return [
            Seed(
                entry.seat,
                entry.withdrawn is not None,
                is_suspended=bool(entry.suspended),
                is_absent=entry.name in absent,
            )
            for entry in entries
        ]
    strengths = store.ratings.strengths(tournament.pool, [entry.version_id for entry in entries])
    unknown = TrueSkillRating()
    seeds = []
    for entry in entries:
        rating = strengths.get(entry.version_id, unknown)
        seeds.append(Seed(entry.seat, entry.withdrawn is not None, rating.mu, rating.sigma))
    return seeds


def played(outlines: Sequence[GameOutline], entries: Sequence[EntryItem]) -> list[TournamentGame]:
    """Return the stored games as the input of a format."""
    seat_of = {entry.version_id: entry.seat for entry in entries}
    return [
        TournamentGame(
            game.sequence,
            game.round,
            game.pair,
            seat_of[game.first_id],
            seat_of[game.second_id],
            _STATES.get(game.state, "open"),
            _POINTS.get(game.winner or "") if game.state == "finished" else None,
            game.commit_number or 0,
        )
        for game in outlines
    ]


_STATES: Mapping[str, State] = {"finished": "done", "void": "void", "cancelled": "cancelled"}
_POINTS = {"first": 1.0, "draw": 0.5, "second": 0.0}
