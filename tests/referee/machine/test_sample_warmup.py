"""What the sample bots compile is compiled before they are started, once for the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot.argument import read_bot
from referee.families import homes
from referee.game.failure import Stopped
from referee.game.spec import GameSpec, PlannedGame
from referee.machine import sample_warmup
from referee.machine.sample_warmup import have_all_warm, have_warm
from referee.machine.warmup import warm
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from tests.referee.conftest import PATIENT, scripted

SAMPLE = replace(read_bot("sample:greedy", "loa"), name="greedy")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cold one; what its samples compile is a line in the file `compiled`."""
    monkeypatch.setattr(sample_warmup, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(sample_warmup, "_ready", set())
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    sample_warmup._digest.cache_clear()
    program = tmp_path / "python"
    program.write_text(
        f'#!/bin/sh\nshift 4\necho "$@" >> {tmp_path}/compiled\necho "no compiler" >&2\nexec {tmp_path}/rest\n'
    )
    (tmp_path / "rest").write_text("#!/bin/sh\n")
    for file in (program, tmp_path / "rest"):
        file.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    yield tmp_path
    sample_warmup._digest.cache_clear()


def compiled(machine: Path) -> list[str]:
    file = machine / "compiled"
    return file.read_text().splitlines() if file.exists() else []


def test_a_sample_is_made_ready_once_for_each_family(machine: Path) -> None:
    have_warm([scripted("one"), replace(SAMPLE, bundle="ab")], "loa")
    assert compiled(machine) == []
    for _ in range(2):
        have_warm([scripted("one"), SAMPLE], "loa")
    sample_warmup._ready.clear()  # as another slot
    have_warm([SAMPLE], "loa")
    assert compiled(machine) == ["bots.samples.warmup loa --bot=greedy"]
    have_warm([SAMPLE], "tablut")
    assert compiled(machine)[1:] == ["bots.samples.warmup tablut --bot=greedy"]


def test_nothing_is_compiled_for_samples_that_do_not_play(machine: Path) -> None:
    searcher = replace(read_bot("sample:mcts", "loa"), name="mcts")
    have_warm([SAMPLE, SAMPLE], "loa")
    have_warm([SAMPLE, searcher], "loa")
    assert compiled(machine) == ["bots.samples.warmup loa --bot=greedy", "bots.samples.warmup loa --bot=mcts"]
    assert have_all_warm("loa") == ""
    assert compiled(machine)[2:] == ["bots.samples.warmup loa --bot=random --bot=alphabeta"]


@pytest.mark.parametrize("name", sorted(sample_warmup.SAMPLES.values()))
def test_the_samples_are_those_that_can_be_warmed(name: str) -> None:
    from bots.samples.warmup import SAMPLES

    assert SAMPLES[name].rpartition(".")[0] in read_bot(f"sample:{name}", "loa").command


def test_what_cannot_be_compiled_is_said_and_tried_again(machine: Path) -> None:
    (machine / "rest").write_text("#!/bin/sh\nexit 3\n")
    assert have_all_warm("loa") == "no compiler"
    (machine / "rest").write_text("#!/bin/sh\n")
    assert have_all_warm("loa") == ""
    assert len(compiled(machine)) == 2


def test_nothing_is_compiled_where_nothing_is(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is marked as compiled."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert have_all_warm("loa") == ""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert compiled(machine) == []
    assert have_all_warm("loa") == ""
    assert len(compiled(machine)) == 1


def test_nothing_is_compiled_where_it_cannot_be_kept(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert have_all_warm("loa") == ""
    assert compiled(machine) == []


def test_a_game_that_waits_for_it_can_be_called_off(machine: Path) -> None:
    (machine / "rest").write_text("#!/bin/sh\nexec sleep 60\n")
    reader, writer = os.pipe()
    os.write(writer, b"abort")
    try:
        with pytest.raises(Stopped):
            have_all_warm("loa", reader)
        with Roster(Sandbox("none"), stop_fd=reader) as roster:
            spec = GameSpec("loa", "standard", SAMPLE, scripted("one"), limits=PATIENT)
            record = play(PlannedGame.of(spec), roster)
    finally:
        os.close(reader)
        os.close(writer)
    assert record.termination is Termination.STOPPED
    assert record.moves == ()


def test_what_is_being_compiled_is_told_and_is_no_problem_of_it(machine: Path) -> None:
    (machine / "rest").write_text('#!/bin/sh\nprintf "compiling mcts\nfailed" >&2; exit 1\n')
    told: list[str] = []
    assert have_all_warm("loa", tell=told.append) == "no compiler\nfailed"
    assert told == ["mcts"]


def test_everything_is_compiled_without_the_arena() -> None:
    line = [
        sys.executable,
        "-c",
        "import sys; sys.modules['arena'] = None; from referee.machine.sample_warmup import main; main()",
    ]
    interpreted = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ended = subprocess.run(line, env=interpreted, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    for family in homes():
        assert f"{family}: 0 functions compiled; sample bots ready" in ended.stderr


def test_the_solver_is_compiled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_warmup, "have_all_warm", lambda family, names: "")
    loaded, kernel = sample_warmup._warm_all("pijersi")[0], warm("pijersi")
    assert loaded.compiled + loaded.cached > kernel.compiled + kernel.cached
