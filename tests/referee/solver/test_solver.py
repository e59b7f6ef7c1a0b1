"""The solver against plain search and on problems with known solutions."""

from __future__ import annotations

import random

import pytest

from referee.rules import families, load
from referee.rules.core import SIDES, ParseError, UnknownNameError
from referee.rules.position import Position
from referee.rules.random_walk import legal
from referee.solver.proofs import Condition, WinProblem
from referee.solver.solver import FinishedPositionError, Solution, solve
from tests.conftest import EFFORT
from tests.referee.solver.sampled import brute_force, brute_force_child, late_position, rulesets

SMALL = 1 << 18
"""Bytes of the table: enough for short problems."""
FEW_MOVES = 40
"""Positions with more moves are searched two moves deep by plain search, others three."""
ENOUGH = 18 * EFFORT
"""Random positions are drawn until the solver has been asked as often: some families' have too many moves."""

WHITE_BY_EIGHT = "5/4SS/2Ssss1/2Ssss2/2SssssS1/2Ss1s2/2SSS2/6/5 2 4 w 21 95"
"""An Abalone problem: White pushes off two marbles in four moves, with eight marbles moved in all in a single way."""


def texts(ruleset, moves) -> list[str]:
    return [ruleset.rules.notation.write_move(move) for move in moves]


def solved(family: str, position: str, side: str | None = None, moves: int = 3, **more) -> Solution:
    ruleset = load(family).settle(None, more.pop("options", None))
    start = Position.start(ruleset, position)
    return solve(WinProblem(ruleset, start.state, side or start.side, moves, **more), table_bytes=SMALL)


@pytest.mark.long
@pytest.mark.parametrize("family", families())
def test_solver_on_random_positions_equals_plain_search(family: str) -> None:
    rng, wins = random.Random(5), []
    for number, ruleset in zip(range(40), rulesets(family, 5), strict=False):
        if len(wins) >= ENOUGH:
            break
        state = late_position(load(family).settle() if number % 2 else ruleset, rng, rng.randrange(1, 4))
        ruleset = load(family).settle() if number % 2 else ruleset
        if state is None or len(legal(ruleset, state)) > 3 * FEW_MOVES:
            continue
        depth = 2 if len(legal(ruleset, state)) > FEW_MOVES else 3
        mover = ruleset.rules.side(state, ruleset.config)
        for side in (mover, 1 - mover):
            solution = solve(WinProblem(ruleset, state, SIDES[side], depth), table_bytes=SMALL)
            lengths = [moves for moves in range(1, depth + 1) if brute_force(ruleset, state, side, moves)]
            where = f"{ruleset.variant.name} {ruleset.overrides} {ruleset.write(state)} {SIDES[side]}"
            assert solution.moves == (lengths[0] if lengths else None), where
            assert solution.is_complete, where
            if solution.moves and side == mover:
                keys = [m for m in legal(ruleset, state) if brute_force_child(ruleset, state, m, side, lengths[0] - 1)]
                assert list(solution.keys) == keys, where
            wins.append(solution.moves)
    assert {None, 1} <= set(wins)


