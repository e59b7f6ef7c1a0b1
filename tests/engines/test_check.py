"""The check names the first cause of a failure, finds the pace a bot keeps, and asks as games do."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot.file import read_bot_file
from referee.bot.file_writer import saved_capabilities
from referee.check import ability, requirement
from referee.check.check import check
from referee.check.report import CheckReport
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, read_time_control
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from tests.referee.check.pace import keep_pace

HERE = Path(__file__).parent
LIMITS = replace(BotLimits(), start_ms=60_000, ready_ms=60_000, quit_ms=300, grace_ms=150, margin_ms=40)
NONE = Sandbox("none")
RULES = load("pijersi").settle()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ability, "ANSWER_TIMEOUT_MS", 3000)


def habit(*habits: str) -> BotSpec:
    return BotSpec("habit", (sys.executable, "-S", "-E", str(HERE / "habit.py"), *habits))


def script(folder: Path, body: str, shebang: str = f"#!{sys.executable}") -> BotSpec:
    file = folder / "bot"
    file.write_text(f"{shebang}\n{body}\n")
    file.chmod(0o755)
    return BotSpec("broken", (str(file),))


def examined(spec: BotSpec, *variants: str, move_ms: int = 0, limits: BotLimits = LIMITS) -> CheckReport:
    rulesets = [load("pijersi").settle(name) for name in variants] or [RULES]
    return check(spec, rulesets, NONE, limits, move_ms=move_ms)


def test_an_interpreter_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    report = examined(script(tmp_path, "", shebang="#!/usr/bin/env nosuchinterpreter"))
    assert report.fault
    assert "not found in the sandbox" in report.fault.detail
    assert "nosuchinterpreter" in report.fault.said


def test_an_illegal_move_in_a_game_is_the_last_thing_asked() -> None:
    report = examined(habit("--illegal"))
    assert report.fault
    assert (report.fault, report.fault.name) == (report.steps[-1], "legal moves in standard")
    assert "'a1a1'" in report.fault.detail


def test_what_ended_is_never_ok() -> None:
    """A program that ends after its answer, and one that has to be killed at `quit`."""
    report = examined(habit("--ignores-quit"))
    assert report.is_fit
    assert [step.name for step in report.steps if not step.passed] == ["quits"]
    assert "killed" in report.steps[-1].detail
    report = examined(habit("--ends-on", "go"))
    assert (report.fault, report.fault and report.fault.said) == (report.steps[-1], "I end on go")


def test_it_is_asked_as_in_games(monkeypatch: pytest.MonkeyPatch) -> None:
    report = examined(habit())
    legal = next(step for step in report.steps if step.name == "legal moves in standard")
    asked = [line for line in legal.lines if line.startswith("> position")]
    assert asked[0] == "> position startpos"
    assert all(line.startswith("> position startpos moves ") for line in asked[1:])
    assert not report.capabilities.startpos_only


def test_an_engine_that_cannot_set_up_positions_is_known_and_plays_from_the_start_alone() -> None:
    report = examined(habit("--startpos-only"), "standard", "pijersi-8100#17")
    assert report.is_fit
    assert report.capabilities.startpos_only
    assert report.variants == ["standard"]
    assert "cannot set up positions" in report.refused["pijersi-8100#17"]
    spec = replace(habit("--startpos-only"), capabilities={"startpos_only": True})
    with Roster(NONE) as roster:
        plan = GameSpec("pijersi", "standard", spec, spec, limits=LIMITS, time=read_time_control("10+0.1"))
        assert play(PlannedGame.of(replace(plan, opening=("a1b1",))), roster).kind == "rules"
        end = play(PlannedGame.of(replace(plan, position=RULES.write(RULES.read()))), roster)
    assert end.termination is Termination.HANDSHAKE_FAILED
    assert "cannot set up positions" in end.detail


def test_variants_that_are_not_announced_are_one_line() -> None:
    loa = load("loa")
    rulesets = [loa.settle(variant.name) for variant in loa.variants]
    report = check(habit(), rulesets, NONE, LIMITS)
    line = report.steps[1]
    assert (line.name, line.passed) == ("announces loa", True)
    assert set(report.refused) == {"loa12", "blackhole9", "blackhole9-scrambled", "zen"}
    assert all(name in line.detail for name in report.refused)
    strict = check(habit(), rulesets, NONE, LIMITS, needs_all=True)
    assert strict.fault == strict.steps[-1]
    assert strict.fault
    assert strict.fault.name == "announces loa"
    assert "announce: option name" in strict.fault.detail


def test_a_check_of_a_slow_bot_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legal moves are asked for a while, then once in every further variant."""
    details = [step.detail for step in examined(habit(), "standard", "pijersi-36#1").steps if "legal" in step.name]
    assert details == ["12 positions, 12 legal moves"] * 2
    monkeypatch.setattr(requirement, "LEGAL_S", -1.0)
    details = [step.detail for step in examined(habit(), "standard", "pijersi-36#1").steps if "legal" in step.name]
    assert details == ["1 positions, 1 legal moves"] * 2


