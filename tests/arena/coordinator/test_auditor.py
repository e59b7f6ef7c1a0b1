"""Cluster workers with wrong records: detected by a sample, quarantined, and their results corrected."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from arena.collections.dumps import Dumps
from arena.coordinator import auditor
from arena.coordinator.auditor import VerifierProcess
from arena.coordinator.coordinator import Coordinator
from arena.documents.game import GameQuery
from arena.documents.service import AuditQuery
from referee.game.record import GameRecord, Ply
from referee.game.spec import GameSpec, PlannedGame
from referee.rules.core import Termination
from tests.arena.coordinator.stage import Dice, Stage, on_sqlite, record_of

LIE = "this is a lie"


class Reader(VerifierProcess):
    """A verifier for records that declare themselves wrong; `read` are the verified games."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def problem(self, line: str | bytes, spec: GameSpec, game_id: str) -> str:
        self.read.append(game_id)
        return LIE if json.loads(line)["detail"] == LIE else ""


class Cluster(Dice):
    """Two workers that take the jobs in turn; `bad` lies from its second job on, until it is quarantined."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.refused: dict[str, str] = {}
        self.jobs = 0
        self.is_honest = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs += 1
        worker = "bad" if self.jobs % 2 and "bad" not in self.refused else "good"
        lies = worker == "bad" and self.jobs > 1 and not self.is_honest
        self.reply = liar if lies else record_of
        self.worker = worker
        return super().submit(fn, *args, **kwargs)

    def quarantine(self, worker: str, why: str) -> None:
        self.refused[worker] = why


def liar(game: PlannedGame) -> GameRecord:
    return replace(record_of(game), winner="first", detail=LIE, termination=Termination("connection"))


def coordinator(stage: Stage, cluster: Cluster, share: float, reader: VerifierProcess | None = None) -> Coordinator:
    stage.settings = stage.settings.model_copy(update={"verify_sample_rate": share})
    return stage.coordinator(cluster, verifier=reader or Reader())


def play(stage: Stage, one: Coordinator, number: int, turns: int = 100) -> None:
    for _ in range(turns):
        one.turn()
        stage.now = stage.now.replace(year=stage.now.year + 1)  # every backoff has ended
        if stage.tournament(number).state == "finished":
            return
    raise AssertionError(stage.store.games.counts(number))


def check_truth(stage: Stage, number: int, games: int) -> None:
    """Check that every game has one true result, and that the ratings follow from them."""
    records = [json.loads(line) for _, line in stage.store.results.records(GameQuery(tournament=number))]
    assert len({record["id"] for record in records}) == len(records) == games
    assert not [record for record in records if record["detail"] == LIE or "worker" in record]
    tournament = stage.tournament(number)
    assert (tournament.state, tournament.planned_games, tournament.finished_games) == ("finished", games, games)
    assert stage.store.ratings.check() == []
    assert sum(line.games for line in stage.store.ratings.leaderboard("loa").items) == 2 * games
    assert sum(stage.store.counts.sides("loa").values()) == games


def assert_refused(cluster: Cluster) -> None:
    """Check that the worker `bad`, and no other, is refused for its lie in a game that is named."""
    assert cluster.refused.keys() == {"bad"}
    assert re.fullmatch(rf"game [0-9a-f]+: {LIE}", cluster.refused["bad"])


@on_sqlite
def test_a_share_of_one_verifies_every_record(stage: Stage) -> None:
    number = stage.create(games=2)
    cluster, reader = Cluster(), Reader()
    play(stage, coordinator(stage, cluster, 1.0, reader), number)
    assert_refused(cluster)
    check_truth(stage, number, 12)
    assert len(reader.read) >= 12
    voids = stage.store.voids.page().items
    assert {void.termination for void in voids} == {"worker-wrong"}
    assert all(LIE in void.detail for void in voids)
    assert not [void for void in voids if "bad" in void.detail], "names of machines are private"


def test_earlier_wrong_results_of_a_quarantined_worker_are_voided(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = stage.create(games=4)
    cluster, reader = Cluster(), Reader()
    first = coordinator(stage, cluster, 1e-12, reader)
    play(stage, first, number)
    lies = [record for record in records_of(stage, number) if record["detail"] == LIE]
    assert lies
    assert len(reader.read) == 2, "the first game of each worker, and both were right"
    assert sum(stage.store.counts.sides("loa").values()) == 24
    dumps = Dumps(stage.settings.data / "dumps")
    assert dumps.update(stage.store) == 24
    again = stage.create(games=2)
    monkeypatch.setattr("random.random", lambda: 0.0)
    play(stage, first, again)
    assert_refused(cluster)
    play(stage, first, number)
    check_records = {record["id"] for record in records_of(stage, number)}
    assert {record["id"] for record in lies} <= check_records
    assert not [record for record in records_of(stage, number) if record["detail"] == LIE]
    assert not [record for record in records_of(stage, again) if record["detail"] == LIE]
    for tournament, games in ((number, 24), (again, 12)):
        row = stage.tournament(tournament)
        assert (row.planned_games, row.finished_games) == (games, games)
    assert stage.store.ratings.check() == []
    assert sum(stage.store.counts.sides("loa").values()) == 36
    assert dumps.update(stage.store) == 36, "the dump is rewritten"
    assert dumps.update(stage.store) == 0


@on_sqlite
def test_the_next_coordinator_continues_the_audit_of_a_worker(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first coordinator dies before or during the verification of earlier results."""
    number = stage.create(games=4)
    cluster = Cluster()
    play(stage, coordinator(stage, cluster, 1e-12), number)
    monkeypatch.setattr(auditor, "BATCH_GAMES", 3)
    again = stage.create(games=2)
    first = coordinator(stage, cluster, 1.0)
    first.turn()
    first.turn()
    assert_refused(cluster)
    assert [line for line in records_of(stage, number) if line["detail"] == LIE], "some are left"
    other = Cluster()
    second = coordinator(stage, other, 1e-12)
    assert_refused(other)
    play(stage, second, number)
    play(stage, second, again)
    for tournament in (number, again):
        assert not [line for line in records_of(stage, tournament) if line["detail"] == LIE]
    assert stage.store.ratings.check() == []
    third = Cluster()
    coordinator(stage, third, 1e-12)
    assert third.refused == {}, "all of it is done"


