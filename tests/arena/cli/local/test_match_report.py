"""The result of a match of two bots as lines to be pasted, and how a run stands meanwhile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli.local import results
from arena.cli.local.results import COLUMNS, result_lines, running_lines, terms_of
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.game_view import meanings
from arena.cli.terminal.run import run
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, read_time_control
from referee.tournament.document import read
from tests.referee.conftest import a_record
from tests.referee.tournament.rehearsal import table_of


def games(*winners: str) -> list[GameRecord]:
    """Games of a and b in pairs with swapped sides, by who won them: `a`, `b` or `=`."""
    found = []
    for number, winner in enumerate(winners):
        first, second = ("a", "b") if number % 2 == 0 else ("b", "a")
        result = {"=": "draw", first: "first"}.get(winner, "second")
        found.append(a_record(first=first, second=second, winner=result, sequence=number + 1, pair=number // 2 + 1))
    return found


def terms(count: int, earlier: int, openings: str = "random:6:1") -> dict[str, Any]:
    """The conditions of a match of so many games."""
    document = read(
        {
            **{"name": "match", "family": "loa", "rule_options": {"repetition": 4}, "time_control": "40/60"},
            **{"openings": openings, "entries": {"bots": ["a", "b"]}},
        }
    )
    bots = [BotSpec("a", ("./a",)), BotSpec("b", ("./b",), time=read_time_control("1+0.01"))]
    return terms_of(document, bots, count, earlier)


def summarised(played: list[GameRecord], elapsed_s: float, format: str = "round-robin") -> dict[str, Any]:
    """The summary of a match of a and b."""
    return results.summarise(played, played, table_of(played, ["a", "b"], format), elapsed_s)


def test_the_result_of_two_bots_fits_in_a_few_lines() -> None:
    played = games(*"aaa=abb=")
    summary = summarised(played, 754.0, "sprt")
    summary["match"] = terms(8, 0)
    summary["sprt"] |= {"elo0": 0, "elo1": 10, "alpha": 0.05, "beta": 0.05}
    lines = result_lines(summary)
    assert lines == [
        "Results of a v b: loa, standard, repetition=4, time control 40/60+0 v 1+0.01,",
        "  openings random:6:1",
        "Games: 8 in 13 min; a won 4, drew 2, lost 2: 5 points, 62.5 %",
        "Elo: +89 ± 243 (95 %), LOS 81.5 %, draw ratio 25.0 %",
        "Pairs with 0, ½, 1, 1½, 2 points: [0, 1, 1, 1, 1]",
        "SPRT elo0=0,elo1=10,alpha=0.05,beta=0.05: not decided",
        f"LLR: {summary['sprt']['llr']:.2f} in (-2.94, 2.94)",
        "Terminations: draw-agreed 8",
        "  draw-agreed: one side offered a draw and the other accepted",
    ]
    assert max(map(len, lines)) <= COLUMNS


def test_the_meanings_of_terminations_are_those_of_the_rules_in_order() -> None:
    assert meanings(["simultaneous-connection", None, "abandoned at the club", "time", "simultaneous-connection"]) == [
        "  simultaneous-connection: a move connected both sides at once",
        "  time: a bot exceeded its time",
    ]


@pytest.mark.parametrize(
    ("planned_count", "earlier", "words"),
    [(8, 4, "Games: 8, the last 4 in 60 s;"), (8, 8, "Games: 8; a won"), (20, 0, "Games: 8 of 20 in 60 s;")],
)
def test_a_continued_or_unfinished_match_says_so(planned_count: int, earlier: int, words: str) -> None:
    played = games(*"aaa=abb=")
    found = summarised(played, 60.0)
    found["match"] = terms(planned_count, earlier, "auto")
    assert any(line.startswith(words) for line in result_lines(found))


def test_long_names_are_wrapped_and_never_broken() -> None:
    played = [a_record(first="x" * 64, second="y" * 64, winner="first")]
    found = results.summarise(played, played, table_of(played, ["x" * 64, "y" * 64]), 1.0)
    lines = result_lines(found)
    assert max(map(len, lines)) <= COLUMNS
    assert len(lines) <= 10
    assert "Elo: no estimate" in "\n".join(lines)


def test_how_a_run_stands_is_of_the_first_of_two_bots_and_of_all_of_more() -> None:
    played = games(*"aaa=")
    table = table_of(played, ["a", "b"], "sprt")
    verdict = table.decision.verdict
    assert verdict is not None
    lines = list(running_lines(table))
    assert lines[0].startswith("    a: +3 =1 -0, 87.5 %, Elo > +")
    assert lines[0].endswith(" %, draws 25.0 %")
    assert lines[1] == f"    LLR {verdict.llr:.2f} in (-2.94, 2.94), pairs [0, 0, 0, 1, 1]"
    more = [line.split(":")[0].strip() for line in running_lines(table_of(played, ["b", "c", "a"]))]
    assert more == ["1. a", "2. b", "3. c"]


def test_a_match_shows_how_it_stands_after_every_interval_and_its_result_at_the_end(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    script = Path(__file__).parents[3] / "referee" / "scripted.py"
    start = f"{sys.executable} -S -E {script} --clocks"
    words = [f"weak={start} resign", f"strong={start} b1b3 h4f2", "--rating-interval", "4", "--games", "10"]
    words += ["--family", "loa", "--openings", "none", "--sandbox", "none", "--suspend-after", "0"]
    assert run(["play", *words, "--sprt", "elo0=-5,elo1=5"]) == Exit.DONE
    out, err = capsys.readouterr()
    shown = [line for line in err.splitlines() if line.startswith("    weak:")]
    assert [line.split(",")[0].strip() for line in shown] == ["weak: +0 =0 -4", "weak: +0 =0 -8"]
    assert err.count("    LLR -") == 2
    assert "Results of weak v strong: loa, standard, time control 10+0.1, openings none" in out
    assert "SPRT elo0=-5,elo1=5,alpha=0.05,beta=0.05: " in out
    assert "Terminations: resigned 10" in out
    assert "crosstable" not in out