NO_MARGIN = replace(LIMITS, margin_ms=0)


def test_the_pace_it_keeps_and_how_late_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first answer that is slow is told apart."""
    with monkeypatch.context() as patch:
        keep_pace(patch, lambda told_ms, number: told_ms + 5 + (150 if number == 1 else 0))
        report = examined(habit())
    assert report.timing.fit_from_ms == 50
    assert (report.capabilities.overshoot_ms, report.capabilities.first_overshoot_ms) == (5, 155)
    keep_pace(monkeypatch, lambda told_ms, number: 70)
    slow = examined(habit(), limits=NO_MARGIN)
    assert slow.timing.fit_from_ms == slow.capabilities.fit_from_ms == 100
    data = slow.as_json()
    assert data["fit_from_ms"] == 100
    assert data["overshoot_ms"] == {"p50": 0, "p95": 0}


def test_at_a_time_control_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    needed_ms = 110
    keep_pace(monkeypatch, lambda told_ms, number: needed_ms)
    report = examined(habit(), move_ms=60, limits=NO_MARGIN)
    assert report.fault
    assert report.fault.name == "time for a move"
    assert "needs 0.1 s for a move; 0.06 s are allowed" in report.fault.detail
    report = examined(habit(), move_ms=250, limits=NO_MARGIN)
    assert (report.is_fit, report.timing.fit_from_ms) == (True, 150), "the fastest pace, whatever was asked"
    needed_ms = 210
    report = examined(habit(), move_ms=250, limits=NO_MARGIN)
    assert (report.is_fit, report.timing.fit_from_ms) == (True, 250)


def test_what_is_found_again_takes_the_place_of_what_was_saved(tmp_path: Path) -> None:
    file = tmp_path / "engine.toml"
    (tmp_path / "x").touch()
    before = '# mine\ncommand = ["./x"]\n\n[capabilities]\novershoot_ms = 300\n\n[options]\nHash = 1\n'
    file.write_text(before)
    saved_capabilities(file).write({"clocks": False, "overshoot_ms": 12})
    assert read_bot_file(file).capabilities == {"clocks": False, "overshoot_ms": 12}
    assert read_bot_file(file).options == {"Hash": "1"}
    assert file.read_text().startswith("# mine\n")
    file.write_text('command = ["./x"]\n')
    saved_capabilities(file).write({"stop": False})
    assert read_bot_file(file).capabilities == {"stop": False}
    for other in ('capabilities = "report.json"', "capabilities.stop = false", "[capabilities] # measured"):
        file.write_text(f'command = ["x"]\n{other}\n')
        with pytest.raises(ValueError, match=r"table \[capabilities\]"):
            saved_capabilities(file)
    with pytest.raises(ValueError, match="--write-config FILE"):
        saved_capabilities(Path(os.devnull))
