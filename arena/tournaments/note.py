"""What was done to a tournament, in the audit log."""

from __future__ import annotations

from typing import Any

from arena.store import Store
from arena.store.models import Tournament


def note(store: Store, action: str, tournament: Tournament, by: int, **detail: Any) -> Tournament:
    """Write down who did what to a tournament; gives it back."""
    store.audit.note(action, f"tournament:{tournament.id}", by, **detail)
    return tournament
