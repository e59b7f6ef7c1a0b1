"""Baroque chess: captures, freezing, check, starts, texts, game formats, and a slow reference."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules import load
from referee.rules.baroque.kernel import BY_STALEMATE
from referee.rules.baroque.kernel_board import frozen_squares, occupied, sides, style_of
from referee.rules.baroque.kernel_score import WORTH, best_capture, captures, in_check, quiet_eval
from referee.rules.baroque.rules import STALEMATE
from referee.rules.baroque.start import LETTERS, ROWS, row
from referee.rules.core import Outcome, ParseError, Termination, UnknownNameError
from referee.rules.history import LineOfPlay
from referee.rules.jit import jit
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import GameText, Value
from tests.conftest import EFFORT

RULES = load("baroque")
PURE = RULES.settle()
CLASSICAL = RULES.settle("classical")
ROOT = Path(__file__).parents[2]


def at(position: str, variant: str | None = None, **options: Value) -> Position:
    fields = position.split()
    return Position.start(RULES.settle(variant, options), " ".join([*fields, *["w", "0", "1"][len(fields) - 1 :]]))


def gone(position: Position, move: str) -> list[str]:
    """Return the squares that a move empties, without its origin."""
    after = position.play(move)
    return sorted(set(position.board.pieces) - set(after.board.pieces) - {move[:2]})


# A naive twin, written from the rules with a dictionary of squares, to compare the kernel with.

ALL_STEPS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
ROOK_STEPS = [(x, y) for x, y in ALL_STEPS if 0 in (x, y)]
Square = tuple[int, int]
Placed = Mapping[Square, str]


class Twin:
    """The rules of movement, slow and plain. Sides are True for White, False for Black."""

    def __init__(self, board: Placed, options: Mapping[str, Value]) -> None:
        self.board, self.options = dict(board), options

    @classmethod
    def read(cls, position: Position) -> Twin:
        squares = {
            ("abcdefgh".index(name[0]), int(name[1]) - 1): piece for name, piece in position.board.pieces.items()
        }
        return cls(squares, position.ruleset.values)

    def owns(self, side: bool, square: Square, letters: str = "PRNBQMK") -> bool:
        piece = self.board.get(square, "")
        return bool(piece) and piece.isupper() == side and piece.upper() in letters

    def near(self, square: Square) -> list[Square]:
        return [(square[0] + x, square[1] + y) for x, y in ALL_STEPS]

    def is_frozen(self, square: Square) -> bool:
        side = self.board[square].isupper()
        for other in self.near(square):
            if self.board[square] in "Mm" and self.owns(not side, other, "B"):
                return True
            if self.owns(not side, other, "M"):
                helpers = [near for near in self.near(other) if near != square and self.owns(side, near, "BM")]
                if self.options["immobilizer"] == "classical" or not helpers:
                    return True
        return False

    def king(self, side: bool) -> Square | None:
        return next((square for square in self.board if self.owns(side, square, "K")), None)

    def captures(self, origin: Square, end: Square) -> set[Square]:
        piece, side = self.board[origin].upper(), self.board[origin].isupper()
        if origin == end:
            return set()
        if piece == "K":
            return {end} & set(self.board)
        x, y = (int(np.sign(b - a)) for a, b in zip(origin, end, strict=True))
        path, square = [], (origin[0] + x, origin[1] + y)
        while square != end:
            path.append(square)
            square = (square[0] + x, square[1] + y)
        taken = set(path) & set(self.board)
        if piece == "B" and taken and not self.options["chameleon_leap_combines"]:
            return taken

        def victims(kind: str) -> str:
            return "PRNBQMK" if piece == kind else kind if piece == "B" else ""

        if 0 in (x, y):
            for a, b in ROOK_STEPS:
                beside, behind = (end[0] + a, end[1] + b), (end[0] + 2 * a, end[1] + 2 * b)
                if self.owns(not side, beside, victims("P")) and behind != origin and self.owns(side, behind):
                    taken.add(beside)
        king = self.king(side)
        if king and king[0] != end[0] and king[1] != end[1]:
            taken |= {c for c in ((end[0], king[1]), (king[0], end[1])) if self.owns(not side, c, victims("R"))}
        back = (origin[0] - x, origin[1] - y)
        return taken | ({back} if self.owns(not side, back, victims("Q")) else set())

    def destinations(self, origin: Square, takes_kings: bool = False) -> Iterator[Square]:
        piece, side = self.board[origin].upper(), self.board[origin].isupper()
        if self.is_frozen(origin):
            return
        on_board = [(x, y) for x, y in self.near(origin) if 0 <= x < 8 and 0 <= y < 8]
        if piece == "K":
            yield from (square for square in on_board if not self.owns(side, square))
            return
        if piece == "B" and takes_kings:
            yield from (square for square in on_board if self.owns(not side, square, "K"))
        for x, y in ROOK_STEPS if piece == "P" else ALL_STEPS:
            square, leaps, was_empty = (origin[0] + x, origin[1] + y), 0, True
            while 0 <= square[0] < 8 and 0 <= square[1] < 8:
                is_empty = square not in self.board
                if is_empty:
                    yield square
                else:
                    leaps += 1
                    most = self.options["leaper_max_captures"] or 8
                    is_prey = self.owns(not side, square, {"N": "PRNBQMK", "B": "N"}.get(piece, ""))
                    if not is_prey or leaps > int(most) or not was_empty:
                        break
                square, was_empty = (square[0] + x, square[1] + y), is_empty

    def is_check(self, side: bool) -> bool:
        king = self.king(side)
        return king is not None and any(
            end == king or king in self.captures(origin, end)
            for origin in self.board
            if self.owns(not side, origin)
            for end in self.destinations(origin, takes_kings=True)
        )

    def after(self, origin: Square, end: Square) -> Twin:
        left = {s: p for s, p in self.board.items() if s != origin and s not in self.captures(origin, end)}
        return Twin(left if origin == end else {**left, end: self.board[origin]}, self.options)

    def legal(self, side: bool) -> list[tuple[Square, Square]]:
        moves = []
        for origin in self.board:
            if self.owns(side, origin):
                ends = list(self.destinations(origin))
                if self.options["suicide"] and not self.owns(side, origin, "K") and self.is_frozen(origin):
                    ends.append(origin)
                moves += [(origin, end) for end in ends if not self.after(origin, end).is_check(side)]
        return moves


def named(square: Square) -> str:
    return "abcdefgh"[square[0]] + str(square[1] + 1)


NO_MOVES = range(1, 4 * BY_STALEMATE + 4)
WORTH_OF = dict(zip("PRNBQMK", (*WORTH, 0), strict=True))
PRICE_OF = dict(zip("PRNBQMK", (60, 450, 575, 380, 320, 750, 0), strict=True))
ASKED = np.array([*(PRICE_OF[kind] for kind in "PRNBQM"), 20, 150, 192, 127, 107, 250, 300, 7, 10], dtype=np.int64)
"""Piece values like fitted ones: the pieces, their losses when frozen, a frozen king, pincers' ranks, room."""


