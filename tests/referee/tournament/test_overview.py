"""Overview by example: brackets with the names of their rounds, byes, and the reasons of a ladder."""

from __future__ import annotations

from functools import partial
from typing import Any

from referee.tournament.document import Document, read
from referee.tournament.match import Seed, TournamentGame
from referee.tournament.overview import BracketMatch, RoundResult, TournamentOverview
from tests.referee.tournament.simulation import Judge, planned, run

NAMES = dict(enumerate("abcdefgh"))


def document(format: str, **settings: Any) -> Document:
    """Return the settings of a tournament."""
    return read({"name": "cup", "family": "loa", "format": format, "entries": {"all": True}, **settings})


def seeds(count: int, *gone: int) -> list[Seed]:
    """Return `count` seeds, some of them withdrawn."""
    return [Seed(number, number in gone) for number in range(count)]


def of(settings: Document, field: list[Seed], games: list[TournamentGame]) -> TournamentOverview:
    """Return the overview."""
    return settings.system.overview(settings, field, games, NAMES)


def held(settings: Document, field: list[Seed], judge: Judge) -> TournamentOverview:
    """Return the overview after all games are played."""
    return of(settings, field, run(partial(settings.system.next_step, settings, field), judge))


def better_seed_wins(game: TournamentGame) -> float:
    """Return a win of the lower seat."""
    return float(game.first < game.second)


def test_a_bracket_has_named_rounds_byes_and_a_champion() -> None:
    shown = held(document("knockout", knockout={"third_place": True}), seeds(7), better_seed_wins)
    assert [round.name for round in shown.bracket] == ["Quarter-finals", "Semi-finals", "Final", "Third place"]
    assert (shown.champion, shown.third) == ("a", "c")
    quarter = shown.bracket[0].matches
    assert quarter[0] == BracketMatch("a", "", winner="a", reason="bye")
    assert quarter[0].is_bye
    assert quarter[1] == BracketMatch("d", "e", (2.0, 0.0), "d", "points", (1, 2))
    assert len(quarter) == 4
    assert shown.bracket[3].matches[0].winner == "c"
    assert len(held(document("knockout"), seeds(8), better_seed_wins).bracket[0].matches) == 4


def test_a_bracket_that_is_open_knows_no_winner() -> None:
    settings = document("knockout")
    found = of(settings, seeds(4), planned(settings.system.next_step(settings, seeds(4), []).matches, []))
    assert found.champion == found.third == ""
    assert found.bracket[0].matches[0] == BracketMatch("a", "d", games=(1, 2))
    assert found.bracket[1].matches[0] == BracketMatch("", "")


def test_rounds_of_a_swiss_name_the_bye() -> None:
    found = held(document("swiss", rounds=2, games=2), seeds(3), better_seed_wins)
    assert found.rounds == (1, 2)
    assert found.results is not None
    assert found.results["a"][1] == RoundResult("b", 2.0, 0.0, (1, 2))
    assert found.results["b"][1] == RoundResult("a", 0.0, 2.0, (1, 2))
    assert found.results["c"][1] == RoundResult("", 2.0, 0.0, bye="bye")
    assert [name for name in "abc" if not found.results[name][2].rival] == ["b"]


def test_overview_of_a_ladder_gives_reasons() -> None:
    settings = document("ladder", ladder={"games": 100})
    field = [Seed(0, mu=30, sigma=1), Seed(1, mu=29, sigma=1.2), Seed(2, mu=10, sigma=0.5)]
    first = of(settings, field, [])
    assert (first.upcoming[0].first, first.upcoming[0].second) == ("a", "b")
    assert first.upcoming[0].reason == "most informative: 1.0 apart, b ± 2.4"
    done = [TournamentGame(number, 1, number, 0, 1, "done", 0.5, number) for number in range(1, 7)]
    assert of(settings, field, done).upcoming[0].reason == "c has waited for 6 pairs"
    games = [TournamentGame(1, 1, 1, 0, 1, "open"), TournamentGame(2, 1, 1, 1, 0, "open")]
    assert [(match.first, match.second) for match in of(settings, field, games).planned] == [("a", "b")]


def test_overview_of_a_ladder_stops_at_its_games() -> None:
    settings = document("ladder", ladder={"games": 2})
    assert len(of(settings, seeds(3), []).upcoming) == 1
    games = [TournamentGame(1, 1, 1, 0, 1, "done", 1.0, 1), TournamentGame(2, 1, 1, 1, 0, "done", 0.0, 2)]
    assert of(settings, seeds(3), games).upcoming == ()


def test_overview_of_a_race_gives_doubts() -> None:
    settings = document("race", race={"games": 40})
    first = of(settings, seeds(3), [])
    assert [(match.first, match.second) for match in first.upcoming[:3]] == [("a", "b"), ("a", "c"), ("b", "c")]
    doubt = "in doubt: is a (50.0 %) ahead of b (50.0 %)? 0.0 % sure"
    assert first.upcoming[0].reason == doubt
    assert first.upcoming[2].reason == "every bot meets all others equally often"
    games = [TournamentGame(1, 1, 1, 0, 1, "open"), TournamentGame(2, 1, 1, 1, 0, "open")]
    assert [(match.first, match.second) for match in of(settings, seeds(3), games).planned] == [("a", "b")]
    assert len(of(document("race", race={"games": 4}), seeds(3), games).upcoming) == 1


def test_other_formats_have_none() -> None:
    assert of(document("round-robin"), seeds(3), []) == TournamentOverview()
