"""What holds for every format: its words, its size, its standings and its overview fit together."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from referee import toml
from referee.tournament import openings
from referee.tournament.document import Document, problems, read
from referee.tournament.formats import DEFAULT, format_named, formats, names
from referee.tournament.match import Seed, TournamentGame
from referee.tournament.part import SettingsError
from referee.tournament.preview import extended, extent
from referee.tournament.ranking import rank
from referee.tournament.toml_text import example
from tests.referee.tournament.simulation import drawn, run

ROOT = Path(__file__).parents[3]
SEEDS = [Seed(0, mu=30), Seed(1), Seed(2, mu=20)]


def of(format: str) -> Document:
    """Return the example document of a format, for three bots where it takes more than two."""
    return read(toml.read(example(format)))


def played(document: Document) -> tuple[list[Seed], list[TournamentGame]]:
    """Return the seeds and the games of a tournament that was played to its end."""
    seeds, rng = SEEDS[: len(document.entries.bots)], random.Random(3)
    return seeds, run(partial(document.system.next_step, document, seeds), drawn(rng), rng=rng)


def test_the_default_is_a_format_and_stands_first() -> None:
    assert names()[0] == DEFAULT
    assert set(names()) == set(formats()) >= {"gauntlet", "knockout", "ladder", "race", "sprt", "swiss"}


def test_a_name_of_another_version_of_the_program_counts_as_the_default() -> None:
    assert format_named("carousel") is format_named(DEFAULT)


@pytest.mark.parametrize("format", names())
def test_format_has_the_name_of_its_module_and_words(format: str) -> None:
    system = format_named(format)
    assert system.name == format
    assert type(system).__module__.endswith("." + format.replace("-", "_"))
    assert system.title
    assert system.purpose[0].islower()
    assert system.winner.endswith(":")
    assert system.tie_breaks


@pytest.mark.parametrize("format", names())
def test_size_that_is_announced_holds(format: str) -> None:
    document = of(format)
    seeds, games = played(document)
    size = extent(document, len(seeds))
    done = sum(game.state == "done" for game in games)
    assert size.least <= done
    assert size.most is None or done <= size.most
    used = max(len({game.pair for game in games if {game.first, game.second} == {0, rival}}) for rival in (1, 2))
    assert used <= openings.size(document, len(seeds))
    assert document.system.min_players(document) <= len(seeds)


@pytest.mark.parametrize("format", names())
def test_total_is_right_at_the_end_and_never_below_the_games_played(format: str) -> None:
    document = of(format)
    seeds, games = played(document)
    plan = [game for game in games if game.state != "cancelled"]
    total = document.system.total(document, seeds, games, len(plan))
    assert total in (None, len(plan))
    for count in range(1, len(plan)):
        open_ = [game._replace(state="open", points=None) for game in plan[count : count + 2]]
        begun = [*plan[:count], *open_]
        known = document.system.total(document, seeds, begun, len(begun))
        assert (known is None) == (total is None)
        assert known is None or known >= len(begun)


@pytest.mark.parametrize("format", names())
def test_standings_have_every_bot_once_and_follow_the_order(format: str) -> None:
    document = of(format)
    seeds, games = played(document)
    lines = rank(document, seeds, games, {0: "a", 1: "b", 2: "c"}, {0: 10, 1: 11, 2: 12})
    assert sorted(line.version_id for line in lines) == [10 + seed.number for seed in seeds]
    assert [line.rank for line in lines] == list(range(1, len(lines) + 1))
    marks = document.system.marks(document, seeds, games)
    keys = [
        (*(marks[line.version_id - 10].place if line.version_id - 10 in marks else ()), *document.system.order(line))
        for line in lines
    ]
    assert keys == sorted(keys)
    filled = {name for name in ("byes", "buchholz", "round") if any(getattr(line, name) for line in lines)}
    assert filled == {*document.system.columns} - {"seed"}, "columns are those that the format fills; all have seeds"


@pytest.mark.parametrize("format", names())
def test_overview_is_empty_unless_the_format_has_one(format: str) -> None:
    document = of(format)
    seeds, games = played(document)
    overview = document.system.overview(document, seeds, games[: len(games) // 2], {0: "a", 1: "b", 2: "c"})
    shown = overview.bracket or overview.rounds or overview.upcoming or overview.planned
    assert bool(shown) is document.system.is_followed
    assert bool(overview.bracket) is document.system.has_bracket


@pytest.mark.parametrize("format", names())
def test_longer_tournament_has_more_games_or_says_why_not(format: str) -> None:
    document = of(format)
    seeds, _ = played(document)
    try:
        document.system.length(document, len(seeds))
    except SettingsError:
        with pytest.raises(SettingsError, match="extended"):
            extended(document, len(seeds), amount=2)
        return
    longer = read(extended(document, len(seeds), amount=2))
    before, after = (extent(settings, len(seeds)).most for settings in (document, longer))
    assert before is not None
    assert after is not None
    assert before < after
    assert document.system.plan_size(document, seeds, [], 0).games <= before


@pytest.mark.parametrize("format", names())
def test_number_of_games_is_refused_where_the_format_sets_it_itself(format: str) -> None:
    system, document = format_named(format), of(format).as_json()
    faults = [fault for fault in problems(document | {"games": 4}) if fault.field == "games"]
    assert bool(faults) is not system.uses_games


@pytest.mark.parametrize("format", names())
def test_keys_of_one_format_are_refused_by_the_others(format: str) -> None:
    document = of(format).as_json()
    faults = {fault.field for fault in problems(document | {"rounds": 3})}
    assert ("rounds" in faults) is ("rounds" not in format_named(format).keys)


OWN = [name for name in names() if name != "double-round-robin"]
"""The formats of the program, without that of `tests/formats`."""


@pytest.mark.parametrize("format", OWN)
def test_documentation_says_when_to_choose_the_format_and_how_it_orders(format: str) -> None:
    text = (ROOT / "docs/how-to/choose-a-format.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("|") and f"`{format}`" in line]
    assert len(rows) >= 2, "the page has a row for the format in each of its first two tables"
    assert any(", ".join(format_named(format).tie_breaks) in row for row in rows)
