"""A scheduler and a worker for all tests of this session. After a test kills one, the next test restarts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog

from arena.cluster.executor import ClusterExecutor
from arena.cluster.wire_config import FINISH, address_of
from referee.game.record import GameRecord, read_record
from tests.arena.cluster import processes
from tests.arena.cluster.processes import Command


class Cluster:
    """A scheduler on a private port, and a worker with one slot. Both start on first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._scheduler: Command | None = None
        self._worker: Command | None = None
        self._port = 0
        self.address = ""

    def scheduler(self) -> Command:
        """The scheduler, on the same port every time."""
        if self._scheduler is None or self._scheduler.process.poll() is not None:
            self.address, self._scheduler = self._stack.enter_context(processes.scheduler(self._port))
            self._port = int(self.address.rpartition(":")[2])
        return self._scheduler

    def worker(self) -> Command:
        """The worker, which may still be rejoining."""
        self.scheduler()
        if self._worker is None or self._worker.process.poll() is not None:
            self._worker = self._stack.enter_context(processes.worker(self.address, self._folder, "--grace", "5"))
        return self._worker

    def close(self) -> None:
        """End both."""
        if self._worker:
            self._worker.close()
        self._stack.close()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield the cluster of this session."""
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.close()


Opener = Callable[..., ClusterExecutor]


@pytest.fixture
def results() -> dict[str, GameRecord]:
    """Return the results that have arrived, by game."""
    return {}


@pytest.fixture
def open_executor(cluster: Cluster, results: dict[str, GameRecord]) -> Iterator[Opener]:
    """Yield a function that opens executors whose games leave their `results`; close them afterwards."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    cluster.scheduler()
    executors: list[ClusterExecutor] = []

    def open_(on_event: Callable[[dict[str, Any]], None] | None = None, **options: Any) -> ClusterExecutor:
        def hear(event: dict[str, Any]) -> None:
            if event["event"] == FINISH:
                results[event["game"]] = replace(read_record(event["record"]), worker=event["worker"])
            if on_event:
                on_event(event)

        address = options.pop("address", cluster.address)
        executors.append(ClusterExecutor(address_of(address), on_event=hear, **options))
        return executors[-1]

    yield open_
    for executor in executors:
        executor.shutdown(cancel_futures=True)
