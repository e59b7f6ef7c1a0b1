"""The course of a tournament: its bracket, its rounds, what it asks for next."""

from __future__ import annotations

from arena.services.arena import Arena
from arena.store.base.models import Tournament
from arena.tournaments.overview import TournamentOverview, overview
from arena.tournaments.participants import participants, played, seeds_of
from arena.tournaments.settings import SettingsError
from arena.tournaments.settings import read as read_settings

_FOLLOWED = ("knockout", "swiss", "ladder", "race")


def read(arena: Arena, tournament: Tournament) -> TournamentOverview:
    """The course so far; empty for formats that have none, and where the document cannot be read."""
    if tournament.format not in _FOLLOWED or tournament.id is None:
        return TournamentOverview()
    try:
        document = read_settings(tournament.settings)
    except SettingsError:  # another program stored it: the tables are shown without
        return TournamentOverview()
    entries = participants(arena.store, tournament)
    games = played(arena.store.queue.outline(tournament.id), entries)
    return overview(
        document, seeds_of(arena.store, tournament, entries), games, {entry.seat: entry.name for entry in entries}
    )
