"""The command behind the table of strength: what it plays, what it makes of the games, where the table goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.sdk import families
from tests.tools.strength import PARTS, Match, main, matches, mcts, row


def games(*winners: str, termination: str = "goal") -> list[dict[str, str]]:
    return [
        {"id": str(n), "first": "one", "second": "two", "winner": winner, "termination": termination}
        for n, winner in enumerate(winners)
    ]


def test_a_row_counts_points() -> None:
    found = row(Match("one", "two", "loa", "nodes:5"), games("first", "first", "draw", "second"))
    assert found == "| loa | one v two | `nodes:5` | 4 | 2-1-1 | 62.5% | no estimate |"


def test_a_forfeit_is_no_strength() -> None:
    with pytest.raises(SystemExit, match="not decided by the rules: 0"):
        row(Match("one", "two", "loa", "nodes:5"), games("first", termination="time"))


def test_matches_of_all_families_have_names_of_their_own(tmp_path: Path) -> None:
    found = [match for part in PARTS for family in families() for match in matches(family, part, tmp_path)]
    assert {match.family for match in found} == set(families())
    assert len({match.name for match in found}) == len(found)


def test_a_weakened_bot_is_a_folder(tmp_path: Path) -> None:
    name, _, folder = mcts(tmp_path, 7).partition("=")
    assert name == "mcts-7"
    assert "Nodes = 7" in (Path(folder) / "bot.toml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("interpreted")
def test_two_games_are_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "reports" / "strength.md"
    words = ["loa", "--games", "2", "--only", "greedy", "--out", str(tmp_path / "runs"), "--report", str(page)]
    for _ in range(2):  # the second run reads the games of the first
        main(words)
        assert "| loa | greedy v random | `nodes:1` | 2 | " in capsys.readouterr().out
    assert f"python -m tests.tools.strength {' '.join(words)}" in page.read_text(encoding="utf-8")
