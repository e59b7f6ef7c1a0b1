"""Tournaments: from a settings document to games, whatever the format.

    settings, handicap, eligibility, entry, openings    what is asked for, who may play, who does, where games start
    meeting, roundrobin, swiss, knockout, ladder, sequential, format    pure formats: from results to the next games
    spec, seating, course    meetings made into games, games seen by seat, and as people follow them
    creation, progress, steering, enrolment    what is done with a tournament

Refuses to know how games are played and handed out.
"""

from arena.store.errors import ConflictError as StateError
from arena.tournaments.creation import create
from arena.tournaments.enrolment import enter, withdraw
from arena.tournaments.progress import Progress, advance, plan
from arena.tournaments.settings import Document, SettingsError, problems, read, read_toml
from arena.tournaments.steering import cancel, drain, extend, pause, resume, start

__all__ = [
    "Document",
    "Progress",
    "SettingsError",
    "StateError",
    "advance",
    "cancel",
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
