"""Progress of a tournament: its bracket, its rounds, its next games."""

from __future__ import annotations

from arena.services.arena import Arena
from arena.store.models import Tournament
from arena.tournaments.course import Course, course
from arena.tournaments.seating import played, seated, seats_of
from arena.tournaments.settings import SettingsError
from arena.tournaments.settings import read as read_settings

_FOLLOWED = ("knockout", "swiss", "ladder", "race")


def read(arena: Arena, tournament: Tournament) -> Course:
    """Return the progress so far; empty for formats without any, and if the settings cannot be read."""
    if tournament.format not in _FOLLOWED or tournament.id is None:
        return Course()
    try:
        document = read_settings(tournament.settings)
    except SettingsError:  # another program stored it: the tables are shown without
        return Course()
    entries = seated(arena.store, tournament)
    games = played(arena.store.queue.outline(tournament.id), entries)
    return course(
        document, seats_of(arena.store, tournament, entries), games, {entry.seat: entry.name for entry in entries}
    )
