"""What the demo does while it compiles, and what it prints in the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.cli import compiling, demo
from arena.cli.exit import CommandError
from arena.store import Store
from referee.failure import Stopped
from referee.warmup import Warmed
from tests.arena.coordinator.stage import Dice, Stage


def test_each_family_begins_when_it_is_ready_though_others_still_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    begun: list[str] = []
    shown: list[str] = []

    def compile_all(family: str, stop_fd: int, tell: Any) -> str:
        tell(f"{family}_bot")
        tell(f"{family}_bot search")
        return ""

    monkeypatch.setattr(compiling, "have_all_warm", compile_all)
    monkeypatch.setattr(compiling, "warm", lambda family: Warmed(family, 0, 7, 0.0))
    monkeypatch.setattr(compiling.output, "progress", shown.append)
    monkeypatch.setattr(compiling, "time", SimpleNamespace(perf_counter=lambda: 7.0))  # it stands still

    async def begin(family: str) -> None:
        begun.append(family)

    asyncio.run(_compile(["loa", "tablut"], begin))
    assert sorted(begun) == ["loa", "tablut"]
    assert any("loa search" in line for line in shown)
    said = capsys.readouterr().err
    assert "loa        compiling what loa_bot calls ...\n" in said
    assert "loa        ready in 0.0 s, 7 kernels\n" in said


def test_a_family_that_cannot_be_compiled_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_all(family: str, stop_fd: int, tell: Any) -> str:
        if family == "loa":
            return "no compiler"
        import select

        select.select([stop_fd], [], [])  # until it is called off
        raise Stopped

    monkeypatch.setattr(compiling, "have_all_warm", compile_all)
    monkeypatch.setattr(compiling, "warm", lambda family: Warmed(family, 0, 7, 0.0))

    async def begin(family: str) -> None:
        raise AssertionError(family)

    monkeypatch.setattr(compiling.os, "sched_getaffinity", lambda of: {0, 1})
    with pytest.raises(CommandError, match="loa cannot be made ready: no compiler"):
        asyncio.run(_compile(["loa", "tablut"], begin))


async def _compile(names: list[str], begin: Any) -> None:
    await compiling.Compiling(names, begin).run(asyncio.Event())


def test_the_summary_of_a_family_is_one_small_table(tmp_path: Path, capsys: Any) -> None:
    store = Store.in_folder(tmp_path)
    stage = Stage(store, tmp_path)
    number = stage.create(games=2)
    stage.play(number, Dice())
    capsys.readouterr()
    demo._tell(store, [number])
    head, *rows, last = capsys.readouterr().out.splitlines()
    store.close()
    assert head.split()[:4] == ["#", "Lines", "of", "Action"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4"]
    assert sum(float(row.split()[5]) for row in rows) == 12
    assert "rating = mu - 3 sigma" in last
    assert max(map(len, [head, *rows, last])) <= 80
