"""The connection of an arena to its scheduler: made, watched, and made anew when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from distributed import Client

from arena.cluster.state import ClusterState, state_of
from arena.cluster.wire_config import METADATA, ClusterError, Security, reason, version
from arena.log import logger
from referee import source

POLL_INTERVAL_S = 1.0
"""How often the workers are counted."""
ANSWER_TIMEOUT_S = 10.0
"""A scheduler that takes longer to answer is lost."""
CONNECT_TIMEOUT_S = 5.0
RETRY_INTERVAL_S = 0.5
CLOSE_TIMEOUT_S = 3.0


@dataclass(slots=True, eq=False)
class DaskLink:
    """A client of the scheduler, until it is lost."""

    client: Client
    is_lost: asyncio.Event = field(default_factory=asyncio.Event)


class DaskConnection:
    """The connection to the scheduler at `address`; `hear` is called with the events of `topic`. Used in one loop."""

    def __init__(
        self, address: str, security: Security | None, topic: str, hear: Callable[[tuple[float, Any]], None]
    ) -> None:
        self._address, self._security, self._topic, self._hear = address, security, topic, hear
        self._log = logger("cluster")
        self._is_linked = asyncio.Event()
        self.state = ClusterState(address)
        """What there is to play on, as last heard."""
        self.link: DaskLink | None = None
        self.quarantined: dict[str, str] = {}
        """The ids of workers that get no more games, and why."""

    async def linked(self) -> DaskLink | None:
        """The link, waiting until there is one; None if it was lost at once."""
        await self._is_linked.wait()
        return self.link

    async def open(self, connect_timeout_s: float) -> DaskLink:
        """Connect for the first time. Raises ClusterError when nobody answers in time."""
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
        """Raises OSError, TimeoutError."""
        client = Client(
            self._address,
            asynchronous=True,
            timeout=timeout_s,
            security=self._security,
            set_as_default=False,
            name="arena",
        )
        try:
            await client
            await self._introduce(client)
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
        """Warn of a scheduler that somebody else started, such as `dask scheduler`, and that retries games itself."""
        if failures := await client.run_on_scheduler(_allowed_failures):
            advice = "start it with DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0, or use `arena scheduler`"
            self._log.warning("scheduler retries games", address=self._address, allowed_failures=failures, hint=advice)

    async def _introduce(self, client: Client) -> None:
        """Tell the workers what this arena is, and whom it has shut out."""
        told = {"version": version(), "parts": dict(source.parts()), "quarantined": dict(self.quarantined)}
        await client.set_metadata(METADATA, told)

    async def refuse(self, worker_id: str, why: str) -> None:
        """Give a worker no more games: tell it why, and have the scheduler forget it."""
        self.quarantined[worker_id] = why
        if self.link:
            with contextlib.suppress(OSError, TimeoutError, ValueError, CancelledError):
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    self._count(await self.link.client.scheduler.identity(n_workers=-1))
                    await self._remove_refused(self.link.client)

    async def _remove_refused(self, client: Client) -> None:
        if there := [worker.address for worker in self.state.workers if worker.id in self.quarantined]:
            await self._introduce(client)
            await client.run_on_scheduler(_remove, addresses=there)

    async def keep(self, link: DaskLink) -> None:
        """Watch the scheduler; connect anew whenever it is lost, until cancelled."""
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
                        self._log.warning("scheduler away", address=self._address, error=reason(error))
                        is_logged = True
                    await asyncio.sleep(RETRY_INTERVAL_S)
            self._log.info("scheduler", address=self._address, slots=self.state.slots)

    def lose(self, link: DaskLink) -> None:
        """Note that a link is lost: what was handed out over it is not waited for."""
        if self.link is link:
            self._log.warning("scheduler lost", address=self._address)
            self.link = None
            self._is_linked.clear()
            self.state = ClusterState(self._address)
        link.is_lost.set()

    async def _watch(self, link: DaskLink) -> None:
        """Count the workers until the connection is lost or another scheduler has taken the place of this one."""
        client, first = link.client, None
        while client.status == "running" and not link.is_lost.is_set():
            try:
                async with asyncio.timeout(ANSWER_TIMEOUT_S):
                    identity = await client.scheduler.identity(n_workers=-1)
                    self._count(identity)
                    await self._remove_refused(client)
            except (OSError, TimeoutError, ValueError):
                return
            first = first or identity["id"]
            if identity["id"] != first or client.status != "running":
                return
            # Once more: after a cut too short to be seen here, the scheduler knows of no subscriptions.
            self._subscribe(client)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL_S):
                    await link.is_lost.wait()

    def _subscribe(self, client: Client) -> None:
        client.subscribe_topic(self._topic, self._hear)

    def _count(self, identity: Mapping[str, Any]) -> None:
        before = {worker.name for worker in self.state.refused}
        self.state = state_of(self._address, identity, self.quarantined)
        for refused in self.state.refused:
            if refused.name not in before:
                self._log.warning("worker refused", name=refused.name, problem=refused.problem, wanted=version())


def _allowed_failures(dask_scheduler: Any) -> int:
    return int(dask_scheduler.allowed_failures)


async def _remove(dask_scheduler: Any, addresses: list[str]) -> None:
    """Let workers go at once; what they had begun is lost."""
    for address in addresses:
        await dask_scheduler.remove_worker(address, stimulus_id="quarantine")


async def shut(client: Client) -> None:
    """Close a client, even one whose scheduler is gone."""
    with contextlib.suppress(OSError, TimeoutError, CancelledError):
        async with asyncio.timeout(2 * CLOSE_TIMEOUT_S):
            await client.close(timeout=CLOSE_TIMEOUT_S)
