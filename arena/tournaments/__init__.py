"""Tournaments: from a settings document to games, whatever the format.

    settings, eligibility, entry, openings    what is asked for, who may play, who does, where games start
    meeting, roundrobin, swiss, knockout, ladder, sequential, format    pure formats: from results to the next games
    spec, life    meetings made into games; creating, planning, going on, steering

Refuses to know how games are played and handed out.
"""

from arena.store.errors import ConflictError as StateError
from arena.tournaments.life import (
    Progress,
    advance,
    cancel,
    create,
    drain,
    enter,
    extend,
    pause,
    plan,
    resume,
    start,
    withdraw,
)
from arena.tournaments.settings import Document, SettingsError, read, read_toml

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
    "read",
    "read_toml",
    "resume",
    "start",
    "withdraw",
]