@pytest.mark.parametrize("options", [{"repetition_result": "loss"}, {"repetition": 2, "repetition_result": "loss"}])
def test_solver_where_a_repetition_wins_equals_plain_search(options) -> None:
    ruleset, rng = load("loa").settle(None, options), random.Random(3)
    for _ in range(60):
        cells = rng.sample(range(64), rng.randrange(4, 6))
        rows = [["1"] * 8 for _ in range(8)]
        for place, cell in enumerate(cells):
            rows[cell // 8][cell % 8] = "bw"[place % 2]
        board = "/".join("".join(row) for row in rows)
        for run in range(8, 1, -1):
            board = board.replace("1" * run, str(run))
        state = ruleset.read(f"{board} {rng.choice('bw')} - 1")
        if ruleset.rules.kernel.result(state, ruleset.config, 1, 0):
            continue
        side = rng.randrange(2)
        solution = solve(WinProblem(ruleset, state, SIDES[side], 3), table_bytes=SMALL)
        lengths = [moves for moves in (1, 2, 3) if brute_force(ruleset, state, side, moves)]
        assert solution.moves == (lengths[0] if lengths else None), ruleset.write(state)


def test_solver_finds_a_win_by_a_repetition() -> None:
    """White has no moves but passes, so it repeats the position as soon as Black goes back."""
    start = "wb5b/bb6/4bb2/6b1/8/5b1b/3b3b/6bw b - 1"
    options = {"repetition": 2, "repetition_result": "loss"}
    solution = solved("loa", start, options=options)
    assert (solution.result, solution.moves, len(solution.line)) == ("win", 3, 4)
    assert solved("loa", start, options=options | {"repetition_result": "draw"}).result == "no-win"


def test_solver_finds_a_win_by_a_limit() -> None:
    """With more marbles pushed off, Black wins when the plies run out; it must not lose the lead before."""
    start = "5/6/7/8/4S1s2/8/7/6/5 3 2 b 0 1"
    options = {"limit_result": "score", "no_ejection_limit": 3}
    assert solved("abalone", start, options=options).moves == 2
    assert solved("abalone", start, options=options | {"limit_result": "draw"}).result == "no-win"


def test_solver_finds_the_keys_of_a_win_in_one() -> None:
    solution = solved("loa", "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1")
    assert (solution.result, solution.moves) == ("win", 1)
    assert texts(load("loa").settle(), solution.keys) == ["d2c3", "d2d4"]
    assert not solution.is_unique
    assert len(solution.line) == 1


def test_solver_lists_what_the_defence_can_do() -> None:
    """Black is to move and White threatens: a single move of Black prevents that White wins in two."""
    ruleset = load("loa").settle()
    start = Position.start(ruleset, "8/8/3wb2w/3ww3/2wb1wb1/4bb2/2b2b2/8 b - 31")
    solution = solve(WinProblem(ruleset, start.state, "second", 2), table_bytes=SMALL)
    assert (solution.result, solution.moves, solution.keys) == ("no-win", None, ())
    assert texts(ruleset, solution.defences) == ["f3d5"]
    holding = [move for move in start.moves if not brute_force(ruleset, start.play(move).state, 1, 2)]
    assert list(solution.defences) == holding


def test_solver_without_enough_nodes_says_how_far_it_got() -> None:
    solution = solved("abalone", WHITE_BY_EIGHT, moves=4, max_nodes=50_000)
    assert solution.result == "unknown"
    assert 1 <= solution.refuted < 4
    assert not solution.is_complete


def test_solver_solves_a_problem_with_a_condition() -> None:
    ruleset = load("abalone").settle()
    eight = solved("abalone", WHITE_BY_EIGHT, moves=4, condition=Condition.read("marbles<=8"))
    assert (eight.result, eight.moves, eight.is_unique) == ("win", 4, True)
    seven = solved("abalone", WHITE_BY_EIGHT, moves=4, condition=Condition.read("marbles <= 7"))
    assert (seven.result, seven.refuted) == ("no-win", 4)
    kernel, moved, position = ruleset.rules.kernel, 0, Position.start(ruleset, WHITE_BY_EIGHT)
    for move in eight.line:
        if position.side == "second":
            moved += int(kernel.counted(position.state, ruleset.config, move, 0))
        position = position.play(move)
    assert moved <= 8
    assert position.outcome is not None
    assert position.outcome.winner == "second"


def test_the_main_line_ends_with_the_win_after_the_shortest_number_of_moves() -> None:
    ruleset = load("abalone").settle()
    solution = solved("abalone", WHITE_BY_EIGHT, moves=4)
    end = Position.start(ruleset, WHITE_BY_EIGHT).play_all(solution.line)
    assert end.outcome is not None
    assert end.outcome.winner == "second"
    assert len(solution.line) == 2 * solution.moves - 1
    assert set(solution.keys) >= {solution.line[0]}


def test_solver_lists_later_wins_if_asked() -> None:
    start = "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"
    later = solved("loa", start, moves=2, wants_all=True).later
    assert later
    assert set(later.values()) == {2}
    assert not set(later) & set(solved("loa", start).keys)


def test_solver_of_a_finished_game_refuses() -> None:
    with pytest.raises(FinishedPositionError, match="the game is over"):
        solved("loa", "8/8/8/8/3w4/8/8/w6b b - 30")


def test_solver_twice_gives_the_same_solution() -> None:
    assert solved("abalone", WHITE_BY_EIGHT, moves=3) == solved("abalone", WHITE_BY_EIGHT, moves=3)


@pytest.mark.parametrize("text", ["marbles", "marbles<7", "marbles<=-1", "7<=marbles", "marbles<=100000"])
def test_an_invalid_condition_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="invalid condition"):
        Condition.read(text)


def test_an_unknown_counter_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="condition of loa"):
        solved("loa", "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1", condition=Condition("marbles", 7))


def test_counted_marbles_are_the_own_ones_that_move() -> None:
    ruleset = load("abalone").settle()
    position = Position.start(ruleset, "5/6/7/8/SSs1S4/3S4/2SSS2/6/5 0 0 b 0 1")
    counts = {
        text: int(ruleset.rules.kernel.counted(position.state, ruleset.config, position.read(text), 0))
        for text in ("e1e2", "e5e6", "c3c4", "c4c5", "c3c4b3", "c3c5b3")
    }
    assert counts == {"e1e2": 2, "e5e6": 1, "c3c4": 3, "c4c5": 2, "c3c4b3": 2, "c3c5b3": 3}
