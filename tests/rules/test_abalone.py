"""Abalone: tactics, notations, starts, game texts, extremal boards and static score."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules import load
from referee.rules.abalone import layout, notation, tables
from referee.rules.abalone.rules import EJECTIONS, NO_EJECTION
from referee.rules.abalone.start import VARIANTS
from referee.rules.abalone.state import BLACK, NUMBER, QUIET, WHITE, boards, ejectable, follow
from referee.rules.core import Outcome, ParseError, Termination, UnknownNameError
from referee.rules.history import LineOfPlay
from referee.rules.per_family import perft
from referee.rules.position import IllegalMoveError, Position
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameText
from tests.conftest import EFFORT

RULES = load("abalone")
KERNEL = RULES.kernel
STANDARD = RULES.settle()
VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "abalone.json"
LINEAR, TABLE = RULES.formats[:2]
GAME_427 = next(game for game in json.loads(VECTORS.read_text())["games"] if "427" in game["note"])

# A second, slow reading of the rules: a dictionary of marbles, and moves tried one by one.

CELLS = [(row, digit) for row in range(1, 10) for digit in range(1, 10) if abs(row - digit) <= 4]
UP = ((0, 1), (1, 1), (1, 0))
WAYS = (*UP, *((-row, -digit) for row, digit in UP))


def name(cell):
    return "abcdefghi"[cell[0] - 1] + str(cell[1])


def step(cell, way, times=1):
    return cell[0] + way[0] * times, cell[1] + way[1] * times


def naive_moves(marbles, own):
    """Return move text to (marbles afterwards, ejected) for the side whose symbol is `own`."""
    moves = {}
    for cell in CELLS:
        if marbles.get(cell) != own:
            continue
        for way in WAYS:
            run = [cell]
            while marbles.get(step(run[-1], way)) == own:
                run.append(step(run[-1], way))
            pushed, front = [], step(run[-1], way)
            while marbles.get(front) not in (None, own):
                pushed.append(front)
                front = step(front, way)
            fits = len(run) <= 3 and len(pushed) < len(run) and marbles.get(front) is None
            if fits and (pushed or front in CELLS):
                after = {place: owner for place, owner in marbles.items() if place not in run + pushed}
                moved = {step(place, way): marbles[place] for place in run + pushed}
                after |= {place: owner for place, owner in moved.items() if place in CELLS}
                moves[name(cell) + name(step(cell, way))] = after, len(marbles) - len(after)
        for along in UP:
            for length in (2, 3):
                line = [step(cell, along, i) for i in range(length)]
                for way in WAYS:
                    targets = [step(place, way) for place in line]
                    free = all(place in CELLS and place not in marbles for place in targets)
                    if way in (along, (-along[0], -along[1])) or not free:
                        continue
                    if any(marbles.get(place) != own for place in line):
                        continue
                    after = {place: owner for place, owner in marbles.items() if place not in line}
                    text = name(cell) + name(line[-1]) + name(targets[0])
                    moves[text] = after | dict.fromkeys(targets, own), 0
    return moves


def text_of(marbles, side="b", tail="0 1", scores="0 0"):
    rows = []
    for row in range(9, 0, -1):
        line = "".join(marbles.get(cell, ".") for cell in CELLS if cell[0] == row)
        for length in range(9, 0, -1):
            line = line.replace("." * length, str(length))
        rows.append(line)
    return f"{'/'.join(rows)} {scores} {side} {tail}"


def check_against_naive(marbles, side):
    position = Position.start(STANDARD, text_of(marbles, side))
    wanted = naive_moves(marbles, "S" if side == "b" else "s")
    assert position.texts == sorted(wanted), position
    assert KERNEL.count(position.state, STANDARD.config) == len(wanted), position
    for move, (after, ejected) in wanted.items():
        scores = f"{ejected} 0" if side == "b" else f"0 {ejected}"
        tail = f"{0 if ejected else 1} {1 if side == 'b' else 2}"
        expected = text_of(after, "w" if side == "b" else "b", tail, scores)
        assert str(position.play(move)) == expected, (str(position), move)
        followed = follow(position.state, notation.read_move(move))
        assert followed is not None
        assert STANDARD.write(followed) == expected, (str(position), move)
    return wanted


@settings(max_examples=20 * EFFORT, deadline=None)
@given(st.lists(st.sampled_from(" .SSss"), min_size=61, max_size=61), st.sampled_from("bw"))
def test_any_board_has_the_moves_of_the_slow_rules(symbols, side):
    marbles = {cell: symbol for cell, symbol in zip(CELLS, symbols, strict=True) if symbol in "Ss"}
    check_against_naive(marbles, side)


@pytest.mark.parametrize("start", ["standard", "irish-daisy", "the-wall", "atomouche"])
def test_random_walks_agree_with_the_slow_rules(start):
    dice = random.Random(start)
    position = Position.start(RULES.settle(start))
    marbles = {
        cell: "S" if symbol == "S" else "s" for cell in CELLS if (symbol := position.board.pieces.get(name(cell)))
    }
    for ply in range(40):
        moves = check_against_naive(marbles, "bw"[ply % 2])
        if not moves:
            break
        marbles = moves[dice.choice(sorted(moves))][0]


def test_perft_of_five_plies():
    assert perft(STANDARD, STANDARD.read(), 5) == 283_320_928


def row_e(line, edge=False):
    """Return the board with a row e as the rules draw it: X own, O enemy; `edge` puts its right end at e9."""
    line = line.rjust(9, ".") if edge else line.ljust(9, ".")
    return {(5, i + 1): {"X": "S", "O": "s"}[symbol] for i, symbol in enumerate(line) if symbol != "."}


@pytest.mark.parametrize(
    ("line", "move", "after"),
    [
        ("XXO.", "e1e2", ".XXO"),
        ("XXOO.", "e1e2", None),
        ("XXXOO.", "e1e2", ".XXXOO"),
        ("XXXOOO.", "e1e2", None),
        ("XXXXO.", "e1e2", None),
        ("XXXXO.", "e2e3", "X.XXXO"),
        ("XXOX", "e1e2", None),
        ("XXXOOX", "e1e2", None),
        ("XXXO.O", "e1e2", ".XXXOO"),
        ("XO.", "e1e2", None),
    ],
)
def test_inline_moves(line, move, after):
    position = Position.start(STANDARD, text_of(row_e(line)))
    if after is None:
        with pytest.raises(IllegalMoveError):
            position.play(move)
    else:
        assert str(position.play(move)).split()[0] == text_of(row_e(after)).split()[0]


@pytest.mark.parametrize(
    ("line", "move", "after"),
    [
        ("XXX", "e7e8", None),
        ("XO", "e8e9", None),
        ("XXO", "e7e8", "XX"),
        ("XXXOO", "e5e6", "XXXO"),
        ("XXOO", "e6e7", None),
    ],
)
def test_moves_at_the_edge(line, move, after):
    position = Position.start(STANDARD, text_of(row_e(line, edge=True)))
    if after is None:
        with pytest.raises(IllegalMoveError):
            position.play(move)
    else:
        reached = position.play(move)
        assert str(reached) == text_of(row_e(after, edge=True), "w", "0 1", "1 0")


def test_broadsides_need_empty_targets_and_push_nothing():
    free = Position.start(STANDARD, "5/6/7/8/5SSS1/8/7/6/s4")
    assert {"e6e8f6", "e6e8f7", "e6e7f6", "e7e8d7"} <= set(free.texts)
    assert str(free.play("e8e6f8")).startswith("5/6/7/4SSS1/9/")
    blocked = Position.start(STANDARD, "5/6/7/6s1/5SSS1/8/7/6/5")
    assert "e6e8f6" not in blocked.texts
    assert "e6e7f6" in blocked.texts


@pytest.mark.parametrize(
    "spelling", ["e6e8f6", "e8e6f8", "E8E6F8", "e8-e6-f8", " e6 e8\tf6 ", "e6e8f6(e)", "e6-e8 - f6 (E)"]
)
def test_spellings_of_a_broadside(spelling):
    assert notation.write_move(notation.read_move(spelling)) == "e6e8f6"


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        ("   ", 0),
        ("e5", 2),
        ("e5e5", 2),
        ("e5e7", 2),
        ("e5 e7", 3),
        ("e4e5e6", 4),
        ("e6e9f6", 2),
        ("e6f8f6", 2),
        ("a1d4b1", 2),
        ("e8e6f6", 4),
        ("j5j6", 0),
        ("e5x6", 2),
        ("a6a5", 0),
        ("e1e0", 2),
        ("e5e6f6g6", 6),
        ("e5--e6", 3),
        ("e2e1f2", 2),
        ("e1e2f1", 4),
        ("e٥e6", 0),
        ("ｅ5e6", 0),
        ("e5e6\0", 4),
        ("e5\ne6", 2),
        ("(e)", 0),
        ("e5e6(e)(e)", 4),
        ("e" * 10_000, 0),
    ],
)
def test_malformed_moves(text, index):
    with pytest.raises(ParseError) as caught:
        notation.read_move(text)
    assert caught.value.index == index
    assert caught.value.hint


def test_every_code_has_its_own_text():
    for code, text in tables.MOVE_TEXTS.items():
        assert notation.read_move(text) == code
        assert notation.write_move(code) == text
    with pytest.raises(ValueError, match="invalid move code"):
        notation.write_move(61)


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        ("5/6/7/8/9/8/7/6", 15),
        ("5/6/7/8/9/8/7/6/5/5", 17),
        ("5/6/7/8/9/8/7/6/4", 17),
        ("5/6/7/8/8/8/7/6/5", 9),
        ("5/6/7/8/9S/8/7/6/5", 9),
        ("5/6/7/8/9/8/7/6/SSSSSS", 21),
        ("5/6/7/8/54/8/7/6/5", 9),
        ("5/6/7/8/09/8/7/6/5", 8),
        ("5/6/7/8/x8/8/7/6/5", 8),
        ("5/6/7/8/9/8/7/6/5 -1", 18),
        ("5/6/7/8/9/8/7/6/5 0 ٣", 20),
        ("5/6/7/8/9/8/7/6/5 0 0 W", 22),
        ("5/6/7/8/9/8/7/6/5 0 0 w x", 24),
        ("5/6/7/8/9/8/7/6/5 0 0 w 0 0", 26),
        ("5/6/7/8/9/8/7/6/5 0 0 w 0 1 1", 28),
        ("5/6/7/8/9/8/7/6/5 62", 18),
        ("5/6/7/8/9/8/7/6/5 0 0 b " + "9" * 10_000, 24),
        ("9" * 10_000, 0),
        ("sssss\0", 5),
    ],
)
def test_malformed_positions(text, index):
    with pytest.raises(ParseError) as caught:
        notation.read_position(text, STANDARD.config)
    assert caught.value.index == index


def test_fields_may_be_left_out():
    board = "5/6/7/8/4S4/8/7/6/s4"
    full = f"{board} 0 0 b 0 1"
    for length in range(1, 7):
        assert STANDARD.write(STANDARD.read(" ".join(full.split()[:length]))) == full
    assert STANDARD.write(STANDARD.read(f"  {board}\t2  3 w 7 12 ")) == f"{board} 2 3 w 7 12"


def mirrors(board):
    """Return the twelve images of a board under the symmetries of the hexagon."""
    images = []
    for turned in range(6):
        for flipped in (False, True):
            image = {}
            for (row, digit), owner in board.items():
                y, x = row - 5, digit - 5
                if flipped:
                    y, x = x, y
                for _ in range(turned):
                    y, x = x, x - y
                image[y + 5, x + 5] = owner
            images.append(image)
    return images


def test_the_named_starts():
    assert len(VARIANTS) == 36
    assert RULES.variants[0].name == "standard"
    for start in VARIANTS:
        position = Position.start(RULES.settle(start.name))
        assert str(position) == start.position
        marble_count = 12 if start.name == "atomouche" else 14
        assert Counter(position.board.pieces.values()) == {"S": marble_count, "s": marble_count}, start.name
        at = {name(cell): cell for cell in CELLS}
        marbles = {at[cell]: owner for cell, owner in position.board.pieces.items()}
        swapped = {cell: owner.swapcase() for cell, owner in marbles.items()}
        assert (swapped in mirrors(marbles)) == ("the sides differ" not in start.note), start.name


def test_a_position_string_is_a_variant():
    ruleset = RULES.settle("5/6/7/8/2SSs4/8/7/6/5", {"win_score": 1})
    assert ruleset.variant.name == ruleset.variant.position == "5/6/7/8/2SSs4/8/7/6/5 0 0 b 0 1"
    assert len(Position.start(ruleset).moves) == 15
    assert RULES.settle(ruleset.variant.name).variant == ruleset.variant
    with pytest.raises(ParseError):
        RULES.settle("5/6/7")
    with pytest.raises(UnknownNameError, match="belgian-daisy"):
        RULES.settle("belgian")


def outcome(position, options=None, moves=()):
    return Position.start(RULES.settle(options=options), position).play_all(moves).outcome


def test_winning_score_precedes_other_results():
    options = {"max_plies": 1, "repetition": 2, "limit_result": "score"}
    won = outcome("5/6/7/8/3S2SSs/8/7/6/s4 5 5 b 0 1", options, ["e7e8"])
    assert won == Outcome("first", EJECTIONS)
    assert outcome("5/6/7/8/9/8/7/SS4/sS3 6 0 w 0 1") == Outcome("first", EJECTIONS)


def test_result_no_moves_precedes_limits():
    stuck = "5/6/7/8/9/8/7/SS4/sS3 0 0 w 200 1"
    assert outcome(stuck) == Outcome("first", Termination.NO_MOVES)
    assert outcome(stuck, {"no_moves": "draw"}) == Outcome("draw", Termination.NO_MOVES)
    assert outcome("5/6/7/8/4s4/8/7/6/5") == Outcome("second", Termination.NO_MOVES)


def test_repetition_comes_before_limits_and_wants_the_same_side_to_move():
    there_and_back = ["c3d3", "g7f7", "d3c3", "f7g7"]
    options = {"max_plies": 8, "no_ejection_limit": 8}
    assert outcome(None, options, there_and_back * 2) == Outcome("draw", Termination.REPETITION)
    assert outcome(None, {**options, "repetition": 0}, there_and_back * 2) == Outcome("draw", NO_EJECTION)
    assert outcome(None, {"max_plies": 8, "repetition": 0}, there_and_back * 2) == Outcome(
        "draw", Termination.MAX_PLIES
    )
    # Black's lone marble comes back in three plies of its own, White's in two: the other side is to move.
    lone = "5/6/7/4s3/9/3S4/7/6/5"
    moves = ["d4e4", "f6f7", "e4e5", "f7f6", "e5d4"]
    assert outcome(lone, {"repetition": 2}, moves) is None


def test_limit_result_score_decides_by_ejections():
    leading = "5/6/7/8/4SS3/8/7/6/s4 1 3 b 0 1"
    options = {"max_plies": 2, "limit_result": "score"}
    assert outcome(leading, options, ["e5f5", "a1b1"]) == Outcome("second", Termination.MAX_PLIES)
    assert outcome(leading, {"max_plies": 2}, ["e5f5", "a1b1"]) == Outcome("draw", Termination.MAX_PLIES)
    assert outcome(leading, options, ["e5f5"]) is None
    assert outcome(leading.replace("b 0 1", "b 0 90"), options) is None


def test_the_quiet_counter_starts_again_after_an_ejection():
    line = LineOfPlay(RULES.settle(options={"no_ejection_limit": 3}), "5/6/7/8/3S2SSs/8/7/6/s4 0 0 b 2 1")
    line.push(notation.read_move("e7e8"))
    assert line.outcome is None
    assert line.state[QUIET] == 0
    quiet = LineOfPlay(RULES.settle(options={"no_ejection_limit": 3}), "5/6/7/8/3S2SSs/8/7/6/s4 0 0 b 2 1")
    quiet.push(notation.read_move("e4e5"))
    assert quiet.outcome == Outcome("draw", NO_EJECTION)


def test_the_most_moves_a_board_can_have():
    """150 with 14 marbles a side; stripes of one colour have 264, and no board has more than `MAX_MOVES`."""
    for position, moves in (
        ("sssss/sss1ss/7/1SSSSSS1/s8/2SSSSS1/s6/1SSS1s/4s", 150),
        ("5/SSSSSS/7/SSSSSSSS/9/SSSSSSSS/7/SSSSSS/5", 264),
    ):
        start = Position.start(STANDARD, position)
        assert len(start.moves) == KERNEL.count(start.state, STANDARD.config) == moves
        assert moves < KERNEL.MAX_MOVES
        with pytest.raises(OverflowError):
            KERNEL.legal(start.state, STANDARD.config, np.zeros(moves - 1, dtype=np.int64))


def test_game_427_there_and_back():
    """The real game between Turlututu and picasso, won by White 6-3, played and undone with stored positions."""
    ruleset = RULES.settle("irish-daisy")
    end = Position.start(ruleset).play_all(GAME_427["moves"])
    assert str(end) == GAME_427["final_position"]
    assert end.outcome == Outcome("second", EJECTIONS)
    ejections = []
    position, going_back = end, [str(end)]
    while position.previous is not None:
        earlier = position.previous
        if position.state[QUIET] == 0:
            number, side = earlier.state[NUMBER], earlier.side
            ejections.append((int(number), side, earlier.display(position.move)))
        position = earlier
        going_back.append(str(position))
    white = [(number, text) for number, side, text in reversed(ejections) if side == "second"]
    black = [(number, text) for number, side, text in reversed(ejections) if side == "first"]
    assert white == [(12, "f7e7"), (28, "e5f5"), (30, "d4e4"), (31, "f4g4"), (38, "f5f6"), (47, "e7d7")]
    assert black == [(17, "c5c6"), (23, "f6g6"), (44, "c7d8")]
    assert going_back[-1] == ruleset.write(ruleset.read())
    forward = Position.start(ruleset)
    for move, seen in zip(GAME_427["moves"], reversed(going_back[:-1]), strict=True):
        forward = forward.play(move)
        assert str(forward) == seen


@pytest.mark.parametrize("form", [form for form in RULES.formats if form is not REVERSIBLE], ids=lambda form: form.name)
@pytest.mark.parametrize("options", [{}, {"mark_ejections": True}, {"show_score": True, "mark_ejections": True}])
def test_game_427_as_text(form, options):
    ruleset = RULES.settle("irish-daisy", options)
    tags = {"First": "Turlututu", "Second": 'picasso "the \\ painter"'}
    game = GameText(tuple(GAME_427["moves"]), "irish-daisy", tags=tags, result="second")
    text = form.write(game, ruleset)
    assert list(form.read(text, ruleset)) == [game]
    assert text.count("(e)") == (9 if "mark_ejections" in options else 0)
    assert ("3-6" in text) == ("show_score" in options)
    twice = form.read(text + "\n" + text, ruleset)
    assert list(twice) == [game, game]


def test_a_game_read_backwards():
    """Each move returns the marbles to their previous cells; the numbers of White's moves have dots before them."""
    form = next(form for form in RULES.formats if form.name == "aba-pro-reversed")
    game = GameText(("a1b2", "i5h5", "b1b2c1", "i6h6", "c2c3", "g6g7"), "belgian-daisy", marks={6: "!"})
    text = form.write(game, STANDARD)
    assert text.splitlines()[-1] == "…-3. g7g6! -3. c3c2 …-2. h6i6 -2. c1c2b1 …-1. h5i5 -1. b2a1"
    assert list(form.read(text.replace("…", "..."), STANDARD)) == [game]
    with pytest.raises(ParseError, match="not a game written backwards"):
        form.read("g7g6 -3. c3c2", STANDARD)
    with pytest.raises(ValueError, match="leave the board"):
        form.write(GameText(("b5b6a5",)), STANDARD)


