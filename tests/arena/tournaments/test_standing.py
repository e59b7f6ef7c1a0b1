"""Standings by example: points, tie-breaks and the order in each format."""

from __future__ import annotations

from typing import Any

import pytest

from arena.store import Store
from arena.store.base.tables.tournaments import Tournament
from arena.tournaments.standing import by_points, standing
from arena.tournaments.stored_tournament import StoredTournament
from referee.rules.core import Kind
from referee.tournament.document import read
from referee.tournament.match import Seed, TournamentGame
from referee.tournament.ranking import Scores, rank
from referee.tournament.standing import StandingItem
from tests.arena.field import START, Field, record_of


def document(format: str, games: int = 2) -> dict[str, Any]:
    """Return the settings of a tournament."""
    return {"name": "cup", "family": "loa", "format": format, "games": games, "entries": {"all": True}}


def table(format: str, seeds: int, *results: tuple[int, int, int, float | None], games: int = 2) -> list[StandingItem]:
    """Return the lines after games `(round, first, second, points of first)`, one per pair; None is a void game."""
    settings = read(document(format, games))
    played = [
        TournamentGame(number, round, number, first, second, "void" if points is None else "done", points, number)
        for number, (round, first, second, points) in enumerate(results, 1)
    ]
    field = [Seed(number) for number in range(seeds)]
    return rank(settings, field, played, dict(enumerate("abcdef")), dict(enumerate(range(10, 16))))


def test_a_round_robin_is_ranked_by_points() -> None:
    lines = table(
        "round-robin",
        4,
        (1, 0, 2, 1.0),
        (1, 0, 3, 1.0),
        (2, 1, 0, 1.0),
        (2, 2, 3, 1.0),
        (3, 3, 1, 0.5),
        (3, 1, 2, None),
    )
    assert [(line.rank, line.name, line.points) for line in lines] == [
        (1, "a", 2),
        (2, "b", 1.5),
        (3, "c", 1),
        (4, "d", 0.5),
    ]
    assert {line.name: line.sonneborn_berger for line in lines} == {"a": 1.5, "b": 2.25, "c": 0.5, "d": 0.75}
    assert {(line.byes, line.buchholz, line.buchholz_cut, line.round) for line in lines} == {(0, 0, 0, 0)}
    assert {line.name: (line.games, line.wins, line.draws, line.losses) for line in lines} == {
        "a": (3, 2, 0, 1),
        "b": (2, 1, 1, 0),
        "c": (2, 1, 0, 1),
        "d": (3, 0, 1, 2),
    }


def test_between_equal_points_whom_one_beat_decides() -> None:
    found = table("round-robin", 4, (1, 0, 3, 1.0), (1, 2, 0, 1.0), (2, 0, 1, 1.0), (2, 1, 3, 1.0))
    assert [(line.name, line.points, line.sonneborn_berger) for line in found] == [
        ("a", 2, 1.0),
        ("c", 1, 2.0),
        ("b", 1, 0.0),
        ("d", 0, 0.0),
    ]


def test_a_ladder_is_ranked_by_the_score_not_by_the_number_of_points() -> None:
    found = table("ladder", 3, (1, 0, 1, 1.0), (1, 0, 1, 0.0), (1, 1, 0, 0.0), (1, 2, 1, 1.0))
    assert [(line.name, line.points, line.games) for line in found] == [("c", 1, 1), ("a", 2, 3), ("b", 1, 4)]


def test_a_race_is_ranked_by_shares_of_points_against_all_alike() -> None:
    games: list[TournamentGame] = []
    # b has the most points, as it met d so often; a has done better against the others.
    for first, second, points, pairs in (
        (0, 1, 0.5, 1),
        (0, 2, 1.0, 1),
        (1, 2, 0.5, 1),
        (0, 3, 1.0, 1),
        (1, 3, 1.0, 3),
    ):
        for _ in range(pairs):
            pair, order = len(games) // 2 + 1, len(games) + 1
            games.append(TournamentGame(order, 1, pair, first, second, "done", points, order))
            games.append(TournamentGame(order + 1, 1, pair, second, first, "done", 1 - points, order + 1))
    field = [Seed(0), Seed(1), Seed(2), Seed(3)]
    settings = read({**document("race"), "race": {"top": 1}})
    lines = rank(settings, field, games, dict(enumerate("abcd")), dict(enumerate(range(10, 14))))
    assert [(line.name, line.points) for line in lines] == [("a", 5), ("b", 8), ("c", 1), ("d", 0)]
    gone = [Seed(0, is_withdrawn=True), *field[1:]]
    assert [line.name for line in rank(settings, gone, games, dict(enumerate("abcd")), dict(enumerate(range(4))))] == [
        "b",
        "c",
        "d",
        "a",
    ]


