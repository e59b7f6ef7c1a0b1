"""Permanent ladders: one for each family, which every checked bot joins, so that it soon has a rating."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from arena.documents.tournament import PERMANENT_LADDER, TournamentItem
from arena.store import Store
from arena.tournaments.creation import create
from referee.rules import load

GAMES_PER_BOT = 30
"""Games after which a bot of a permanent ladder rests."""
PRIORITY = -10
"""The ladders use the slots that tournaments of organisers leave free."""


def ladders(store: Store, families: Iterable[str]) -> list[TournamentItem]:
    """Return the permanent ladders of these families."""
    owner, wanted = store.samples.owner_id(), set(families)
    live = store.tournaments.in_states("scheduled", "running", "paused", "draining")
    return [one for one in live if one.created_by == owner and one.format == "ladder" and one.family in wanted]


def ensure(store: Store, families: Iterable[str], time_control: str, at: datetime) -> list[TournamentItem]:
    """Create the permanent ladders that these families lack, and return those created.

    A cancelled ladder is created again, unless the operator empties the setting `ladder_time_control`.
    """
    wanted = sorted(families)
    present = {one.family for one in ladders(store, wanted)}
    owner = store.samples.ensure_owner()
    return [create(store, _document(one, time_control), owner, at) for one in wanted if one not in present]


def _document(family: str, time_control: str) -> dict[str, Any]:
    return {
        "name": load(family).title + PERMANENT_LADDER,
        "family": family,
        "format": "ladder",
        "time_control": time_control,
        "priority": PRIORITY,
        "entries": {"newest": True},
        "ladder": {"games": 0, "rest_after": GAMES_PER_BOT},
    }
