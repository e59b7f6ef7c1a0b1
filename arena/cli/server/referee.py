"""The referee in a process: `arena referee`, which is `arena serve` without pages, and what both have in common."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from arena.cli.source.database import DatabaseArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import heard

if TYPE_CHECKING:
    from arena.cli.terminal.interrupt import Interrupts
    from arena.cluster.spool import Spool
    from arena.config import Settings
    from arena.coordinator.coordinator import Coordinator
    from arena.coordinator.lobby import Lobby
    from arena.events.bus import EventBus
    from arena.metrics import Metrics
    from arena.store import Store


@dataclass(frozen=True, kw_only=True)
class ServiceArguments(DatabaseArguments):
    """Arguments of `arena serve` and `arena referee`: database, broker and executor."""

    mqtt: str | None = option("broker for events between processes, or embedded (default: none)", metavar="URL")
    executor: str | None = option("where games are played: local, local:N, dask://HOST:PORT", metavar="EXECUTOR")

    def read(self, **more: Any) -> Settings:
        """Return the settings that the arguments choose; `more` are others that were given. Raises ConfigError."""
        return DatabaseArguments.read(self, mqtt=self.mqtt, executor=self.executor, **more)


def try_sandbox(settings: Settings) -> None:
    """Begin to try the sandbox in a thread if games are played here: that takes as long as to load the program."""
    from referee.sandbox import open_sandbox

    def attempt() -> None:
        with contextlib.suppress(ValueError):  # `open_executor` reports the error
            open_sandbox(settings.sandbox)

    if settings.referee and not settings.is_clustered:
        threading.Thread(target=attempt, name="sandbox", daemon=True).start()


@contextlib.asynccontextmanager
async def opened_executor(settings: Settings, bus: EventBus, spool: Spool) -> AsyncIterator[Awaitable[Executor]]:
    """Open the executor in a thread, as slots take a second to start, and shut it down at the end."""
    from arena.coordinator.executors import open_executor

    opening = asyncio.create_task(asyncio.to_thread(open_executor, settings, bus, spool))
    try:
        yield opening
    finally:
        await asyncio.wait([opening])
        if opening.exception() is None:
            await asyncio.to_thread(opening.result().shutdown, cancel_futures=True)


async def act(
    settings: Settings,
    store: Store,
    bus: EventBus,
    metrics: Metrics,
    interrupts: Interrupts,
    *,
    spool: Spool,
    opening: Awaitable[Executor],
    open_door: Callable[[Lobby], AbstractAsyncContextManager[None]],
    settled: asyncio.Event | None = None,
) -> None:
    """Play and record games until a signal to `interrupts` or a failure of the coordinator. Raises CommandError.

    `opening` ends with the executor, `open_door` lets remote bots connect to the lobby, and `settled` is set once other
    work need not wait for the first game any more.
    """
    from arena.coordinator.assembly import Collaborators, assemble
    from arena.coordinator.lobby import Lobby
    from arena.metrics import CoordinatorMetrics
    from referee.bot.remote.link import LinkAllowance

    try:
        executor = await opening
    except ValueError as error:
        raise CommandError(str(error)) from None
    grace_ms = 1000 * settings.remote_grace_seconds
    async with Lobby(LinkAllowance(settings.remote_latency_ms, settings.remote_latency_game_ms, grace_ms)) as lobby:
        counts = CoordinatorMetrics(metrics)
        given = Collaborators(lobby=lobby, spool=spool, metrics=counts)
        coordinator = assemble(settings, store, bus, executor, given)
        coordinator.settled = settled or coordinator.settled
        lobby.is_open = lambda: coordinator.state == "acting"
        interrupts.again = coordinator.abort
        talk = announced(store, bus, coordinator, place_of(settings))
        async with open_door(lobby), talk:
            await coordinator.run(interrupts.stop)


def unable_to_serve(host: str, port: int, error: OSError, advice: str) -> CommandError:
    """Return the error for an address that cannot be bound: the system's reason, and the advice."""
    # asyncio repeats the address in its message. For an unknown host, `errno` is a code of the resolver.
    reason = os.strerror(error.errno or 0) if error.errno in errno.errorcode else error.strerror or str(error)
    return CommandError(f"cannot serve on {host}:{port}: {reason}; {advice}", Exit.FAILED)


def place_of(settings: Settings) -> str:
    """Describe where the games are stored."""
    return "the database" if settings.database else str(settings.data)


