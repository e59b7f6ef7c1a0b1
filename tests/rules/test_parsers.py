"""Every reader of every family accepts any text: it returns a value that round-trips or raises a ParseError."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules import families, load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gametags import MARKS
from referee.rules.position import IllegalMoveError, Position
from referee.rules.random_walk import named
from referee.rules.rules import GameText
from referee.rules.vectors import read_file
from tests.conftest import EFFORT
from tests.rules.walks import positions, rulesets

VECTORS = Path(__file__).parent.parent / "data" / "vectors"
NASTY = (
    "",
    " ",
    "\0",
    "\n",
    "٣",
    "²",
    "Ⅷ",
    "１",
    "ß",
    "\u202e",
    "9" * 40,
    "-1",
    "0",
    "/" * 30,
    "x" * 10_000,
    "1" * 10_000,
)

ANYTHING = st.one_of(
    st.sampled_from(NASTY), st.text(max_size=40), st.text("abcdefghiBRWXw123456789/- :.{}()[]#!=", max_size=60)
)


def spoilt(text: str, rng: random.Random) -> str:
    """Return the text after a few insertions, deletions, replacements, swaps, changes of case and doublings."""
    for _ in range(rng.randrange(1, 5)):
        place = rng.randrange(len(text) + 1)
        piece = rng.choice((*NASTY[:-2], *'abewWsSkK019/- xX:=()#{}[]"\t', text[place : place + 3]))
        match rng.randrange(5):
            case 0:
                text = text[:place] + piece + text[place:]
            case 1:
                text = text[:place] + text[place + rng.randrange(1, 4) :]
            case 2:
                text = text[:place] + piece + text[place + 1 :]
            case 3:
                text = text[:place] + text[place:].swapcase()
            case 4:
                text = text[place:] + text[:place]
    return text


def refused(error: ParseError, text: str) -> None:
    """Assert that an error gives an index in the text and a hint."""
    assert error.problem, repr(text)
    has_advice = error.hint or "did you mean" in error.problem or "known: " in error.problem
    assert has_advice, f"no hint for {text[:200]!r}: {error}"
    assert 0 <= error.index <= len(error.text), repr(text)
    assert len(str(error)) < 1000, repr(text)


def attempt(read, text: str):
    """Return the result of `read`, or None after a ParseError; any other exception is a fault of the reader."""
    try:
        return read(text)
    except ParseError as error:
        refused(error, text)
    except UnknownNameError:
        pass  # says what is known by itself
    return None


SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize("family", families())
def test_positions(family):
    @given(positions(family), SEEDS, ANYTHING)
    def survives(place, seed, anything):
        ruleset, state = place
        rng = random.Random(seed)
        for text in (anything, *(spoilt(ruleset.write(state), rng) for _ in range(5))):
            again = attempt(lambda text: ruleset.rules.notation.read_position(text, ruleset.config), text)
            if again is not None:
                written = ruleset.write(again)
                assert ruleset.write(ruleset.read(written)) == written, named(ruleset, again, f"from {text!r}")

    survives()


@pytest.mark.parametrize("family", families())
def test_moves(family):
    @given(positions(family), SEEDS, ANYTHING)
    def survives(place, seed, anything):
        ruleset, state = place
        notation, rng = ruleset.rules.notation, random.Random(seed)
        moves = Position(ruleset, state).moves
        texts = [anything]
        for move in rng.sample(moves, min(4, len(moves))):
            texts.append(spoilt(notation.write_move(move), rng))
            texts.append(spoilt(notation.display_move(move, state, ruleset.config), rng))
        for text in texts:
            code = attempt(lambda text: notation.read_move(text, state, ruleset.config), text)
            if code is not None:
                written = notation.write_move(code)
                again = notation.read_move(written, state, ruleset.config)
                assert again == code, named(ruleset, state, f"{text!r} is {written!r}, read as {again} not {code}")

    survives()


@pytest.mark.parametrize("family", families())
def test_move_in_upper_case_is_the_same_move(family):
    @given(positions(family))
    def holds(place):
        ruleset, state = place
        notation = ruleset.rules.notation
        for code in Position(ruleset, state).moves:
            assert notation.read_move(notation.write_move(code).upper(), state, ruleset.config) == code

    holds()


@pytest.mark.parametrize("family", [family for family in families() if load(family).notation.read_setup])
def test_setups(family):
    rules = load(family)
    read = rules.notation.read_setup
    models = [entry["text"] for entry in read_file(VECTORS / f"{family}.json").get("setup_notation", [])]

    @given(SEEDS, ANYTHING)
    def survives(seed, anything):
        rng = random.Random(seed)
        for text in (anything, *(spoilt(model, rng) for model in models)):
            position = attempt(read, text)
            if position is not None:
                ruleset = rules.settle()
                assert ruleset.write(ruleset.read(position)) == position, repr(text)

    survives()


@pytest.mark.parametrize("family", families())
def test_variant_and_option_texts_are_read_or_refused(family):
    rules = load(family)
    names = [variant.name for variant in rules.variants]

    @given(SEEDS, ANYTHING)
    def survives(seed, anything):
        rng = random.Random(seed)
        for text in (anything, spoilt(rng.choice(names), rng), rng.choice(names) + spoilt("#17/42", rng)):
            variant = attempt(rules.variant, text)
            if variant is not None:
                ruleset = rules.settle(variant.name)
                assert ruleset.write(ruleset.read()) == ruleset.variant.position, repr(text)
            if rules.draw is not None:
                drawn = attempt(lambda text: rules.draw(text, random.Random(1)), text)
                if drawn is not None:
                    rules.settle(drawn.name).read(drawn.position)
            assert attempt(rules.option, text) is None or text in {option.name for option in rules.options}
        for option in rules.options:
            for text in (anything, spoilt(str(option.default), rng)):
                value = attempt(option.read, text)
                if value is not None:
                    assert option.read(value) == value, (option.name, text)

    survives()


def test_unknown_family():
    with pytest.raises(UnknownNameError, match="did you mean"):
        load(families()[0] + "x")


COMMENTS = ("bien joué", "Better was 12. e4e5: it threatens", "Titre (deux) d'une partie!", "raichi", "1-0", "a, b - c")
"""Texts of annotators, with words that would have a meaning outside a comment."""


def written_games(family: str):
    """Draw random games of the family as `GameText`, with their rules."""

    @st.composite
    def build(draw) -> tuple:
        ruleset = draw(rulesets(family))
        rng = random.Random(draw(SEEDS))
        position = Position.start(ruleset)
        moves = []
        for _ in range(draw(st.integers(0, 30))):
            if not position.moves or position.outcome is not None:
                break
            position = position.play(rng.choice(position.moves))
            moves.append(ruleset.rules.notation.write_move(position.move))
        plies = range(1, len(moves) + 1)
        marks = {ply: rng.choice(MARKS) for ply in plies if rng.random() < 0.3}
        comments = {ply: rng.choice(COMMENTS) for ply in (0, *plies) if moves and rng.random() < 0.2}
        text = GameText(tuple(moves), ruleset.variant.name, ruleset.overrides, marks=marks, comments=comments)
        return ruleset, text, rng

    return build()


@pytest.mark.parametrize("family", families())
def test_game_texts(family):
    formats = load(family).formats

    @given(written_games(family), ANYTHING)
    @settings(max_examples=12 * EFFORT)
    def survives(game, anything):
        ruleset, text, rng = game
        for form in formats:
            written = form.write(text, ruleset)
            where = f"{form.name}: {written!r}"
            if text.moves:
                back = form.read(written, ruleset)
                assert [read_game.moves for read_game in back] == [text.moves], where
                assert [(read_game.marks, read_game.comments) for read_game in back] == [(text.marks, text.comments)], (
                    where
                )
                again = form.read(form.write(back[0], ruleset), ruleset)
                assert again == back, where
            for read in (anything, *(spoilt(written, rng) for _ in range(4))):
                games = attempt(lambda read, form=form: form.read(read, ruleset), read)
                assert games is None or all(isinstance(read_game, GameText) for read_game in games), repr(read)

    survives()


@pytest.mark.parametrize("family", families())
def test_bad_moves_are_refused_by_position(family):
    """A position reads any text as a legal move, or raises one of two errors that name it."""
    position = Position.start(load(family).settle())

    @given(ANYTHING)
    def survives(text):
        try:
            move = position.read(text)
        except (ParseError, IllegalMoveError):
            return
        assert move in position.moves, repr(text)

    survives()
