"""Runs the referee in this process: the common part of `arena serve` and `arena referee`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from arena.cli.source.database import add_database
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit

if TYPE_CHECKING:
    from arena.cli.terminal.interrupt import Interrupts
    from arena.cluster.spool import Spool
    from arena.config import Settings
    from arena.coordinator.coordinator import Coordinator
    from arena.coordinator.lobby import Lobby
    from arena.events.bus import EventBus
    from arena.metrics import Metrics
    from arena.store import Store


def add_service(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that both commands have: database, broker and executor."""
    add_database(parser)
    parser.add_argument(
        "--mqtt", metavar="URL", help="broker for events between processes, or embedded (default: none)"
    )
    parser.add_argument(
        "--executor", metavar="EXECUTOR", help="where games are played: local, local:N, dask://HOST:PORT"
    )


async def act(
    settings: Settings,
    store: Store,
    bus: EventBus,
    metrics: Metrics,
    interrupts: Interrupts,
    *,
    spool: Spool,
    open_door: Callable[[Lobby], AbstractAsyncContextManager[None]],
) -> None:
    """Play and record games until a signal to `interrupts` or a failure of the coordinator. Raises CommandError.

    `open_door` lets remote bots connect to the lobby.
    """
    from arena.coordinator.coordinator import Coordinator
    from arena.coordinator.executors import open_executor
    from arena.coordinator.lobby import Lobby
    from arena.metrics import CoordinatorMetrics
    from referee.bot.remote.link import LinkAllowance

    try:
        executor = open_executor(settings, bus, spool)
    except ValueError as error:
        raise CommandError(str(error)) from None
    grace_ms = 1000 * settings.remote_grace_seconds
    try:
        async with Lobby(LinkAllowance(settings.remote_latency_ms, settings.remote_latency_game_ms, grace_ms)) as lobby:
            counts = CoordinatorMetrics(metrics)
            coordinator = Coordinator(settings, store, bus, executor, lobby=lobby, spool=spool, metrics=counts)
            lobby.is_open = lambda: coordinator.state == "acting"
            interrupts.again = coordinator.abort
            talk = announced(store, bus, coordinator, place_of(settings))
            async with open_door(lobby), talk:
                await coordinator.run(interrupts.stop)
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)


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
    from arena.coordinator.leadership import LEASE
    from arena.coordinator.process_identity import is_dead, process_of
    from arena.errors import StoreUnavailableError

    try:
        found = store.leases.get(LEASE)
    except StoreUnavailableError:
        return ""
    return process_of(found.owner) if found and found.is_alive and not is_dead(found.owner) else ""
