"""Tables: plain, and fitted to a terminal."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from rich.cells import cell_len

from arena.cli.client import standings
from arena.cli.terminal import output
from arena.cli.terminal.table import Table


def fitted(table: Table, width: int) -> list[str]:
    stream = io.StringIO()
    table.print_fitted(stream, width, has_colour=False)
    return [one.rstrip() for one in stream.getvalue().splitlines()]


def test_plain_table_is_as_wide_as_it_needs() -> None:
    table = Table(("bot", "games"), [("greedy v1", "5"), ("ß", "1234567")], frozenset(("games",)), drop=("games",))
    assert table.plain_lines() == [
        "bot          games",
        "greedy v1        5",
        "ß          1234567",
    ]


def test_fitted_table_without_room_drops_the_least_important_columns() -> None:
    rows = [("alphabeta v12", "10.5", "87.5 %", "33.25")]
    table = Table(("bot", "points", "score", "SB"), rows, frozenset(("points", "score", "SB")), drop=("SB", "score"))
    assert fitted(table, 36)[0].split() == ["bot", "points", "score", "SB"]
    assert fitted(table, 35)[0].split() == ["bot", "points", "score"]
    assert fitted(table, 25) == ["bot            points", "alphabeta v12    10.5"]


def test_fitted_table_omits_empty_columns() -> None:
    table = Table(("variant", "options", "position"), [("zen", "", "b - 1")])
    assert fitted(table, 80)[0] == "variant  position"
    assert table.plain_lines()[0] == "variant  options  position"
    assert fitted(Table(table.names, []), 80) == ["variant  options  position"]


def test_fitted_table_shortens_texts_and_never_numbers() -> None:
    table = Table(("bot", "elo"), [("a-very-long-name-of-a-bot", "123456789")], frozenset(("elo",)))
    assert fitted(table, 24) == ["bot                  elo", "a-very-long-…  123456789"]


def test_fitted_table_continues_wrapped_texts_on_the_next_line() -> None:
    rows = [("limit", "plies that end the game as a draw"), ("x", "y")]
    table = Table(("option", "meaning"), rows, wrap=frozenset(("meaning",)))
    found = fitted(table, 30)
    assert found == ["option  meaning", "limit   plies that end the", "        game as a draw", "x       y"]


def test_table_gives_wide_letters_two_cells() -> None:
    assert Table(("a", "b"), [("日本", "x"), ("abcd", "y")]).plain_lines()[1:] == ["日本  x", "abcd  y"]


def test_table_prints_cells_literally() -> None:
    table = Table(("bot",), [("[bold]x[/bold] :smile:",)])
    assert fitted(table, 80)[1] == "[bold]x[/bold] :smile:"


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
    assert all(cell_len(one) <= 80 for one in shown)
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
        "  b 1.5 - 0.5 c   b advances",
        "  a has a bye",
        "round 2",
        "  a 0 - 1 b",
    ]


def test_times_are_shown_to_the_minute() -> None:
    from arena.cli.terminal.printer import cell

    assert cell("2026-11-22T13:05:59.123456Z") == "2026-11-22 13:05"
    assert cell("2026-11-22T13:05:59+00:00") == "2026-11-22 13:05"
    assert cell("2026-11-22T13:05") == "2026-11-22T13:05"


def test_running_text_fits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen_of(monkeypatch)
    assert output.width() == 80