def test_written_game_texts_have_the_documented_form():
    ruleset = RULES.settle("irish-daisy", {"mark_ejections": True, "show_score": True})
    game = GameText(tuple(GAME_427["moves"]))
    lines = LINEAR.write(game, ruleset).splitlines()
    assert lines[0].startswith("1.e4e5 e3e4 2.e8f8 h6g5 3.f3e3 b3b4 ")
    assert lines[-1].endswith("47.d8e9e8 e7d7(e) 3-6")
    assert max(map(len, lines)) <= 100
    table = TABLE.write(game, ruleset).splitlines()
    assert table[0] == "       Black      White      score"
    assert table[1] == "   1.  e4e5       e3e4"
    assert table[12] == "  12.  d8c7       f7e7(e)    0-1"
    later = GameText(("f6f7", "c3d3", "f7f6"), position="5/6/7/4s3/9/8/2S4/6/5 2 3 w 0 12")
    assert LINEAR.write(later, STANDARD).splitlines()[1] == "12...f6f7 13.c3d3 f7f6"
    assert TABLE.write(later, STANDARD).splitlines()[2:] == [
        "  12.  ...        f6f7",
        "  13.  c3d3       f7f6",
    ]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1.e4e4e5 e3e3e4 2. e8f8 {a {comment} h6h6g5", "e4e5 e3e4 e8f8 h6g5"),
        ("12... f7e7(e) 1-1\n13. E6E8F6 e8e6f8 1/2-1/2", "f7e7 e6e8f6 e6e8f6"),
        ("e4e5 e3e4 (e) 0-1 *", "e4e5 e3e4"),
        ("1.e6e6e8f6 e8e8e6f8(e)", "e6e8f6 e6e8f6"),
        ("1. ... e4e5", "e4e5"),
        ("*", ""),
    ],
)
def test_running_texts(text, moves):
    (game,) = LINEAR.read(text, STANDARD)
    assert list(game.moves) == moves.split()


