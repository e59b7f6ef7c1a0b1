"""Tournaments of a database: created and steered by organisers, started and planned by the coordinator.

Everything is decided by `referee.tournament`; this room reads the entries, games and ratings for it, and stores what
it decides. Callers check permissions.
"""

from arena.errors import ConflictError as StateError
from arena.tournaments.creation import change, create
from arena.tournaments.lifecycle import (
    PlanningResult,
    advance,
    cancel,
    drain,
    enter,
    extend,
    pause,
    plan,
    resume,
    start,
    withdraw,
)

__all__ = [
    "PlanningResult",
    "StateError",
    "advance",
    "cancel",
    "change",
    "create",
    "drain",
    "enter",
    "extend",
    "pause",
    "plan",
    "resume",
    "start",
    "withdraw",
]
