"""Losses and marks of won, lost and even positions with hand-made scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analysis.marking import DECIDED, EvaluatedPosition, mark_moves, summarise, swing
from arena.analysis.win_model import WinModel
from arena.documents.analysis import Accuracy, AnalysedMove, BlownWin, Blunders, Mark
from referee.rules.core import SIDES, Side

WIN_MODEL = WinModel(100.0, "test")
WIN_IN_3 = 29_997


def at(score: int | None = 0, side: Side = "first", **more: object) -> EvaluatedPosition:
    return EvaluatedPosition(side, score, **{"best": "best", "choices": 20, **more})  # type: ignore[arg-type]


def one(before: EvaluatedPosition, after: EvaluatedPosition, move: str = "played") -> AnalysedMove:
    """Mark a move of `first`; `after` is from the view of its side to move."""
    return mark_moves([before, after], [move], WIN_MODEL)[0]


def test_winning_chances_follow_a_logistic_curve() -> None:
    assert WIN_MODEL.winning_chances(0) == 0
    assert WIN_MODEL.winning_chances(100) == pytest.approx(0.4621, abs=1e-4)
    assert WIN_MODEL.winning_chances(-100) == -WIN_MODEL.winning_chances(100)
    assert WIN_MODEL.winning_chances(WIN_IN_3) == 1
    assert WIN_MODEL.winning_chances(-29_001) == -1
    assert WIN_MODEL.winning_chances(28_000) < 1 or WIN_MODEL.winning_chances(28_000) == pytest.approx(1)


@pytest.mark.parametrize(
    ("later", "mark"), [(0, ""), (-15, ""), (-22, "?!"), (-42, "?"), (-65, "??"), (-600, "??"), (-WIN_IN_3, "??")]
)
def test_marks_follow_from_losses(later: int, mark: str) -> None:
    found = one(at(0), at(-later, "second"))
    assert found.mark == mark
    assert found.loss == round(-WIN_MODEL.winning_chances(later), 3)


def test_engines_choice_loses_nothing() -> None:
    found = one(at(300), at(300, "second"), "best")
    assert (found.loss, found.mark) == (0, "")


def test_move_better_than_expected_loses_nothing() -> None:
    assert one(at(0), at(-200, "second")).loss == 0


@pytest.mark.parametrize(
    ("name", "before", "after", "mark"),
    [
        ("a won position whose win on the spot is missed", at(29_999, wins_now=True), at(50, "second"), "??"),
        ("the same, though the position still looks won", at(29_999, wins_now=True), at(-900, "second"), "??"),
        ("the same, also where the engine had not seen it", at(0, wins_now=True), at(0, "second"), "??"),
        ("a win on the spot for a forced win that is longer", at(29_999, wins_now=True), at(-WIN_IN_3, "second"), ""),
        ("a forced win for a longer one", at(WIN_IN_3), at(-29_980, "second"), ""),
        ("a forced win for a position as good as won", at(WIN_IN_3), at(-250, "second"), ""),
        ("a forced win for an even position", at(WIN_IN_3), at(0, "second"), "??"),
        ("a forced win thrown into a lost one", at(WIN_IN_3), at(WIN_IN_3, "second"), "??"),
        ("somebody mated anyway", at(-29_996), at(29_999, "second"), ""),
        ("a lost position that gets worse", at(-230), at(29_999, "second"), ""),
        ("a bad position that is given up", at(-120), at(29_999, "second"), "??"),
        ("walking into a loss from an even position", at(0), at(29_999, "second"), "??"),
        ("the only legal move", at(200, choices=1), at(29_999, "second"), ""),
        ("an even position that the move ends as a draw", at(0), at(None, "second", result=0), ""),
        ("a good position that the move ends as a draw", at(150), at(None, "second", result=0), "??"),
        ("the move that wins", at(29_999, wins_now=True), at(None, "second", result=-1), ""),
    ],
)
def test_exceptions_from_marks(name: str, before: EvaluatedPosition, after: EvaluatedPosition, mark: str) -> None:
    assert one(before, after).mark == mark, name


def test_forced_move_takes_the_chances_of_its_successor() -> None:
    """A shallow score of a forced reply must not make the move before it a blunder."""
    scored = [at(0), at(400, "second", choices=1), at(0)]
    first, second = mark_moves(scored, ["a", "b"], WIN_MODEL)
    assert (first.mark, first.loss) == ("", 0)
    assert (second.winning_chances, second.mark) == (0, "")


@pytest.mark.parametrize(
    ("chosen", "mark"),
    [
        (at(-300, "second"), "??"),
        (at(0, "second"), ""),
        (at(None, "second", result=-1), "??"),
        (at(0, "second", wins_now=True), ""),
        (at(None, "second"), ""),
    ],
)
def test_move_is_compared_with_an_evaluated_choice(chosen: EvaluatedPosition, mark: str) -> None:
    (found,) = mark_moves([at(0), at(0, "second")], ["played"], WIN_MODEL, instead={1: chosen})
    assert found.mark == mark
    assert found.winning_chances == 0


def searched(*scores: int, first: int = 1) -> EvaluatedPosition:
    """Return a position of the second side with these scores by depth."""
    return at(scores[-1], "second", depths=tuple(enumerate(scores, first)))


@pytest.mark.parametrize(
    ("name", "after", "chosen", "loss", "mark"),
    [
        ("scores that swing from depth to depth alike", searched(-80, 80, -80, 80), searched(-80, 80, -80), 0, ""),
        ("a depth that only one was searched to", searched(0, 0, 900), searched(0, 0), 0, ""),
        ("the mean of the last two depths", searched(0, 0, 400), searched(0, 0, 0), 0.482, "??"),
        ("a forced loss, however deep it was found", searched(0, 0, 0, WIN_IN_3), searched(0, 0), 1, "??"),
        ("a forced win of the choice, and the mean", searched(0, 100, 0), searched(0, -WIN_IN_3), 1.231, "??"),
        ("a shallow search beside one that told late", searched(500, first=9), searched(0), 0.987, "??"),
    ],
)
def test_positions_are_compared_at_a_common_depth(
    name: str, after: EvaluatedPosition, chosen: EvaluatedPosition, loss: float, mark: str
) -> None:
    (found,) = mark_moves([at(0), after], ["played"], WIN_MODEL, instead={1: chosen})
    assert (found.loss, found.mark) == (pytest.approx(loss, abs=1e-3), mark), name


@pytest.mark.parametrize(
    ("depths", "chances"),
    [((), 0.762), (((1, 0), (2, 200), (3, 0)), 0.381), (((2, 100), (3, WIN_IN_3)), 1.0), (((1, 100),), 0.462)],
)
def test_chances_are_the_mean_of_an_odd_and_an_even_depth(depths: tuple[tuple[int, int], ...], chances: float) -> None:
    """A search favours the side that moves last in it, so one depth alone would make the curve alternate by ply."""
    assert one(at(200, depths=depths), at(0, "second")).winning_chances == pytest.approx(chances, abs=1e-3)


def test_choice_that_turns_out_lost_is_not_the_best_move() -> None:
    """The move loses as well. It is a blunder only if another move did not lose."""
    lost = at(WIN_IN_3, "second")
    (found,) = mark_moves([at(0), lost], ["played"], WIN_MODEL, instead={1: lost})
    assert (found.loss, found.mark) == (1, "??")
    (found,) = mark_moves([at(-WIN_IN_3), lost], ["played"], WIN_MODEL, instead={1: lost})
    assert (found.loss, found.mark) == (0, "")


def test_win_at_once_counts_more_than_the_scores_of_a_search() -> None:
    missed = at(0, wins_now=True, depths=((1, 0), (2, 0)))
    assert one(missed, at(0, "second")).loss == 1
    lets_win = at(0, "second", wins_now=True, depths=((1, 0), (2, 0)))
    (found,) = mark_moves([at(0), lets_win], ["played"], WIN_MODEL, instead={1: searched(0, 0)})
    assert (found.loss, found.mark) == (1, "??")


DEEP = at(100, depths=((1, 100), (2, 100)))


@pytest.mark.parametrize(
    ("before", "chosen", "expected"),
    [
        (DEEP, searched(-100, -100), 0),
        (DEEP, searched(100, 100), 2 * 0.4621),
        (DEEP, searched(0, 0), 0.4621),
        (DEEP, at(100, depths=((1, 100),)), 0),
        (DEEP, at(-100, depths=((1, -100),)), 2 * 0.4621),
        (DEEP, None, 0),
        (DEEP, at(100, "second"), 0),
        (at(100), searched(100, 100), 0),
        (at(100, wins_now=True, depths=((1, 100),)), searched(100, 100), 0),
        (DEEP, at(100, "second", wins_now=True, depths=((1, 100),)), 0),
        (DEEP, at(None, "second", result=1, depths=((1, 100),)), 0),
    ],
)
def test_swing_is_the_difference_between_two_searches(
    before: EvaluatedPosition, chosen: EvaluatedPosition | None, expected: float
) -> None:
    assert swing(before, chosen, WIN_MODEL) == pytest.approx(expected, abs=1e-4)


def test_chances_of_a_side_that_moves_twice_keep_their_sign() -> None:
    assert one(at(100), at(100)).loss == 0
    assert one(at(100), at(-100)).mark == "??"
    moves = mark_moves([at(0, "second"), at(0, choices=1), at(90), at(-90, "second")], ["a", "b", "best"], WIN_MODEL)
    assert moves[1].winning_chances == round(WIN_MODEL.winning_chances(90), 3)


def test_book_moves_have_no_marks() -> None:
    scored = [at(0), at(500, "second"), at(0)]
    analysed = mark_moves(scored, ["a", "b"], WIN_MODEL, book={1})
    assert [one.mark for one in analysed] == ["", "??"]
    _, accuracy, _, _ = summarise(analysed, "second", book={1})
    assert accuracy.first is None


def test_missing_scores_leave_no_marks() -> None:
    found = one(at(None), at(0, "second"))
    assert (found.winning_chances, found.loss, found.mark) == (None, None, "")


def test_accuracy_leaves_out_moves_of_unknown_loss() -> None:
    analysed = mark_moves([at(None), at(0, "second"), at(0), at(0, "second")], ["a", "best", "best"], WIN_MODEL)
    assert [one.loss for one in analysed] == [None, 0, 0]
    assert summarise(analysed, "draw")[1] == Accuracy(100, 100)


def test_summary_counts_blunders_and_blown_wins() -> None:
    scored = [at(250), at(20, "second"), at(-20), at(900, "second"), at(None, "first", result=-1)]
    analysed = mark_moves(scored, ["a", "best", "c", "best"], WIN_MODEL)
    blunders, accuracy, turning_points, blown_win = summarise(analysed, "second")
    assert blunders == Blunders(2, 0)
    assert turning_points == 1
    assert blown_win == BlownWin(True, False)
    assert accuracy.second == 100
    assert accuracy.first is not None
    assert accuracy.first < 50
    assert summarise(analysed, "first")[-1] == BlownWin(False, True)
    assert summarise(analysed, None)[-1] == BlownWin(False, False)
    just_won = AnalysedMove(1, "first", "a", None, DECIDED, "best", 0.0, "", "")
    assert summarise([just_won], "draw")[-1] == BlownWin(True, False)
    assert summarise([], "draw") == (Blunders(0, 0), Accuracy(None, None), 0, BlownWin(False, False))


@pytest.mark.parametrize(
    ("chance", "loss", "mark", "turning_points"),
    [
        (0.5, 0.5, "??", 1),  # exactly won before, exactly even after
        (0.5, 0.375, "??", 0),
        (0.375, 0.75, "??", 0),
        (0.75, 1.0, "??", 1),
        (0.5, 0.5, "", 0),
    ],
)
def test_turning_point_needs_a_mark_and_a_lost_advantage(
    chance: float, loss: float, mark: Mark, turning_points: int
) -> None:
    analysed = AnalysedMove(1, "first", "played", 0, chance, "best", loss, mark, "")
    assert summarise([analysed], "draw")[2] == turning_points


_scores = st.one_of(st.integers(-2_000, 2_000), st.integers(29_900, 29_999), st.integers(-29_999, -29_900))


@given(st.lists(_scores, min_size=2, max_size=12), st.floats(10, 2_000))
def test_laws_of_marks(scores: list[int], scale: float) -> None:
    scored = [at(score, SIDES[place % 2]) for place, score in enumerate(scores)]
    analysed = mark_moves(scored, ["x"] * (len(scores) - 1), WinModel(scale, "any"))
    for move in analysed:
        assert move.winning_chances is not None
        assert move.loss is not None
        assert -1 <= move.winning_chances <= 1
        assert 0 <= move.loss <= 2
        assert not move.mark or move.loss >= 0.0995
        assert move.mark != "??" or move.loss >= 0.2995
    blunders, *_ = summarise(analysed, "draw")
    assert blunders.first + blunders.second == sum(move.mark == "??" for move in analysed)
