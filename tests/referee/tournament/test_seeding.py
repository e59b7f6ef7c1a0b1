"""Seeding of entries; half-point byes, late entries and forbidden pairs of a Swiss and a knockout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import pytest

from referee.tournament import swiss_pairing, swiss_scores
from referee.tournament.bracket import seat_order
from referee.tournament.document import Document, problems, read
from referee.tournament.formats import format_named, swiss
from referee.tournament.match import Seed, TournamentGame, matches
from referee.tournament.part import SettingsError
from referee.tournament.ranking import rank
from referee.tournament.seeding import order_of_seats
from referee.tournament.toml_text import as_toml
from tests.conftest import EFFORT
from tests.referee.tournament.rehearsal import document_of, rehearse
from tests.referee.tournament.simulation import drawn, run

NAMES = "abcdefghi"


def of(format: str, players: int = 4, **settings: Any) -> Document:
    """Return a tournament of bots named by letters; `settings` are the table of its format."""
    bots = {"bots": list(NAMES[:players])}
    return read({"name": "cup", "family": "loa", "format": format, "rounds": None, "entries": bots, format: settings})


def seeds_of(document: Document, owners: Sequence[int] = ()) -> Sequence[Seed]:
    """Return the seeds of its bots, in the order of its entries."""
    seats = {name: seat for seat, name in enumerate(document.entries.bots)}
    field = [Seed(seat) for seat in seats.values()]
    return document.system.with_requests(document, field, seats.get, dict(enumerate(owners)))


def play(document: Document, seed: int = 1, owners: Sequence[int] = ()) -> list[TournamentGame]:
    """Return its games, with random results."""
    step = partial(document.system.next_step, document, seeds_of(document, owners))
    return run(step, drawn(random.Random(seed)))


def met(games: Sequence[TournamentGame], round: int | None = None) -> set[tuple[int, int]]:
    """Return the pairs that met, the lower seat first."""
    return {(low, high) for number, low, high in matches(games) if round in (None, number)}


# -- seeding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["swiss", "knockout"])
def test_seeding_by_rating_keeps_the_entries_of_equal_bots_and_by_entry_all(format: str) -> None:
    strengths = [1.0, 3.0, 1.0, 2.0]
    assert order_of_seats(of(format), strengths) == [1, 3, 0, 2], "by rating unless the document says otherwise"
    assert order_of_seats(of(format, seeding="rating"), strengths) == [1, 3, 0, 2]
    assert order_of_seats(of(format, seeding="entry"), strengths) == [0, 1, 2, 3]
    assert order_of_seats(of(format), [0.0] * 4) == [0, 1, 2, 3]


def test_random_seeding_follows_from_the_seed_alone() -> None:
    document = of("swiss", 9, seeding="random")
    orders = {seed: order_of_seats(document.model_copy(update={"seed": seed}), [0.0] * 9) for seed in range(40)}
    assert all(sorted(order) == list(range(9)) for order in orders.values())
    assert len({tuple(order) for order in orders.values()}) == 40
    assert orders[7] == order_of_seats(document.model_copy(update={"seed": 7}), [float(place) for place in range(9)])
    assert orders[0] == [4, 6, 7, 1, 5, 0, 2, 8, 3], "a run that continues after an upgrade has the same seats"


@pytest.mark.parametrize("rule", ["entry", "random"])
def test_the_seeding_decides_who_meets_in_the_first_round_of_a_local_knockout(rule: str) -> None:
    ledger = rehearse(document_of("knockout", knockout={"seeding": rule}))
    names = list(ledger.names.values())
    listed = ledger.document.entries.bots
    assert (names == listed) is (rule == "entry")
    assert sorted(names) == sorted(listed)
    first = {frozenset((game.spec.first.name, game.spec.second.name)) for game in ledger.games if game.spec.round == 1}
    assert first == {frozenset((names[7], names[8]))}
    quarter = {
        frozenset((game.spec.first.name, game.spec.second.name)) for game in ledger.games if game.spec.round == 2
    }
    assert {frozenset((names[3], names[4])), frozenset((names[1], names[6])), frozenset((names[2], names[5]))} < quarter
    assert {line.name: line.seed for line in ledger.table().lines} == {name: seat for seat, name in enumerate(names, 1)}


# -- half-point byes -------------------------------------------------------------------------------------------------


def test_a_half_point_bye_is_half_of_a_match_and_no_bye() -> None:
    document = of("swiss", 5, half_point_byes={"b": [2], "c": [2]})
    games = play(document)
    assert not {1, 2} & {seat for pair in met(games, 2) for seat in pair}
    assert len(met(games, 2)) == 1
    seeds = seeds_of(document)
    marks = document.system.marks(document, seeds, games)
    own = {seat: sum(game.points_of(seat) for game in games) for seat in range(5)}
    assert all(marks[seat].points == own[seat] + 2 * marks[seat].byes + (1 if seat in (1, 2) else 0) for seat in own)
    assert [marks[seat].half_point_byes for seat in range(5)] == [0, 1, 1, 0, 0]
    lines = {
        line.name: line for line in rank(document, seeds, games, dict(enumerate(NAMES)), dict(enumerate(range(9))))
    }
    assert lines["b"].byes_in_matches == lines["b"].byes + 0.5
    overview = document.system.overview(document, seeds, games, dict(enumerate(NAMES)))
    assert overview.results is not None
    turn = overview.results["b"][2]
    assert (turn.bye, turn.points, turn.rival) == ("half-point bye", 1.0, "")
    least, most = document.system.count_games(document, 5)
    assert least == most == len(games)
    assert document.system.total(document, seeds, games[:4], 4) == len(games)


def test_a_half_point_bye_counts_in_tie_breaks_by_article_16() -> None:
    # 0 has a half-point bye in round 1 and beats 1; 2 beats 1, and has the bye of round 2. One game each.
    field = [Seed(0, half_point_byes=frozenset({1})), Seed(1), Seed(2)]
    rows = [(1, 1, 2, 0.0), (2, 0, 1, 1.0)]
    games = [
        TournamentGame(n, round, n, first, second, "done", points, n)
        for n, (round, first, second, points) in enumerate(rows, 1)
    ]
    table = swiss_scores.lines(field, games, 1)
    assert [(line.points, line.byes, line.half_point_byes) for line in table] == [(1.5, 0, 1), (0, 0, 0), (2, 1, 0)]
    # A round without a game counts like one against a bot with the own points, but at most a draw in each round.
    assert [breaks.buchholz for breaks in swiss_scores.tie_breaks(table, 1)] == [1 + 0, 2 + 1.5, 0 + 1]
    assert [breaks.cut for breaks in swiss_scores.tie_breaks(table, 1)] == [0, 2, 1], (
        "the missed round is left out first"
    )
    assert [breaks.sonneborn_berger for breaks in swiss_scores.tie_breaks(table, 1)] == [0.5 * 1 + 0, 0, 0 + 1]


def test_who_had_a_half_point_bye_may_still_rest() -> None:
    line = swiss_scores.SeatScore(
        0, unplayed=[swiss_scores.UnplayedRound(None, 0.5, is_voluntary=True, bye=swiss_scores.HALF_POINT_BYE)]
    )
    assert (line.byes, line.half_point_byes) == (0, 1)


def test_byes_that_leave_nobody_to_play_are_not_granted() -> None:
    document = of("swiss", 3, half_point_byes={"a": [1], "b": [1]})
    games = play(document)
    assert {game.round for game in games} == {1, 2, 3}
    assert swiss.available(seeds_of(document), 1) == [0, 1, 2]
    assert swiss.available(seeds_of(of("swiss", 4, half_point_byes={"a": [1], "b": [1]})), 1) == [2, 3]


# -- late entries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("word", "points", "byes"), [("zero-point", 0.0, 0), ("half-point", 2.0, 2)])
def test_a_late_entry_has_the_score_of_the_rounds_it_missed_and_is_paired_from_its_round(
    word: str, points: float, byes: int
) -> None:
    document = of("swiss", 6, late_entries={"f": 3}, late_entry_byes=word)
    games = play(document)
    rounds = {game.round for game in games if 5 in (game.first, game.second)}
    assert rounds == {3, 4}
    marks = document.system.marks(document, seeds_of(document), games)
    assert marks[5].points == points + sum(game.points_of(5) for game in games)
    assert (marks[5].byes, marks[5].half_point_byes) == (0, byes)
    assert sum(marks[seat].byes for seat in range(6)) == 2, "five bots in two rounds, six in the others"
    assert document.system.count_games(document, 6) == (len(games), len(games)) == (20, 20)


def test_a_late_entry_that_missed_rounds_is_not_one_that_left() -> None:
    # 2 enters in round 2 and loses to 0; in round 1 0 beat 1. Round 1 of 2 counts 0 points for 0, not a draw.
    field = [Seed(0), Seed(1), Seed(2, first_round=2)]
    games = [TournamentGame(1, 1, 1, 0, 1, "done", 1.0, 1), TournamentGame(2, 2, 2, 0, 2, "done", 1.0, 2)]
    table = swiss_scores.lines(field, games, 1)
    assert [line.points for line in table] == [2, 1, 0]
    assert [breaks.buchholz for breaks in swiss_scores.tie_breaks(table, 1)] == [1 + 0, 2 + 1, 0 + 2]
    gone = swiss_scores.lines([*field[:2], replace(field[2], is_withdrawn=True, rounds=2)], games, 1)
    assert [line.points for line in gone] == [2, 1, 0], "its score stays when it leaves"


def test_a_running_swiss_takes_late_entries_until_its_last_round_is_planned() -> None:
    document = of("swiss", 8)
    entered = document.system.late_entry(document, "x", 8, 2)
    assert entered is not None
    assert (entered.swiss.late_entries, entered.rounds) == ({"x": 3}, 4), "no round is added"
    before = document.system.late_entry(document, "x", 8, 0)
    assert before is not None
    assert before.swiss.late_entries == {}
    assert document.system.late_entry(document, "x", 8, 4) is None
    assert of("knockout").system.late_entry(of("knockout"), "x", 8, 0) is None
    ladder = read({"name": "cup", "family": "loa", "format": "ladder", "entries": {"all": True}})
    assert ladder.system.late_entry(ladder, "x", 8, 1) == ladder


def test_seats_of_a_swiss_may_have_gaps() -> None:
    field = [Seed(0), Seed(1), Seed(5, first_round=2)]
    games = run(partial(swiss.step, 3, 2, field), drawn(random.Random(1)))
    assert [line.seat for line in swiss_scores.lines(field, games, 2)] == [0, 1, 5]
    assert {game.round for game in games if 5 in (game.first, game.second)} <= {2, 3}


# -- forbidden pairs -------------------------------------------------------------------------------------------------


def test_forbidden_pairs_never_meet_in_two_hundred_swiss_tournaments() -> None:
    held = 0
    for seed in range(200 * EFFORT):
        rng = random.Random(seed)
        players = rng.randint(4, 9)
        every = list(combinations(NAMES[:players], 2))
        chosen = rng.sample(every, rng.randint(1, players))
        byes = {rng.choice(NAMES[:players]): [rng.randint(1, 3)]} if rng.random() < 0.5 else {}
        settings = {"forbidden_pairs": [" - ".join(pair) for pair in chosen], "half_point_byes": byes}
        plain = {"name": "cup", "family": "loa", "format": "swiss", "entries": {"bots": list(NAMES[:players])}}
        if faults := problems({**plain, "swiss": settings}):
            assert "leave no pairing" in faults[0].problem
            continue
        held += 1
        document = of("swiss", players, **settings)
        games = play(document, seed)
        assert {game.round for game in games} == set(range(1, swiss.default_rounds(players) + 1))
        assert not met(games) & {(NAMES.index(first), NAMES.index(second)) for first, second in chosen}
        for round in {game.round for game in games}:
            there = len(swiss.available(seeds_of(document), round))
            assert len(met(games, round)) == there // 2, "at most one bot rests"
    assert held > 100


def test_bots_of_one_owner_do_not_meet() -> None:
    document = of("swiss", 6, forbidden_pairs=["same owner"])
    games = play(document, owners=[1, 1, 2, 2, 3, 3])
    assert met(games).isdisjoint({(0, 1), (2, 3), (4, 5)})
    assert play(document) == play(of("swiss", 6)), "without a server nobody knows owners"
    blocked = seeds_of(document, [1, 1, 1, 1, 2, 3])
    assert document.system.obstacle(document, blocked) == "forbidden pairs leave no pairing of the 6 bots of round 1"


def test_forbidden_pairs_that_leave_no_round_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"^swiss\.forbidden_pairs: forbidden pairs leave no pairing of the 4 bots"):
        of("swiss", 4, forbidden_pairs=["a - b", "a - c", "a - d"])
    assert of("swiss", 5, forbidden_pairs=["a - b", "a - c", "a - d", "a - e", "b - c"])  # a rests in each round
    with pytest.raises(SettingsError, match="of the 4 bots of round 2"):
        of("swiss", 5, forbidden_pairs=["a - b", "a - c", "a - d"], half_point_byes={"e": [2]})


def test_where_withdrawals_leave_only_forbidden_pairs_bots_rest() -> None:
    line = [
        swiss_scores.SeatScore(seat, forbidden=frozenset({0, 1, 2, 3} - {seat}) if seat < 2 else frozenset({0, 1}))
        for seat in range(4)
    ]
    assert swiss_pairing.pair(line, 1) in ([(2, 3)], [(3, 2)])
    apart = [Seed(0, forbidden=frozenset({1})), Seed(1, forbidden=frozenset({0}))]
    ended = swiss.step(3, 2, apart, [])
    assert ended.is_finished
    assert ended.reason == "no further pairing is allowed after 0 rounds"


@pytest.mark.parametrize(
    ("forbidden", "order"),
    [
        ([], [0, 7, 3, 4, 1, 6, 2, 5]),
        ([(0, 1), (3, 7)], [0, 7, 3, 4, 1, 6, 2, 5]),
        ([(0, 7)], [0, 6, 3, 4, 1, 7, 2, 5]),
        ([(7, 0), (0, 6), (2, 5)], [0, 5, 3, 4, 1, 7, 2, 6]),
    ],
)
def test_a_knockout_keeps_forbidden_pairs_apart_in_its_first_round(
    forbidden: list[tuple[int, int]], order: list[int]
) -> None:
    assert seat_order(8, forbidden) == order


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7, 8, 9])
def test_a_rearranged_bracket_has_each_seed_once_and_byes_for_the_best(players: int) -> None:
    usual = seat_order(players)
    for seed in range(20):
        rng = random.Random(seed)
        forbidden = rng.sample(list(combinations(range(players), 2)), rng.randint(1, players - 1))
        order = seat_order(players, forbidden)
        assert [place for place, seat in enumerate(order) if seat is None] == [
            place for place, seat in enumerate(usual) if seat is None
        ]
        assert sorted(seat for seat in order if seat is not None) == list(range(players))
    assert seat_order(2, [(0, 1)]) == [0, 1], "who is alone with a forbidden rival meets it"


def test_a_knockout_of_a_document_avoids_a_pair_and_the_bots_of_one_owner() -> None:
    document = of("knockout", forbidden_pairs=["a - d", "same owner"])
    assert met(play(document), 1) == {(0, 2), (1, 3)}
    assert met(play(document, owners=[1, 2, 1, 4]), 1) == {(0, 1), (2, 3)}


@pytest.mark.parametrize("seed", range(10))
def test_standings_of_a_knockout_have_the_winner_of_the_match_for_third_place_as_third(seed: int) -> None:
    document = of("knockout", 8, third_place=True, tiebreak_pairs=0)
    games, names = play(document, seed), dict(enumerate(NAMES))
    overview = document.system.overview(document, seeds_of(document), games, names)
    lines = rank(document, seeds_of(document), games, names, {seat: seat for seat in names})
    assert [lines[0].name, lines[2].name] == [overview.champion, overview.third]
    assert lines[0].round == 4
    assert [line.round for line in lines] == sorted((line.round for line in lines), reverse=True)


# -- documents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"seeding": "elo"}, "swiss.seeding: invalid value 'elo'; choose from rating, entry, random"),
        (
            {"forbidden_pairs": ["a-b"]},
            'swiss.forbidden_pairs: invalid pair \'a-b\'; write "zeta - theta", or "same owner"',
        ),
        ({"forbidden_pairs": ["a - a"]}, "swiss.forbidden_pairs: a never meets itself; name two bots"),
        (
            {"forbidden_pairs": ["a - x"]},
            "swiss.forbidden_pairs: x is not in entries.bots; write it there in the same way",
        ),
        (
            {"half_point_byes": {"x": [1]}},
            "swiss.half_point_byes: x is not in entries.bots; write it there in the same way",
        ),
        ({"half_point_byes": {"a": [4]}}, "swiss.half_point_byes: round 4 is after the last one; write 3 or less"),
        ({"half_point_byes": {"a": [0]}}, "swiss.half_point_byes.a.0: 0 is too small; write 1 or more"),
        ({"late_entries": {"x": 2}}, "swiss.late_entries: x is not in entries.bots; write it there in the same way"),
        ({"late_entries": {"a": 1}}, "swiss.late_entries.a: 1 is too small; write 2 or more"),
        ({"late_entries": {"a": 9}}, "swiss.late_entries: round 9 is after the last one; write 3 or less"),
        (
            {"late_entry_byes": "full"},
            "swiss.late_entry_byes: invalid value 'full'; choose from zero-point, half-point",
        ),
    ],
)
def test_faults_of_requests_say_what_to_write(settings: dict[str, Any], fault: str) -> None:
    document = {
        "name": "cup",
        "family": "loa",
        "format": "swiss",
        "rounds": 3,
        "entries": {"bots": list("abcd")},
        "swiss": settings,
    }
    assert [str(problem) for problem in problems(document)] == [fault]


def test_a_document_may_name_bots_that_a_query_finds() -> None:
    plain = {"name": "cup", "family": "loa", "format": "swiss", "entries": {"all": True}}
    assert not problems({**plain, "swiss": {"forbidden_pairs": ["a - b"], "half_point_byes": {"a": [1]}}})


def test_requests_survive_toml_and_forms_write_rounds_with_commas() -> None:
    from referee import toml

    settings = {"half_point_byes": {"a": "1, 3", "b": 2}, "late_entries": {"c": 2}, "forbidden_pairs": ["a - b"]}
    document = of("swiss", 5, seeding="entry", **settings)
    assert document.swiss.half_point_byes == {"a": [1, 3], "b": [2]}
    assert read(toml.read(as_toml(document))) == document


def test_a_bot_that_leaves_before_the_start_takes_its_requests_along() -> None:
    settings = {
        "half_point_byes": {"a": [1], "b": [1]},
        "late_entries": {"b": 2},
        "forbidden_pairs": ["a - b", "a - c"],
    }
    left = of("swiss", 5, **settings).system.without(of("swiss", 5, **settings), ("b", "b v1"))
    assert left.swiss.half_point_byes == {"a": [1]}
    assert left.swiss.late_entries == {}
    assert left.swiss.forbidden_pairs == ["a - c"]
    cup = of("knockout", forbidden_pairs=["same owner", "a - b"])
    assert cup.system.without(cup, ("b",)).knockout.forbidden_pairs == ["same owner"]


def test_documents_of_1_0_are_seeded_by_rating() -> None:
    for format in ("swiss", "knockout"):
        stored = of(format).as_json()
        del stored["swiss"]
        stored["knockout"] = {"tiebreak_pairs": 5, "third_place": False}
        document = read(stored)
        assert document.system.seeding(document) == "rating"
        assert document.system.seeding_words(stored) == "by the ratings at the start"
    assert format_named("round-robin").seeding_words({}) == ""
