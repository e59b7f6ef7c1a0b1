"""Opens the connection of an arena to its scheduler, monitors it, and reopens it when it is lost.

The scheduler reports its workers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from distributed import Client
from distributed.core import rpc

from arena.cluster.plain_comm import plain_address
from arena.cluster.wire_config import METADATA, SLOT, ClusterError, Security, configure, reason, version
from arena.events.payload import MAX_TEXT, WorkerPayload
from arena.log import logger
from referee.machine import source


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


POLL_INTERVAL_S = 1.0
"""How often the workers are counted."""
ANSWER_TIMEOUT_S = 10.0
"""A scheduler that takes longer to answer is lost."""
CONNECT_TIMEOUT_S = 5.0
RETRY_INTERVAL_S = 0.5
CLOSE_TIMEOUT_S = 3.0
_ALLOWED_FAILURES = "arena-allowed-failures"
"""The key in the scheduler's metadata under which it publishes how often it retries a job."""
_FOREIGN_TOPICS = ("print", "warn")
"""Topics to which Dask subscribes, and through which workers could print or warn in this process."""


@dataclass(slots=True, eq=False)
class DaskLink:
    """A Dask client, used until its connection to the scheduler is lost."""

    client: Client
    is_lost: asyncio.Event = field(default_factory=asyncio.Event)


class DaskConnection:
    """The connection to the scheduler at `address`, for one event loop.

    `handle_events` is called with the events of `topic`.
    """

    def __init__(
        self, address: str, security: Security | None, topic: str, handle_events: Callable[[tuple[float, Any]], None]
    ) -> None:
        self._address, self._security, self._topic, self._handle_events = address, security, topic, handle_events
        self._log = logger("cluster")
        self._is_linked = asyncio.Event()
        self.state = ClusterState(address)
        """The last known state of the workers."""
        self.link: DaskLink | None = None
        self.quarantined: dict[str, str] = {}
        """The ids of quarantined workers, and why."""

    async def linked(self) -> DaskLink | None:
        """Wait until the scheduler is connected and return the link; None if it was lost again at once."""
        await self._is_linked.wait()
        return self.link

    async def open(self, connect_timeout_s: float) -> DaskLink:
        """Connect for the first time. Raises ClusterError if the scheduler does not answer in time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + connect_timeout_s
        while True:
            try:
                return await self._connect(min(CONNECT_TIMEOUT_S, connect_timeout_s))
            except (OSError, TimeoutError) as error:
                if loop.time() >= until:
                    raise ClusterError(
                        f"no Dask scheduler answers at {self._address}: {reason(error)}; "
                        "start one with `arena scheduler`, or change the setting executor"
                    ) from None
                await asyncio.sleep(RETRY_INTERVAL_S)

    async def _connect(self, timeout_s: float) -> DaskLink:
        """Connect once. Raises OSError, TimeoutError."""
        client = Client(
            plain_address(self._address),
            asynchronous=True,
            timeout=timeout_s,
            security=self._security,
            set_as_default=False,
            name="arena",
        )
        try:
            await client
            for topic in _FOREIGN_TOPICS:
                client.unsubscribe_topic(topic)
            await self._publish_metadata(client)
            await self._check_settings(client)
            self._subscribe(client)
            self._count(await client.scheduler.identity(n_workers=-1))
        except BaseException:
            await shut(client)
            raise
        link = self.link = DaskLink(client)
        self._is_linked.set()
        return link

    async def _check_settings(self, client: Client) -> None:
        """Warn if the scheduler itself retries games, as a plain `dask scheduler` does."""
        await client.run_on_scheduler(_publish_allowed_failures)  # returns nothing: a result would be pickled
        if failures := await client.get_metadata([_ALLOWED_FAILURES], 0):
            advice = "start it with DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0, or use `arena scheduler`"
            self._log.warning("scheduler retries games", address=self._address, allowed_failures=failures, hint=advice)

    async def _publish_metadata(self, client: Client) -> None:
        """Publish the version of this arena and its quarantined workers."""
        metadata = {"version": version(), "parts": dict(source.parts()), "quarantined": dict(self.quarantined)}
        await client.set_metadata(METADATA, metadata)

    async def quarantine(self, worker_id: str, why: str) -> None:
        """Quarantine a worker: publish the reason, and remove the worker from the scheduler."""
        self.quarantined[worker_id] = why
        if self.link:
            with contextlib.suppress(OSError, TimeoutError, ValueError, CancelledError):
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    self._count(await self.link.client.scheduler.identity(n_workers=-1))
                    await self._remove_quarantined(self.link.client)

    async def _remove_quarantined(self, client: Client) -> None:
        if there := [worker.address for worker in self.state.workers if worker.id in self.quarantined]:
            await self._publish_metadata(client)
            await client.run_on_scheduler(_remove, addresses=there)

    async def keep(self, link: DaskLink) -> None:
        """Monitor the scheduler and reconnect whenever it is lost, until cancelled."""
        while True:
            await self._watch(link)
            self.lose(link)
            await shut(link.client)
            is_logged = False
            while True:
                try:
                    link = await self._connect(CONNECT_TIMEOUT_S)
                    break
                except (OSError, TimeoutError, ValueError) as error:
                    if not is_logged:
                        self._log.warning("scheduler unavailable", address=self._address, error=reason(error))
                        is_logged = True
                    await asyncio.sleep(RETRY_INTERVAL_S)
            self._log.info("scheduler", address=self._address, slots=self.state.slots)

    def lose(self, link: DaskLink) -> None:
        """Mark a link as lost, so that no job waits for it."""
        if self.link is link:
            self._log.warning("scheduler lost", address=self._address)
            self.link = None
            self._is_linked.clear()
            self.state = ClusterState(self._address)
        link.is_lost.set()

    async def _watch(self, link: DaskLink) -> None:
        """Count the workers until the connection is lost or another scheduler has replaced this one."""
        client, first = link.client, None
        while client.status == "running" and not link.is_lost.is_set():
            try:
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    identity = await client.scheduler.identity(n_workers=-1)
                    self._count(identity)
                    await self._remove_quarantined(client)
            except (OSError, TimeoutError, ValueError):
                return
            first = first or identity["id"]
            if identity["id"] != first or client.status != "running":
                return
            # Subscribe again: a short loss of the connection, unnoticed here, ends the subscription at the scheduler.
            self._subscribe(client)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL_S):
                    await link.is_lost.wait()

    def _subscribe(self, client: Client) -> None:
        client.subscribe_topic(self._topic, self._handle_events)

    def _count(self, identity: Mapping[str, Any]) -> None:
        before = {worker.name for worker in self.state.refused}
        self.state = state_of(self._address, identity, self.quarantined)
        for refused in self.state.refused:
            if refused.name not in before:
                self._log.warning("worker rejected", name=refused.name, problem=refused.problem, wanted=version())


def _publish_allowed_failures(dask_scheduler: Any) -> None:
    dask_scheduler.set_metadata([_ALLOWED_FAILURES], int(dask_scheduler.allowed_failures))


async def _remove(dask_scheduler: Any, addresses: list[str]) -> None:
    """Remove workers at once; their running jobs are lost."""
    for address in addresses:
        await dask_scheduler.remove_worker(address, stimulus_id="quarantine")


async def shut(client: Client) -> None:
    """Close a client, even if its scheduler is gone."""
    with contextlib.suppress(OSError, TimeoutError, CancelledError):
        async with asyncio.timeout(2 * CLOSE_TIMEOUT_S):
            await client.close(timeout=CLOSE_TIMEOUT_S)
