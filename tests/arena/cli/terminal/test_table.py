"""Tables: plain, and fitted to a terminal."""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import pytest
from rich.cells import cell_len

from arena.cli.terminal import output, standings
from arena.cli.terminal.table import Table, written
from arena.documents.table import Column


def fitted(table: Table, width: int) -> list[str]:
    stream = io.StringIO()
    table.print_fitted(stream, width, has_colour=False)
    return [one.rstrip() for one in stream.getvalue().splitlines()]


def table_of(titles: str, *rows: tuple[str, ...], numbers: str = "", drop: str = "", wraps: str = "") -> Table:
    """A table of texts; the columns in `drop` are left out in this order."""
    order = drop.split()[::-1]
    columns: list[Column[tuple[str, ...]]] = [
        Column(
            title,
            title,
            itemgetter(place),
            is_number=title in numbers.split(),
            drop=order.index(title) + 1 if title in order else 0,
            wraps=title in wraps.split(),
        )
        for place, title in enumerate(titles.split())
    ]
    return Table.of(columns, rows)


def test_plain_table_is_as_wide_as_it_needs() -> None:
    table = table_of("bot games", ("greedy v1", "5"), ("ß", "1234567"), numbers="games", drop="games")
    assert table.plain_lines() == [
        "bot          games",
        "greedy v1        5",
        "ß          1234567",
    ]


def test_fitted_table_without_room_drops_the_least_important_columns() -> None:
    row = ("alphabeta v12", "10.5", "87.5 %", "33.25")
    table = table_of("bot points score SB", row, numbers="points score SB", drop="SB score")
    assert fitted(table, 36)[0].split() == ["bot", "points", "score", "SB"]
    assert fitted(table, 35)[0].split() == ["bot", "points", "score"]
    assert fitted(table, 25) == ["bot            points", "alphabeta v12    10.5"]


def test_fitted_table_omits_empty_columns() -> None:
    table = table_of("variant options position", ("zen", "", "b - 1"))
    assert fitted(table, 80)[0] == "variant  position"
    assert table.plain_lines()[0] == "variant  options  position"
    assert fitted(table_of("variant options position"), 80) == ["variant  options  position"]


def test_fitted_table_shortens_texts_and_never_numbers() -> None:
    table = table_of("bot elo", ("a-very-long-name-of-a-bot", "123456789"), numbers="elo")
    assert fitted(table, 24) == ["bot                  elo", "a-very-long-…  123456789"]


def test_fitted_table_continues_wrapped_texts_on_the_next_line() -> None:
    rows = [("limit", "plies that end the game as a draw"), ("x", "y")]
    table = table_of("option meaning", *rows, wraps="meaning")
    found = fitted(table, 30)
    assert found == ["option  meaning", "limit   plies that end the", "        game as a draw", "x       y"]


def test_table_gives_wide_letters_two_cells() -> None:
    assert table_of("a b", ("日本", "x"), ("abcd", "y")).plain_lines()[1:] == ["日本  x", "abcd  y"]


def test_table_prints_cells_literally() -> None:
    table = table_of("bot", ("[bold]x[/bold] :smile:",))
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
        **{
            "seed": 12,
            "byes": 1,
            "half_point_byes": 1,
            "buchholz": 345.5,
            "buchholz_cut": 300.0,
            "round": 3,
            "estimate": {},
        },
        **more,
    }


@pytest.mark.parametrize("form", ["round-robin", "swiss", "knockout", "sprt"])
def test_standings_fit_eighty_columns_with_whole_words(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    screen = screen_of(monkeypatch)
    name = "a-name-of-forty-characters-as-bots-have v123"
    standings.show_standings(form, [line(1, name), line(10, "greedy v1")])
    shown = screen.getvalue().splitlines()
    assert len(shown) == 3
    assert all(cell_len(row) <= 80 for row in shown)
    heads = shown[0].split()
    assert heads[:4] == ["#", "Bot", "Points", "Games"]
    assert {"swiss": {"Byes", "Buchholz"}, "knockout": {"Round"}}.get(form, set()) <= set(heads)
    assert "1234.5" in shown[1]
    assert "2000" in shown[1]


@pytest.mark.parametrize("form", ["swiss", "knockout"])
def test_standings_of_a_terminal_have_seeds_and_half_byes(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    screen = screen_of(monkeypatch)
    standings.show_standings(form, [line(1, "champion-75 v1"), line(10, "greedy v1")])
    head, *rows = screen.getvalue().splitlines()
    assert all(cell_len(row) <= 80 for row in (head, *rows))
    assert "Seed no." in head
    assert all(" 12 " in row for row in rows)
    assert all(("1.5" in row.split()) is (form == "swiss") for row in rows)


def test_what_does_not_go_to_a_terminal_keeps_everything(capsys: Any) -> None:
    standings.show_standings("swiss", [line(1, "x" * 100)])
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["Forfeits", "State"]
    assert "x" * 100 in row


def test_the_verdict_of_a_test_has_its_bounds(capsys: Any) -> None:
    verdict = {"state": "H1", "llr": 2.96, "lower": -2.944, "upper": 2.944, "pairs": 40}
    standings.show_verdict(
        {**verdict, "pentanomial": [0, 1, 2, 3, 34]}, {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05}
    )
    assert capsys.readouterr().out.splitlines() == [
        "SPRT: stronger (H1), LLR 2.96 in (-2.94, 2.94), 40 pairs",
        "elo0 0, elo1 10, alpha 0.05, beta 0.05, logistic Elo; pairs by points 0 to 2: 0 1 2 3 34",
    ]


def test_times_are_shown_to_the_minute() -> None:
    assert written("2026-11-22T13:05:59.123456Z") == "2026-11-22 13:05"
    assert written("2026-11-22T13:05:59+00:00") == "2026-11-22 13:05"
    assert written("2026-11-22T13:05") == "2026-11-22T13:05"
    assert written(datetime(2026, 11, 22, 13, 5, 59, tzinfo=UTC)) == "2026-11-22 13:05"


def test_missing_values_and_forms_are_written() -> None:
    assert [written(value) for value in (None, "", True, 1.5, ["a", "b"])] == ["-", "", "yes", "1.50", "a b"]
    assert (written(None, "share"), written(0.5, "share"), written("draw", "result")) == ("-", "50.0 %", "½-½")


def test_running_text_fits_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen_of(monkeypatch)
    assert output.width() == 80
