"""The entries of a tournament and its games, as formats see them: by seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.store import Store
from arena.store.models import Tournament
from arena.store.queue import GameOutline
from arena.store.tournaments import EntryLine
from arena.tournaments import format
from arena.tournaments.meeting import Played, Seat, State
from referee.ratings.trueskill import Rating


def seated(store: Store, tournament: Tournament) -> list[EntryLine]:
    """The entries that have a seat: those refused before it began, or withdrawn by then, have none."""
    assert tournament.id is not None
    return with_seat(tournament, store.tournaments.entries(tournament.id))


def with_seat(tournament: Tournament, entries: Sequence[EntryLine]) -> list[EntryLine]:
    """Return those entries of a tournament that have a seat."""
    begun = tournament.started
    return [entry for entry in entries if entry.withdrawn is None or (begun is not None and entry.withdrawn > begun)]


def seats_of(store: Store, tournament: Tournament, entries: list[EntryLine]) -> list[Seat]:
    """The entries as formats see them, with their present ratings where the format looks at them."""
    if not format.looks_at_ratings(tournament.format):
        return [Seat(entry.seat, entry.withdrawn is not None) for entry in entries]
    strengths = store.ratings.strengths(tournament.pool, [entry.version_id for entry in entries])
    unknown = Rating()
    found = []
    for entry in entries:
        rating = strengths.get(entry.version_id, unknown)
        found.append(Seat(entry.seat, entry.withdrawn is not None, rating.mu, rating.sigma))
    return found


def played(outlines: Sequence[GameOutline], entries: Sequence[EntryLine]) -> list[Played]:
    """The games as formats see them."""
    seat_of = {entry.version_id: entry.seat for entry in entries}
    return [
        Played(
            game.sequence,
            game.round,
            game.pair,
            seat_of[game.first_id],
            seat_of[game.second_id],
            _STATES.get(game.state, "open"),
            _POINTS.get(game.winner or "") if game.state == "finished" else None,
            game.committed or 0,
        )
        for game in outlines
    ]


_STATES: Mapping[str, State] = {"finished": "done", "void": "void", "cancelled": "cancelled"}
_POINTS = {"first": 1.0, "draw": 0.5, "second": 0.0}
