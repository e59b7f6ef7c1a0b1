"""A worker apart from its games: its state, its address, its speed and its warm-up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from structlog.testing import capture_logs

from arena.cluster import worker as heartbeat
from arena.cluster.connection import state_of
from arena.cluster.warm_up import SpeedMeter, WarmUp, measuring, warming
from arena.cluster.wire_config import host_towards, version
from arena.cluster.worker import Heartbeat
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.machine import speed
from referee.machine.pool import JobError
from referee.machine.sample_warmup import warm_with_samples
from referee.machine.warmup import Warmed
from referee.rules import families
from tests.arena.cluster import processes
from tests.arena.cluster.conftest import Cluster


def test_a_worker_listens_in_the_schedulers_network_and_reports_its_state(cluster: Cluster, tmp_path: Path) -> None:
    cluster.scheduler()
    with processes.worker(cluster.address, tmp_path) as worker:
        listens = {
            connection.laddr.ip
            for connection in psutil.Process(worker.pid).net_connections()
            if connection.status == "LISTEN"
        }
        assert listens == {"127.0.0.1"}
        state = tmp_path / "worker" / "state"
        assert state.read_text() == "ready\n"
        worker.process.terminate()
        assert worker.end() == 0
        assert not state.exists()


def test_a_game_that_arrives_during_the_registration_is_not_called_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from arena.cluster import worker

    here = worker.ClusterWorker(1, sandbox="none", folder=tmp_path)
    awaited: list[bool] = []

    async def play(*given: Any) -> None:
        awaited.append(given[-1]())

    class Registering:
        """A Dask worker that receives a task before its registration returns."""

        state = SimpleNamespace(tasks={"pair-1": SimpleNamespace(state="executing")})

        def __init__(self, *_: Any, **__: Any) -> None: ...

        def __await__(self) -> Generator[Any, None, Registering]:
            yield from here.play("pair-1", "topic", print, ()).__await__()
            return self

    monkeypatch.setattr(here.jobs, "play", play)
    monkeypatch.setattr(worker, "DaskWorker", Registering)
    try:
        asyncio.run(here._register("tcp://127.0.0.1:1", None))
    finally:
        here.jobs.close()
    assert awaited == [True]


def test_the_address_in_the_network_of_the_scheduler() -> None:
    assert host_towards("tcp://127.0.0.1:8786") == "127.0.0.1"
    assert host_towards("tcp://no-such-host.invalid:8786") is None


class Measured:
    """Slots that return these speeds or exceptions."""

    def __init__(self, *found: float | Exception) -> None:
        self.found, self.slots = list(found), len(found)

    def submit(self, function: Callable[..., Any]) -> Future[float]:
        assert function is speed.measure
        future: Future[float] = Future()
        answer = self.found.pop(0)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future


def test_the_speed_of_a_worker_is_the_mean_of_its_slots() -> None:
    slots = Measured(100.0, 200.0, JobError("no kernel"))
    meter = SpeedMeter(slots, "w")  # type: ignore[arg-type]
    assert meter.leaves == 0
    with capture_logs() as logs:
        asyncio.run(meter.measure())
        assert meter.leaves == 150
        slots.found = [JobError("no kernel")] * 3
        asyncio.run(meter.measure())
    assert meter.leaves == 150, "the last one that is known"
    assert [line["event"] for line in logs] == ["speed measurement failed", "speed", "speed measurement failed"]


def test_the_speed_is_measured_periodically() -> None:
    slots = Measured(100.0)

    async def main() -> SpeedMeter:
        meter = SpeedMeter(slots, "w")  # type: ignore[arg-type]
        running = asyncio.create_task(meter.run(interval_s=0))
        while meter.leaves != 300:
            await asyncio.sleep(0)
            slots.found = slots.found or [300.0]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return meter

    assert asyncio.run(asyncio.wait_for(main(), 30)).leaves == 300


@pytest.mark.parametrize("warms_up", [False, True])
def test_the_speed_is_measured_after_the_warm_up(warms_up: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.cluster.warm_up.MEASURE_INTERVAL_S", 0)
    done: list[str] = []

    class Warm:
        async def wait_for(self, family: str, is_awaited: Callable[[], bool]) -> bool:
            done.append(family)
            return is_awaited()

    class Told:
        async def run(self) -> None:
            done.append("measured")

    worker: Any = SimpleNamespace(warm_up=Warm() if warms_up else None, speed=Told())

    async def main() -> None:
        async with measuring(worker):
            while "measured" not in done:
                await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(main(), 30))
    assert done == ([families()[0], "measured"] if warms_up else ["measured"])


def test_workers_report_their_speed_to_the_arena() -> None:
    told = {"name": "w", "id": "w-1", "version": version(), "sandbox": "none"}
    known = {"arena": told, "status": "running", "name": "w", "nthreads": 2, "resources": {"slot": 2}}
    metrics = {"arena": {"busy": 1, "speed": 150}}
    found = state_of("dask://", {"workers": {"one": {**known, "metrics": metrics}, "two": known}})
    assert [(one.busy, one.speed) for one in found.workers] == [(1, 150), (0, 0)]


def test_the_heartbeat_file_is_rewritten_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_INTERVAL_S", 0.01)
    beat = Heartbeat(tmp_path / "worker")

    async def main() -> None:
        async with beat.beating():
            for word in ("warming", "ready"):
                beat.become(word)
                before = beat.path.stat().st_mtime_ns
                with beat.path.open() as opened:
                    while beat.path.stat().st_mtime_ns == before:
                        await asyncio.sleep(0.01)
                    assert opened.read() == f"{word}\n"
                    assert not beat.path.samefile(f"/proc/self/fd/{opened.fileno()}"), "it is never half written"
                assert beat.path.read_text() == f"{word}\n"

    asyncio.run(asyncio.wait_for(main(), 30))
    assert not beat.path.exists()


def test_a_heartbeat_file_that_cannot_be_written_is_logged_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = Heartbeat(tmp_path / "file" / "worker")
    with capture_logs() as logs:
        found.become("ready")
        found.become("leaving")
    assert [line["event"] for line in logs] == ["heartbeat not written"]


class Slots:
    """Slots in which a family becomes ready when the test says so."""

    def __init__(self, slots: int = 2) -> None:
        self.name, self.jobs, self.slots = "w", self, slots
        self.asked: list[str] = []
        self.answers: dict[str, Future[Warmed]] = {}

    def submit(self, function: Callable[..., Any], family: str) -> Future[Warmed]:
        assert function is warm_with_samples
        self.asked.append(family)
        self.answers[family] = Future()
        return self.answers[family]

    def finish(self, family: str) -> None:
        self.answers[family].set_result(Warmed(family, 3, 0, 2.5))


async def settled() -> None:
    """Let every task of the loop run once."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_families_compile_in_parallel_and_leave_a_slot_once_one_is_ready() -> None:
    slots, names = Slots(3), ["a", "b", "c", "d", "e", "f"]

    async def check() -> None:
        warm_up = WarmUp(slots, names, "w")  # type: ignore[arg-type]
        first, running = asyncio.create_task(warm_up.first()), asyncio.create_task(warm_up.run())
        await settled()
        assert slots.asked == ["a", "b", "c"]
        assert not first.done()
        slots.finish("b")
        await settled()
        assert first.done()
        assert slots.asked == ["a", "b", "c"]
        slots.finish("a")
        await settled()
        assert slots.asked == ["a", "b", "c", "d"]
        for family in ("c", "d", "e", "f"):
            slots.finish(family)
            await settled()
        await asyncio.wait_for(running, 30)

    with capture_logs() as logs:
        asyncio.run(check())
    begun, *steps = logs
    assert (begun["state"], begun["slots"], begun["families"]) == ("warming", 3, 6)
    assert [step["family"] for step in steps] == ["b", "a", "c", "d", "e", "f"]
    assert [step["done"] for step in steps] == [f"{number}/6" for number in range(1, 7)]
    assert {(step["compiled"], step["seconds"]) for step in steps} == {(3, 2.5)}


