"""What a notation writes it reads: comments, tags and names of any characters, at any move, in every notation.

A comment is only a comment, whatever it says; and texts as people have them are read, or refused with the reason.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules import families, load
from referee.rules.position import Position
from referee.rules.rules import GameFormat, GameText, Ruleset
from tests.conftest import EFFORT

# fmt: off
NASTY = (
    *("first ]\n\nSecond paragraph of words\n\nthird", "from [a club", "Zen", "Standard", "{Zen}"),
    *("[Variant", "} 1-0 {", '[Variant "zen"]', '# [Result "1-0"]', "#! random", "[event:x]", "note: x"),
    *('Name "x"', "event:", "- note: x", "(3. x)", "(1. b1b3 h4h6)", "( ", ") )", "((((", "1-0"),
    *("* 0-1 *", "1/2-1/2", "$5 $1", "!", "?! !", "1. 2... 3)", "; rest of the line", "# rest"),
    *("% escape", "%", "\\", "\\\\ \\} \\n", '"', '"a" \\"', "a|b", "-----", "---", "| 1 |"),
    *("  two  blanks ", "\ttab\t", "\n", "\r\n\r\n", "a\n\n\nb", "\x00\x01\x1b[0m\x7f\x85"),
    *("\u2028\u00a0\u3000", "\ufeff", "emoji 🙂👩‍👩‍👧", "\u202eright to left", "&#125;", "&#38;#125;"),
    *("&amp; & &#;", "Resigns", "White wins", "raichi", "a16:RPSRPS", "1a.1.1a. e5-e3", "1.e4e5 e3e4"),
    *("6.w d4.e5 wke5/wkd4.bpe5", "pass", "Hello from PIJERSI-CERTU", "{", "}", "[", "]", "(", ")", ";"),
    *("#", "x" * 300, "Black\tWhite", "No White score", "/9/9/", "takes two; ; x", "a\\", "]]", "a]:b["),
    *("Accensione server", "Turn: W Pawn from e3 to d3", '{"variant": "x"}', "(;GM[1]", "…-3. g5g4", "e3:s"),
    *('[FinalPosition "x"]', "Turn 1 / player white", "White-a wins against black-b", "½-½", "<b>", "&#0;"),
)
# fmt: on
ANY = st.one_of(
    st.sampled_from(NASTY),
    st.lists(st.sampled_from((*NASTY, " ", "\n")), max_size=4).map("".join),
    st.text(st.sampled_from('][{}()#;%"\\|&$*!?-.:/ \n\r\t\x00x1aZ🙂'), max_size=30),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
)
CASES = [(family, form.name) for family in families() for form in load(family).formats]


def form_of(family: str, name: str) -> GameFormat:
    return next(form for form in load(family).formats if form.name == name)


def game_of(ruleset: Ruleset, plies: int) -> GameText:
    """Return a game of the first legal moves."""
    position, moves = Position.start(ruleset), list[str]()
    for ply in range(plies):
        moves.append(sorted(position.texts)[7 * ply % len(position.texts)])
        position = position.play(moves[-1])
    return GameText(tuple(moves), ruleset.variant.name, ruleset.overrides)


def assert_is_read_back(family: str, form: GameFormat, game: GameText) -> None:
    """Assert that a game, and the same game twice in one text, is read as it was written."""
    ruleset = load(family).settle()
    text = form.write(game, ruleset)
    (read_game,) = form.read(text, ruleset)
    assert (read_game.moves, read_game.comments) == (game.moves, game.comments), text
    assert (read_game.tags, read_game.variations) == (game.tags, game.variations), text
    assert (
        ruleset.rules.settle(read_game.variant or None, read_game.options).changed()
        == ruleset.rules.settle(game.variant, game.options).changed()
    ), text
    read_games = form.read(f"{text}\n{text}", ruleset)
    assert [read_game.moves for read_game in read_games] == [game.moves] * 2, text


@pytest.mark.parametrize(("family", "name"), CASES)
def test_comment_of_any_words_is_read_back_at_any_move(family: str, name: str) -> None:
    form, game = form_of(family, name), game_of(load(family).settle(), 5)
    for said in NASTY:
        assert_is_read_back(family, form, replace(game, comments={0: said, 1: said, 3: said, 5: said}))


@pytest.mark.parametrize(("family", "name"), CASES)
def test_tags_of_any_words_are_read_back(family: str, name: str) -> None:
    form, game = form_of(family, name), game_of(load(family).settle(), 3)
    for value in NASTY:
        assert_is_read_back(family, form, replace(game, tags={"event": value, "first": f"{value}{value}"}))


@pytest.mark.parametrize("family", families())
def test_any_comments_and_tags_are_read_back(family: str) -> None:
    game = game_of(load(family).settle(), 5)

    @given(st.dictionaries(st.integers(0, 5), ANY.filter(bool), max_size=4), ANY, st.sampled_from(load(family).formats))
    @settings(max_examples=50 * EFFORT, deadline=None)
    def hold(comments: dict[int, str], value: str, form: GameFormat) -> None:
        assert_is_read_back(family, form, replace(game, comments=comments, tags={"event": value}))

    hold()
