"""Opens the `concurrent.futures.Executor` that plays games in slots, and publishes its events on the bus.

A record that arrives with an event is stored in the spool before the event is published.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cluster.game_runner import get_ready
from arena.cluster.spool import Spool
from arena.data_folder import disk_state
from arena.events.bus import EventBus
from arena.events.messages import CoordinatorWorkers, GameMoved, SlotFinished, SlotStarted
from arena.events.payload import WorkerPayload
from arena.log import logger
from referee.errors import ArenaError
from referee.game.record import Ply, RecordError
from referee.machine.cores import usable_cores
from referee.machine.pool import SlotPool
from referee.sandbox import open_sandbox, refusal

if TYPE_CHECKING:
    from arena.config import Settings


class ExecutorAwayError(ArenaError):
    """The executor does not answer; the message says where, why and what to do."""

    kind = "unavailable"


def open_executor(settings: Settings, bus: EventBus, spool: Spool) -> Executor:
    """Open the executor that the settings choose: slots on this machine or a cluster.

    Raises ValueError if a setting cannot be used, or if bots would run as root without a sandbox. Raises
    ExecutorAwayError if the scheduler does not answer.
    """
    kind, _, rest = settings.executor.partition(":")
    if kind != "local":
        return _open_cluster(settings, bus, spool)
    sandbox = open_sandbox(settings.sandbox)
    reason = refusal(sandbox, allow_weak=True)
    if reason and not settings.allow_weak_sandbox:
        raise ValueError(f"{reason}; or set allow_weak_sandbox")
    pool = SlotPool(int(rest or usable_cores()), sandbox=sandbox.name, on_event=publisher(bus, spool))
    for _ in range(pool.size):  # each waiting slot takes one: a standby that takes over plays at once
        pool.submit(get_ready)
    return pool


def remote_pool(settings: Settings, bus: EventBus, spool: Spool) -> SlotPool:
    """Open local slots for the games of remote bots, for an arena whose other games are played by a cluster."""
    sandbox = open_sandbox(settings.sandbox)
    return SlotPool(settings.remote_slots, sandbox=sandbox.name, on_event=publisher(bus, spool))


def _open_cluster(settings: Settings, bus: EventBus, spool: Spool) -> Executor:
    try:
        from arena.cluster.executor import ClusterExecutor
        from arena.cluster.wire_config import ClusterError, address_of, security_of
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the executor {settings.executor} needs {error.name}, which is not installed; "
            "install the arena with its extra: pip install 'bot-arena[cluster]'"
        ) from None
    address = address_of(settings.executor)
    try:
        security = security_of(settings, address)
    except ClusterError as error:
        raise ValueError(str(error)) from None
    try:
        wait_s = settings.scheduler_wait_seconds
        return ClusterExecutor(address, security=security, on_event=publisher(bus, spool), connect_timeout_s=wait_s)
    except ClusterError as error:
        raise ExecutorAwayError(str(error)) from None


def publisher(bus: EventBus, spool: Spool) -> Callable[[dict[str, Any]], None]:
    """Return the function that publishes events of slots: plies, and starts and ends for the coordinator.

    Records that come with an event are validated and stored in the spool first.
    """
    log = logger("coordinator")

    def publish(event: dict[str, Any]) -> None:
        match event["event"]:
            case "plies":
                plies = tuple(
                    Ply(ms, lag_ms=lag_ms, score=score, depth=depth, nodes=nodes, pv=pv, move=move)
                    for move, (ms, lag_ms, score, depth, nodes, pv) in zip(event["moves"], event["plies"], strict=True)
                )
                bus.publish(GameMoved(game=event["game"], first=event["number"], plies=plies))
            case "start":
                bus.publish(SlotStarted(game=event["game"]))
            case "finish":
                game, worker = event["game"], event.get("worker", "")
                try:
                    if "record" in event:
                        spool.take(event["record"], game, worker, event["attempt"])
                except RecordError as error:  # then the game has no result, which the end of its job shows
                    log.error("record rejected", game=game, worker=worker, error=str(error))
                bus.publish(SlotFinished(game=game))

    return publish


def workers_of(executor: Executor, busy: int, lease_owner: str, spool: Path) -> CoordinatorWorkers:
    """Return the event that describes the workers and the disk of the spool.

    `busy` is the number of busy slots of this machine.
    """
    load = None
    with contextlib.suppress(OSError):  # not available on this system
        load = round(os.getloadavg()[0], 2)
    workers = tuple(_describe(executor, busy))
    disk = disk_state(next(folder for folder in (spool, *spool.absolute().parents) if folder.is_dir()))
    return CoordinatorWorkers(lease_owner=lease_owner, workers=workers, cores=usable_cores(), load=load, disk=disk)


def _describe(executor: Executor, busy: int) -> list[WorkerPayload]:
    if hasattr(executor, "describe"):
        return list(executor.describe().workers)
    slots = slots_of(executor)
    sandbox = str(getattr(executor, "sandbox", ""))
    return [WorkerPayload(socket.gethostname(), slots, min(busy, slots), sandbox=sandbox)]


def slots_of(executor: Executor) -> int:
    """Return the number of slots now, at least one: a cluster may scale up only when there are jobs."""
    size = getattr(executor, "size", None)
    return max(1, int(size)) if size is not None else usable_cores()
