"""Variations in every notation: nested parentheses with marks and comments, read as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules import families, load
from referee.rules.random_walk import after, legal
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Variation
from tests.rules.test_gametext import NASTY
from tests.rules.walks import rulesets

WORDS = st.one_of(st.just(""), st.sampled_from(NASTY))
MARKS = st.sampled_from(("", "!", "??", "!?"))


def forms(ruleset: Ruleset) -> list[GameFormat]:
    """Return the notations that have variations: those that run forwards."""
    return [form for form in ruleset.rules.formats if form is not REVERSIBLE and "reversed" not in form.name]


def _line(data: st.DataObject, ruleset: Ruleset, state: State, most: int) -> list[tuple[State, str]]:
    """Draw moves from a position, each with the position before it."""
    drawn = []
    for _ in range(data.draw(st.integers(0, most))):
        known = legal(ruleset, state)
        if not known or ruleset.rules.kernel.result(state, ruleset.config, 1, 0):
            break
        move = data.draw(st.sampled_from(known))
        drawn.append((state, ruleset.rules.notation.write_move(move)))
        state = after(ruleset, state, move)
    return drawn


def _annotated(data: st.DataObject, first: int, count: int) -> tuple[dict[int, str], dict[int, str]]:
    plies = range(first, first + count)
    marks = {ply: mark for ply in plies if (mark := data.draw(MARKS))}
    # A comment before a variation's first move belongs to the ply before it.
    comments = {ply: said for ply in plies if (said := data.draw(WORDS))}
    return marks, comments


def _variations(
    data: st.DataObject, ruleset: Ruleset, line: list[tuple[State, str]], first: int, depth: int
) -> tuple[Variation, ...]:
    drawn = []
    for ply, (state, _) in enumerate(line, first):
        for _ in range(data.draw(st.sampled_from((0, 0, 0, 1, 2))) if depth else 0):
            mine = _line(data, ruleset, state, 4)
            if mine:
                marks, comments = _annotated(data, ply, len(mine))
                inner = _variations(data, ruleset, mine, ply, depth - 1)
                drawn.append(Variation(ply, tuple(move for _, move in mine), marks, comments, inner))
    return tuple(drawn)


def tree(data: st.DataObject, ruleset: Ruleset) -> GameText:
    """Draw a game with variations."""
    line = _line(data, ruleset, ruleset.read(), 8)
    marks, comments = _annotated(data, 1, len(line))
    return GameText(
        tuple(move for _, move in line),
        ruleset.variant.name,
        ruleset.overrides,
        marks=marks,
        comments=comments,
        variations=_variations(data, ruleset, line, 1, 3),
    )


@pytest.mark.parametrize("family", families())
def test_trees_of_any_rules_survive_writing_and_reading_in_every_notation(family: str) -> None:
    @given(st.data())
    @settings(deadline=None)
    def hold(data: st.DataObject) -> None:
        ruleset = data.draw(rulesets(family))
        game = tree(data, ruleset)
        for form in forms(ruleset):
            text = form.write(game, ruleset)
            games = form.read(text, ruleset)
            assert [read_game.moves for read_game in games] == ([game.moves] if games else []), (form.name, text)
            if not games:
                assert not game.moves
                continue
            assert games[0].variations == game.variations, (form.name, text)
            assert games[0].marks == game.marks, (form.name, text)
            assert games[0].comments == game.comments, (form.name, text)

    hold()


def test_a_variation_stands_after_the_move_that_it_replaces() -> None:
    ruleset = load("loa").settle()
    inner = Variation(2, ("h2f2",), comments={2: "here"})
    game = GameText(("b1b3", "h4f4"), variations=(Variation(1, ("c1c3", "h2f4"), {1: "!"}, {}, (inner,)),))
    text = ruleset.rules.formats[0].write(game, ruleset)
    assert text.splitlines()[-1] == "1. b1-b3 (1. c1-c3! h2-f4 (1... h2-f2 {here})) h4-f4 *"
    (again,) = ruleset.rules.formats[0].read(text, ruleset)
    assert again.variations == game.variations


@pytest.mark.parametrize("inside", ["1. z9z9", "1. c1c8", "1. what he wrote", "1. b1b3 *  c1c3"])
def test_a_variation_that_the_rules_do_not_allow_stays_a_comment(inside: str) -> None:
    ruleset = load("loa").settle()
    (game,) = ruleset.rules.formats[0].read(f"1. b1b3 ({inside}) h4f4", ruleset)
    assert game.moves == ("b1b3", "h4f4")
    assert (game.variations, game.comments) == ((), {1: f"({' '.join(inside.split())})"})


def test_variations_nested_too_deeply_stay_comments() -> None:
    ruleset = load("loa").settle()
    text = "1. b1b3 " + "(1. c1c3 " * 40 + ")" * 40
    (game,) = ruleset.rules.formats[0].read(text, ruleset)
    depth, line = 0, game.variations
    while line:
        depth, line = depth + 1, line[0].variations
    assert depth == 12


def test_an_unclosed_parenthesis_is_refused_as_before() -> None:
    ruleset = load("loa").settle()
    with pytest.raises(ValueError, match="unreadable game text"):
        ruleset.rules.formats[0].read("1. b1b3 (1. c1c3", ruleset)


@pytest.mark.parametrize("family", families())
@pytest.mark.parametrize(
    "written",
    [
        *(
            "({move})",
            "({move} {comment})",
            "({comment} {move})",
            "( {comment} {number} {move} )",
            "($5 {move})",
            "(!? {move})",
        ),
        *("({number} !? {move})", "({move} $5)", "({number}{move})", "(\n\n{move} {comment}\n\n)"),
        *("({number} {move} ({comment}))", "({number} {move}) ({comment}{number} {move})"),
    ],
)
def test_variation_begins_with_a_comment_a_mark_a_number_or_its_move(family: str, written: str) -> None:
    ruleset = load(family).settle()
    start = ruleset.read()
    moves = [ruleset.rules.notation.write_move(move) for move in legal(ruleset, start)[:2]]
    number = "1" if family == "pijersi" else "1."
    for form in forms(ruleset):
        if form.name in ("sgf", "challenge"):
            continue
        comment = {"otn": "[(3. x) ;]"}.get(form.name, "# (3. x) ;\n" if family == "pijersi" else "{(3. x) ;}")
        said = written.format(comment=comment, number=number, move=moves[1])
        (game,) = form.read(f"{number} {moves[0]} {said}\n", ruleset)
        assert game.moves == (moves[0],), (form.name, said)
        assert {variation.moves for variation in game.variations} == {(moves[1],)}, (form.name, said)
