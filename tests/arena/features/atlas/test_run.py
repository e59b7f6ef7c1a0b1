"""Runs of an atlas: what was played, the same bytes whatever happens, and images of one start."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from pathlib import Path
from typing import Any

import pytest

from arena.__main__ import main
from arena.features.atlas import run as running
from arena.features.atlas.plan import AtlasPlan, ExtraStarts, PlanError, read_plan, starts_of
from arena.features.atlas.report import report, to_csv
from arena.features.atlas.run import GAMES, RunError, batches_of, programs, read_games, run
from referee.game.starts import from_csv
from referee.machine.pool import JobError, WorkerLostError
from tests.conftest import INTERPRETED
from tests.test_site import words

PLAN = """
family = "tablut"
starts = ["bell", "ashton"]
games = 3
nodes = [5, 20]
random_plies = 2
max_plies = 30
seed = 7

[[more]]
variants = ["bell"]
options = {king_max_step = 4}
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run, by the command."""
    folder = tmp_path_factory.mktemp("atlas")
    (folder / "plan.toml").write_text(PLAN)
    words = ["atlas", "run", str(folder / "plan.toml"), "--out", str(folder / "run"), "--concurrency", "1"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in INTERPRETED.items():
            patch.setenv(name, value)
        assert main(words) == 0
    return folder / "run"


def go_on(
    plan: AtlasPlan, folder: Path, report_progress: Callable[[running.AtlasProgress], None] = lambda progress: None
) -> None:
    """A run by one program on this machine."""
    with programs(1) as executor:
        run(plan, folder, executor, lambda: 1, report_progress)


def test_a_run_has_all_games_of_its_plan(played: Path) -> None:
    games = read_games(played)
    assert list(games) == [
        f"{nodes} {name}" for nodes in (5, 20) for name in ("bell", "ashton", "bell+king_max_step=4")
    ]
    assert all(len(one) == 3 for one in games.values())
    assert all(result in (1, 2, 3) and 2 <= plies <= 30 for one in games.values() for result, plies, _ in one)
    assert any(reason == "max-plies" for one in games.values() for _, _, reason in one)


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, whole = read_plan(PLAN), (played / GAMES).read_bytes()
    lines = whole.splitlines(keepends=True)
    (tmp_path / "plan.json").write_bytes((played / "plan.json").read_bytes())
    (tmp_path / GAMES).write_bytes(lines[4] + lines[1] + lines[5][:9])  # killed in the middle of a line
    reports: list[running.AtlasProgress] = []
    asked: list[str] = []

    class Again:
        """Plays what is left: the lines of the run that was not interrupted."""

        is_there = True

        def play(self, task: str) -> str:
            key = json.loads(task)["key"]
            asked.append(key)
            return next(line for line in lines if json.loads(line)["key"] == key).decode()

        def close(self) -> None:
            """Nothing to end."""

    monkeypatch.setattr(running, "_Program", Again)
    go_on(plan, tmp_path, reports.append)
    assert (tmp_path / GAMES).read_bytes() == whole
    assert asked == [batch.key for number, batch in enumerate(batches_of(plan)) if number not in (1, 4)]
    assert (reports[0].done, reports[-1].done, reports[-1].total, reports[-1].left_s) == (3, 6, 6, 0)
    asked.clear()
    go_on(plan, tmp_path)
    assert not asked
    with pytest.raises(RunError, match="another plan"):
        go_on(plan.model_copy(update={"seed": 8}), tmp_path)
    (tmp_path / GAMES).write_text("nonsense\n")
    with pytest.raises(RunError, match="damaged"):
        go_on(plan, tmp_path)


class Unsteady(Executor):
    """Plays at once; the first tries of lots end as they do on a cluster that loses what it has."""

    def __init__(self, *ends: type[Exception]) -> None:
        self._ends = list(ends)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        """Done, or lost, when this returns."""
        future: Future[Any] = Future()
        if self._ends:
            future.set_exception(self._ends.pop(0)("away"))
        else:
            future.set_result(fn(*args))
        return future


def test_a_lot_whose_worker_is_lost_is_played_again(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (played / GAMES).read_text()
    lines = {json.loads(line)["key"]: line + "\n" for line in whole.splitlines()}
    monkeypatch.setattr(running, "play_batch", lambda task: lines[json.loads(task)["key"]])
    unsteady = Unsteady(WorkerLostError, CancelledError, WorkerLostError, CancelledError, CancelledError)
    run(read_plan(PLAN), tmp_path / "run", unsteady, lambda: 2)
    assert (tmp_path / "run" / GAMES).read_text() == whole
    with pytest.raises(RunError, match="5 bell: away, at attempt 3"):
        run(read_plan(PLAN), tmp_path / "lost", Unsteady(*[WorkerLostError] * 13), lambda: 1)
    with pytest.raises(RunError, match="a mistake"):
        run(read_plan(PLAN), tmp_path / "bad", Unsteady(lambda _: JobError("a mistake")), lambda: 1)  # type: ignore[arg-type, return-value]


def test_a_program_that_ends_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PROGRAM", "bots.none")
    with pytest.raises(RunError, match=r"bots\.none ended during the games of 5 bell"):
        go_on(read_plan(PLAN), tmp_path)


def test_a_report_is_the_same_bytes_and_is_read_again(played: Path, tmp_path: Path) -> None:
    text = to_csv(report(played))
    assert text == to_csv(report(played))
    assert main(["atlas", "report", str(played), "--csv", str(tmp_path / "x.csv")]) == 0
    assert (tmp_path / "x.csv").read_text() == text
    assert from_csv(text) == report(played).pooled
    assert "CC0" in text
    assert '"seed":7' in text
    assert main(["atlas", "report", str(tmp_path)]) != 0
    for name in ("plan.json", GAMES):
        (tmp_path / name).write_bytes((played / name).read_bytes())
    (tmp_path / GAMES).write_bytes(b"".join((played / GAMES).read_bytes().splitlines(keepends=True)[:4]))
    assert (report(tmp_path).missing, len(report(tmp_path).starts)) == (2, 4)
    with pytest.raises(RunError, match="2 batches"):
        to_csv(report(tmp_path))


def test_a_report_as_json_and_as_a_table(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["atlas", "report", str(played), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    wanted = {"variant", "games", "first", "draw", "second", "advantage", "low", "high", "elo", "plies"}
    assert all(wanted <= set(one) for one in document["starts"])
    assert len(document["starts"]) == 6
    assert main(["atlas", "report", str(played)]) == 0
    assert "king_max_step=4" in capsys.readouterr().out


def test_images_of_a_start_are_a_group() -> None:
    plan = AtlasPlan(family="pijersi", starts=["pijersi-8100#0..8099"], nodes=[1])
    starts = starts_of(plan.model_copy(update={"starts": ["pijersi-8100#1..600", "standard"]}))
    groups: dict[str, set[str]] = {}
    for start in starts:
        groups.setdefault(start.key, set()).add(start.name)
    assert len(starts) == 601
    assert max(map(len, groups.values())) > 1
    by_rules = starts_of(read_plan(PLAN))
    assert len({start.key for start in by_rules}) == 3, "other rules are no image"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("tablut", "chess"), "chess"),
        (('"ashton"', '"ashtn"'), "ashton"),
        (("games = 3", "games = 0"), "games"),
        (("[5, 20]", "[]"), "nodes"),
        (("seed = 7", "sead = 7"), "sead"),
        (("seed = 7", "seed = "), "TOML"),
        (("king_max_step = 4", "king_max_step = 99"), "king_max_step"),
        (('starts = ["bell", "ashton"]', "starts = []"), None),
    ],
)
def test_plans_that_cannot_be_carried_out(change: tuple[str, str], problem: str | None) -> None:
    text = PLAN.replace(*change)
    if problem is None:
        assert len(starts_of(read_plan(text))) == 1
        return
    with pytest.raises(PlanError, match=problem):
        starts_of(read_plan(text))
    with pytest.raises(PlanError, match="is random"):
        starts_of(AtlasPlan(family="pijersi", starts=["full-random"], nodes=[1]))


def test_every_key_of_a_plan_is_on_the_site() -> None:
    assert {*AtlasPlan.model_fields, *ExtraStarts.model_fields} <= words("how-to/measure-fairness")
