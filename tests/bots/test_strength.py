"""The command behind the table of strength: what it plays, what it makes of the games, where the table goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.sdk import families
from tests.bots.strength import MARKS, PAGE, Match, main, matches, mcts, put, row


def games(*winners: str, termination: str = "goal") -> list[dict[str, str]]:
    return [
        {"id": str(n), "first": "one", "second": "two", "winner": winner, "termination": termination}
        for n, winner in enumerate(winners)
    ]


def test_a_row_counts_points() -> None:
    found = row(Match("one", "two", "loa", "nodes:5"), games("first", "first", "draw", "second"))
    assert found == "| loa | one v two | `nodes:5` | 2 | 1 | 1 | 62.5% |"


def test_a_forfeit_is_no_strength() -> None:
    with pytest.raises(SystemExit, match="not decided by the rules: 0"):
        row(Match("one", "two", "loa", "nodes:5"), games("first", termination="time"))


def test_the_page_has_a_place_for_the_table(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    once = put(text, ["| a |"])
    assert put(once, ["| a |"]) == once
    assert all(once.count(mark) == 1 for mark in MARKS)
    assert {match.family for family in families() for match in matches(family, "mcts", tmp_path)} == set(families())


def test_a_weakened_bot_is_a_folder(tmp_path: Path) -> None:
    name, _, folder = mcts(tmp_path, 7).partition("=")
    assert name == "mcts-7"
    assert "Nodes = 7" in (Path(folder) / "bot.toml").read_text(encoding="utf-8")


def test_two_games_are_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["loa", "--games", "2", "--only", "greedy", "--out", str(tmp_path)])
    assert "| loa | greedy v random | `nodes:1` | " in capsys.readouterr().out
