"""The service from an empty folder: bots submitted, a scheduled tournament watched to its end, the next one killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import text

from arena.cli.terminal.run import run
from arena.client import ApiClient
from arena.clock import now
from arena.documents.tournament import PlanQuery
from arena.store import Store
from tests.arena.cluster.processes import slots_of
from tests.conftest import INTERPRETED

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 300
TOURNAMENT = """
name = "{name}"
family = "loa"
format = "round-robin"
games = 2
time_control = "nodes:100"

[entries]
bots = ["plain", "zipped", "folder", "wrapped"]

[schedule]
cron = "{cron}"
"""


class Process:
    """`arena serve` on a data folder; its address, and what it wrote."""

    def __init__(self, data: Path, port: int = 0, **settings: str) -> None:
        self.log = data.parent / "serve.err"
        words = [sys.executable, "-m", "arena", "serve", "--data", str(data), "--port", str(port)]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*words, "--executor", "local:2"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=data.parent,
                env={**clean, **INTERPRETED, "ARENA_READS_PER_MINUTE": "1000000", **settings},
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.log.read_text()

    def slots(self) -> list[psutil.Process]:
        """Its game slots."""
        return slots_of(self.process.pid)

    def end(self, number: int) -> int:
        """Send a signal and wait; the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(TIMEOUT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def bots(tmp_path: Path) -> dict[str, Path]:
    """The sample bot in C as people send theirs: an executable, a zip, a folder, a script that starts it."""
    if not shutil.which("gcc") or not shutil.which("bwrap"):
        pytest.skip("needs gcc and bubblewrap")
    binary = tmp_path / "loabot"
    source = ROOT / "bots" / "examples" / "loa" / "loa_bot.c"
    subprocess.run(["gcc", "-O1", "-std=c11", "-o", str(binary), str(source)], check=True)
    made = {"plain": binary}
    for name, depth in (("zipped", 1), ("folder", 3)):
        folder = tmp_path / name
        folder.mkdir()
        shutil.copy(binary, folder)
        (folder / "bot.toml").write_text(
            f'families = ["loa"]\ncommand = ["./loabot"]\noptions = {{ Depth = {depth} }}\n'
        )
        made[name] = folder
    made["zipped"] = Path(shutil.make_archive(str(tmp_path / "zipped"), "zip", tmp_path / "zipped"))
    wrapped = tmp_path / "wrapped"
    shutil.copytree(tmp_path / "folder", wrapped)
    (wrapped / "run.sh").write_text("#!/bin/sh\necho hello >&2\nexec ./loabot\n")
    (wrapped / "run.sh").chmod(0o755)
    (wrapped / "bot.toml").write_text('families = ["loa"]\ncommand = ["./run.sh"]\n')
    return {**made, "wrapped": wrapped}


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    """Servers that are gone afterwards."""
    found: list[Process] = []
    yield found
    for one in found:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)


def half_a_day_ago() -> str:
    """A cron expression that fires once a day, and not while this test runs."""
    moment = now() - timedelta(hours=12)
    return f"{moment.minute} {moment.hour} * * *"


def fire(data: Path) -> None:
    """As if this arena had been down since yesterday: every schedule has missed a time, which it makes up for."""
    store = Store.in_folder(data)
    with store.engine.begin() as connection:
        moment = (now() - timedelta(days=1)).replace(tzinfo=None).isoformat(sep=" ")
        connection.execute(text("UPDATE schedules SET next_fire = :moment"), {"moment": moment})
    store.close()


def newest(client: ApiClient, count: int) -> int:
    """The number of the latest tournament once there are so many."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        items = client.get("/tournaments")["items"]
        if len(items) >= count:
            return int(max(item["id"] for item in items))
        os.sched_yield()
    raise AssertionError(f"no tournament number {count} within {TIMEOUT_S} s")


@pytest.mark.long
@pytest.mark.timeout(900)  # half a minute on an idle machine: two servers start their slots, four bots are checked
def test_from_an_empty_folder_to_a_leaderboard_and_through_a_kill(
    tmp_path: Path, bots: dict[str, Path], processes: list[Process], capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"

    def said(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run([*words, "--json"]) == code, capsys.readouterr()
        return json.loads(capsys.readouterr().out)

    token = said("init", "--data", str(data))["admin"]["token"]
    alone = {"ARENA_LADDER_TIME_CONTROL": ""}  # no games but those of the test
    processes.append(Process(data, **alone))
    url = processes[0].url
    there = ("--server", url, "--token", token)
    for name, path in bots.items():
        words = ("bot", "submit", str(path), "--name", name, "--family", "loa", "--watch")
        answer = said(*words, *there)
        assert answer["state"] == "active", answer["problem"]
        memory = [step for step in answer["report"]["families"]["loa"]["steps"] if step["name"] == "memory"]
        assert "MiB at most" in memory[0]["detail"]

    client = ApiClient(url, token)

    cron = half_a_day_ago()

    def schedule(name: str) -> None:
        document = tmp_path / f"{name}.toml"
        document.write_text(TOURNAMENT.format(name=name, cron=cron))
        assert said("tournament", "create", str(document), *there)["next_fire"]
        fire(data)

    schedule("Evening")
    first = newest(client, 1)
    events = list(client.events(f"/tournaments/{first}/stream"))
    assert (events[0]["event"], events[-1]["event"]) == ("state", "final")
    assert events[-1]["tournament"]["finished_games"] == 12
    points = sum(line["points"] for line in events[-1]["standings"])
    assert points == 12
    board = said("leaderboard", "loa", *there)["items"]
    assert {line["bot"] for line in board} == set(bots)
    assert sum(line["games"] for line in board) == 2 * 12

    # The next one is killed in the middle, and carried on by the next process on the same address. One of the slots is
    # stopped: the game it gets does not end, however fast the others are.
    processes[0].slots()[0].suspend()
    schedule("Night")
    second = newest(client, 2)
    seen = 0
    for event in client.events(f"/tournaments/{second}/stream"):
        seen += event["event"] == "game"
        if seen >= 2:
            break
    assert processes[0].end(signal.SIGKILL) == -signal.SIGKILL
    store = Store.in_folder(data)
    assert 2 <= store.games.counts(second)["finished"] < 12
    processes.append(Process(data, int(url.rsplit(":", 1)[1]), **alone))
    last = list(client.events(f"/tournaments/{second}/stream"))[-1]
    assert (last["event"], last["tournament"]["state"]) == ("final", "finished")
    assert store.games.counts(second) == {"finished": 12}
    committed = [number for number, _ in store.results.records()]
    assert committed == list(range(1, 25)), "every game exactly once"
    # A process that plays several games says hello in the first of them only.
    logs = {
        said("logs", game.id, "--side", side, *there)["log"]
        for game in store.games.of_tournament(second, PlanQuery(limit=100)).items
        for side, bot in (("first", game.first), ("second", game.second))
        if bot == "wrapped v1"
    }
    assert "hello\n" in logs <= {"hello\n", ""}
    store.close()

    assert said("ratings", "rebuild", "--check", "--data", str(data))["problems"] == []
    assert said("verify", "--all", "--data", str(data)) == {
        "schema": 1,
        "checked": 24,
        "failed": 0,
        "failures": [],
    }
    assert said("dump", "update", "--data", str(data))["through"] == 24
    assert said("dump", "list", "--check", "--data", str(data))["problems"] == []
    assert processes[1].end(signal.SIGTERM) == 0