def test_a_knockout_is_ranked_by_the_round_reached() -> None:
    lines = table(
        "knockout",
        4,
        (1, 0, 3, 0.5),
        (1, 3, 0, 0.0),
        (1, 1, 2, 1.0),
        (1, 2, 1, 0.0),
        (2, 0, 1, 0.0),
        (2, 1, 0, 1.0),
    )
    assert [(line.name, line.round) for line in lines] == [("b", 3), ("a", 2), ("d", 1), ("c", 1)]


def test_between_equal_points_and_opponents_the_wins_decide() -> None:
    found = table("round-robin", 4, (1, 0, 2, 0.5), (1, 0, 3, 0.5), (2, 1, 3, 1.0), (2, 1, 2, 0.0), (3, 3, 2, 1.0))
    assert [(line.name, line.points, line.sonneborn_berger, line.wins) for line in found] == [
        ("d", 1.5, 2.0, 1),
        ("c", 1.5, 1.5, 1),
        ("b", 1, 1.5, 1),
        ("a", 1, 1.5, 0),
    ]


def test_where_nothing_decides_the_seats_do() -> None:
    assert [(line.rank, line.name, line.score) for line in table("round-robin", 3)] == [
        (1, "a", 0),
        (2, "b", 0),
        (3, "c", 0),
    ]


def swiss(
    seeds: int, *results: tuple[int, int, int, float | None]
) -> list[tuple[str, float, float, float, float, int]]:
    """Return name, points, tie-breaks and wins of each line after one-game matches."""
    return [
        (line.name, line.points, line.buchholz, line.buchholz_cut, line.sonneborn_berger, line.wins)
        for line in table("swiss", seeds, *results, games=1)
    ]


@pytest.mark.parametrize(("games", "most"), [(1, 2), (2, 4)])
def test_most_points_of_a_swiss_count_a_bye_as_a_won_match(games: int, most: int) -> None:
    results = [(1, 0, 1, 0.5)] * games + [(2, 0, 2, 1.0)] * games
    lines = {line.name: line for line in table("swiss", 3, *results, games=games)}
    assert [(lines[name].byes, lines[name].most_points) for name in "abc"] == [(0, most), (1, most), (1, most)]


def test_a_swiss_is_ranked_by_points_then_by_buchholz() -> None:
    rounds = [
        [(1, 0, 5, 0.0), (1, 1, 4, 0.5), (1, 2, 3, 1.0)],
        [(2, 0, 4, 0.5), (2, 5, 3, 1.0), (2, 1, 2, 0.5)],
        [(3, 0, 3, 1.0), (3, 4, 2, 0.5), (3, 5, 1, 0.5)],
    ]
    assert swiss(6, *rounds[0], *rounds[1], *rounds[2]) == [
        ("f", 2.5, 3.0, 3.0, 2.25, 2),
        ("c", 2.0, 3.0, 3.0, 1.5, 1),
        ("b", 1.5, 6.0, 4.5, 3.0, 0),
        ("e", 1.5, 5.0, 3.5, 2.5, 0),  # of better opponents than a, though not without the weakest, and a has a win
        ("a", 1.5, 4.0, 4.0, 0.75, 1),
        ("d", 0.0, 6.0, 4.5, 0.0, 0),
    ]


def test_between_equal_buchholz_the_one_without_the_weakest_opponent_decides() -> None:
    found = swiss(5, (1, 1, 4, 0.0), (1, 2, 3, 1.0), (2, 0, 4, 1.0), (2, 1, 2, 0.5))
    assert found[2:4] == [("e", 1.0, 2.5, 2.0, 0.5, 1), ("d", 1.0, 2.5, 1.5, 1.0, 0)]
    assert [line[0] for line in found] == list("acedb")