@on_sqlite
def test_a_share_of_zero_verifies_nothing(stage: Stage) -> None:
    number = stage.create(games=2)
    reader = Reader()
    play(stage, coordinator(stage, Cluster(), 0.0, reader), number)
    assert reader.read == []
    workers = {name for name in ("good", "bad") if list(stage.store.results.with_plans(worker=name))}
    assert workers == {"good", "bad"}


class Crowd(Cluster):
    """Two honest workers; on `bad` bots search at three fifths of their speed."""

    def __init__(self, *present: str) -> None:
        super().__init__()
        self.is_honest = True
        self.present = present or ("bad", "good")

    def describe(self) -> Any:
        same = {"slots": 1, "busy": 0, "version": "", "sandbox": "", "is_fit": True, "problem": "", "speed": 0}
        return SimpleNamespace(workers=[SimpleNamespace(id=name, name=name, **same) for name in self.present])

    def leave(self, record: GameRecord, game: PlannedGame, future: Future[Any]) -> None:
        nodes = 600 if self.worker == "bad" else 1000
        plies = tuple(Ply(ms=30.0, nodes=nodes) for _ in record.moves)
        super().leave(replace(record, plies=plies), game, future)


@on_sqlite
def test_a_slow_worker_is_quarantined_and_its_results_stay(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditor, "EVIDENCE_THRESHOLD", 10)
    number = stage.create(games=30, time_control="10+0.1", entries={"bots": ["ada", "bob"]})
    crowd = Crowd()
    play(stage, coordinator(stage, crowd, 0.0), number)
    problem = "bots search at 60 % of their speed elsewhere"
    assert list(crowd.refused) == ["bad"]
    assert crowd.refused["bad"].startswith(problem)
    (line,) = stage.store.audit.page(AuditQuery(subject="worker:bad")).items
    assert line.action == "worker.throttled"
    assert line.detail["problem"].startswith(problem)
    check_truth(stage, number, 30)
    assert list(stage.store.results.with_plans(worker="bad")), "what it had brought"
    other = Crowd()
    coordinator(stage, other, 0.0)
    assert other.refused == {}, "nothing is left to do"


@pytest.mark.parametrize(("tolerance", "present"), [(0.0, ("bad", "good")), (0.25, ("good",))])
@on_sqlite
def test_slow_workers_continue_without_tolerance_or_identity(
    stage: Stage, tolerance: float, present: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditor, "EVIDENCE_THRESHOLD", 10)
    stage.settings = stage.settings.model_copy(update={"slow_worker_tolerance": tolerance})
    number = stage.create(games=30, time_control="10+0.1", entries={"bots": ["ada", "bob"]})
    crowd = Crowd(*present)
    play(stage, coordinator(stage, crowd, 0.0), number)
    assert crowd.refused == {}


@on_sqlite
def test_records_are_verified_in_a_helper_process(stage: Stage) -> None:
    verifier = VerifierProcess()
    game = stage_game(stage)
    try:
        assert "position too short" in verifier.problem(record_of(game).line(), game.spec, game.id)
        assert "not a game record" in verifier.problem("{}", game.spec, game.id)
    finally:
        verifier.close()


def records_of(stage: Stage, number: int) -> Sequence[dict[str, Any]]:
    """Return the records of a tournament."""
    return [json.loads(line) for _, line in stage.store.results.records(GameQuery(tournament=number))]


def stage_game(stage: Stage) -> PlannedGame:
    """Return a game that is not planned."""
    from tests.referee.conftest import scripted

    return PlannedGame.of(GameSpec("loa", "standard", scripted("ada v1"), scripted("bob v1")))
