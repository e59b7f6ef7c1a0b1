"""Schedules of recurring tournaments: create, change, enable and disable them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.clock import now
from arena.coordinator import cron
from arena.documents.identity import Identity
from arena.services.arena import Arena
from arena.services.tournament import require_organiser
from arena.store.base.models import Schedule
from arena.tournaments.settings import Document


def create(arena: Arena, document: Mapping[str, Any] | Document, by: Identity) -> Schedule:
    """Store a schedule from a document with a table `schedule`. Raises SettingsError, TakenError, ForbiddenError."""
    require_organiser(by)
    row = cron.create(arena.store, document, by.user_id, now())
    arena.wake()
    return row


def change(arena: Arena, schedule_id: int, document: Mapping[str, Any] | Document, by: Identity) -> Schedule:
    """Replace the document of a schedule. Raises SettingsError, NotFoundError, TakenError, ForbiddenError."""
    require_organiser(by)
    row = cron.change(arena.store, schedule_id, document, by.user_id, now())
    arena.wake()
    return row


def switch(arena: Arena, schedule_id: int, is_enabled: bool, by: Identity) -> Schedule:
    """Enable a schedule from its next time on, or disable it. Raises NotFoundError, ForbiddenError."""
    require_organiser(by)
    row = cron.enable(arena.store, schedule_id, is_enabled, by.user_id, now())
    arena.wake()
    return row