def test_between_equal_buchholz_and_cut_whom_one_beat_decides() -> None:
    found = swiss(4, (1, 0, 3, 0.5), (1, 1, 2, 0.0), (2, 0, 2, 1.0), (2, 3, 1, 0.5))
    assert found[1:3] == [("d", 1.0, 2.0, 1.5, 1.0, 0), ("c", 1.0, 2.0, 1.5, 0.5, 1)]


def test_the_wins_decide_last_in_a_swiss() -> None:
    found = swiss(5, (1, 1, 4, 1.0), (1, 2, 3, 0.0), (2, 0, 4, 0.0), (2, 1, 2, 0.0))
    assert found[2:] == [
        ("b", 1.0, 2.0, 1.0, 1.0, 1),
        ("e", 1.0, 2.0, 1.0, 1.0, 1),
        ("a", 1.0, 2.0, 1.0, 1.0, 0),  # its point is a bye
    ]


def test_a_line_tells_byes_apart_from_games() -> None:
    lines = {line.name: line for line in table("swiss", 3, (1, 0, 1, 1.0), games=1)}
    assert [(line.points, line.games, line.byes, line.score) for line in (lines["a"], lines["c"])] == [
        (1, 1, 0, 1.0),
        (1, 0, 1, 0.0),
    ]
    drawn = table("swiss", 2, (1, 0, 1, 0.5), (2, 1, 0, 0.0), games=1)[0]
    assert (drawn.name, drawn.points, drawn.score) == ("a", 1.5, 0.75)
    rested = {line.name: line for line in table("swiss", 3, (1, 0, 1, 1.0), (2, 0, 2, 1.0), games=1)}["c"]
    assert (rested.points, rested.games, rested.byes, rested.score) == (1, 1, 1, 0.0), "no part of the point is played"
    line = lines["a"]
    assert (line.rank, line.name, line.version_id, line.points) == (2, "a", 10, 1)
    assert (line.round, line.is_withdrawn, line.estimate["games"]) == (0, False, 1)


def test_on_equal_scores_of_a_ladder_more_points_are_better() -> None:
    found = table("ladder", 4, (1, 0, 1, 0.5), (1, 2, 3, 0.5), (1, 3, 2, 0.5))
    assert [(line.name, line.points) for line in found] == [("c", 1), ("d", 1), ("a", 0.5), ("b", 0.5)]


def test_a_final_of_two_is_a_knockout_of_one_round() -> None:
    assert [(line.rank, line.name, line.round) for line in table("knockout", 2, (1, 0, 1, 0.0), (1, 1, 0, 1.0))] == [
        (1, "b", 2),
        (2, "a", 1),
    ]


def test_an_estimate_is_of_whole_pairs_and_of_single_games_beside_them() -> None:
    games = [
        TournamentGame(1, 1, 1, 0, 1, "done", 1.0, 1),
        TournamentGame(2, 1, 1, 1, 0, "done", 0.5, 2),
        TournamentGame(3, 1, 2, 0, 1, "done", 0.0, 3),
        TournamentGame(4, 1, 2, 1, 0, "void", None, 4),
    ]
    line = rank(read(document("round-robin")), [Seed(0), Seed(1)], games, {0: "a", 1: "b"}, {0: 1, 1: 2})[0]
    assert [line.estimate[name] for name in ("games", "pairs", "pentanomial")] == [3, 1, [0, 0, 0, 1, 0]]
    assert line.estimate["score"] == line.score == 0.5


def test_the_strengths_count_lost_games_of_whoever_moved_first(sqlite_store: Store) -> None:
    field = Field(sqlite_store, ("ada", "bob"))
    number = sqlite_store.tournaments.add(
        cup(field, document("round-robin", 4)),
        [(version.id or 0, "fit") for version in field.versions],
    ).id
    assert number is not None
    for game in field.plan(4, number):
        sqlite_store.results.commit(record_of(game, winner="first" if game.spec.first.name == "ada v1" else "second"))
    ranked = standing(StoredTournament.get(sqlite_store, number))
    assert [(line.name, line.points, line.is_withdrawn) for line in ranked.lines] == [
        ("ada v1", 4, False),
        ("bob v1", 0, False),
    ]
    assert [(strength.name, strength.elo > 100) for strength in ranked.strengths.strengths] == [
        ("ada v1", True),
        ("bob v1", False),
    ]
    assert (ranked.tie_breaks, ranked.decision.verdict, ranked.decision.ratios) == (
        ("Sonneborn-Berger", "wins"),
        None,
        (),
    )