def test_a_waiting_game_moves_its_family_to_the_front() -> None:
    slots = Slots(1)

    async def check() -> None:
        warm_up = WarmUp(slots, ["a", "b", "c"], "w")  # type: ignore[arg-type]
        running = asyncio.create_task(warm_up.run())
        wanted = asyncio.create_task(warm_up.wait_for("c", lambda: True))
        recalled = asyncio.create_task(warm_up.wait_for("b", lambda: False))
        await settled()
        assert not await recalled
        slots.finish("a")
        await settled()
        assert await warm_up.wait_for("a", lambda: False)
        assert await warm_up.wait_for("of a package", lambda: False)
        assert not wanted.done()
        slots.finish("c")
        assert await asyncio.wait_for(wanted, 30)
        slots.finish("b")
        await asyncio.wait_for(running, 30)

    asyncio.run(check())
    assert slots.asked == ["a", "c", "b"]


def test_a_family_that_fails_to_compile_blocks_no_other() -> None:
    slots = Slots(1)

    async def check() -> None:
        warm_up = WarmUp(slots, ["a", "b"], "w")  # type: ignore[arg-type]
        running = asyncio.create_task(warm_up.run())
        await settled()
        slots.answers["a"].set_exception(RuntimeError("no room"))
        await settled()
        slots.finish("b")
        await asyncio.wait_for(running, 30)
        assert await warm_up.wait_for("a", lambda: False)

    with capture_logs() as logs:
        asyncio.run(check())
    assert [line["event"] for line in logs] == ["worker", "warm-up failed", "warm"]
    assert logs[1]["error"] == "no room"


def test_a_worker_joins_once_a_family_is_ready_or_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = Slots(1)
    monkeypatch.setattr("arena.cluster.warm_up.families", lambda: ("a", "b"))

    async def check() -> None:
        stop = asyncio.Event()
        async with warming(slots, stop, warms_up=False):  # type: ignore[arg-type]
            assert slots.asked == []

        async def finish() -> None:
            await settled()
            slots.finish("a")

        finishing = asyncio.create_task(finish())
        async with warming(slots, stop, warms_up=True):  # type: ignore[arg-type]
            await settled()
            assert slots.asked == ["a", "b"]
        await finishing
        stop.set()
        async with warming(slots, stop, warms_up=True):  # type: ignore[arg-type]
            assert slots.asked == ["a", "b", "a"]

    asyncio.run(asyncio.wait_for(check(), 30))


def test_a_job_waits_for_the_family_of_its_games(tmp_path: Path) -> None:
    from arena.cluster.worker import ClusterWorker

    asked: list[str] = []

    class Never:
        async def wait_for(self, family: str, is_awaited: Callable[[], bool]) -> bool:
            asked.append(family)
            return is_awaited()

    planned = PlannedGame.of(GameSpec("loa", "standard", BotSpec("one", ("true",)), BotSpec("two", ("true",))))
    worker = ClusterWorker(1, sandbox="none", folder=tmp_path)
    worker.warm_up = Never()  # type: ignore[assignment]
    assert asyncio.run(worker.play("key", "topic", len, ([planned],))) is None
    worker.jobs.close()
    assert asked == ["loa"]
