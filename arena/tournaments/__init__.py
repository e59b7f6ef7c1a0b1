"""Tournaments: from a settings document to games, whatever the format.

    settings, handicap, eligibility, entry, openings    what is asked for, who may play, who does, where games start
    meeting, roundrobin, swiss, knockout, ladder, race, sequential    pure formats: from results to the next games
    format    the door to all of them
    extension    how long one is, and what a longer one comes to
    spec, seating, course    meetings made into games, games seen by seat, and as people follow them
    creation, progress, steering, enrolment    what is done with a tournament
    standing, crosstable, findings    what came of it
    preview, writing, example    a document before it is created, and as TOML

Refuses to know how games are played and handed out.
"""

from arena.store.errors import ConflictError as StateError
from arena.tournaments.control import cancel, drain, extend, pause, resume, start
from arena.tournaments.creation import change, create
from arena.tournaments.enrolment import enter, withdraw
from arena.tournaments.lifecycle import PlanningResult, advance, plan
from arena.tournaments.settings import Document, SettingsError, problems, read, read_toml
from arena.tournaments.toml_text import as_toml

__all__ = [
    "Document",
    "PlanningResult",
    "SettingsError",
    "StateError",
    "advance",
    "as_toml",
    "cancel",
    "change",
    "create",
    "drain",
    "enter",
    "extend",
    "pause",
    "plan",
    "problems",
    "read",
    "read_toml",
    "resume",
    "start",
    "withdraw",
]