@contextlib.asynccontextmanager
async def announced(store: Store, bus: EventBus, coordinator: Coordinator, place: str) -> AsyncIterator[None]:
    """Report which process plays the games stored at `place`, whenever that changes."""
    from arena.events.messages import CoordinatorChanged

    async with bus.subscribe(CoordinatorChanged, lease_owner=coordinator.leadership.name) as changes:

        async def announce() -> None:
            async for change in changes:
                if change.state == "acting":
                    output.note(f"this process plays the games of {place}")
                elif change.state == "standing by":
                    other = await asyncio.to_thread(player_of, store)
                    output.note(
                        f"{other or 'another process'} plays the games of {place}; this one takes over when that ends",
                        "for games of its own give this one another --data",
                    )

        task = asyncio.create_task(announce())
        try:
            yield
        finally:
            changes.close()
            await asyncio.gather(task, return_exceptions=True)


def player_of(store: Store) -> str:
    """Return the process that holds the coordinator's lease; empty if none does or the database is unavailable."""
    from arena.coordinator.leadership import LEASE, is_dead, process_of
    from arena.errors import StoreUnavailableError

    try:
        lease = store.leases.get(LEASE)
    except StoreUnavailableError:
        return ""
    return process_of(lease.owner) if lease and lease.is_alive and not is_dead(lease.owner) else ""


@dataclass(frozen=True, kw_only=True)
class RefereeArguments(ServiceArguments):
    sandbox: str | None = option(
        "sandbox of the bots: auto, bwrap, landlock, rlimits or none (default auto)", choices=argument.SANDBOXES
    )
    metrics: str | None = option("serve Prometheus metrics at this address (default: none)", metavar="[HOST:]PORT")


def run(arguments: RefereeArguments) -> None:
    """Run as the active referee or on standby until SIGTERM or Ctrl-C; a second signal aborts running games."""
    from arena.cli.source.database import open_store
    from arena.log import configure

    settings = arguments.read(sandbox=arguments.sandbox, metrics=arguments.metrics, referee=True)
    configure(settings.log_format, settings.log_level)
    try_sandbox(settings)
    store = open_store(settings)
    try:
        asyncio.run(_run(settings, store))
    finally:
        store.close()
    output.note(f"the referee has ended; games and ratings are kept in {place_of(settings)}")


async def _run(settings: Settings, store: Store) -> None:
    from arena.cluster.spool import Spool
    from arena.events.factory import open_bus
    from arena.metrics import Metrics

    metrics = Metrics()
    metrics.damaged.set_function(lambda: _is_damaged(store))
    with _offered(settings, metrics):
        async with open_bus(settings, metrics, has_pages=False) as bus:
            with heard(asyncio.Event()) as interrupts:
                door, spool = partial(_door, settings, store, bus, metrics), Spool(settings.spool_folder)
                async with opened_executor(settings, bus, spool) as opening:
                    await act(settings, store, bus, metrics, interrupts, spool=spool, opening=opening, open_door=door)


def _is_damaged(store: Store) -> bool:
    """Return whether the database is known to be damaged; False if it is unavailable."""
    from arena.errors import StoreError

    try:
        return bool(store.health.damage)
    except StoreError:
        return False


@contextlib.asynccontextmanager
async def _door(settings: Settings, store: Store, bus: EventBus, metrics: Metrics, lobby: Lobby) -> AsyncIterator[None]:
    """Admit remote bots through the web processes, if that is configured."""
    from arena.app import build_door, context_of
    from arena.http.server import Runner
    from arena.setting_types import host_and_port

    address = host_and_port(settings.remote_bind)
    if address is None:
        yield
        return
    context = context_of(store, settings, bus, metrics)
    runner = Runner(build_door(context), shutdown_timeout=1)
    await runner.setup()
    host, port = address
    try:
        async with context.host(lobby):
            try:
                await runner.listen(host, port)
            except OSError as error:
                reason = error.strerror or error
                raise CommandError(
                    f"cannot accept remote bots on {host}:{port}: {reason}; set another remote_bind"
                ) from None
            yield
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def _offered(settings: Settings, metrics: Metrics) -> Iterator[None]:
    """Serve metrics over HTTP, if that is configured."""
    from arena.metrics import offered
    from arena.setting_types import host_and_port

    address = host_and_port(settings.metrics)
    if address is None:
        yield
        return
    host, port = address
    with contextlib.ExitStack() as stack:
        try:
            port = stack.enter_context(offered(metrics.registry, host, port))
        except OSError as error:
            raise CommandError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}; choose another --metrics"
            ) from None
        output.note(f"metrics: http://{host}:{port}/metrics")
        yield