def test_tables_from_other_programs_are_read():
    table = """
    | No. | Turlututu | picasso | score |
    |-----|-----------|---------|-------|
    | 1   | e4e4e5    | e3e4    | 0-0   |
    | 12. | F7E7(e)   | h6-g5   | 1-0   | {so far}
    13  e8e6f8
    """
    (game,) = TABLE.read(table, STANDARD)
    assert game.moves == ("e4e5", "e3e4", "f7e7", "h6g5", "e6e8f6")


def test_several_games_in_one_text():
    assert [game.moves for game in LINEAR.read("1.a1b2 i5h5 1.e4e5 e3e4 1...", STANDARD)] == [
        ("a1b2", "i5h5"),
        ("e4e5", "e3e4"),
    ]
    assert list(LINEAR.read("", STANDARD)) == list(TABLE.read(" \n", STANDARD)) == []


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("1.e4e5 e3e9", 9),
        ("1.e4e5 {unfinished", 7),
        ("[Variant]", 0),
        ('[Rule.win_score "15"] 1.e4e5', 0),
        ('1.e4e5 [Rule.nonsense "15"]', 7),
        ("1.e4e4e4e5", 6),
        ("1.e4e5 hello", 7),
        ("1.e4e5 12", 7),
        ("9" * 10_000, 0),
    ],
)
def test_malformed_running_texts(text, index):
    with pytest.raises(ParseError) as caught:
        LINEAR.read(text, STANDARD)
    assert caught.value.index == index


