"""Documents written as TOML are read back unchanged; previews count their games."""

from __future__ import annotations

from typing import Any

import pytest

from referee import toml
from referee.tournament.document import read
from referee.tournament.formats import names
from referee.tournament.preview import GAME_BYTES, PLY_BYTES, extent
from referee.tournament.toml_text import as_toml

FULL: dict[str, Any] = {
    "name": 'A "cup" with \\ and … {date}',
    "family": "loa",
    "variant": "scrambled-eggs",
    "format": "knockout",
    "games": 4,
    "time_control": "5+0.05",
    "opening_lines": [f"line {number} of a book that is long enough" for number in range(4)],
    "rated": False,
    "entries": {"bots": ["ada", "bob v2"], "top": 3, "exclude": ["cleo"]},
    "handicaps": [
        {"bot": "ada", "against": "bob v2", "time_control": "1+0", "engine_options": {"Hash size": 64, "Book": True}}
    ],
    "adjudication": {"draw": "after=40,moves=8,score=10", "draw_agreement": False},
    "knockout": {"third_place": True},
    "schedule": {"cron": "0 20 * * 5", "timezone": "Europe/Paris"},
}


@pytest.mark.parametrize("format", names())
def test_a_document_is_read_back_as_it_was(format: str) -> None:
    bots = ["ada", "bob"]
    document = read({"name": "cup", "family": "loa", "format": format, "entries": {"bots": bots}, "seed": 7})
    assert read(toml.read(as_toml(document))) == document


def test_toml_text_writes_all_values_but_defaults() -> None:
    document = read(FULL)
    text = as_toml(document)
    assert read(toml.read(text)) == document
    assert '\n[[handicaps]]\nbot = "ada"\n' in text
    assert 'options = {"Hash size" = 64, Book = true}' in text
    assert "[limits]" not in text
    assert "seed" not in text
    assert text.index("[entries]") > text.index("rated = false")


def test_a_start_is_written_with_its_zone() -> None:
    document = read({"name": "c", "family": "loa", "entries": {"all": True}, "start_time": "2100-01-31T20:00:00Z"})
    assert read(toml.read(as_toml(document))).start_time == document.start_time


@pytest.mark.parametrize(
    ("format", "players", "settings", "least", "most"),
    [
        ("round-robin", 5, {"games": 4}, 40, 40),
        ("gauntlet", 5, {}, 8, 8),
        ("swiss", 5, {"rounds": 3}, 12, 12),
        ("swiss", 8, {}, 32, 32),
        ("knockout", 8, {"knockout": {"tiebreak_pairs": 2}}, 14, 42),
        ("knockout", 4, {"knockout": {"tiebreak_pairs": 0, "third_place": True}}, 8, 8),
        ("knockout", 3, {"knockout": {"tiebreak_pairs": 0, "third_place": True}}, 4, 4),
        ("ladder", 5, {"ladder": {"games": 100}}, 100, 100),
        ("ladder", 5, {"ladder": {"games": 100, "max_games_per_bot": 10}}, 25, 25),
        ("ladder", 5, {"ladder": {"games": 0}}, 0, None),
        ("race", 4, {"race": {"games": 400}}, 12, 400),
        ("race", 4, {"race": {"games": 10}}, 10, 10),
        ("sprt", 2, {"sprt": {"games": 400}}, 2, 400),
        ("round-robin", 1, {}, 0, 0),
    ],
)
def test_games_are_counted_before_they_are_planned(
    format: str, players: int, settings: dict[str, Any], least: int, most: int | None
) -> None:
    found = extent(
        read({"name": "c", "family": "loa", "format": format, "entries": {"bots": ["a", "b"]}, **settings}), players
    )
    assert (found.least, found.most) == (least, most)


def test_disk_space_depends_on_the_number_of_games_and_the_size_of_their_records() -> None:
    document = read({"name": "c", "family": "loa", "games": 4, "entries": {"all": True}})
    assert extent(document, 5, record_bytes=1000.0).disk_bytes == 40 * (GAME_BYTES + 1000)
    assert extent(document, 5, plies=60).disk_bytes == 40 * (GAME_BYTES + 60 * PLY_BYTES)
    endless = read({"name": "c", "family": "loa", "format": "ladder", "ladder": {"games": 0}, "entries": {"all": True}})
    assert extent(endless, 5).disk_bytes is None


def test_how_long_it_takes_depends_on_slots_and_clocks() -> None:
    def of(time: str) -> float | None:
        document = read({"name": "c", "family": "loa", "time_control": time, "entries": {"all": True}})
        return extent(document, 3).seconds(2)

    assert of("10+0.5") == 6 * 2 * (10 + 40 * 0.5) / 2
    assert of("1/move") == 6 * 80 / 2
    assert of("nodes:100") is None
