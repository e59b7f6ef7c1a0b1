"""Who may read what is not for everybody."""

from __future__ import annotations

from arena.store import Identity


def may_read_log(by: Identity | None, owner: str) -> bool:
    """Whether somebody may read what a bot wrote to its standard error: its owner, organisers, admins."""
    return by is not None and (by.name == owner or "organise" in by.scopes)
