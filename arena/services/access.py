"""Who may read what is not for everybody."""

from __future__ import annotations

from dataclasses import replace

from arena.config import Settings
from arena.store import Identity
from arena.store.base.credentials import digest_of
from arena.store.games.voids import VoidLine
from referee.rules.core import Termination


def may_read_log(by: Identity | None, owner: str) -> bool:
    """Whether somebody may read what a bot wrote to its standard error: its owner, organisers, admins."""
    return by is not None and (by.name == owner or "organise" in by.scopes)


def may_read_hosts(settings: Settings, by: Identity | None) -> bool:
    """Whether somebody may read the names of the machines that play: organisers, and everybody where it is set so."""
    return settings.public_hosts or (by is not None and "organise" in by.scopes)


def shown_owner(settings: Settings, by: Identity | None, owner: str) -> str:
    """The owner of a lease as somebody may see it: its name, which holds that of its machine, or a mark."""
    return owner if not owner or may_read_hosts(settings, by) else f"referee-{digest_of(owner)[:8]}"


def shown_void(settings: Settings, by: Identity | None, line: VoidLine) -> VoidLine:
    """A void attempt as somebody may see it: without the names of machines."""
    if may_read_hosts(settings, by):
        return line
    is_accusation = line.termination == Termination.WORKER_WRONG.value  # begins with the worker's name
    detail = f"a worker: {line.detail.partition(': ')[2]}" if is_accusation else line.detail
    return replace(line, detail=detail, lease_owner=shown_owner(settings, by, line.lease_owner))
