"""Knockout: matches and small brackets by example; the laws are in `test_formats`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.tournament.bracket import Bracket, Tie, seat_order
from referee.tournament.match import NextStep, PlannedMatch, Seed, TournamentGame
from tests.referee.tournament.rehearsal import knockout_step as step


def seeds(count: int, *gone: int) -> list[Seed]:
    """Return `count` seeds, some of them withdrawn."""
    return [Seed(number, number in gone) for number in range(count)]


def match(round: int, seat: int, rival: int, *points: float | None) -> list[TournamentGame]:
    """Return the games of a match with sides alternating; `points` are those of `seat`, None for an open game."""
    games = []
    for number, scored in enumerate(points):
        sides = (seat, rival) if number % 2 == 0 else (rival, seat)
        of_first = scored if scored is None or sides[0] == seat else 1 - scored
        sequence = 100 * round + 10 * min(seat, rival) + number
        state = "open" if scored is None else "done"
        games.append(TournamentGame(sequence, round, sequence - number % 2, *sides, state, of_first, sequence))  # type: ignore[arg-type]
    return games


@pytest.mark.parametrize(
    ("players", "order"),
    [
        (2, [0, 1]),
        (3, [0, None, 1, 2]),
        (4, [0, 3, 1, 2]),
        (6, [0, None, 3, 4, 1, None, 2, 5]),
        (16, [0, 15, 7, 8, 3, 12, 4, 11, 1, 14, 6, 9, 2, 13, 5, 10]),
    ],
)
def test_the_best_meet_the_worst_and_the_byes_are_theirs(players: int, order: list[int | None]) -> None:
    assert seat_order(players) == order


def test_the_first_round_is_planned_and_a_bye_waits_for_its_rival() -> None:
    assert step(4, 1, False, seeds(4), []).matches == (
        PlannedMatch(1, 0, 3, 0, 4),
        PlannedMatch(1, 1, 2, 0, 4),
    )
    bracket = Bracket(seeds(3), [], 2, 1)
    assert bracket.rounds[0][0] == Tie(1, 0, 0, None, 0, is_decided=True, reason="bye")
    assert bracket.rounds[0][1] == Tie(1, 1, 1, 2, None, is_decided=False)
    assert bracket.rounds[1] == [Tie(2, 0, 0, None, None, is_decided=False)]
    assert not bracket.is_decided
    assert [tie.loser for tie in bracket.rounds[0]] == [None, None]


def test_an_open_match_is_neither_decided_nor_planned_again() -> None:
    games = match(1, 0, 3, 1.0, None)
    tree = Bracket(seeds(4), [*games, *match(1, 1, 2, 1.0, 1.0)], 2, 1)
    assert tree.rounds[0] == [
        Tie(1, 0, 0, 3, None, is_decided=False),
        Tie(1, 1, 1, 2, 1, is_decided=True, reason="points"),
    ]
    assert tree.due == []
    assert step(2, 1, False, seeds(4), [*games, *match(1, 1, 2, 1.0, 1.0)]) == NextStep()


def test_the_winners_meet_with_openings_of_their_own() -> None:
    first = [*match(1, 0, 3, 0.0, 0.5), *match(1, 1, 2, 1.0, 1.0)]
    # Two openings are kept for each round: the pair of the match and one further pair.
    assert step(2, 1, False, seeds(4), first).matches == (PlannedMatch(2, 3, 1, 2, 2),)
    assert step(4, 1, False, seeds(4), first).matches == (PlannedMatch(2, 3, 1, 3, 4),)


@pytest.mark.parametrize(("points", "winner"), [((1.0, 1.0), 0), ((1.0, 0.5), 0), ((0.5, 0.0), 1), ((0.0, 0.0), 1)])
def test_points_decide(points: tuple[float, float], winner: int) -> None:
    found = Bracket(seeds(2), match(1, 0, 1, *points), 2, 3).rounds[0][0]
    assert (found.winner, found.loser, found.reason) == (winner, 1 - winner, "points")


def test_further_pairs_come_one_by_one_and_after_the_last_the_seeding_decides() -> None:
    level = match(1, 0, 1, *[1.0, 0.0] * 4)
    assert step(4, 2, False, seeds(2), level[:4]).matches == (PlannedMatch(1, 0, 1, 2, 2),)
    assert step(4, 2, False, seeds(2), level[:6]).matches == (PlannedMatch(1, 1, 0, 3, 2),)
    assert step(4, 2, False, seeds(2), level) == NextStep(is_finished=True, reason="1 rounds played")
    found = Bracket(seeds(2), level, 4, 2).rounds[0][0]
    assert (found.winner, found.reason) == (0, "seeding, after 2 extra pairs")
    assert Bracket(seeds(2), level[:4], 4, 0).rounds[0][0].reason == "seeding, after 0 extra pairs"


def test_knockout_walkover_goes_to_the_remaining_bot() -> None:
    for gone in (0, 1):
        unplayed = Bracket(seeds(2, gone), [], 2, 1)
        tie = unplayed.rounds[0][0]
        assert (tie.winner, tie.loser, tie.reason, unplayed.due) == (1 - gone, gone, "walkover", [])
        level = Bracket(seeds(2, gone), match(1, 0, 1, 1.0, 0.0), 2, 1).rounds[0][0]
        assert (level.winner, level.reason) == (1 - gone, "walkover")
        won = Bracket(seeds(2, gone), match(1, 0, 1, 1.0, 1.0), 2, 1).rounds[0][0]
        assert (won.winner, won.reason) == (0, "points")
    elsewhere = Bracket(seeds(4, 2), [], 2, 1)
    assert [tie.reason for tie in elsewhere.rounds[0]] == ["", "walkover"]
    assert elsewhere.due == [PlannedMatch(1, 0, 3, 0, 2)]


def test_a_match_called_off_half_way_is_a_walkover_even_for_who_was_behind() -> None:
    half = match(1, 0, 1, 1.0, 1.0)
    half[1] = half[1]._replace(state="cancelled", points=None)
    found = Bracket(seeds(2, 0), half, 2, 1).rounds[0][0]
    assert (found.winner, found.reason) == (1, "walkover")


def test_where_both_withdrew_nobody_comes_and_the_next_has_a_bye() -> None:
    found = Bracket(seeds(4, 1, 2), match(1, 0, 3, 1.0, 1.0), 2, 1)
    assert found.rounds[0][1] == Tie(1, 1, 1, 2, None, is_decided=True, reason="both withdrew")
    assert found.rounds[1] == [Tie(2, 0, 0, None, 0, is_decided=True, reason="bye")]
    assert found.is_decided
    assert found.due == []


def test_knockout_winner_of_a_walkover_keeps_it_when_it_withdraws_later() -> None:
    for first, later in ((1, 2), (2, 1)):
        left = [replace(seed, left={first: 1, later: 2}.get(seed.number, 0)) for seed in seeds(4, first, later)]
        bracket = Bracket(left, match(1, 0, 3, 1.0, 1.0), 2, 1)
        assert bracket.rounds[0][1] == Tie(1, 1, 1, 2, later, is_decided=True, reason="walkover")
        assert bracket.rounds[1] == [Tie(2, 0, 0, later, 0, is_decided=True, reason="walkover")]
        assert (bracket.due, bracket.is_decided) == ([], True)


def test_the_losers_before_the_final_play_for_the_third_place() -> None:
    first = [*match(1, 0, 3, 1.0, 1.0), *match(1, 1, 2, 0.0, 0.0)]
    assert step(2, 1, True, seeds(4), first).matches == (
        PlannedMatch(2, 0, 2, 2, 2),
        PlannedMatch(2, 3, 1, 2, 2),
    )
    final = [*first, *match(2, 0, 2, 1.0, 1.0)]
    open_third = [*final, *match(2, 3, 1, None, None)]
    assert step(2, 1, True, seeds(4), open_third) == NextStep(), "the third place is open"
    tree = Bracket(seeds(4), [*final, *match(2, 3, 1, 1.0, 1.0)], 2, 1, third_place=True)
    assert tree.third == Tie(2, 1, 3, 1, 3, is_decided=True, reason="points")
    assert tree.is_decided
    only_third = Bracket(seeds(4), [*first, *match(2, 3, 1, 1.0, 1.0)], 2, 1, third_place=True)
    assert not only_third.is_decided, "the final is open"
    assert Bracket(seeds(4), final, 2, 1).third is None
    assert Bracket(seeds(2), [], 2, 1, third_place=True).third is None


def test_the_third_place_comes_from_the_round_before_the_final_in_bigger_brackets_too() -> None:
    games = [game for low in range(4) for game in match(1, low, 7 - low, 1.0, 1.0)]
    games += [*match(2, 0, 3, 1.0, 1.0), *match(2, 1, 2, 1.0, 1.0)]
    assert step(2, 1, True, seeds(8), games).matches == (
        PlannedMatch(3, 0, 1, 4, 2),
        PlannedMatch(3, 3, 2, 4, 2),
    )
    tree = Bracket(seeds(8), games, 2, 1)
    assert [[(tie.number, tie.one, tie.two) for tie in ties] for ties in tree.rounds] == [
        [(0, 0, 7), (1, 3, 4), (2, 1, 6), (3, 2, 5)],
        [(0, 0, 3), (1, 1, 2)],
        [(0, 0, 1)],
    ]


def test_a_knockout_is_over_with_its_final() -> None:
    first = [*match(1, 0, 3, 1.0, 1.0), *match(1, 1, 2, 1.0, 1.0)]
    assert step(2, 1, False, seeds(4), [*first, *match(2, 0, 1, 0.5, None)]) == NextStep()
    whole = [*first, *match(2, 0, 1, 0.5, 1.0)]
    assert step(2, 1, False, seeds(4), whole) == NextStep(is_finished=True, reason="2 rounds played")
