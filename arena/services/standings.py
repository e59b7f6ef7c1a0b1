"""Standings of a tournament, and its progress: bracket, rounds, next games."""

from __future__ import annotations

from arena.services.arena import Arena
from arena.services.standings_cache import TournamentStandings
from arena.store.base.models import Tournament
from arena.tournaments.overview import TournamentOverview, overview
from arena.tournaments.participants import participants, played, seeds_of
from arena.tournaments.settings import SettingsError
from arena.tournaments.settings import read as read_settings

_FOLLOWED = ("knockout", "swiss", "ladder", "race")


def read(arena: Arena, tournament_id: int) -> TournamentStandings:
    """Return the current standings of a tournament. Raises NotFoundError."""
    return arena.standings.read(arena.store, tournament_id)


def read_progress(arena: Arena, tournament: Tournament) -> TournamentOverview:
    """Return the progress so far; empty for formats without any, and if the settings cannot be read."""
    if tournament.format not in _FOLLOWED or tournament.id is None:
        return TournamentOverview()
    try:
        document = read_settings(tournament.settings)
    except SettingsError:  # stored by another version of the program: show the standings only
        return TournamentOverview()
    entries = participants(arena.store, tournament)
    games = played(arena.store.queue.outline(tournament.id), entries)
    return overview(
        document, seeds_of(arena.store, tournament, entries), games, {entry.seat: entry.name for entry in entries}
    )
