"""The arguments of `arena play`."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli.local import play, play_run, results
from arena.cli.terminal import output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import cell
from arena.cli.terminal.progress import RunProgress
from arena.cli.terminal.run import run
from referee.check.probe import ProbeError
from referee.game.record import GameRecord
from referee.game.spec import BotSpec
from referee.machine.run_folder import FolderError
from referee.play.dispatch import Dispatcher
from referee.ratings.bradley_terry import FittedStrength
from referee.ratings.interval import elo_of
from referee.ratings.strength import elo_words, estimates
from referee.sandbox import Sandbox
from tests.referee.conftest import a_record


def test_every_default_stands_in_the_help() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    unsaid = [
        action.dest
        for action in parser._actions
        if action.default not in (None, False, [], argparse.SUPPRESS)
        and not (str(action.default) in (action.help or "") and "default" in (action.help or ""))
    ]
    assert unsaid == []


def test_a_run_is_continued_with_the_arguments_it_began_with() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    bots = [BotSpec("", ("./a",)), BotSpec("", ("./b",))]
    names = [{"name": "a", "version": "", "capabilities": {}}, {"name": "b", "version": "", "capabilities": {}}]

    first = play_run.identity_of(parser.parse_args(["./a", "./b", "--family", "loa"]))

    def remembered(words: str, before: dict[str, object]) -> list[str]:
        arguments = parser.parse_args(["./a", "./b", "--family", "loa", *words.split()])
        return [bot.name for bot in play_run.remembered(arguments, {"arguments": before, "bots": names}, bots)]

    assert remembered("", first) == ["a", "b"]
    for words, name in (("--tc 5+0", "tc"), ("--pondering pinned", "pondering"), ("--margin 30", "margin")):
        with pytest.raises(FolderError, match=f"holds a run with another {name};"):
            remembered(words, first)


@pytest.fixture
def bots() -> list[str]:
    """Two bots that are ready at once; the first resigns every game."""
    scripted = Path(__file__).parents[3] / "referee" / "scripted.py"
    start = f"{sys.executable} -S -E {scripted}"
    return [f"weak={start} resign", f"strong={start} b1b3 h4f2"]


def test_a_sprt_stops_at_its_decision_and_says_how_it_stands(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    words = ["play", *bots, "--family", "loa", "--games", "5000", "--openings", "none", "--sandbox", "none", "--json"]
    words += ["--sprt", "elo0=0,elo1=200", "--suspend-after", "0", "--out", str(tmp_path / "run")]
    assert run(words) == Exit.DONE
    out, err = capsys.readouterr()
    found = json.loads(out)
    test, elo = found["sprt"], found["elo"]
    assert (test["state"], test["pentanomial"]) == ("H0", [test["pairs"], 0, 0, 0, 0])
    assert test["llr"] <= test["lower"]
    assert len(found["games"]) - 2 * test["pairs"] <= 2, "only the pair after may have ended as well"
    assert (elo["name"], elo["score"], elo["los"] < 0.05, elo["high"] < 0) == ("weak", 0, True, True)
    assert "LLR -" in err
    assert "left" not in err
    assert run(words) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["sprt"] == test, "a decided run is over"


@pytest.mark.parametrize(("weaker", "tried"), [("rlimits", ["bwrap", "rlimits"]), ("bwrap", ["bwrap"])])
def test_a_weaker_sandbox_is_looked_for_where_a_bot_does_not_introduce_itself_in_the_strongest(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, weaker: str, tried: list[str]
) -> None:
    found: list[str] = []

    def played(arguments: argparse.Namespace, *_: object) -> int:
        found.append(arguments.sandbox)
        if arguments.sandbox == "bwrap":
            raise ProbeError("no library")
        return 0

    monkeypatch.setattr(play, "_play", played)
    monkeypatch.setattr("referee.sandbox.open_sandbox", lambda name: Sandbox("bwrap"))
    monkeypatch.setattr("referee.play.sandbox_choice.choose", lambda *_: (Sandbox(weaker), ("a note",)))
    assert run(["play", *bots, "--family", "loa"]) == (Exit.DONE if len(tried) > 1 else Exit.FAILED)
    assert found == tried
    err = capsys.readouterr().err
    assert "a note" in err
    assert ("no library" in err) is (len(tried) == 1)


@pytest.mark.parametrize(
    ("out", "said"), [(True, "4 games are left to play; the same command"), (False, "4 games were not")]
)
def test_an_interrupted_run_talks_of_continuing_only_where_it_is_kept(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: bool, said: str
) -> None:
    monkeypatch.setattr(Dispatcher, "run", lambda self, games, is_enough: self.abort() or [])
    words = ["play", *bots, "--family", "loa", "--games", "4", "--openings", "none", "--sandbox", "none"]
    assert run([*words, "--out", str(tmp_path / "run")] if out else words) == Exit.INTERRUPTED
    err = capsys.readouterr().err
    assert said in err
    assert "--out" not in err


def a_game(first: str, second: str, winner: str, number: int) -> GameRecord:
    return a_record(first=first, second=second, winner=winner, sequence=number, pair=(number + 1) // 2)


def test_two_bots_get_a_difference_in_elo_and_more_a_performance_each(capsys: Any) -> None:
    won = [a_game("a", "b", "first", 1), a_game("b", "a", "draw", 2), a_game("a", "b", "second", 3)]
    won += [a_game("b", "a", "second", 4), a_game("a", "b", "first", 5), a_game("b", "a", "second", 6)]
    found = results.summarise(won, won, ["a", "b"], 1.0, None)
    expected = estimates(won, ["a"])["a"]
    elo = found["elo"]
    assert (elo["diff"], elo["los"]) == (round(expected.elo, 1), round(expected.los, 4))
    assert elo["error"] == pytest.approx((expected.elo_high - expected.elo_low) / 2, abs=0.1)
    results.show(found)
    assert (
        f"Elo: +{elo['diff']:.0f} ± {elo['error']:.0f} (95 %), LOS {100 * elo['los']:.1f} %, draw ratio 16.7 %"
        in capsys.readouterr().out
    )

    more = [*won, a_game("a", "c", "first", 7), a_game("c", "a", "second", 8)]
    found = results.summarise(more, more, ["a", "b", "c", "idle"], 1.0, None)
    assert "elo" not in found
    assert [line["name"] for line in found["performance"]][:1] == ["a"]
    by_name = {line["name"]: line for line in found["performance"]}
    assert by_name["c"]["games"] == 2
    assert by_name["b"]["elo"] == round(estimates(more, "abc")["b"].elo, 1) < 0
    results.show(found)
    lines = capsys.readouterr().out.splitlines()
    lost = f"< {by_name['c']['high']:+.0f}"
    assert any(line.split()[1:2] == ["c"] and lost in line for line in lines), "no finite performance"


def test_the_line_of_progress_has_the_pace_and_the_time_left() -> None:
    at = 100.0
    pace = RunProgress(10, 400, lambda: at)
    assert pace.line(10) == "10/400 games"
    at += 30
    assert pace.line(50) == "50/400 games, 80 a minute, 4 min left"
    assert pace.line(390) == "390/400 games, 760 a minute, 1 s left"
    at += 570
    assert pace.line(30) == "30/400 games, 2.0 a minute, 3 h 5 min left"
    assert pace.line(30, may_end_early=True).endswith("at most 3 h 5 min left")


def test_a_line_of_progress_gives_way_to_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    output.progress("1/400 games " + "." * 200)
    output.note("a game")
    output.note("another")
    output.progress("2/400 games", is_last=True)
    output.note("the end")
    first, rest = screen.getvalue().split("a game\n")
    assert (first[-4:], len(first)) == ("\r\x1b[K", 4 + 79 + 4)
    assert rest == "another\n\r\x1b[K2/400 games\nthe end\n"


@pytest.mark.parametrize("none", [-0.0, -0.3, 0.0])
def test_no_figure_is_shown_as_minus_zero(none: float) -> None:
    assert elo_words(none, -60, 60) == "+0 ± 60"
    line = {"conservative": none / 100, "mu": none / 100, "sigma": 1.0}
    assert results._rating(line) == ("0.00", "0.00", "2.00")
    assert cell(none / 100) == "0.00"


def test_even_results_are_zero_in_json() -> None:
    even = [a_game("a", "b", "first", 1), a_game("b", "a", "first", 2)]
    assert "-0.0" not in re.sub(r"-0\.0\d", "", json.dumps(results.summarise(even, even, ["a", "b"], 1.0, None)))
    assert str(elo_of(0.5)) == "0.0"
    assert str(FittedStrength("a", -0.001, 1.0, 2).as_json()["elo"]) == "0.0"


def test_play_in_a_folder_with_a_file_named_like_a_module_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for name in ("random", "struct", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    words = ["play", "one=sample:random", "two=sample:random", "--family", "loa", "--max-plies", "6", "--games", "1"]
    assert run([*words, "--tc", "1/move", "--sandbox", "none", "--json"]) == Exit.DONE
    (game,) = json.loads(capsys.readouterr().out)["games"]
    assert len(game["moves"]) == 6
