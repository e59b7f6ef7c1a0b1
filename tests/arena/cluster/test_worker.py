"""A worker before and beside its games: what it says of itself, where it listens, how it warms up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil
import pytest
from structlog.testing import capture_logs

from arena.cli.worker import _warm
from arena.cluster import pulse
from arena.cluster.link import host_towards
from arena.cluster.pulse import Pulse
from referee.rules import families
from referee.sample_warmup import warm_with_samples
from referee.warmup import Warmed, warm_all
from tests.arena.cluster import processes
from tests.arena.cluster.conftest import Cluster


def test_a_worker_listens_where_its_scheduler_is_and_says_what_it_does(cluster: Cluster, tmp_path: Path) -> None:
    cluster.scheduler()
    with processes.worker(cluster.address, tmp_path) as worker:
        listens = {one.laddr.ip for one in psutil.Process(worker.pid).net_connections() if one.status == "LISTEN"}
        assert listens == {"127.0.0.1"}
        state = tmp_path / "worker" / "state"
        assert state.read_text() == "ready\n"
        worker.process.terminate()
        assert worker.end() == 0
        assert not state.exists()


def test_the_address_in_the_network_of_the_scheduler() -> None:
    assert host_towards("tcp://127.0.0.1:8786") == "127.0.0.1"
    assert host_towards("tcp://no-such-host.invalid:8786") is None


def test_a_state_that_is_not_written_anew_grows_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "BEAT_S", 0.01)
    found = Pulse(tmp_path / "worker")

    async def main() -> None:
        async with found.beating():
            for word in ("warming", "ready"):
                found.become(word)
                before = found.path.stat().st_mtime_ns
                while found.path.stat().st_mtime_ns == before:
                    await asyncio.sleep(0.01)
                assert found.path.read_text() == f"{word}\n"

    asyncio.run(asyncio.wait_for(main(), 30))
    assert not found.path.exists()


def test_a_state_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = Pulse(tmp_path / "file" / "worker")
    with capture_logs() as logs:
        found.become("ready")
        found.become("leaving")
    assert [line["event"] for line in logs] == ["state not written"]


class Slots:
    """A worker whose slots are warm at once, or never are."""

    slots = 2

    def __init__(self, stop: asyncio.Event | None = None) -> None:
        self.name, self.jobs, self.stop = "w", self, stop
        self.asked: list[str] = []
        self.loaded = 0

    def submit(self, function: Callable[..., Any], family: str) -> Future[Warmed]:
        assert function is warm_with_samples
        self.asked.append(family)
        answer: Future[Warmed] = Future()
        if self.stop is None:
            answer.set_result(Warmed(family, 3, 0, 2.5))
        else:
            self.stop.set()
        return answer

    def call(self, function: Callable[..., Any]) -> list[list[Warmed]]:
        assert function is warm_all
        self.loaded += 1
        return [[Warmed(family, 0, 3, 0.1) for family in families()]] * self.slots


def test_families_are_compiled_at_once_and_loaded_by_every_slot() -> None:
    worker = Slots()
    with capture_logs() as logs:
        asyncio.run(_warm(worker, asyncio.Event()))  # type: ignore[arg-type]
    assert worker.asked == list(families())
    assert worker.loaded == 1
    first, *steps = logs
    assert (first["state"], first["slots"], first["families"]) == ("warming", 2, len(families()))
    count = len(families())
    assert {one["family"] for one in steps} == set(families())
    assert [one["done"] for one in steps] == [f"{number}/{count}" for number in range(1, count + 1)]
    assert {(one["compiled"], one["seconds"]) for one in steps} == {(3, 2.5)}


def test_warming_up_ends_when_it_is_told() -> None:
    stop = asyncio.Event()
    worker = Slots(stop)
    asyncio.run(asyncio.wait_for(_warm(worker, stop), 30))  # type: ignore[arg-type]
    assert worker.loaded == 0
