"""What the demo does while it compiles, and what it prints in the end."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

from arena.app import context_of
from arena.cli.server import demo_compiling, demo_run
from arena.cli.server.demo import DemoArguments
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import add_fields, given_words, read_fields
from arena.cli.terminal.run import run
from arena.events.bus import Bus
from arena.http.request_context import Preparation
from arena.store import Store
from referee.game.failure import Stopped
from referee.rules import families
from tests.arena.api.server import settings_in
from tests.arena.coordinator.stage import Dice, Stage
from tests.program import arena

ROOT = Path(__file__).parents[4]
TIMEOUT_S = 300


def test_each_family_begins_when_it_is_ready_though_others_still_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    begun: list[tuple[str, ...]] = []
    shown: list[str] = []

    def compile_all(family: str, stop_fd: int, tell: Any, names: Any) -> str:
        tell(f"{family}_bot")
        tell(f"{family}_bot search")
        return ""

    monkeypatch.setattr(demo_compiling, "have_all_warm", compile_all)
    monkeypatch.setattr(demo_compiling, "get_ready", lambda family: None)
    monkeypatch.setattr(demo_compiling, "is_warm", lambda family, names: False)
    monkeypatch.setattr(demo_compiling.output, "progress", shown.append)
    monkeypatch.setattr(demo_compiling, "time", SimpleNamespace(perf_counter=lambda: 7.0))  # it stands still

    async def begin(family: str, bots: Sequence[str]) -> None:
        begun.append((family, *bots))

    preparation = Preparation(2)
    asyncio.run(demo_compiling.Compiling(["loa", "tablut"], begin, preparation).run(asyncio.Event()))
    soon, later = demo_compiling.STEPS
    assert begun[0] == ("loa", *soon)
    assert sorted(begun) == sorted((family, *bots) for family in ("loa", "tablut") for bots in (soon, later))
    assert (preparation.ready, preparation.progress, preparation.now) == (2, 2, {})
    assert any("loa search" in line for line in shown)
    said = capsys.readouterr().err
    assert "loa        compiling what loa_bot calls ...\n" in said
    assert "loa        random, greedy ready in 0.0 s\n" in said


def test_a_family_that_cannot_be_compiled_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_all(family: str, stop_fd: int, tell: Any, names: Any) -> str:
        if family == "abalone":
            return ""
        if family == "loa":
            return "no compiler"
        import select

        select.select([stop_fd], [], [])  # until it is called off
        raise Stopped

    monkeypatch.setattr(demo_compiling, "have_all_warm", compile_all)
    monkeypatch.setattr(demo_compiling, "get_ready", lambda family: None)
    monkeypatch.setattr(demo_compiling, "is_warm", lambda family, names: False)

    async def begin(family: str, bots: Sequence[str]) -> None:
        assert family == "abalone"

    monkeypatch.setattr(demo_compiling, "usable_cores", lambda: 2)
    with pytest.raises(CommandError, match="loa cannot be compiled: no compiler"):
        asyncio.run(_compile(["abalone", "loa", "tablut"], begin))


def test_first_games_of_all_families_come_before_the_stronger_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    barrier = Barrier(2)
    soon, later = demo_compiling.STEPS

    def compile_all(family: str, stop_fd: int, tell: Any, names: Any) -> str:
        steps.append(f"{family} begins {names[0]}")
        if names == soon and family != "loa":
            barrier.wait(TIMEOUT_S)  # two are compiled at the same time
        return ""

    async def begin(family: str, bots: Sequence[str]) -> None:
        steps.append(f"{family} plays {bots[0]}")

    monkeypatch.setattr(demo_compiling, "have_all_warm", compile_all)
    monkeypatch.setattr(demo_compiling, "get_ready", lambda family: None)
    monkeypatch.setattr(demo_compiling, "is_warm", lambda family, names: False)
    monkeypatch.setattr(demo_compiling, "usable_cores", lambda: 2)
    asyncio.run(_compile(["loa", "tablut", "abalone", "baroque", "pijersi"], begin))
    assert steps[:2] == [f"loa begins {soon[0]}", f"loa plays {soon[0]}"]
    starts = [step.split()[-1] for step in steps if "begins" in step]
    assert starts == [soon[0]] * 5 + [later[0]] * 5
    assert len(steps) == 20


def test_no_first_games_of_a_family_that_is_compiled_already(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, ...]] = []

    async def begin(family: str, bots: Sequence[str]) -> None:
        begun.append((family, *bots))

    soon, later = demo_compiling.STEPS
    monkeypatch.setattr(demo_compiling, "have_all_warm", lambda *_: "")
    monkeypatch.setattr(demo_compiling, "get_ready", lambda family: None)
    monkeypatch.setattr(demo_compiling, "is_warm", lambda family, names: family == "loa" and names == later)
    asyncio.run(_compile(["loa", "tablut"], begin))
    assert sorted(begun) == sorted([("loa", *later), ("tablut", *soon), ("tablut", *later)])


async def _compile(names: list[str], begin: Any) -> None:
    await demo_compiling.Compiling(names, begin).run(asyncio.Event())


def test_the_summary_of_a_family_is_one_small_table(tmp_path: Path, capsys: Any) -> None:
    store = Store.in_folder(tmp_path)
    stage = Stage(store, tmp_path)
    number = stage.create(games=2)
    stage.play(number, Dice())
    capsys.readouterr()
    demo_run._tell(store, [number])
    head, *rows, last = capsys.readouterr().out.splitlines()
    store.close()
    assert head.split()[:4] == ["#", "Lines", "of", "Action"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4"]
    assert sum(float(row.split()[5]) for row in rows) == 12
    assert "rating = mu - 3 sigma" in last
    assert max(map(len, [head, *rows, last])) <= 80


def test_a_new_demo_has_a_cup_to_look_forward_to(tmp_path: Path) -> None:
    store = Store.in_folder(tmp_path)
    for _ in range(2):  # again changes nothing
        players = demo_run._prepare(store, "loa")
        (cup,) = store.schedules.all()
    assert [version.name for version in players] == [f"{name} v1" for name in demo_run.SAMPLES]
    assert (cup.name, cup.is_enabled) == ("Sunday cup {date}", True)
    store.close()


@pytest.mark.parametrize("family", sorted(families()))
def test_the_archive_of_a_demo_has_a_collection(tmp_path: Path, family: str) -> None:
    store = Store.in_folder(tmp_path)
    arena = context_of(store, settings_in(tmp_path), Bus()).arena
    for _ in range(2):  # again adds nothing
        demo_run._furnish(arena, family)
        (source,) = store.archive.sources()
        assert (source.source, source.games) == ("champion against alphabeta", 4)
    store.close()


def test_a_demo_that_ended_early_continues_its_tournament(tmp_path: Path, capsys: Any) -> None:
    store = Store.in_folder(tmp_path)
    context = context_of(store, settings_in(tmp_path), Bus())
    players = demo_run._prepare(store, "loa")
    arguments = DemoArguments(data=tmp_path, tc="nodes:9")
    first = demo_run.Demo(context, ["loa"], players, arguments, "")._tournament_of("loa", is_whole=True)
    again = demo_run.Demo(context, ["loa"], players, arguments, "")
    assert again._tournament_of("loa", is_whole=True).id == first.id
    assert again._tournament_of("tablut", is_whole=True).id != first.id
    soon = again._tournament_of("loa", is_whole=False)
    assert soon.name == "Demo: Lines of Action, first games"
    assert [entry.name for entry in store.tournaments.entries(soon.id)] == ["random v1", "greedy v1"]
    assert len(store.tournaments.entries(first.id)) == 5
    demo_run._tell(store, [soon.id])
    (only,) = capsys.readouterr().out.splitlines()  # the table of the whole tournament will follow
    assert "rating = mu - 3 sigma" in only
    store.tournaments.move(first.id, "cancelled")
    assert again._tournament_of("loa", is_whole=True).id != first.id
    store.close()


def test_the_command_that_continues_a_demo_has_the_options_that_it_had() -> None:
    words = ["--once", "--games", "4", "--family", "loa", "--family", "tablut", "--data", "my data", "--port", "8123"]
    place = argparse.ArgumentParser()
    add_fields(place, DemoArguments)
    arguments = DemoArguments(**read_fields(place.parse_args(words), DemoArguments))
    assert given_words(arguments) == words
    assert given_words(arguments, "data", "port") == words[-4:]
    assert given_words(DemoArguments()) == []


@pytest.mark.timeout(2 * TIMEOUT_S)
def test_demo_ends_only_when_its_last_games_are_in_archive_and_explorer(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setattr(demo_run, "SAMPLES", {name: demo_run.SAMPLES[name] for name in ("random", "greedy")})
    words = ["demo", "--once", "--games", "2", "--family", "pijersi", "--tc", "nodes:9", "--data", str(data)]
    done = arena(words, {})
    assert done.returncode == 0, done.stderr
    talk = done.stderr.splitlines()
    assert f"this process plays the games of {data}" in talk
    assert talk[-1] == f"the demo has ended; its games are kept in {data}"
    assert run(["explore", "pijersi", "--moves", "", "--data", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 6  # two of the pair, four imported
    assert run(["archive", "list", "--data", str(data), "--json"]) == 0
    assert [source["games"] for source in json.loads(capsys.readouterr().out)["sources"]] == [2, 4]


@pytest.mark.parametrize(("code", "made", "said"), [(130, 0, ""), (0, 0, ""), (3, 2, "Error 3")])
def test_make_demo_takes_an_interrupt_for_an_end_and_a_failure_for_one(
    tmp_path: Path, code: int, made: int, said: str
) -> None:
    command = tmp_path / "arena"
    command.write_text(f"#!/bin/sh\nexit {code}\n")
    command.chmod(0o755)
    (tmp_path / "index.html").touch()
    made_already = ["RUNS=", "TEXTS=", f"SITE={tmp_path}"]
    line = ["make", "-f", str(ROOT / "Makefile"), "demo", f"BIN={tmp_path}", *made_already, "ARGS=--once"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == made, done.stderr
    assert said in done.stderr
    assert said or not done.stderr
