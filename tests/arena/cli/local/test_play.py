"""The arguments of `arena play`."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli.local import play_run, results
from arena.cli.terminal import output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.output import RunProgress
from arena.cli.terminal.run import run
from arena.cli.terminal.table import written
from referee.check.probe import ProbeError
from referee.game.record import GameRecord
from referee.play.dispatch import Dispatcher
from referee.ratings.bradley_terry import FittedStrength
from referee.ratings.strength import elo_words
from referee.sandbox import Sandbox
from tests.referee.conftest import a_record
from tests.referee.tournament.rehearsal import table_of


def test_a_run_is_continued_with_the_settings_it_began_with(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    words = ["play", *bots, "--family", "loa", "--openings", "none", "--sandbox", "none", "--out", str(tmp_path)]
    assert run(words) == Exit.DONE
    for more, name in (
        ("--tc 5+0", "time_control"),
        ("--pondering pinned", "pondering"),
        ("--margin 30", "limits.margin_ms"),
        ("--games 4 --seed 1", "games, seed"),
    ):
        capsys.readouterr()
        assert run([*words, *more.split()]) == Exit.USAGE
        assert f"holds a run with another {name};" in capsys.readouterr().err
    header = json.loads((tmp_path / "run.json").read_text())
    assert header["document"]["entries"]["bots"] == bots
    assert [bot["name"] for bot in header["bots"]] == ["weak", "strong"]
    weak, strong = header["bots"]
    for other, said in (
        ({"bots": []}, "names no bots"),
        ({"bots": [{**weak, "version": "changed"}, strong]}, "or a bot's settings (bot.toml) have changed"),
        ({"document": None}, "begun by another version of the program; use another folder"),
    ):
        (tmp_path / "run.json").write_text(json.dumps({**header, **other}))
        assert run(words) == Exit.USAGE
        assert said in capsys.readouterr().err


@pytest.fixture
def bots() -> list[str]:
    """Two bots that are ready at once; the first resigns every game."""
    scripted = Path(__file__).parents[3] / "referee" / "scripted.py"
    start = f"{sys.executable} -S -E {scripted} --clocks"
    return [f"weak={start} resign", f"strong={start} b1b3 h4f2"]


def test_a_sprt_stops_at_its_decision_and_says_how_it_stands(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    words = ["play", *bots, "--family", "loa", "--games", "5000", "--openings", "none", "--sandbox", "none", "--json"]
    words += ["--sprt", "elo0=0,elo1=200", "--suspend-after", "0", "--out", str(tmp_path / "run")]
    assert run(words) == Exit.DONE
    out, err = capsys.readouterr()
    summary = json.loads(out)
    test, elo = summary["sprt"], summary["elo"]
    assert (test["state"], test["pentanomial"]) == ("H0", [test["pairs"], 0, 0, 0, 0])
    assert test["llr"] <= test["lower"]
    assert len(summary["games"]) - 2 * test["pairs"] <= 2, "only the pair after may have ended as well"
    assert (elo["name"], elo["score"], elo["los"] < 0.05, elo["high"] < 0) == ("weak", 0, True, True)
    assert "LLR -" in err
    assert "left" not in err
    assert run(words) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["sprt"] == test, "a decided run is over"


@pytest.mark.parametrize(("weaker", "tried"), [("rlimits", ["bwrap", "rlimits"]), ("bwrap", ["bwrap"])])
def test_a_weaker_sandbox_is_looked_for_where_a_bot_does_not_introduce_itself_in_the_strongest(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, weaker: str, tried: list[str]
) -> None:
    sandboxes: list[str] = []

    def played(prepared: play_run.PreparedRun, *_: object) -> int:
        sandboxes.append(prepared.sandbox)
        if prepared.sandbox == "bwrap":
            raise ProbeError("no library")
        return 0

    monkeypatch.setattr(play_run, "_play", played)
    monkeypatch.setattr(play_run, "open_sandbox", lambda name: Sandbox("bwrap"))
    monkeypatch.setattr(play_run, "choose", lambda *_: (Sandbox(weaker), ("a note",)))
    assert run(["play", *bots, "--family", "loa"]) == (Exit.DONE if len(tried) > 1 else Exit.FAILED)
    assert sandboxes == tried
    err = capsys.readouterr().err
    assert "a note" in err
    assert ("no library" in err) is (len(tried) == 1)


@pytest.mark.parametrize(
    ("out", "said"), [(True, "4 games are left to play; the same command"), (False, "4 games were not")]
)
def test_an_interrupted_run_talks_of_continuing_only_where_it_is_kept(
    bots: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, out: bool, said: str
) -> None:
    monkeypatch.setattr(Dispatcher, "run", lambda self, *_: self.abort() or [])
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
    table = table_of(won, ["a", "b"])
    summary = results.summarise(won, won, table, 1.0)
    expected = table.scores.players[0].estimate
    elo = summary["elo"]
    assert (elo["diff"], elo["los"]) == (round(expected.elo, 1), round(expected.los, 4))
    assert elo["error"] == pytest.approx((expected.elo_high - expected.elo_low) / 2, abs=0.1)
    results.show(summary)
    assert (
        f"Elo: +{elo['diff']:.0f} ± {elo['error']:.0f} (95 %), LOS {100 * elo['los']:.1f} %, draw ratio 16.7 %"
        in capsys.readouterr().out
    )

    more = [*won, a_game("a", "c", "first", 7), a_game("c", "a", "second", 8)]
    table = table_of(more, ["a", "b", "c", "idle"])
    summary = results.summarise(more, more, table, 1.0)
    assert "elo" not in summary
    assert [line["name"] for line in summary["performance"]][:1] == ["a"]
    by_name = {line["name"]: line for line in summary["performance"]}
    assert by_name["c"]["games"] == 2
    assert by_name["b"]["elo"] == round(table.scores.players[1].estimate.elo, 1) < 0
    results.show(summary)
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
    assert written(none / 100) == "0.00"


def test_even_results_are_zero_in_json() -> None:
    even = [a_game("a", "b", "first", 1), a_game("b", "a", "first", 2)]
    assert "-0.0" not in re.sub(
        r"-0\.0\d", "", json.dumps(results.summarise(even, even, table_of(even, ["a", "b"]), 1.0))
    )
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