def test_strengths_as_json_are_those_without_advantage_and_the_advantage(sqlite_store: Store) -> None:
    field = Field(sqlite_store, ("ada", "bob"))
    number = sqlite_store.tournaments.add(
        cup(field, document("round-robin", 40)),
        [(version.id or 0, "fit") for version in field.versions],
    ).id
    assert number is not None
    for game in field.plan(40, number):
        sqlite_store.results.commit(record_of(game, winner="second" if game.spec.sequence % 5 == 0 else "first"))
    ranked = standing(StoredTournament.get(sqlite_store, number))
    assert ranked.advantage is not None
    value, interval = ranked.advantage
    assert value > 100
    as_json = ranked.strengths_as_json()
    assert (as_json["advantage"], as_json["advantage_interval"]) == pytest.approx((value, interval), abs=0.1)
    assert [line["elo"] for line in as_json["strengths"]] == pytest.approx(
        [strength.elo for strength in ranked.strengths.strengths], abs=0.1
    )


def test_table_of_a_sequential_test_has_a_ratio_before_and_after_each_pair(sqlite_store: Store) -> None:
    field = Field(sqlite_store, ("ada", "bob"))
    number = sqlite_store.tournaments.add(
        cup(field, document("sprt") | {"entries": {"bots": ["ada", "bob"]}}),
        [(version.id or 0, "fit") for version in field.versions],
    ).id
    assert number is not None
    for game in field.plan(4, number):
        sqlite_store.results.commit(record_of(game, winner="first" if game.spec.first.name == "ada v1" else "second"))
    ranked = standing(StoredTournament.get(sqlite_store, number))
    assert ranked.decision.verdict is not None
    assert len(ranked.decision.ratios) == 1 + 2
    assert 0 == ranked.decision.ratios[0] < ranked.decision.ratios[1] < ranked.decision.ratios[2]
    assert ranked.decision.race is None


def test_table_of_a_race_has_its_state(sqlite_store: Store) -> None:
    field = Field(sqlite_store, ("ada", "bob"))
    number = sqlite_store.tournaments.add(
        cup(field, document("race") | {"race": {"top": 1}, "entries": {"bots": ["ada", "bob"]}}),
        [(version.id or 0, "fit") for version in field.versions],
    ).id
    assert number is not None
    ranked = standing(StoredTournament.get(sqlite_store, number))
    assert ranked.decision.race is not None
    assert (ranked.decision.verdict, ranked.decision.ratios) == (None, ())


def test_ladder_ranks_bots_without_games_after_one_that_has_lost_all() -> None:
    lines = table("ladder", 4, (1, 0, 1, 1.0))
    assert [line.name for line in lines] == ["a", "b", "c", "d"]


def cup(field: Field, settings: dict[str, Any]) -> Tournament:
    """Return a tournament with these settings."""
    return Tournament(
        name="cup",
        family="loa",
        variant="standard",
        format=settings["format"],
        pool="loa",
        start_time=START,
        created_by=field.user_id,
        settings=settings,
    )


def test_a_table_by_points_leaves_out_who_withdrew_without_a_game(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    field.play(1)  # bob and cleo
    for withdrawn in (field.versions[0], field.versions[1]):
        sqlite_store.tournaments.withdraw(field.tournament_id, withdrawn.id or 0)
    (result,) = sqlite_store.results.after_commit(field.tournament_id, 0)
    scores = Scores()
    scores.extend([result._replace(winner="second", kind=Kind.RULES)])
    ranked = by_points(StoredTournament.get(sqlite_store, field.tournament_id), scores)
    assert [(line.rank, line.name, line.points, line.is_withdrawn) for line in ranked.lines] == [
        (1, "cleo v1", 1, False),
        (2, "bob v1", 0, True),
        (3, "dan v1", 0, False),
    ]
    assert {(line.byes, line.buchholz, line.buchholz_cut, line.round) for line in ranked.lines} == {(0, 0, 0, 0)}
    assert ranked.tie_breaks == ("Sonneborn-Berger", "wins")
