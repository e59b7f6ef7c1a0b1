"""Moments, numbers and names as pages write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from arena.documents.table import size_in_words
from arena.pages import filters, language, times
from arena.pages.times import when
from referee.tournament.crosstable import CrosstableCell


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        (timedelta(0), "0 s ago"),
        (-timedelta(seconds=90), "1 min ago"),
        (-timedelta(hours=5), "5 h ago"),
        (timedelta(hours=2, minutes=1), "in 2 h"),
    ],
)
def test_when_within_a_day_is_relative(ahead: timedelta, text: str) -> None:
    assert re.search(">(.*)<", when(datetime.now(UTC) + ahead))[1] == text  # type: ignore[index]


def test_when_beyond_a_day_is_a_date_that_the_script_makes_local() -> None:
    shown = when(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert "data-absolute>2026-01-02 03:04<" in shown
    assert 'datetime="2026-01-02T03:04:05+00:00"' in shown


def test_a_sentence_is_typeset_with_curly_quotation_marks() -> None:
    assert (
        filters.typeset("invalid month '2003' in \"zita\"; a bot's page")
        == "invalid month “2003” in “zita”; a bot's page"
    )


def test_an_elo_from_few_games_is_left_out() -> None:
    assert filters.elo_interval(507.0, 2916.0) == "no estimate"
    assert filters.elo_interval(1356.0, 500.0) == "> +856"
    assert filters.elo_interval(-12.0, 30.0) == "−12 ± 30"


def test_a_probability_is_never_certain() -> None:
    assert [filters.probability(part) for part in (0.0, 0.5, 0.9985, 1.0)] == [
        "< 0.1 %",
        "50.0 %",
        "99.9 %",
        "> 99.9 %",
    ]


def test_a_day_is_written_as_the_language_does() -> None:
    assert times.written_day("2026-11-30") == "2026-11-30"
    with language.using("fr"):
        assert [times.written_day(day) for day in ("2026-11-30", "2026")] == ["30/11/2026", "2026"]
        assert (
            filters.tournament_name("Games of people: Lines of Action") == "Parties de personnes\u202f: Lignes d’action"
        )


def test_a_count_up_to_a_limit_says_so() -> None:
    assert filters.counted(1427, True) == "1,427"
    assert filters.counted(10_000, False) == "more than 10,000"


def test_the_default_variant_of_a_family_is_not_named() -> None:
    assert filters.special_variant("standard", "loa") == ""
    assert filters.special_variant("scrambled", "loa") == "scrambled"
    assert filters.special_variant("standard", "unknown") == "standard"


def test_a_format_has_the_name_that_players_give_it() -> None:
    assert filters.format_name("sprt") == "sequential test (SPRT)"
    assert filters.format_name("knockout") == "knockout"


def test_cells_of_a_large_heat_map_have_the_shade_of_their_share() -> None:
    cells = (CrosstableCell.of_counts(1, 1, 2), None, CrosstableCell(), CrosstableCell.of_counts(2, 0, 0))
    assert filters.dense_cells(cells) == (
        '<td class="h5" data-against="1½">2½</td><td class="self"></td><td></td><td class="h0" data-against="2">0</td>'
    )


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (616, "616 bytes"),
        (65536, "64 KiB"),
        (12345, "12.1 KiB"),
        (2**30, "1 GiB"),
        (3 * 2**39, "1,536 GiB"),
    ],
)
def test_size_is_written_alike_on_pages_and_terminals(count: int, words: str) -> None:
    assert (filters.size(count), size_in_words(count)) == (words, words)


def test_an_hour_of_the_day_is_in_utc_for_readers_without_scripts() -> None:
    shown = times.hour_of_day(3)
    assert re.fullmatch(r'<time datetime="\d{4}-\d\d-\d\dT03:00:00\+00:00" data-clock>03:00 UTC</time>', shown)


def test_backticks_mark_code_in_escaped_text() -> None:
    assert filters.with_code("no answer to `ugi` <b>") == "no answer to <code>ugi</code> &lt;b&gt;"


def test_equal_ratings_share_a_place() -> None:
    lines: Any = [
        SimpleNamespace(rank=rank, place=place, conservative=rating, is_provisional=rank is None)
        for place, rank, rating in ((3, 2, 20.0), (4, 3, 20.0), (5, None, 20.0), (6, 4, 19.0))
    ]
    assert [place for place, _ in filters.placed(lines)] == ["1=", "1=", "3", "4"]
    assert [place for place, _ in filters.placed(lines, is_whole=True)] == ["2=", "2=", "4", "5"]
