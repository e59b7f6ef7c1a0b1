"""The state of the service: coordinator, workers, database, disk, games and tournaments in progress; the audit log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from arena.clock import now
from arena.data_folder import disk_state
from arena.documents.account import AuditItem, Identity
from arena.documents.game import GameItem
from arena.documents.query import PageResponse
from arena.documents.service import AuditQuery, Referee
from arena.errors import StoreError
from arena.events.live import Live
from arena.events.payload import WorkerPayload
from arena.metrics import Metrics
from arena.services.access import may_read_hosts, shown_owner
from arena.services.arena import Arena
from arena.store.people.audit import QUARANTINED, THROTTLED, VERIFIED

FRESH_S = 30.0
"""Age after which the latest worker status no longer counts."""
SHOWN = timedelta(days=7)
"""Time for which quarantined workers are listed."""
MAX_RUNNING = 100
"""Maximum number of running games in the status."""


def coordinator(arena: Arena, by: Identity | None) -> Referee:
    """Return the coordinator as the caller may see it, with the numbers of waiting and running games."""
    lease, games = arena.store.leases.get("referee"), arena.store.queue.open()
    backlog = arena.spool.backlog()
    return Referee(
        lease_owner=shown_owner(arena.settings, by, lease.owner) if lease else None,
        until=lease.until if lease else None,
        left_s=round(lease.left_s, 1) if lease else None,
        is_alive=lease is not None and lease.is_alive,
        games=games,
        results_waiting=backlog.count,
        results_waiting_since=backlog.since,
    )


def has_coordinator(arena: Arena) -> bool:
    """Return whether a coordinator is running. Raises StoreUnavailableError."""
    lease = arena.store.leases.get("referee")
    return lease is not None and lease.is_alive


def database(arena: Arena) -> Literal["ok", "damaged", "unavailable"]:
    """Return whether the database is known to be damaged; `unavailable` if it cannot be asked."""
    with suppress(StoreError):
        return "damaged" if arena.store.health.damage else "ok"
    return "unavailable"


def require_writable(arena: Arena) -> None:
    """Begin a write into the database. Raises StoreUnavailableError, and StorageError if it is read-only."""
    arena.store.require_writable()


def disk(arena: Arena) -> str:
    """Return whether the folders of the data and of the database can be written: `ok`, `full` or `unwritable`."""
    file = arena.store.health.file
    folders = {Path(arena.settings.data).absolute(), *([file.parent.absolute()] if file else ())}
    return next((state for folder in folders if (state := disk_state(folder)) != "ok"), "ok")


def coordinator_disk(live: Live) -> str:
    """Return whether the disk of the coordinator, which may be another machine, accepts results, as it reported."""
    if live.workers is None or time.time() - live.workers_at > FRESH_S:
        return "unknown"
    return live.workers.disk


def measure(arena: Arena, metrics: Metrics) -> None:
    """Set the metrics of the database. If it is unavailable, they keep their last values."""
    metrics.damaged.set(database(arena) == "damaged")
    with suppress(StoreError):
        store = arena.store
        metrics.set_database(store.queue.open(), store.tournaments.counts(), has_coordinator=has_coordinator(arena))


def audit(arena: Arena, query: AuditQuery) -> PageResponse[AuditItem]:
    """Return the audit log, latest first. Raises BadValueError for an invalid cursor."""
    # No entry has such a subject, and PostgreSQL refuses a text with a NUL.
    if query.subject is not None and not query.subject.isprintable():
        return PageResponse([])
    return arena.store.audit.page(query)


@dataclass(frozen=True, slots=True)
class QuarantinedWorker:
    """A quarantined worker, and what happened to its results."""

    name: str
    problem: str
    results: str
    quarantined_at: datetime


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The state of the service. `tournaments` counts tournaments by state."""

    coordinator: Referee
    running: Sequence[GameItem]
    tournaments: Mapping[str, int]
    quarantined: Sequence[QuarantinedWorker]


def read(arena: Arena, by: Identity | None) -> ServiceStatus:
    """Return the state of the service as the caller may see it."""
    store = arena.store
    return ServiceStatus(
        coordinator(arena, by),
        store.games.in_state("running", MAX_RUNNING),
        store.tournaments.counts(),
        _quarantined(
            store.audit.since(now() - SHOWN, QUARANTINED, THROTTLED, VERIFIED),
            with_names=may_read_hosts(arena.settings, by),
        ),
    )


def _quarantined(lines: Sequence[AuditItem], *, with_names: bool) -> list[QuarantinedWorker]:
    """Return the quarantined workers from the audit log, latest first."""
    quarantined, verified = [], set()
    for line in lines:
        if line.action == VERIFIED:
            verified.add(line.subject)
            continue
        if line.action == THROTTLED:
            results = "kept: both bots of each game were equally slow"
        else:
            results = "verified; wrong games are played again" if line.subject in verified else "being verified"
        name = str(line.detail["worker"]) if with_names else "a worker"
        quarantined.append(QuarantinedWorker(name, str(line.detail.get("problem", "")), results, line.logged_at))
    return quarantined


def workers(arena: Arena, live: Live, by: Identity | None) -> list[WorkerPayload] | None:
    """Return the workers as the caller may see them; None if the coordinator has not reported them recently."""
    if live.workers is None or time.time() - live.workers_at > FRESH_S:
        return None
    found = live.workers.workers
    if may_read_hosts(arena.settings, by):
        return list(found)
    return [replace(one, name=f"worker {number}") for number, one in enumerate(found, 1)]
