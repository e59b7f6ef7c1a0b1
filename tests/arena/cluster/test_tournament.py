"""A tournament over a coordinator process, a scheduler and workers, each of which is killed on the way."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.store import Store
from referee.rules.core import Termination
from referee.verify.verification import verify
from tests.arena.cluster import liar, processes
from tests.arena.cluster.conftest import Cluster
from tests.arena.cluster.processes import Command, are_gone, wait
from tests.arena.coordinator.stage import Stage
from tests.arena.coordinator.test_processes import cast, cup
from tests.conftest import INTERPRETED


@pytest.fixture
def stage(sqlite_store: Store, tmp_path: Path) -> Stage:
    """Yield an arena of scripted bots in SQLite: three resign at once, `mute` never moves."""
    return cast(sqlite_store, tmp_path)


@contextmanager
def referee(stage: Stage, address: str, **environment: str) -> Iterator[Command]:
    """Start `arena referee` with the cluster at this address as its executor."""
    database = stage.store.url
    where = ["--data", str(stage.settings.data), "--database", database]
    command = Command("referee", *where, "--executor", address, ARENA_LEASE_TTL_SECONDS="2", **environment)
    try:
        yield command
    finally:
        command.close()


def finished(stage: Stage, number: int) -> int:
    """Return how many games of a tournament have a result."""
    return stage.store.games.counts(number).get("finished", 0)


@pytest.mark.long
def test_every_game_is_recorded_once_whichever_process_dies(cluster: Cluster, stage: Stage) -> None:
    worker = cluster.worker()
    number = cup(stage, games=20)
    with referee(stage, cluster.address) as first:
        wait(lambda: finished(stage, number) >= 5, "first results")
        family = worker.kill()
        before = finished(stage, number)  # another pair may be arriving
        cluster.worker()
        wait(lambda: finished(stage, number) >= before + 6, "results after the worker was replaced")
        cluster.scheduler().kill()
        before = finished(stage, number)
        cluster.scheduler()
        wait(lambda: finished(stage, number) >= before + 6, "results after the scheduler was replaced")
        first.kill()
    assert finished(stage, number) < 60, "killed too late"
    with referee(stage, cluster.address) as second:
        wait(lambda: stage.tournament(number).state == "finished", "the end")
        second.signal(signal.SIGTERM)
        assert second.end() == 0, second.said
    stage.check_exactly_once(number, 60)
    assert {void.termination for void in stage.store.voids.page().items} <= {Termination.WORKER_LOST}
    wait(lambda: are_gone(family), "the end of slots and bots")


@pytest.mark.long
def test_a_worker_with_false_rules_is_quarantined(cluster: Cluster, stage: Stage, tmp_path: Path) -> None:
    """The worker claims the sources of the arena, but with its rules the resigning side wins."""
    resigned = "Ending(SIDES[{}], Termination.RESIGNED"
    elsewhere = {**INTERPRETED, **liar.changed(tmp_path, resigned.format("1 - side"), resigned.format("side"))}
    number = cup(stage, games=4)
    with (
        processes.scheduler() as (address, _),
        processes.worker(address, tmp_path / "liar", **elsewhere) as cheat,
        referee(stage, address, **INTERPRETED) as process,
    ):
        assert cheat.end() == 4, cheat.said
        assert [line for line in cheat.said if "has quarantined this worker" in line and "was not to move" in line]
        with processes.worker(address, tmp_path / "worker", **INTERPRETED):
            wait(lambda: stage.tournament(number).state == "finished", "the end")
            process.signal(signal.SIGTERM)
            assert process.end() == 0, process.said
    stage.check_exactly_once(number, 12)
    for line in stage.store.games.of_tournament(number).items:
        assert line.termination == "resigned"
        verify(stage.store.games.record(line.id), stage.store.games.spec(line.id))
    assert "worker-wrong" in {void.termination for void in stage.store.voids.page().items}
