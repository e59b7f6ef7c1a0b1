"""Tournaments of every format, planned like the coordinator does and played by random moves."""

from __future__ import annotations

from typing import Any

from arena import tournaments
from arena.clock import now
from tests.arena.field import Field, record_of


def hold(field: Field, format: str, *, most: int = 1000, **settings: Any) -> int:
    """Create a tournament of all bots, play at most a number of its games, and return its id."""
    store = field.store
    bots = [version.name for version in field.versions]
    document = {
        "name": f"The {format}",
        "family": "loa",
        "format": format,
        "openings": "none",
        "entries": {"bots": bots},
        **settings,
    }
    row = tournaments.create(store, document, field.user_id, now())
    assert row.id is not None
    progress = tournaments.plan(store, row.id)
    played = 0
    while progress.state == "running" and played < most:
        for pending in store.queue.waiting(row.id, min(50, most - played)):
            assert store.results.commit(record_of(pending.game)) is not None
            played += 1
        progress = tournaments.advance(store, row.id)
    return row.id