@pytest.mark.parametrize(
    ("text", "index"),
    [("hello\nworld", 0), ("1 e4e5 e3e4 e8f8", 12), ("1 e4e5\nhello", 7), ("1. e4e9", 5), ("1 e4e5 2 e3e4", 7)],
)
def test_malformed_tables(text, index):
    with pytest.raises(ParseError) as caught:
        TABLE.read(text, STANDARD)
    assert caught.value.index == index


def test_game_text_that_cannot_be_written_is_an_error():
    with pytest.raises(ValueError, match="illegal move 'e4e5'"):
        LINEAR.write(GameText(("e4e5",)), RULES.settle(options={"show_score": True}))
    with pytest.raises(ValueError, match="invalid tag name"):
        LINEAR.write(GameText((), tags={"Result": "1"}), STANDARD)


def test_display_of_moves():
    marked = RULES.settle("5/6/7/8/3S2SSs/8/7/6/s4 2 1 b 0 1", {"mark_ejections": True, "show_score": True})
    position = Position.start(marked)
    assert position.display(notation.read_move("e7e8")) == "e7e8(e) 3-1"
    assert position.display(notation.read_move("e4e5")) == "e4e5"
    assert position.read(position.display(notation.read_move("e7e8")).split()[0]) == notation.read_move("e7e8")


