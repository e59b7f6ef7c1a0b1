"""Read permissions for logs, host names and lease owners."""

from __future__ import annotations

from dataclasses import replace

from arena.config import Settings
from arena.credentials import digest_of
from arena.documents.identity import Identity
from arena.documents.service import VoidItem
from referee.rules.core import Termination


def may_read_log(by: Identity | None, owner: str) -> bool:
    """Return whether a reader may see a bot's standard error: its owner, organisers and admins may."""
    return by is not None and (by.name == owner or "organise" in by.scopes)


def may_read_hosts(settings: Settings, by: Identity | None) -> bool:
    """Return whether a reader may see host names: organisers always, everyone if `public_hosts` is set."""
    return settings.public_hosts or (by is not None and "organise" in by.scopes)


def shown_owner(settings: Settings, by: Identity | None, owner: str) -> str:
    """Return the lease owner as a reader may see it. Its name contains a host name, so others get a digest of it."""
    return owner if not owner or may_read_hosts(settings, by) else f"referee-{digest_of(owner)[:8]}"


def shown_void(settings: Settings, by: Identity | None, line: VoidItem) -> VoidItem:
    """Return a void attempt as a reader may see it, without host names."""
    if may_read_hosts(settings, by):
        return line
    is_accusation = line.termination == Termination.WORKER_WRONG.value  # begins with the worker's name
    detail = f"a worker: {line.detail.partition(': ')[2]}" if is_accusation else line.detail
    return replace(line, detail=detail, lease_owner=shown_owner(settings, by, line.lease_owner))
