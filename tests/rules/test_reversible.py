"""The notation that can be replayed backwards: from the final position and the notes of the moves to the start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.rules import families, load
from referee.rules.core import ParseError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.random_walk import after, legal
from referee.rules.reversible import REVERSIBLE, write_game
from referee.rules.rules import GameText, Ruleset
from tests.rules.walks import rulesets


def random_game(data: st.DataObject, ruleset: Ruleset) -> tuple[str, ...]:
    """Draw the moves of a random game; it may end before the rules end it."""
    state, moves = ruleset.read(), []
    for _ in range(data.draw(st.integers(0, 40))):
        moves_now = legal(ruleset, state)
        if not moves_now or ruleset.rules.kernel.result(state, ruleset.config, 1, 0):
            break
        move = data.draw(st.sampled_from(moves_now))
        moves.append(ruleset.rules.notation.write_move(move))
        state = after(ruleset, state, move)
    return tuple(moves)


@pytest.mark.parametrize("family", families())
def test_games_of_any_rules_survive_being_written_and_replayed_backwards(family: str) -> None:
    @given(st.data())
    def hold(data: st.DataObject) -> None:
        ruleset = data.draw(rulesets(family))
        game = GameText(random_game(data, ruleset), ruleset.variant.name, ruleset.overrides)
        assert list(REVERSIBLE.read(REVERSIBLE.write(game, ruleset), ruleset)) == [game]

    hold()


def test_a_capture_is_written_after_its_move() -> None:
    ruleset = load("loa").settle()
    game = GameText(("b1b3", "h1h2"), position="8/6w1/8/b7/8/1w6/8/1b5w b - 1")
    text = write_game(game, ruleset)
    assert text == '[FinalPosition "8/6w1/8/b7/8/1b6/7w/8 b - 2"]\n1. b1b3(b3:w) h1h2 *\n'


def test_a_push_is_written_beside_aba_pro() -> None:
    ruleset = load("abalone").settle()
    start = "5/6/7/8/SSsss4/8/3SSss/6/5 0 3 b 7 20"
    game = GameText(("e1e2",), position=start)
    with pytest.raises(IllegalMoveError):
        write_game(game, ruleset)
    start = "5/6/7/8/SSs6/8/3SSss/6/5 0 3 b 7 20"
    text = write_game(GameText(("e1e2",), position=start), ruleset)
    assert "1. e1e2(e3:s e4:-) *" in text


def test_an_ejection_is_written_with_the_counter_that_it_resets() -> None:
    ruleset = load("abalone").settle()
    start = "5/6/7/8/6SSs/8/7/6/5 0 3 b 7 20"
    text = write_game(GameText(("e7e8",), position=start), ruleset)
    assert "e7e8(e9:s | . . . 7 .) *" in text
    (game,) = REVERSIBLE.read(text, ruleset)
    assert game.position == start


def test_swaps_before_play_are_taken_back() -> None:
    ruleset = load("pijersi").settle(None, {"swap_phase": True})
    position = Position.start(ruleset)
    moves = []
    for move in ("(a1a2)", "()"):
        moves.append(ruleset.rules.notation.write_move(position.read(move)))
        position = position.play(move)
    game = GameText(tuple(moves), "standard", {"swap_phase": True}, result="1/2-1/2", marks={1: "!?"})
    assert list(REVERSIBLE.read(REVERSIBLE.write(game, ruleset), ruleset)) == [game]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1. b1b3 *", "without its final position"),
        ('[FinalPosition "nonsense"] *', "invalid position"),
        ('[FinalPosition "8/8/8/8/8/1b6/8/6w1 w - 1"]\n1. b1b3(z9:w) *', "unknown cell"),
        ('[FinalPosition "8/8/8/8/8/1b6/8/6w1 w - 1"]\n1. c1c3 *', "does not lead to"),
        ('[FinalPosition "8/8/8/8/8/1b6/8/6w1 w - 1"]\n[Variant "chess"]\n1. b1b3 *', "unknown variant"),
        ('[FinalPosition "8/8/8/8/8/1b6/8/6w1 w - 1"]\n1. b1b3 )', "unreadable"),
    ],
)
def test_a_text_that_cannot_be_undone_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ParseError, match=problem):
        REVERSIBLE.read(text, load("loa").settle())