@pytest.mark.parametrize(
    ("position", "move", "ways"),
    [
        ("5/6/7/8/3S5/8/7/6/s4 0 0 b 0 1", "e4e5", [("e4", "e5")]),
        ("5/6/7/8/3SS4/8/7/6/s4 0 0 b 0 1", "e4e5", [("e4", "e6"), ("e4", "e5")]),
        ("5/6/7/8/3SSSs2/8/7/6/5 0 0 b 0 1", "e4e5", [("e4", "e7"), ("e4", "e5"), ("e4", "e6")]),
        ("5/6/7/8/3SSS3/8/7/6/s4 0 0 b 0 1", "e4e6f4", [("e4", "e6", "f4"), ("e6", "e4", "f6")]),
    ],
)
def test_a_row_is_aimed_ahead_of_itself_at_its_next_or_its_front_marble(position, move, ways):
    at = Position.start(STANDARD, position)
    assert list(layout.move_input(at.read(move), at.state)) == ways


def test_board_has_marks_and_notes():
    position = Position.start(STANDARD, "5/6/7/8/3S2SSs/8/7/6/s4 3 1 b 7 1")
    board = position.board
    assert board.shape == "hex"
    assert len({(cell.x, round(cell.y, 6)) for cell in board.cells}) == 61
    assert board.pieces == {"e4": "S", "e7": "S", "e8": "S", "e9": "s", "a1": "s"}
    assert board.marks == {"e9": ("in-danger",)}
    assert "score 3-1 (to win: 6)" in board.notes
    near = {cell.name: (cell.x, cell.y) for cell in layout.CELLS}
    for other in ("e6", "f6", "f5", "e4", "d4", "d5"):
        distance = np.hypot(near["e5"][0] - near[other][0], near["e5"][1] - near[other][1])
        assert distance == pytest.approx(1.0)


