"""The workers of a scheduler, as the scheduler reports them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distributed.core import rpc

from arena.cluster.plain_comm import plain_address
from arena.cluster.wire_config import SLOT, Security, configure, version
from arena.events.messages import MAX_TEXT, WorkerPayload


@dataclass(frozen=True, slots=True)
class WorkerState(WorkerPayload):
    """A worker with the id of its process and its Dask address."""

    id: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class ClusterState:
    """All workers of a scheduler. `slots` and `busy` count only the slots of workers that get games."""

    address: str
    is_connected: bool = False
    workers: tuple[WorkerState, ...] = ()

    @property
    def slots(self) -> int:
        return sum(worker.slots for worker in self.workers if worker.is_fit)

    @property
    def busy(self) -> int:
        return sum(worker.busy for worker in self.workers if worker.is_fit)

    @property
    def refused(self) -> tuple[WorkerState, ...]:
        """Workers that get no games: they have another version, or are quarantined."""
        return tuple(worker for worker in self.workers if not worker.is_fit)


def state_of(address: str, identity: Mapping[str, Any], quarantined: Mapping[str, str] | None = None) -> ClusterState:
    """Parse a scheduler's answer to Dask's `identity`; Dask workers without game slots are left out.

    `quarantined` maps the ids of quarantined workers to the reasons.
    """
    workers = []
    for place, known in identity["workers"].items():
        metadata: Mapping[str, Any] = known.get("arena") or {}
        now: Mapping[str, Any] = (known.get("metrics") or {}).get("arena") or {}
        # A worker that is stopping has no slots.
        if not metadata or known["status"] != "running" or not known["resources"].get(SLOT):
            continue
        theirs, worker_id = str(metadata.get("version", "?")), str(metadata.get("id", ""))
        problem = "" if theirs == version() else f"version {theirs} differs from the arena's"
        problem = (quarantined or {}).get(worker_id) or problem
        workers.append(
            WorkerState(
                name=str(metadata.get("name", known["name"])),
                slots=int(known["nthreads"]),
                busy=int(now.get("busy", 0)),
                version=theirs,
                sandbox=str(metadata.get("sandbox", "?")),
                is_fit=not problem,
                problem=problem[:MAX_TEXT],
                speed=int(now.get("speed", 0)),
                id=worker_id,
                address=str(place),
            )
        )
    return ClusterState(address, True, tuple(sorted(workers, key=lambda worker: worker.name)))


def look(address: str, security: Security | None, timeout_s: float) -> ClusterState:
    """Query a scheduler once. Raises OSError, TimeoutError."""

    async def ask() -> ClusterState:
        arguments = security.get_connection_args("client") if security else {}
        async with asyncio.timeout(timeout_s), rpc(plain_address(address), connection_args=arguments) as scheduler:
            return state_of(address, await scheduler.identity(n_workers=-1))

    configure()
    return asyncio.run(ask())
