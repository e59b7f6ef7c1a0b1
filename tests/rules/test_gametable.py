"""Tables of games, in every family: written under the sides' names, read again, and pasted from other sources."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.rules import families, load
from referee.rules.core import ParseError
from referee.rules.gametable import is_heading, lines, rows
from referee.rules.position import Position
from referee.rules.rules import GameFormat, GameText, Rules

MARKS, COMMENTS = {2: "!", 5: "??"}, {0: "A start", 3: "good (or not)", 4: "hm"}


def table_of(rules: Rules) -> GameFormat:
    return next(form for form in rules.formats if form.name.endswith("-table"))


def beginning(rules: Rules, variant: str) -> tuple[Position, tuple[str, ...]]:
    """Return the start, and the first six moves of some game."""
    position = start = Position.start(rules.settle(variant))
    moves = []
    for place in range(6):
        moves.append(position.moves[7 * place % len(position.moves)])
        position = position.play(moves[-1])
    return start, tuple(map(rules.notation.write_move, moves))


@pytest.mark.parametrize("family", families())
def test_a_table_is_written_and_read_back(family):
    rules = load(family)
    start, moves = beginning(rules, rules.variants[-1].name)
    game = GameText(moves, rules.variants[-1].name, {}, None, {}, "1-0", MARKS, COMMENTS)
    second = replace(game, moves=moves[1:], position=str(start.play(moves[0])))
    for written in (game, second, replace(game, moves=(), marks={}, comments={0: "nothing"})):
        text = table_of(rules).write(written, rules.settle())
        read = table_of(rules).read(text, rules.settle())
        assert [(read_game.moves, read_game.result, read_game.marks, read_game.comments) for read_game in read] == [
            (written.moves, "1-0", written.marks, written.comments)
        ]


@pytest.mark.parametrize("family", families())
def test_a_row_has_both_moves_under_the_names_of_the_sides(family):
    rules = load(family)
    start, moves = beginning(rules, rules.variants[0].name)
    text = table_of(rules).write(GameText(moves[:4]), rules.settle())
    heading = next(place for place, line in enumerate(text.splitlines()) if is_heading(line, rules))
    table = text.splitlines()[heading : heading + 3]
    assert table[0].split() == list(start.ruleset.sides)
    columns = [table[0].index(side) for side in start.ruleset.sides]
    assert all(row[column - 1] == " " != row[column] for row in table[1:] for column in columns)


@pytest.mark.parametrize("family", families())
def test_pasted_table_is_read(family):
    rules = load(family)
    _, moves = beginning(rules, rules.variants[0].name)
    titles = [names[0].upper() for names in rules.words.sides]
    numbers = (1, 3, 5) if family == "pijersi" else (1, 2, 3)
    body = "\n".join(f"{n} | {moves[2 * i]} | {moves[2 * i + 1]} |" for i, n in enumerate(numbers))
    text = f"Coup | {titles[0]} | {titles[1]}\n-----+------+-----\n{body}\n"
    (game,) = table_of(rules).read(text, rules.settle())
    assert game.moves == moves


def test_an_error_below_a_heading_is_placed_in_the_text_as_it_was():
    with pytest.raises(ParseError) as caught:
        table_of(load("loa")).read("White Black\n1 b1b3 q9q9\n", load("loa").settle())
    assert caught.value.text.startswith("White Black")
    assert caught.value.text[caught.value.index :].startswith("q9q9")


def test_rows_and_columns():
    assert rows(["a", "b", "c"], 4, 1) == [("4.", "...", "a"), ("5.", "b", "c")]
    assert rows([], 1, 1) == []
    assert lines(("First", "Second"), rows(["x" * 30, "y", "z" * 12], 1, 0)) == [
        "       First        Second",
        f"   1.  {'x' * 30} y",
        "   2.  zzzzzzzzzzzz",
    ]


def test_words_of_players_are_not_a_heading():
    rules = load("abalone")
    assert is_heading("# Noir Blanc score", rules)
    assert not is_heading("Noir abandonne", rules)
    assert not is_heading("coup score", rules)