@settings(max_examples=20 * EFFORT, deadline=None)
@given(st.lists(st.sampled_from(".SSss"), min_size=61, max_size=61))
def test_marbles_in_danger_are_those_that_a_move_can_eject(symbols):
    marbles = {cell: symbol for cell, symbol in zip(CELLS, symbols, strict=True) if symbol != "."}
    position = Position.start(STANDARD, text_of(marbles))
    lost = sum(ejected for _, ejected in naive_moves(marbles, "S").values())
    found = ejectable(*boards(position.state))
    assert bool(found) == (lost > 0)
    assert {tables.NAMES[cell] for cell in found} <= {name(cell) for cell, owner in marbles.items() if owner == "s"}


def test_random_moves_are_equally_likely():
    from referee.rules.abalone.kernel import _pick

    start = Position.start(STANDARD, "s3s/1S2S1/2S1S2/8/sSS3SSs/8/2S1S2/1S2S1/s3s")
    own, enemy = (np.uint64(start.state[index]) for index in (BLACK, WHITE))
    rng = np.array([7], dtype=np.uint64)
    picks = Counter(int(_pick(own, enemy, rng)) for _ in range(200 * len(start.moves)))
    assert set(picks) == set(start.moves)
    assert all(130 < times < 270 for times in picks.values())


def score(position):
    return KERNEL.evaluate(STANDARD.read(position), STANDARD.config)


def test_the_static_score():
    for start in VARIANTS:
        if "the sides differ" not in start.note and not Position.start(RULES.settle(start.name)).board.marks:
            assert score(start.position) == 0, start.name
    board = "5/6/7/8/3SS4/8/7/6/s4"
    assert score(f"{board} 1 0 b 0 1") > score(f"{board} 0 0 b 0 1") > score(f"{board} 0 1 b 0 1")
    assert score(f"{board} 6 0 b 0 1") == -score(f"{board} 6 0 w 0 1") == 15_000
    assert score(board) > 0 > score(f"{board} 0 0 w 0 1")
