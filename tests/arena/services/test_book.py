"""Opening books made from games: even lines, reproducible by seed, with their evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.__main__ import main
from arena.collections.book import BookError
from arena.documents.archive import ExplorerQuery
from arena.services import Arena, explorer
from arena.services.explorer import BookCriteria, make_from_games
from arena.store.archive.archived_game import ArchivedGame
from referee.game.openings import file_openings
from referee.rules import load

LOA = load("loa").settle()
LEVEL = (("b1b3", "a2c2"), ("b1b3", "a7c7"), ("c1c3", "a2c2"))
WON = ("d1d3", "a2c2")


@pytest.fixture
def played(arena: Arena) -> Arena:
    """Store even lines, one also in a symmetric image, and a line that the first side always won."""
    games: list[ArchivedGame] = []

    def add(moves: tuple[str, ...], winner: str | None) -> None:
        number = f"{len(games):016x}"
        games.append(ArchivedGame(number, "loa", "standard", {}, "", moves, "a", "b", winner, "resigned"))

    for line in LEVEL:
        for winner in ("first", "second", "first", "second", None):
            add(line, winner)
    for _ in range(4):
        add(WON, "first")
    add(("g1g3", "h2f2"), "draw")  # the first line, seen in a mirror
    arena.store.archive.add(games)
    return arena


def test_book_keeps_even_lines_with_evidence(played: Arena) -> None:
    demand = BookCriteria(plies=2, games=4, balance=0.1)
    lines = make_from_games(played, "loa", ExplorerQuery(), demand, count=3, seed=1)
    assert {line.opening.moves for line in lines} == set(LEVEL)
    assert {line.evidence for line in lines} == {
        "4 games, 2 won by first, 0 drawn, 2 won by second: 50% (15% to 85%)",
        "5 games, 2 won by first, 1 drawn, 2 won by second: 50% (17% to 83%)",
    }
    unlevel = make_from_games(played, "loa", ExplorerQuery(), BookCriteria(2, 4, 0.5), count=4, seed=1)
    assert WON in {line.opening.moves for line in unlevel}
    drawn = [make_from_games(played, "loa", ExplorerQuery(), demand, count=1, seed=seed)[0] for seed in range(9)]
    assert drawn == [
        make_from_games(played, "loa", ExplorerQuery(), demand, count=1, seed=seed)[0] for seed in range(9)
    ]
    assert len({line.opening.moves for line in drawn}) > 1


def test_too_few_lines_error_names_options(played: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BookError, match="only 1 lines of 2 plies have 5 games"):
        make_from_games(played, "loa", ExplorerQuery(), BookCriteria(2, 5, 0.1), count=2, seed=1)
    monkeypatch.setattr(explorer, "MAX_POSITIONS", 3)
    with pytest.raises(BookError, match="raise --games"):
        make_from_games(played, "loa", ExplorerQuery(), BookCriteria(2, 4, 0.1), count=1, seed=1)


def test_command_writes_a_book_for_tournaments(played: Arena, tmp_path: Path) -> None:
    database = ["--database", played.store.url]
    make = ["book", "make", "loa", "--from-games", "--plies", "2", "--games", "4", *database, "--output-file"]
    assert main([*make, str(tmp_path / "a"), "--count", "2", "--seed", "3"]) == 0
    text = (tmp_path / "a").read_text()
    assert "seed 3" in text
    assert "games: all" in text
    assert len({opening.moves for opening in file_openings(LOA, text, 2)} & set(LEVEL)) == 2
    assert main([*make, str(tmp_path / "b"), "--count", "9"]) == 1
    assert main([*make, str(tmp_path / "b"), "--count", "1", "--setups", "x"]) == 2