@jit
def best_gain(state: Any, config: Any) -> Any:
    """Return the highest value that one move of the side to move captures."""
    style = style_of(config)
    u, v = sides(state)
    own = occupied(u)
    return best_capture(u, v, own, occupied(v), frozen_squares(u, v, style) & own, style)


def compare(position: Position) -> None:
    """Compare the kernel with the reference: moves, captures, check, freezing, and the board after a few moves."""
    kernel, config = RULES.kernel, position.ruleset.config
    twin, side = Twin.read(position), position.side == "first"
    wanted = twin.legal(side)
    assert position.texts == sorted(named(a) + named(b) for a, b in wanted), position
    assert kernel.count(position.state, config) == len(wanted), position
    assert (kernel.result(position.state, config, 1, 0) in NO_MOVES) == (not wanted), position
    takes = [twin.captures(a, b) for a in twin.board if twin.owns(side, a) for b in twin.destinations(a)]
    values = [sum(WORTH_OF[twin.board[square].upper()] for square in taken) for taken in takes]
    assert best_gain(position.state, config) == max(values, default=0), position
    moves, gains = np.zeros((2, kernel.MAX_MOVES), dtype=np.int64)
    count = captures(position.state, config, ASKED, moves, gains)
    text = RULES.notation.write_move
    assert {text(int(move)): int(gain) for move, gain in zip(moves[:count], gains[:count], strict=True)} == {
        named(a) + named(b): sum(PRICE_OF[twin.board[square].upper()] for square in twin.captures(a, b))
        for a, b in wanted
        if twin.captures(a, b)
    }, position
    assert in_check(position.state, config) == twin.is_check(side), position
    assert ("check" in position.board.notes) == twin.is_check(side), position
    marked = {cell for cell, words in position.board.marks.items() if "frozen" in words}
    assert marked == {named(square) for square in twin.board if twin.is_frozen(square)}, position
    for origin, end in wanted[:: max(1, len(wanted) // 3)]:
        after = position.play(named(origin) + named(end))
        pieces = {named(square): piece for square, piece in twin.after(origin, end).board.items()}
        assert after.board.pieces == pieces, (str(position), named(origin) + named(end))


pieces = st.sampled_from("PPRNNBBQQMpprnnbbqqm")
crowds = st.integers(0, 31).map(lambda corner: corner // 8 * 8 + corner % 4)
options = st.fixed_dictionaries(
    {
        "immobilizer": st.sampled_from(["pure", "classical"]),
        "suicide": st.booleans(),
        "chameleon_leap_combines": st.booleans(),
        "leaper_max_captures": st.sampled_from([0, 0, 1, 2]),
        "bare_kings_draw": st.just(False),
    }
)


@st.composite
def placements(draw: st.DrawFn) -> str:
    """Draw any pieces, often crowded on 5x5 squares; sometimes a king is missing."""
    corner = draw(crowds)
    inside = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda xy: corner + xy[0] + 8 * xy[1])
    squares = draw(st.lists(st.one_of(inside, st.integers(0, 63)), min_size=2, max_size=24, unique=True))
    kings = draw(st.sampled_from(["Kk"] * 8 + ["K.", ".k", ".."]))
    board = ["."] * 64
    for place, square in enumerate(squares):
        board[square if square < 64 else square - 64] = kings[place] if place < 2 else draw(pieces)
    ranks = ["".join(board[8 * rank : 8 * rank + 8]) for rank in range(7, -1, -1)]
    text = "/".join("".join("1" if piece == "." else piece for piece in rank) for rank in ranks)
    return f"{text} {draw(st.sampled_from('wb'))} 0 1"


@given(placements(), options)
@settings(max_examples=33 * EFFORT, deadline=None)
def test_kernel_agrees_with_the_naive_rules_on_any_pieces(text: str, chosen: dict[str, Value]) -> None:
    ruleset = RULES.settle("standard", chosen)
    compare(Position(ruleset, RULES.notation.read_position(text, None)))  # a reader would refuse some of them


@pytest.mark.parametrize("variant", ["standard", "classical", "mackay"])
def test_kernel_agrees_with_the_naive_rules_along_random_games(variant: str) -> None:
    rng = random.Random(7)
    position = Position.start(RULES.settle(variant))
    for ply in range(90):
        if position.outcome is not None:
            break
        if ply % 6 == 0:
            compare(position)
        position = position.play(rng.choice(position.moves))
        position.previous = None


# Captures (section 4 of the rules) and freezing


@pytest.mark.parametrize(
    ("position", "move", "taken"),
    [
        ("7k/5ppp/2N5/2n5/3rB3/8/PPP5/K7", "c2c4", ["c5", "d4"]),
        ("8/2b4K/2q5/3p1N1p/8/8/2R5/k7", "c2c5", ["c7", "h5"]),
        ("2n4k/3r4/5b2/3p4/1m6/3b4/3N4/K7", "d2d8", ["d3", "d5", "d7"]),
        ("2n4k/3r4/5b2/3p4/1m6/3b4/3N4/K7", "d2d6", ["d3", "d5"]),
        ("2n4k/3r4/5b2/3p4/1m6/3b4/3N4/K7", "d2a5", ["b4"]),
        ("7k/8/8/3Qr3/8/8/8/K7", "d5a5", ["e5"]),
        ("7k/8/8/3Qr3/8/8/8/K7", "d5c5", ["e5"]),
        ("7k/8/8/3Qr3/8/8/8/K7", "d5d8", []),
        ("7k/8/8/r3pP2/2n5/8/B7/K7", "a2d5", ["a5", "c4"]),
        ("7k/2K2r2/5P2/5p2/qBn1n1pP/5p2/5P2/8", "b4f4", ["a4", "c4", "e4", "f3", "f5", "f7", "g4"]),
        ("7k/8/8/8/8/P2pP3/8/K7", "a3c3", ["d3"]),
        ("7k/8/8/8/P2pM3/8/8/K7", "a4c4", ["d4"]),
        ("7k/8/8/8/3pM3/8/2P5/K7", "c2c4", ["d4"]),
        ("7k/8/8/8/p1P5/1p6/2P5/K7", "c2b2", []),
        ("7k/8/8/2m5/2bM4/8/8/2R1K3", "c1c3", []),
        ("6pk/P7/8/8/8/8/8/K7", "a7a8", []),
    ],
)
def test_captures(position: str, move: str, taken: list[str]) -> None:
    assert gone(at(position), move) == taken


def test_a_leaping_chameleon_by_mackay_takes_leapers_only() -> None:
    position = "7k/2K2r2/5P2/5p2/qBn1n1pP/5p2/5P2/8"
    assert gone(at(position, "mackay"), "b4f4") == ["c4", "e4"]
    assert gone(at("7k/8/8/3pP3/8/8/1B6/K7", "mackay"), "b2b5") == []
    assert gone(at("7k/8/8/2pP4/8/8/1B6/K7", "mackay"), "b2b5") == ["c5"]


def test_leaps_are_single_straight_and_may_be_limited() -> None:
    doubled = at("7k/8/8/8/3N4/3p4/3p4/K7")
    assert "d4d1" not in doubled.texts
    three = "3k4/8/3p4/8/3p4/8/3N4/K7"
    assert {"d2d3", "d2d5", "d2d7"} <= set(at(three).texts)
    assert "d2d7" not in at(three, leaper_max_captures=1).texts
    assert "d2d5" in at(three, leaper_max_captures=1).texts
    assert "d2d8" not in at(three).texts


@pytest.mark.parametrize(
    ("position", "frozen"),
    [
        ("4k3/8/8/3m4/2P1N3/8/8/4K3", {"c4", "e4"}),
        ("4k3/8/3B4/3m4/2P1N3/8/8/4K3", {"d6", "d5"}),
        ("4k3/8/3B4/3m4/2P1B3/8/8/4K3", {"d5"}),
        ("4k3/8/3M4/3m4/2P1N3/8/8/4K3", {"d6", "d5"}),
        ("4k3/2b5/3M4/3m4/2P1N3/8/8/4K3", {"d6"}),
        ("k7/3Q4/1Bm1r3/1KpM4/3Pb3/8/8/8", {"c6", "d5"}),
        ("7k/1M6/8/8/8/8/8/K7", set()),
        ("k7/1M6/8/8/8/8/8/K7", {"a8"}),
    ],
)
def test_freezing(position: str, frozen: set[str]) -> None:
    marks = at(position).board.marks
    assert {cell for cell, words in marks.items() if "frozen" in words} == frozen


def test_no_piece_neutralises_an_immobilizer_in_classical_rules() -> None:
    position = at("4k3/8/3B4/3m4/2P1N3/8/8/4K3", "classical")
    assert {"c4c4", "d6d6", "e4e4"} <= set(position.texts)
    assert not {"c4c3", "e4e3"} & set(position.texts)


def test_suicide_captures_nothing_and_resets_the_counter() -> None:
    position = at("7k/8/8/8/PpP5/8/1m6/4K3 w 7 9", suicide=True)
    assert "c4c4" not in position.texts
    position = at("7k/8/8/2P5/1pPp1P2/3m4/8/7K w 7 9", suicide=True)
    after = position.play("c4c4")
    assert str(after) == "7k/8/8/2P5/1p1p1P2/3m4/8/7K b 0 9"
    assert "e1e1" not in at("7k/8/8/8/8/8/3m4/4K3", "classical").texts


# Check, mate, ends


@pytest.mark.parametrize(
    ("position", "is_check"),
    [
        ("7k/8/8/8/8/8/1b6/K7", True),  # a chameleon next to the king
        ("7k/8/8/8/8/2M5/1b6/K7", False),  # the same, frozen
        ("7k/8/8/8/8/3q4/3K4/8", True),  # a withdrawer with room
        ("7k/8/8/8/3p4/3q4/3K4/8", False),  # without room
        ("8/8/1K1P2n1/8/8/8/8/7k", True),  # leapt over last
        ("8/8/K2p2n1/8/8/8/8/7k", False),
        ("k7/8/8/8/7r/8/8/K7", True),  # kings on one file: the coordinator goes to the king's rank
        ("7k/8/8/8/7r/8/8/K7", False),
        ("7k/8/8/8/2p5/8/8/pK6", True),  # c1 would pinch
        ("7k/8/8/8/7p/8/8/pK6", False),
        ("7k/8/8/8/8/8/8/pK6 b", False),
        ("7k/8/8/8/8/1m6/8/K7", False),  # an immobilizer takes nothing
    ],
)
def test_check(position: str, is_check: bool) -> None:
    assert ("check" in at(position).board.notes) is is_check


def test_a_move_may_not_expose_the_king() -> None:
    assert "e4e5" not in at("7k/8/8/p4r2/4K3/8/8/8").texts  # a5d5 would pinch it
    assert "a1b1" not in at("7k/8/8/p7/8/8/8/K1p5").texts  # neither may it walk between the two
    pinned = at("7k/8/8/8/3P4/3q4/3K4/8").texts  # d4 stops the withdrawer
    assert not [move for move in pinned if move.startswith("d4")]
    assert "d2d3" in pinned
    assert {move for move in at("1k6/8/8/8/1r6/8/1P6/1K6").texts if move.startswith("b2")} == {"b2d2"}


@pytest.mark.parametrize(
    ("position", "winner", "reason"),
    [
        ("8/8/8/N7/8/k7/2K5/8 b", "first", "checkmate"),
        ("8/8/8/8/8/1M6/kK6/8 b 100 90", "first", "checkmate"),
        ("7k/1M6/8/8/8/8/8/7K b", None, None),
        ("k7/1M6/8/8/8/8/8/7K b 100 90", "draw", "stalemate"),
        ("8/8/4k3/8/8/3K4/8/8 w 100 60", "draw", "bare-kings"),
        ("8/8/4k3/7p/8/3K4/8/8 w 100 60", "draw", "no-capture"),
        ("8/8/4k3/7p/8/3K4/8/8 w 99 60", None, None),
    ],
)
def test_results(position: str, winner: str | None, reason: str | None) -> None:
    found = at(position).outcome
    assert (found and found.winner, found and found.reason.value) == (winner, reason)


def test_stalemate_may_lose_and_limits_may_be_off() -> None:
    assert at("k7/1M6/8/8/8/8/8/7K b", stalemate="loss").outcome == Outcome("first", STALEMATE)
    assert at("7k/8/8/8/8/8/1m6/K7", "classical").outcome == Outcome("second", STALEMATE)
    assert at("8/8/4k3/8/8/3K4/8/8", bare_kings_draw=False).outcome is None
    assert at("8/8/4k3/7p/8/3K4/8/8 w 900 60", no_capture_limit=0).outcome is None


def test_repetition_counts_board_and_side() -> None:
    line = LineOfPlay(PURE)
    for move in ["a2a3", "a7a6", "a3a2", "a6a7"] * 2:
        assert line.outcome is None
        line.push(RULES.notation.read_move(move, line.state, PURE.config))
    assert line.outcome == Outcome("draw", Termination.REPETITION)


def test_moves_are_still_listed_after_a_draw_by_limits() -> None:
    assert len(at("8/8/4k3/8/8/3K4/8/8").moves) == 8
    assert at("k7/1M6/8/8/8/8/8/7K b").moves == ()


# Starts


def test_back_rows_are_numbered_alphabetically() -> None:
    rows = [row(index) for index in range(ROWS)]
    assert rows[0] == "BBKMNNQR"
    assert rows[-1] == "RQNNMKBB"
    assert rows == sorted(set(rows))
    assert {"".join(sorted(letters)) for letters in rows} == {LETTERS}


def test_numbered_starts() -> None:
    by_option = RULES.settle("random-asymmetric", {"index_white": 77, "index_black": 9000})
    assert by_option.variant.position == "rbnbkmnq/pppppppp/8/8/8/8/PPPPPPPP/BBMNKRQN w 0 1"
    assert by_option.variant.name == "random-asymmetric#77/9000"
    by_name = RULES.settle("random-asymmetric#77/9000")
    assert by_name == by_option
    assert by_name.overrides == by_name.changed() == {}
    assert by_name.values["index_black"] == 9000
    assert RULES.settle("random-asymmetric", {"index_white": 3}).variant.name == "random-asymmetric#3/0"
    assert RULES.settle("random-symmetric").variant.name == "random-symmetric"
    assert RULES.settle("random-symmetric#007").variant.name == "random-symmetric#7"
    mirrored = RULES.settle("random-symmetric", {"index": 1234}).variant.position
    assert mirrored == RULES.settle("random-symmetric#1234").variant.position
    assert mirrored == "bnkmnrbq/pppppppp/8/8/8/8/PPPPPPPP/BNKMNRBQ w 0 1"


@pytest.mark.parametrize(
    "name",
    [
        "random-symmetric#",
        "random-symmetric#10080",
        "random-symmetric#1/2",
        "random-asymmetric#5",
        "random-symmetric#٣",
    ],
)
def test_unknown_row_numbers_are_rejected(name: str) -> None:
    with pytest.raises(ParseError):
        RULES.settle(name)


def test_row_number_that_contradicts_an_option_is_rejected() -> None:
    assert RULES.settle("random-symmetric#5", {"index": 5}).values["index"] == 5
    with pytest.raises(ParseError, match="index"):
        RULES.settle("random-symmetric#5", {"index": 6})


def test_starts_are_dealt_at_random_and_can_be_named_again() -> None:
    assert RULES.draw is not None
    rng = random.Random(3)
    for name in ("random-symmetric", "random-asymmetric", "wikipedia"):
        dealt = RULES.draw(name, rng)
        assert RULES.settle(dealt.name).variant == dealt
        assert dealt.name.startswith(name)
    assert RULES.draw("random-symmetric", rng) != RULES.draw("random-symmetric", rng)
    with pytest.raises(UnknownNameError):
        RULES.draw("random", rng)


def test_presets() -> None:
    names = [variant.name for variant in RULES.variants]
    fixed = ["standard", "vchess", "wikipedia", "random-symmetric", "random-asymmetric"]
    assert names == [*fixed, "mackay", "classical"]
    assert all(RULES.settle(name).changed() == {} for name in fixed)
    assert RULES.settle("mackay").changed() == {"chameleon_leap_combines": False}
    assert CLASSICAL.changed() == {"immobilizer": "classical", "suicide": True, "stalemate": "loss"}
    assert CLASSICAL.variant.position == PURE.variant.position


# Texts


def test_position_texts_of_two_and_three_fields() -> None:
    board = "rnbqkbnm/pppppppp/8/8/8/8/PPPPPPPP/MNBQKBNR"
    for given_text, canonical in [
        (f"{board} w", f"{board} w 0 1"),
        (f"{board} b 7", f"{board} b 0 4"),
        (f"  {board}  b   3 20\n", f"{board} b 3 20"),
        ("7k/8/8/8/8/8/8/K7 b 8", "7k/8/8/8/8/8/8/K7 b 0 5"),
        ("17/8/8/8/8/8/8/44 w 0 1", "8/8/8/8/8/8/8/8 w 0 1"),
    ]:
        assert str(Position.start(PURE, given_text)) == canonical


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        ("w", 1),
        ("8/8/8/8/8/8/8 w", 13),
        ("8/8/8/8/8/8/8/8/8 w", 15),
        ("8/8/8/7/8/8/8/8 w", 7),
        ("8/8/8/8/8/8/8/7 w", 15),
        ("8/8/8/ppppppppp/8/8/8/8 w", 14),
        ("8/8/8/4x3/8/8/8/8 w", 7),
        ("8/8/8/8/8/8/8/9 w", 14),
        ("8/8/8/8/8/8/8/٨ w", 14),
        ("K6K/8/8/8/8/8/8/8 w", 2),
        ("k6k/8/8/8/8/8/8/8 w", 2),
        ("8/8/8/8/8/8/8/8 W", 16),
        ("8/8/8/8/8/8/8/8 w -1 1", 18),
        ("8/8/8/8/8/8/8/8 w 0 0", 20),
        ("8/8/8/8/8/8/8/8 w 0 ١", 20),
        ("8/8/8/8/8/8/8/8 w 1234567890", 18),
        ("8/8/8/8/8/8/8/8 w 0 1 0", 22),
        ("8/8/8/8/8/8/8/8\x00w", 17),
        ("8" * 10_000, 200),
    ],
)
def test_malformed_positions(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        RULES.notation.read_position(text, PURE.config)
    assert caught.value.index == index
    assert caught.value.hint


@pytest.mark.parametrize(
    ("position", "text", "canonical"),
    [
        ("7k/5ppp/2N5/2n5/3rB3/8/PPP5/K7", "Pc2c4X", "c2c4"),
        ("7k/5ppp/2N5/2n5/3rB3/8/PPP5/K7", "c2c4", "c2c4"),
        ("7k/8/8/4p3/3K4/8/8/8", "Kd4xe5", "d4e5"),
        ("7k/8/8/4p3/3K4/8/8/8", "Kxe5", "d4e5"),
        ("7k/8/8/8/3M4/8/8/K7", "Md4-off", "d4d4"),
        ("7k/8/8/8/3M4/8/8/K7", "d4d4", "d4d4"),
        ("8/2b4K/2q5/3p1N1p/8/8/2R5/k7", "Rc5X", "c2c5"),
        ("8/2b4K/2q5/3p1N1p/8/8/2R5/k7", "Rc5", "c2c5"),
        ("7k/8/8/2N1p1N1/8/8/8/K7", "Nd5", "c5d5"),
        ("7k/8/8/2N1p1N1/8/8/8/K7", "Nd5X", "g5d5"),
        ("7k/8/8/3n4/8/8/8/K7 b", "Nd1", "d5d1"),
    ],
)
def test_spellings_of_moves(position: str, text: str, canonical: str) -> None:
    start = at(position)
    code = RULES.notation.read_move(text, start.state, start.ruleset.config)
    assert RULES.notation.write_move(code) == canonical


@pytest.mark.parametrize(
    ("position", "move", "shown"),
    [
        ("7k/5ppp/2N5/2n5/3rB3/8/PPP5/K7", "c2c4", "Pc2c4X"),
        ("7k/2K2r2/5P2/5p2/qBn1n1pP/5p2/5P2/8", "b4f4", "Bb4f4X"),
        ("7k/8/8/4p3/3K4/8/8/8", "d4e5", "Kd4xe5"),
        ("7k/8/8/4p3/3K4/8/8/8", "d4c5", "Kd4c5"),
        ("7k/8/8/3Qr3/8/8/8/K7", "d5d8", "Qd5d8"),
        ("7k/8/3mP3/8/8/8/8/K7", "e6e6", "Pe6-off"),
    ],
)
def test_moves_as_people_write_them(position: str, move: str, shown: str) -> None:
    start = at(position)
    code = RULES.notation.read_move(move, start.state, start.ruleset.config)
    assert start.display(code) == shown
    assert RULES.notation.read_move(shown, start.state, start.ruleset.config) == code


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        ("c2", 2),
        ("c2c9", 3),
        ("c2c44", 4),
        ("C2c4", 0),
        ("c2 c4", 2),
        ("c2xc4", 2),
        ("c٢c4", 1),
        ("c2c4\n", 4),
        ("\x00", 0),
        ("0000", 0),
        ("resign", 0),
        ("Pc2d9", 4),
        ("P", 1),
        ("Nc2c4", 1),
        ("Pe4e5", 1),
        ("M-off", 1),
        ("Ra3", 0),
        ("c2c4" * 2_500, 4),
    ],
)
def test_malformed_moves(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        RULES.notation.read_move(text, PURE.read(), PURE.config)
    assert caught.value.index == index
    assert caught.value.hint


def test_an_ambiguous_move_names_its_meanings() -> None:
    position = at("7k/8/8/2N3N1/8/8/8/K7")
    with pytest.raises(ParseError, match=r"ambiguous.*c5e5, g5e5"):
        position.read("Ne5")


def test_illegal_and_malformed_moves_raise_different_errors() -> None:
    with pytest.raises(IllegalMoveError):
        Position.start(PURE).play("a1a2")


# Whole games


def test_games_of_all_forms_are_read() -> None:
    display = RULES.formats[0]
    games = display.read('1. Pd2d4 Pe7e5 2. Pd4c4 Pe5e6 1-0 [White "x"] 1.d2d4 e7e5 1/2 1. Pa2a3', PURE)
    assert [game.moves for game in games] == [
        ("d2d4", "e7e5", "d4c4", "e5e6"),
        ("d2d4", "e7e5"),
        ("a2a3",),
    ]
    assert [game.result for game in games] == ["1-0", "1/2-1/2", "*"]
    assert games[1].tags == {"White": "x"}
    saved = (
        '[Site "vchess.club"]\n[Variant "Baroque"]\n[Fen "7k/8/8/4p3/3K4/8/8/8 w 10"]\n[Result "*"]\n\n'
        "6.Kxe5 Kh7 7.Ke4\n\n6.w d4.e5 wke5/wkd4.bpe5\n6.b h8.h7 bkh7/bkh8\n7.w e5.e4 wke4/wke5\n"
    )
    (game,) = display.read(saved, PURE)
    assert game.moves == ("d4e5", "h8h7", "e5e4")
    assert game.position == "7k/8/8/4p3/3K4/8/8/8 w 0 6"
    (people,) = display.read(saved.partition("\n\n6.w")[0], PURE)
    assert people == game
    assert display.read(" {nothing} ", PURE) == []


@pytest.mark.parametrize(
    "text",
    [
        "1. Pd2d9",
        "1. Pd2d4 Pd7d5 2. Pd4d5",
        "1. Ra5",
        "{unclosed",
        '[Variant "chess"]',
        '[Rule.suicide "perhaps"]',
        '[Result "2-0"]',
        '[Fen "8/8 w"]',
        '[Variant "random-symmetric#5"] [Rule.index "6"]',
        "(1. Pd2d4)",
        "1. Pd2d4 \x00",
        "٣. Pd2d4",
    ],
)
def test_malformed_games(text: str) -> None:
    with pytest.raises(ParseError):
        RULES.formats[0].read(text, PURE)


def test_the_page_of_the_rules_shows_a_game_that_can_be_played() -> None:
    page = (ROOT / "referee/rules/baroque/RULES.md").read_text(encoding="utf-8")
    shown = "\n".join(line.strip() for line in page.splitlines() if line.startswith("    "))
    (game,) = RULES.formats[0].read(shown, PURE)
    assert RULES.formats[0].write(game, PURE).strip() == shown.replace('"*"]', '"*"]\n', 1)


# Kernel


def test_move_buffer_is_bounded() -> None:
    crowded = at("QQQNQQNQ/Q6Q/Q6N/Q6N/N6Q/N6N/Q6N/QNNNNQQN")
    assert len(crowded.moves) == 288 < RULES.kernel.MAX_MOVES
    assert len(at("kN3P2/4R2P/P5P1/3B4/P5B1/2N1Q1K1/P6P/1P3M2").moves) == 205
    with pytest.raises(OverflowError):
        RULES.kernel.legal(crowded.state, PURE.config, np.empty(287, dtype=np.int64))


def test_counters_stop_before_they_outgrow_their_text() -> None:
    last = at("8/8/4k3/7p/8/3K4/8/8 b 999999999 999999999", no_capture_limit=0)
    assert str(last.play("e6e7")).endswith("w 999999999 999999999")


def test_evaluation() -> None:
    kernel = RULES.kernel
    assert kernel.evaluate(PURE.read(), PURE.config) == 0
    assert kernel.evaluate(PURE.read("7k/8/8/8/8/8/8/KN6 w"), PURE.config) > 300
    assert kernel.evaluate(PURE.read("7k/8/8/8/8/8/8/KN6 b"), PURE.config) < -300
    hanging = kernel.evaluate(PURE.read("7k/8/8/3Qr3/8/8/8/K7 w"), PURE.config)
    safe = kernel.evaluate(PURE.read("7k/4r3/8/3Q4/8/8/8/K7 w"), PURE.config)
    assert hanging > safe + 100
    heap = PURE.read("MMMMMMMM/MMMMMMMM/MMMMMMMM/MMMMMMMM/MMMMMMMM/8/8/K6k w")
    assert 5_000 < kernel.evaluate(heap, PURE.config) < 10_000


def test_quiet_eval_is_symmetric_and_scores_frozen_pieces() -> None:
    def still_at(text: str) -> int:
        return int(quiet_eval(PURE.read(text), PURE.config, ASKED))

    assert still_at("3k4/2pppp2/8/8/8/8/2PPPP2/3K4 w 0 1") == still_at("3k4/2pppp2/8/8/8/8/2PPPP2/3K4 b 0 1") == 0
    assert still_at("k7/8/8/8/3Q4/8/7m/K7 w 0 1") > still_at("k7/8/8/8/3Q4/3m4/8/K7 w 0 1") + 50
    assert still_at("k7/8/3P4/8/8/8/8/K7 w 0 1") > still_at("k7/8/8/8/8/3P4/8/K7 w 0 1")
    assert still_at("k7/8/3p4/8/8/8/8/K7 b 0 1") < still_at("k7/8/8/8/8/3p4/8/K7 b 0 1")


@pytest.mark.parametrize(
    ("board", "mover", "options"),
    [
        ("4k3/8/8/8/8/8/8/4R2K", "b", {}),  # no coordinator captures along its line: neither king is in check
        ("3pk3/8/8/8/8/8/8/4K3", "w", {}),
    ],
)
def test_positions_without_check_are_read(board: str, mover: str, options: dict) -> None:
    ruleset = load("baroque").settle(options=options)
    assert ruleset.write(ruleset.read(f"{board} {mover}")) == f"{board} {mover} 0 1"


def test_position_with_the_waiting_king_in_check_is_rejected() -> None:
    """White's withdrawer next to Black's king would capture it by moving away, so only Black may be to move."""
    ruleset = load("baroque").settle()
    board = "8/8/8/3kQ3/8/8/8/7K"
    assert Position.start(ruleset, f"{board} b").outcome is None
    with pytest.raises(ParseError, match="Black's king is in check although Black is not to move") as caught:
        ruleset.read(f"{board} w 0 1")
    assert caught.value.index == len(board) + 1
    frozen = "8/8/8/3kQm2/8/8/8/7K"  # a frozen piece gives no check
    assert ruleset.write(ruleset.read(f"{frozen} w")) == f"{frozen} w 0 1"


@pytest.mark.parametrize(
    ("position", "move", "said"),
    [
        ("7k/5ppp/2N5/2n5/3rB3/8/PPP5/K7 w", "c2c4", "pinches the coordinator on d4 and the leaper on c5"),
        ("8/2b4K/2q5/3p1N1p/8/8/2R5/k7 w", "c2c5", "coordinates with its king against the pincer on h5"),
        ("2n4k/3r4/5b2/3p4/1m6/3b4/3N4/K7 w", "d2a5", "leaps over the immobilizer on b4"),
        ("7k/8/8/3Qr3/8/8/8/K7 w", "d5a5", "withdraws from the coordinator on e5"),
        ("7k/8/8/r3pP2/2n5/8/B7/K7 w", "a2d5", "as a leaper leaps over the leaper on c4, as a "),
        ("8/8/8/3k4/8/8/8/3rK3 w", "e1d1", "takes the coordinator on d1"),
        ("8/8/8/3k4/8/8/8/3rK3 w", "e1f2", ""),
    ],
)
def test_captures_in_words(position: str, move: str, said: str) -> None:
    here = Position.start(load("baroque").settle(), position)
    told = here.explain(here.read(move))
    assert told.startswith(said) if said else told == ""


def test_game_text_describes_captures_and_is_read_again() -> None:
    ruleset = load("baroque").settle()
    position = ruleset.write(ruleset.read("7k/5ppp/2N5/2n5/3rB3/8/PPP5/K7 w"))
    game = GameText(("c2c4",), position=position, marks={1: "!"}, comments={1: "a fine pinch"})
    display = next(form for form in ruleset.rules.formats if form.name == "display")
    text = display.write(game, ruleset)
    assert "Pc2c4X! {pinches the coordinator on d4 and the leaper on c5; a fine pinch}" in " ".join(text.split())
    assert display.read(text, ruleset) == [game]
    (foreign,) = display.read(f'[Fen "{position}"] 1. Pc2c4X (takes two)', ruleset)
    assert (foreign.moves, foreign.comments) == (("c2c4",), {1: "takes two"})
