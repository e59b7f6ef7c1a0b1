"""Tables fit their terminal: no word is broken, what matters least goes first."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from arena.cli.client import standings
from arena.cli.terminal import output
from arena.cli.terminal.table_layout import Columns, cells_of, lines


def test_as_wide_as_it_needs() -> None:
    columns = Columns(("bot", "games"), frozenset(("games",)), drop=("games",))
    assert lines(columns, [("greedy v1", "5"), ("ß", "1234567")]) == [
        "bot          games",
        "greedy v1        5",
        "ß          1234567",
    ]


def test_the_least_important_columns_go_first() -> None:
    columns = Columns(("bot", "points", "score", "SB"), frozenset(("points", "score", "SB")), drop=("SB", "score"))
    rows = [("alphabeta v12", "10.5", "87.5 %", "33.25")]
    assert lines(columns, rows, 36)[0].split() == ["bot", "points", "score", "SB"]
    assert lines(columns, rows, 35)[0].split() == ["bot", "points", "score"]
    assert lines(columns, rows, 25) == ["bot            points", "alphabeta v12    10.5"]


def test_an_empty_column_goes_where_there_is_a_width() -> None:
    columns = Columns(("variant", "options", "position"))
    assert lines(columns, [("zen", "", "b - 1")], 80)[0] == "variant  position"
    assert lines(columns, [("zen", "", "b - 1")])[0] == "variant  options  position"
    assert lines(columns, [], 80) == ["variant  options  position"]


def test_texts_are_shortened_and_numbers_never() -> None:
    columns = Columns(("bot", "elo"), frozenset(("elo",)))
    found = lines(columns, [("a-very-long-name-of-a-bot", "123456789")], 24)
    assert found == ["bot                  elo", "a-very-long-…  123456789"]
    assert lines(columns, [("abcdefghijkl", "123456789")], 5)[1] == "abcdefghi…  123456789"


def test_words_go_on_in_the_next_line() -> None:
    columns = Columns(("option", "meaning"), wrap=frozenset(("meaning",)))
    found = lines(columns, [("limit", "plies that end the game as a draw"), ("x", "y")], 30)
    assert found == ["option  meaning", "limit   plies that end the", "        game as a draw", "x       y"]


def test_wide_letters_take_two_cells() -> None:
    assert cells_of("日本") == 4
    assert cells_of("e\u0301") == 1
    assert lines(Columns(("a", "b")), [("日本", "x"), ("abcd", "y")])[1:] == ["日本  x", "abcd  y"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 80 columns."""
    found = Terminal()
    monkeypatch.setattr(sys, "stdout", found)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return found


def line(rank: int, name: str, **more: Any) -> dict[str, Any]:
    return {
        **{"rank": rank, "name": name, "points": 1234.5, "games": 2000, "wins": 1000, "draws": 469, "losses": 531},
        **{"score": 0.617, "sonneborn_berger": 98765.25, "forfeits": 12, "is_withdrawn": False},
        **{"byes": 1, "buchholz": 345.5, "round": 3},
        **more,
    }


@pytest.mark.parametrize("form", ["round-robin", "swiss", "knockout", "sprt"])
def test_standings_fit_eighty_columns_with_whole_words(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    screen = screen_of(monkeypatch)
    name = "a-name-of-forty-characters-as-bots-have v123"
    standings.show(form, [line(1, name), line(10, "greedy v1")])
    shown = screen.getvalue().splitlines()
    assert len(shown) == 3
    assert all(cells_of(one) <= 80 for one in shown)
    heads = shown[0].split()
    assert heads[:4] == ["#", "bot", "points", "games"]
    assert {"swiss": {"byes", "Buchholz"}, "knockout": {"round"}}.get(form, set()) <= set(heads)
    assert "1234.5" in shown[1]
    assert "2000" in shown[1]


def test_what_does_not_go_to_a_terminal_keeps_everything(capsys: Any) -> None:
    standings.show("swiss", [line(1, "x" * 100)])
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["SB", "forfeits"]
    assert "x" * 100 in row


def test_the_verdict_of_a_test_has_its_bounds(capsys: Any) -> None:
    verdict = {"state": "H1", "llr": 2.96, "lower": -2.944, "upper": 2.944, "pairs": 40}
    standings.show_verdict(
        {**verdict, "pentanomial": [0, 1, 2, 3, 34]}, {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05}
    )
    assert capsys.readouterr().out.splitlines() == [
        "SPRT: stronger (H1), LLR 2.96 in (-2.94, 2.94), 40 pairs",
        "elo0 0, elo1 10, alpha 0.05, beta 0.05; pairs by points 0 to 2: 0 1 2 3 34",
    ]


def test_a_bracket_says_who_goes_on(capsys: Any) -> None:
    def game(number: int, first: str, second: str, winner: str | None) -> dict[str, Any]:
        return {"round": number, "first": first, "second": second, "winner": winner}

    standings.show_bracket(
        [
            game(1, "b", "c", "first"),
            game(1, "c", "b", "draw"),
            game(2, "a", "b", "second"),
            game(2, "b", "a", None),
        ]
    )
    assert capsys.readouterr().out.splitlines() == [
        "round 1",
        "  b 1.5 - 0.5 c   b goes on",
        "  a has a bye",
        "round 2",
        "  a 0 - 1 b",
    ]


def test_times_are_shown_to_the_minute() -> None:
    from arena.cli.source.remote import cell

    assert cell("2026-11-22T13:05:59.123456Z") == "2026-11-22 13:05"
    assert cell("2026-11-22T13:05:59+00:00") == "2026-11-22 13:05"
    assert cell("2026-11-22T13:05") == "2026-11-22T13:05"


def test_running_text_fits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen_of(monkeypatch)
    assert output.width() == 80
