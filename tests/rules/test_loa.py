"""Lines of Action and Zen l'initié, compared with a slow and obvious reference."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules.core import Outcome, ParseError, Termination
from referee.rules.loa import RULES, kernel, kernel_linear, kernel_lines, kernel_ternary
from referee.rules.loa.layout import groups
from referee.rules.loa.rules import CONNECTION, SIMULTANEOUS_CONNECTION
from referee.rules.loa.state import HOLE, MAX_PLIES, NO_MOVES, PASS, SIMULTANEOUS, SIZE, ZEN, pack, unpack
from referee.rules.loa.symmetry import SYMMETRY
from referee.rules.loa.tables import LINES, LINES8
from referee.rules.per_family import perft
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import Config, GameText, Ruleset, State, Value
from tests.conftest import EFFORT

ROOT = Path(__file__).parents[2]
VARIANTS = [variant.name for variant in RULES.variants]
STEPS = [(dr, df) for dr in (-1, 0, 1) for df in (-1, 0, 1) if (dr, df) != (0, 0)]
Square = tuple[int, int]


# ---------------------------------------------------------------- the reference: squares are (rank, file)


@dataclass
class Slow:
    """A second, plain implementation of the rules."""

    pieces: dict[Square, str]
    side: int
    ban: Square | None
    config: Config = field(compare=False)  # an array, and the same throughout a game

    def on(self, square: Square) -> bool:
        return 0 <= square[0] < self.config[SIZE] and 0 <= square[1] < self.config[SIZE]

    def from_piece(self, source: Square, mover: str) -> Iterator[Square]:
        for dr, df in STEPS:
            line = [(source[0] + k * dr, source[1] + k * df) for k in range(-12, 13)]
            distance = sum(square in self.pieces for square in line if self.on(square))
            path = [(source[0] + k * dr, source[1] + k * df) for k in range(1, distance + 1)]
            target = path[-1]
            foe = "w" if mover == "b" else "b"
            if self.on(target) and not any(self.pieces.get(square) == foe for square in path[:-1]):
                if self.pieces.get(target) != mover:
                    yield target

    def moves(self, side: int | None = None) -> list[tuple[Square, Square]]:
        mover = "bw"[self.side if side is None else side]
        moves = []
        for source, symbol in self.pieces.items():
            if symbol == mover:
                moves += [(source, target) for target in self.from_piece(source, mover)]
            elif symbol == "z" and self.touching(source, set(self.pieces)):
                ban = self.ban if side is None else None
                moves += [(source, target) for target in self.from_piece(source, mover) if target != ban]
        return sorted(moves)

    @staticmethod
    def touching(square: Square, others: set[Square]) -> list[Square]:
        return [(square[0] + dr, square[1] + df) for dr, df in STEPS if (square[0] + dr, square[1] + df) in others]

    def connected(self, symbol: str) -> bool:
        own = {square for square, piece in self.pieces.items() if piece == symbol}
        if not own:
            return True
        own |= {square for square, piece in self.pieces.items() if piece == "z"}
        seen, front = set(), [min(own)]
        while front:
            square = front.pop()
            if square not in seen:
                seen.add(square)
                front += self.touching(square, own)
        return seen == own

    def result(self) -> int:
        first, second = self.connected("b"), self.connected("w")
        if first and second:
            return kernel.BOTH * 4 + ((2 - self.side) if self.config[SIMULTANEOUS] else 3)
        if first or second:
            return kernel.CONNECTION * 4 + (1 if first else 2)
        if not self.moves():
            if self.config[NO_MOVES]:
                return kernel.STUCK * 4 + ((2 - self.side) if self.config[NO_MOVES] == 1 else 3)
            if not self.moves(1 - self.side):
                return kernel.BLOCKED * 4 + 3
        return 0

    def codes(self) -> list[int]:
        if self.result():
            return []
        found = self.moves()
        return sorted((a << 12) + (b << 8) + (c << 4) + d for (a, b), (c, d) in found) or [PASS]

    def play(self, code: int) -> Slow:
        pieces, ban = dict(self.pieces), None
        if code != PASS:
            source, target = divmod(code >> 8, 16), divmod(code & 255, 16)
            symbol = pieces.pop(source)
            pieces[target] = symbol
            if symbol == "z":
                ban = source
            if (target[0] << 4) + target[1] == self.config[HOLE]:
                del pieces[target]
        return Slow(pieces, 1 - self.side, ban, self.config)

    def perft(self, depth: int) -> int:
        return 1 if depth == 0 else sum(self.play(code).perft(depth - 1) for code in self.codes())


def slow(state: State, config: Config) -> Slow:
    pieces = {divmod(square, 16): symbol for square, symbol in unpack(state, config).items()}
    return Slow(pieces, int(state[7]), divmod(int(state[8]) - 1, 16) if state[8] else None, config)


def legal(state: State, config: Config) -> list[int]:
    buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    return list(map(int, buffer[: kernel.legal(state, config, buffer)]))


def agree(state: State, config: Config) -> None:
    """Assert that kernel and reference agree on a position."""
    reference = slow(state, config)
    codes = reference.codes()
    assert legal(state, config) == codes
    assert kernel.count(state, config) == len(codes)
    assert kernel.result(state, config, 1, 0) == reference.result()
    for code in codes:
        after = np.empty_like(state)
        kernel.play(state, config, code, after)
        expected = reference.play(code)
        assert slow(after, config) == expected
        assert int(after[9]) == int(state[9]) + 1
        assert int(after[10]) == int(state[10]) + int(state[7])


# ---------------------------------------------------------------- comparison


@pytest.mark.parametrize("name", VARIANTS)
def test_random_games_agree_with_the_reference(name: str) -> None:
    chance = random.Random(name)
    for options in ({}, {"simultaneous": "mover", "no_moves": "loss"}, {"no_moves": "draw"}):
        ruleset = RULES.settle(name, options)
        state = ruleset.read()
        for _ in range(60):
            agree(state, ruleset.config)
            moves = legal(state, ruleset.config)
            if not moves:
                state = ruleset.read()
                continue
            captures = [move for move in moves if (move & 255) in unpack(state, ruleset.config)]
            after = np.empty_like(state)
            kernel.play(state, ruleset.config, chance.choice(captures or moves), after)
            state = after


@st.composite
def placements(draw: st.DrawFn) -> tuple[State, Config]:
    ruleset = RULES.settle(
        draw(st.sampled_from(VARIANTS)),
        {
            "simultaneous": draw(st.sampled_from(["draw", "mover"])),
            "no_moves": draw(st.sampled_from(["pass", "loss", "draw"])),
        },
    )
    config = ruleset.config
    chance = random.Random(draw(st.integers(0, 2**32)))
    size = int(config[SIZE])
    cells = [rank * 16 + file for rank in range(size) for file in range(size) if rank * 16 + file != config[HOLE]]
    spread = draw(st.sampled_from([0.03, 0.1, 0.3, 0.7, 1.0]))
    weight = draw(st.sampled_from([0.05, 0.3, 0.5]))
    pieces = {cell: "w" if chance.random() < weight else "b" for cell in cells if chance.random() < spread}
    ban = -1
    if config[ZEN]:
        if draw(st.booleans()):
            pieces[chance.choice(cells)] = "z"
        if draw(st.booleans()):
            ban = chance.choice(cells)
    else:
        pieces |= dict(zip(chance.sample(cells, 2), "bw", strict=True))
    return pack(pieces, config, side=draw(st.integers(0, 1)), ban=ban), config


@settings(max_examples=20 * EFFORT, deadline=None)
@given(placements())
def test_random_placements_agree_with_the_reference(placed: tuple[State, Config]) -> None:
    state, config = placed
    agree(state, config)
    moves = slow(state, config).codes()
    assert kernel.count(state, config) == len(moves)
    written = RULES.notation.write_position(state, config)
    assert np.array_equal(RULES.notation.read_position(written, config), state)


SPARSE = [
    ("standard", "8/2bww3/8/2w5/1b6/8/8/8 w - 57"),
    ("standard", "6bw/6bb/8/8/8/8/bb6/wb6 w - 20"),
    ("standard", "8/b2b1b2/1b6/8/8/2b5/bb4bb/wb4bw w - 15"),
    ("standard", "b6w/8/8/8/8/8/8/w6b b - 1"),
    ("blackhole9", "9/9/2bb5/3b5/9/4b4/9/7w1/w8 b - 30"),
    ("zen", "11/11/11/11/11/11/bz9/2b8/b1ww7/b10/11 w - 22"),
    ("loa12", "b11/12/12/12/12/5w6/12/12/2b9/12/12/11w b - 1"),
]


@pytest.mark.parametrize(("name", "text"), SPARSE)
def test_perft_agrees_with_the_reference(name: str, text: str) -> None:
    for options in ({}, {"no_moves": "loss"}):
        ruleset = RULES.settle(name, options)
        state = ruleset.read(text)
        assert perft(ruleset, state, 3) == slow(state, ruleset.config).perft(3)


@settings(max_examples=20 * EFFORT, deadline=None)
@given(placements())
def test_both_representations_of_the_small_board_agree(placed: tuple[State, Config]) -> None:
    state, config = placed
    if config[SIZE] != 8:
        return
    lines, ternary = np.empty((3, LINES), dtype=np.int64), np.empty(LINES8, dtype=np.int64)
    kernel_lines.load(state, 8, lines)
    boards = [np.uint64(board) for board in kernel_ternary.load8(state, ternary)]
    buffers = np.empty((4, kernel.MAX_MOVES), dtype=np.int64)
    for side in (0, 1):
        listed = [int(move) for move in buffers[0][: kernel_lines.list_lines(lines, side, 8, -1, -1, buffers[0])]]
        count = kernel_ternary.list8(ternary, boards[side], side, buffers[1])
        assert listed == list(map(int, buffers[1][:count]))
        assert kernel_lines.count_lines(lines, side, 8, -1, -1) == kernel_ternary.count8(ternary, side) == count
        assert kernel_lines.connected(lines, side) == kernel_ternary.connected8(boards[side])


def test_random_moves_of_the_small_board_are_uniform() -> None:
    ruleset = RULES.settle()
    ternary, rng = np.empty(LINES8, dtype=np.int64), np.array([7], dtype=np.uint64)
    for text in (None, "4w3/2w5/8/4b3/6w1/3w2bb/2b3w1/8 w - 63", "w6w/1b4b1/8/3w4/4b3/8/1w4w1/b6b b - 1"):
        state = ruleset.read(text)
        kernel_ternary.load8(state, ternary)
        drawn: dict[int, int] = {}
        moves = legal(state, ruleset.config)
        for _ in range(200 * len(moves)):
            source, target = divmod(kernel_ternary.random8(ternary, int(state[7]), rng), 64)
            code = kernel_ternary.code8(source, target)
            drawn[code] = drawn.get(code, 0) + 1
        assert sorted(drawn) == moves
        assert 120 < min(drawn.values()) <= max(drawn.values()) < 290


def test_far_apart_means_two_empty_ranks_or_files_inside() -> None:
    chance = random.Random(1)

    def gaps(taken: set[int]) -> int:
        return max(taken) - min(taken) + 1 - len(taken)

    for _ in range(3000):
        members = {chance.randrange(64) for _ in range(chance.randint(1, 6))}
        board = np.uint64(sum(1 << member for member in members))
        far = gaps({member // 8 for member in members}) > 1 or gaps({member % 8 for member in members}) > 1
        assert kernel_ternary.far(board) == far, members


# ---------------------------------------------------------------- the examples of the rules


def at(text: str | None = None, variant: str = "standard", **options: Value) -> Position:
    return Position.start(RULES.settle(variant, options), text)


def test_distance_jumping_and_capture() -> None:
    start = at()
    assert [text for text in start.texts if text.startswith("b1")] == ["b1b3", "b1d3", "b1h1"]
    after = start.play("c8-c6")
    with pytest.raises(IllegalMoveError):
        after.play("a6-d6")
    after = after.play("a6-c4").play("e8-b5")
    capture = after.read("h3-f1")
    assert after.display(capture) == "h3xf1"
    assert str(after.play(capture)) == "1b1b1bb1/w6w/2b4w/wb5w/w1w4w/w7/w6w/1bbbbwb1 b - 3"
    assert after.display(after.read("A3A8")) == "a3-a8"


def test_only_the_line_moved_along_counts() -> None:
    position = at("7b/8/8/8/1b6/1b6/w1bw4/8 b - 1")
    assert "b4b2" in position.texts


@pytest.mark.parametrize(
    ("text", "move", "options", "winner", "reason"),
    [
        ("7w/4ww2/5b2/6w1/8/8/6b1/6b1 w - 30", "h8f6", {}, "draw", "simultaneous-connection"),
        ("7w/4ww2/5b2/6w1/8/8/6b1/6b1 w - 30", "h8f6", {"simultaneous": "mover"}, "second", "simultaneous-connection"),
        ("7w/4ww2/5b2/6w1/8/8/6b1/6b1 w - 30", "g5g8", {"simultaneous": "mover"}, "second", "connection"),
        ("8/8/8/bbb1bw2/8/8/8/7w b - 12", "a5f5", {}, "second", "connection"),
    ],
)
def test_connection(text: str, move: str, options: dict[str, Value], winner: str, reason: str) -> None:
    outcome = at(text, **options).play(move).outcome
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (winner, reason)


def test_a_decided_start_has_no_moves() -> None:
    both = "8/8/3bb3/4w3/3w4/8/8/8 {} - 9"
    for side, winner in (("w", "first"), ("b", "second")):
        position = at(both.format(side), simultaneous="mover")
        assert position.outcome == Outcome(winner, SIMULTANEOUS_CONNECTION)  # type: ignore[arg-type]
        assert position.moves == ()


def test_no_move_is_a_pass_a_loss_or_a_draw() -> None:
    prison = "6bw/6bb/8/8/8/8/bb6/wb6 w - 20"
    position = at(prison)
    assert position.texts == ["pass"]
    assert str(position.play("0000")) == "6bw/6bb/8/8/8/8/bb6/wb6 b - 21"
    assert at(prison, no_moves="loss").outcome == Outcome("first", Termination.NO_MOVES)
    assert at(prison, no_moves="draw").outcome == Outcome("draw", Termination.NO_MOVES)
    with pytest.raises(IllegalMoveError):
        at().play("pass")


def test_the_hole_swallows_and_may_be_crossed() -> None:
    position = at("9/9/2bb5/3b5/9/4b4/9/7w1/w8 b - 30", "blackhole9")
    after = position.play("e4e5")
    assert str(after) == "9/9/2bb5/3b5/9/9/9/7w1/w8 w - 30"
    assert after.outcome == Outcome("first", CONNECTION)
    assert position.display(position.read("e4e5")) == "e4-e5"
    assert "e4e6" in at("9/9/9/9/9/4b4/9/7w1/w3b4 b - 1", "blackhole9").texts


def test_repetition() -> None:
    tour = ["b1b3", "h5f5", "b3b1", "f5h5"]
    assert at().play_all(tour * 2).outcome == Outcome("draw", Termination.REPETITION)
    assert at(repetition_result="loss").play_all(tour * 2).outcome == Outcome("first", Termination.REPETITION)
    assert at(repetition=2).play_all(tour).outcome == Outcome("draw", Termination.REPETITION)
    assert at(repetition=0).play_all(tour * 5).outcome is None


def test_the_move_limit_comes_last() -> None:
    assert at(max_plies=2).play_all(["b1b3", "h5f5"]).outcome == Outcome("draw", Termination.MAX_PLIES)
    tour = ["b1b3", "h5f5", "b3b1", "f5h5"]
    assert at(max_plies=4, repetition=2).play_all(tour).outcome == Outcome("draw", Termination.REPETITION)
    won = at("7w/4ww2/5b2/6w1/8/8/6b1/6b1 w - 30", max_plies=1).play("g5g8").outcome
    assert won == Outcome("second", CONNECTION)


def test_the_neutral_piece_needs_contact() -> None:
    start = at(variant="zen")
    assert not any(text.startswith("f6") for text in start.texts)
    assert start.board.marks["f6"] == ("isolated",)
    touched = at("b4w4w/4b1b4/3w3w3/2b5b2/1w7w1/b4z4b/1w4b2w1/2b8/3w3w3/4b1b4/w4w4b w - 1", "zen")
    assert any(text.startswith("f6") for text in touched.texts)


def test_the_neutral_piece_may_not_return_at_once() -> None:
    text = "b6w3/4b1b4/3w1w1w3/2b2z1w3/1w9/b5b3b/b6w1w1/2b5b1b/1w1w7/4b6/w6w3 w {} 7"
    banned, free = at(text.format("f6"), "zen"), at(text.format("-"), "zen")
    assert set(free.texts) - set(banned.texts) == {"f8f6"}
    assert banned.board.marks["f6"] == ("banned",)
    other = next(move for move in banned.texts if not move.startswith("f8"))
    assert str(banned.play(other)).split()[2] == "-"
    moved = next(move for move in free.texts if move.startswith("f8"))
    assert str(free.play(moved)).split()[2] == "f8"


def test_zen_sides_without_pieces_are_connected() -> None:
    position = at("11/11/11/11/11/11/1w1b7/4z6/1b9/11/11 b - 39", "zen")
    for move in ("b3b5", "d5b5"):
        assert position.play(move).outcome == Outcome("second", CONNECTION)
    lone = at("11/11/11/11/11/5z5/11/11/1b1b7/8w2/11 b - 1", "zen")
    assert lone.outcome is None


def test_a_captured_neutral_piece_is_no_longer_needed() -> None:
    position = at("11/11/11/3bw6/1b1z7/4b6/3bw6/11/11/11/11 b - 9", "zen")
    after = position.play("b7d7")
    assert "z" not in str(after)
    assert after.outcome == Outcome("first", CONNECTION)


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("text", ["b1b3", "b1-b3", "b1xb3", "b1:b3", "B1B3", "B1-b3"])
def test_every_spelling_of_a_move(text: str) -> None:
    assert at().play(text).move == at().read("b1b3")


def test_squares_split_greedily() -> None:
    config = RULES.settle("loa12").config
    read, write = RULES.notation.read_move, RULES.notation.write_move
    state = RULES.settle("loa12").read()
    assert [write(read(text, state, config)) for text in ("a10a8", "l12a1", "a1l12", "PASS", "0000")] == [
        "a10a8",
        "l12a1",
        "a1l12",
        "pass",
        "pass",
    ]
    assert RULES.notation.pass_move == read("pass", state, config) == PASS


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        ("b1", 0),
        ("b1b3 ", 0),
        ("b1 b3", 0),
        ("b1--b3", 0),
        ("b1b9", 2),
        ("i1b3", 0),
        ("b1-h0", 0),
        ("b1-j3", 3),
        ("b1b3b4", 0),
        ("b١b3", 0),
        ("b1b3\n", 0),
        ("b1\0b3", 0),
        ("ſ1b3", 0),
        ("b1" * 5000, 0),
        ("b1" + "3" * 5000, 0),
        ("000", 0),
    ],
)
def test_malformed_moves(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        at().read(text)
    assert caught.value.index == index
    assert caught.value.hint


GOOD = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1"


@pytest.mark.parametrize(
    ("variant", "text", "problem"),
    [
        ("standard", " ", "short"),
        ("standard", GOOD, "short"),
        ("standard", f"{GOOD} x", "side"),
        ("standard", f"{GOOD} b - 0", "number"),
        ("standard", f"{GOOD} b - -1", "number"),
        ("standard", f"{GOOD} b - ٣", "number"),
        ("standard", f"{GOOD} b - {'9' * 5000}", "number"),
        ("standard", f"{GOOD} b - 1 1", "many"),
        ("standard", f"{GOOD} b a1 1", "ban"),
        ("standard", f"{GOOD}/8 b - 1", "ranks"),
        ("standard", GOOD.removesuffix("/1bbbbbb1") + " b - 1", "ranks"),
        ("standard", GOOD.replace("w6w", "w5w", 1) + " b - 1", "7 squares"),
        ("standard", GOOD.replace("w6w", "w7w", 1) + " b - 1", "too long"),
        ("standard", GOOD.replace("w6w", "w06w", 1) + " b - 1", "run"),
        ("standard", GOOD.replace("w6w", "w٦w", 1) + " b - 1", "unknown"),
        ("standard", GOOD.replace("w6w", "w66", 1) + " b - 1", "68|67|squares"),
        ("standard", GOOD.replace("w6w", "w6L", 1) + " b - 1", "unknown"),
        ("standard", GOOD.replace("w6w", "w6z", 1) + " b - 1", "neutral"),
        ("standard", GOOD.replace("w6w", "w6\0", 1) + " b - 1", "unknown"),
        ("standard", "8/8/8/3b4/8/8/8/8 b - 1", "White"),
        ("standard", "8/8/8/3w4/8/8/8/8 b - 1", "Black"),
        ("standard", "b" * 10_000 + " b - 1", "ranks"),
        ("blackhole9", "9/9/9/9/4b4/9/9/9/w8 b - 1", "hole"),
        ("zen", "11/11/11/11/11/zz9/11/11/11/11/b9w b - 1", "neutral"),
        ("zen", "11/11/11/11/11/z10/11/11/11/11/b9w b l1 1", "off the board"),
        ("zen", "11/11/11/11/11/z10/11/11/11/11/b9w b a12 1", "off the board"),
        ("zen", "11/11/11/11/11/z10/11/11/11/11/b9w b A1 1", "ban"),
    ],
)
def test_malformed_positions(variant: str, text: str, problem: str) -> None:
    with pytest.raises(ParseError, match=problem) as caught:
        at(text, variant)
    assert caught.value.hint


def test_piece_letters_of_other_programs_are_read() -> None:
    standard = str(at())
    first = GOOD.replace("b", "L").replace("w", "l")
    assert str(at(f"{first} w - - 0 1")) == standard
    assert str(at(f"{first} b - - 0 7")) == f"{GOOD} w - 7"
    assert str(at(GOOD.replace("b", "p").replace("w", "P") + " b - - 0 1")) == standard
    with pytest.raises(ParseError):
        at(f"{first} w - - x 1")


# ---------------------------------------------------------------- whole games


def read_games(text: str, ruleset: Ruleset | None = None) -> list[GameText]:
    return list(RULES.formats[0].read(text, ruleset or RULES.settle()))


def test_game_texts_in_every_style() -> None:
    moves = ("b1b3", "h4f2", "d1a4", "h2e2")
    for text in (
        "b1-b3 h4-f2 d1:a4 h2-e2",
        "1. b1-b3 h4xf2 2. d1:a4 h2-e2 *",
        "1.b1b3 h4f2\r\n2.d1xa4! {a fine { move} h2-e2 ; and so on\n 1-0",
        '[Event "x \\"y\\""]\n[Result "0-1"]\n\n1) B1-B3, h4-f2 $4 2) d1:a4 2... h2-e2 0-1',
        "1 b1b3 h4f2 2 d1a4 h2e2 1/2-1/2",
    ):
        games = read_games(text)
        assert [game.moves for game in games] == [moves]
    assert read_games('[Event "x \\"y\\""] 1. b1b3 0-1')[0] == GameText(
        ("b1b3",), tags={"Event": 'x "y"'}, result="0-1"
    )


def test_several_games_and_their_rules() -> None:
    text = """
        [Variant "zen"] [Rule.simultaneous "mover"] 1. a11a8 1-0
        [Position "6bw/6bb/8/8/8/8/bb6/wb6 w - 20"] 20... pass 21. a2-a4 *
        b1b3
    """
    first, second, third = read_games(text)
    assert (first.variant, first.options, first.result) == ("zen", {"simultaneous": "mover"}, "1-0")
    assert (second.position, second.moves) == ("6bw/6bb/8/8/8/8/bb6/wb6 w - 20", ("pass", "a2a4"))
    assert third == GameText(("b1b3",))


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("b1-b3 h4-", 6),
        ("b1-b3 h4-i9", 9),
        ("{no end", 0),
        ('[Variant "chess"]', 0),
        ('[Rule.colour "red"]', 0),
        ('[Rule.repetition "1"]', 0),
        ('[Result "2-0"]', 0),
        ('[Position "8/8 b"] b1b3', 19),
        ("b1-b3 \0", 6),
        ("[" * 10_000, 0),
        ("1" * 10_000, 0),
        ("１. b1b3", 0),
    ],
)
def test_malformed_game_texts(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        read_games(text)
    assert caught.value.index == index


def test_several_written_games_are_read_again() -> None:
    ruleset = RULES.settle()
    games = [GameText(("b1b3",), result="1-0"), GameText((), tags={"Event": "e"}), GameText(("c8c6", "a6c4") * 80)]
    text = "".join(RULES.formats[0].write(game, ruleset) for game in games)
    assert read_games(text) == games
    assert max(map(len, text.splitlines())) <= 120


# ---------------------------------------------------------------- board, evaluation, playouts


def test_the_board_shows_groups_and_the_hole() -> None:
    board = at("7w/4ww2/5b2/6w1/8/8/6b1/6b1 w - 30").board
    assert board.notes == ("Black 3 pieces, 2 groups", "White 4 pieces, 3 groups")
    assert board.marks["g1"] == board.marks["g2"] == board.marks["e7"] == ("group",)
    assert board.marks["f6"] == board.marks["h8"] == board.marks["g5"] == ("stray",)
    assert len(board.cells) == 64
    hole = at(variant="blackhole9").board
    assert [cell.name for cell in hole.cells if cell.kind == "hole"] == ["e5"]
    assert "Black 1 piece, connected" in at("8/8/8/8/8/8/8/b1w1w3 b").board.notes


def test_groups_do_not_wrap_round_the_edge() -> None:
    assert len(groups({7, 16})) == 2
    assert len(groups({0, 17, 32, 11 * 17})) == 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_evaluation_is_symmetric_and_bounded(variant: str) -> None:
    chance = random.Random(variant)
    position = at(variant=variant)
    config = position.ruleset.config
    swap = {"b": "w", "w": "b", "z": "z"}
    for _ in range(40):
        value = kernel.evaluate(position.state, config)
        pieces = {square: swap[symbol] for square, symbol in unpack(position.state, config).items()}
        mirrored = pack(pieces, config, side=1 - int(position.state[7]))
        assert value == kernel.evaluate(mirrored, config)
        assert abs(value) < 20_000
        position = position.play(chance.choice(position.moves)) if position.moves else at(variant=variant)


def test_evaluation_scores_won_positions() -> None:
    assert at("8/8/3bb3/4w3/8/8/w7/8 b - 9").state is not None
    for text, expected in (
        ("8/8/3bb3/4w3/8/8/w7/8 b - 9", 15_000),
        ("8/8/3bb3/4w3/8/8/w7/8 w - 9", -15_000),
        ("8/8/3bb3/4w3/3w4/8/8/8 w - 9", 0),
    ):
        position = at(text)
        assert kernel.evaluate(position.state, position.ruleset.config) == expected
    near, wide = at("8/8/2bbb3/8/3b4/w6w/8/w6w b"), at("b6b/8/8/b6b/8/w6w/8/w6w b")
    assert kernel.evaluate(near.state, near.ruleset.config) > kernel.evaluate(wide.state, wide.ruleset.config)


def test_playouts_of_a_decided_or_stuck_position() -> None:
    rng = np.array([3], dtype=np.uint64)

    def end(text: str, plies: int = 100, **options: Value) -> tuple[int, int]:
        position = at(text, **options)
        code, done = kernel.playout(position.state, position.ruleset.config, rng, plies)
        return int(code), int(done)

    prison = "6bw/6bb/8/8/8/8/bb6/wb6 w - 20"
    assert end("8/8/3bb3/4w3/8/8/w7/8 b - 9") == (kernel.CONNECTION * 4 + 1, 0)
    assert end(prison, no_moves="loss") == (kernel.STUCK * 4 + 1, 0)
    assert end(prison, no_moves="draw", plies=0) == (kernel.STUCK * 4 + 3, 0)
    assert end(prison, plies=0) == (0, 0)
    assert end(prison, plies=1) == (0, 1)
    assert end(prison, max_plies=1) == (kernel.LIMIT * 4 + 3, 1)
    full = "/".join(["bbwwbbww"] * 8) + " b - 50"
    assert end(full) == (kernel.BLOCKED * 4 + 3, 0)


def test_random_games_last_about_215_plies() -> None:
    ruleset, rng = RULES.settle(), np.array([11], dtype=np.uint64)
    plies = [int(kernel.playout(ruleset.read(), ruleset.config, rng, 10**6)[1]) for _ in range(2000)]
    assert 200 < sum(plies) / len(plies) < 230


# ---------------------------------------------------------------- bounds


def test_the_move_buffer_is_never_too_short() -> None:
    """The bound in `docs/contributing/kernels.md`: the most moves on a line of each length, summed over all."""
    most = {1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 6: 4, 7: 4, 8: 5, 9: 6, 10: 6, 11: 7, 12: 8}
    for length in range(2, 8):
        highest = 0
        for digits in itertools.product((0, 1, 2), repeat=length):
            own, opp = (sum((digit == side) << place for place, digit in enumerate(digits)) for side in (1, 2))
            up, down = kernel_lines.movers(own, opp, length - digits.count(0), (1 << length) - 1)
            highest = max(highest, int(up).bit_count() + int(down).bit_count())
        assert highest == most[length]
    bounds = {n: 2 * n * most[n] + 2 * (most[n] + 2 * sum(most[k] for k in range(1, n))) for n in (8, 9, 11, 12)}
    assert bounds == {8: 154, 9: 204, 11: 300, 12: 368}
    assert max(bounds[12], bounds[11] + 8) + 8 <= kernel.MAX_MOVES


@pytest.mark.parametrize("variant", ["standard", "loa12"])
def test_a_short_buffer_is_refused(variant: str) -> None:
    ruleset = RULES.settle(variant)
    with pytest.raises(OverflowError):
        kernel.legal(ruleset.read(), ruleset.config, np.empty(12, dtype=np.int64))


# ---------------------------------------------------------------- without the compiler


def test_the_limit_counts_plies_of_this_game_only() -> None:
    assert at("8/2bww3/8/2w5/1b6/8/8/8 w - 57", max_plies=1).outcome is None
    assert RULES.settle("standard", {"max_plies": 9}).config[MAX_PLIES] == 9


@pytest.mark.parametrize("variant", ["standard", "scrambled-eggs"])
def test_linear_features_find_immediate_wins_and_are_tied_in_every_image(variant: str) -> None:
    ruleset, lot = RULES.settle(variant), random.Random(1)
    config, active = ruleset.config, np.zeros(kernel.MAX_LINEAR_FEATURES, dtype=np.int64)

    def alike(state: State) -> list[int]:
        count = kernel.linear_features(state, config, active)
        assert count == -1 or 0 <= active[:count].min() <= active[:count].max() < kernel.LINEAR_FEATURE_COUNT
        same = kernel.TIED_FEATURES[active[: max(count, 0)]]  # centres are rounded towards one corner of the board
        return sorted(same[(same < kernel_linear.SPREAD) | (same >= kernel_linear.QUADS)].tolist())

    images = [image.cells for image in SYMMETRY.images(config)]
    wins, position = 0, Position.start(ruleset)
    for _ in range(150):
        nexts = [position.play(move) for move in position.moves]
        is_won = any(after.outcome is not None and after.outcome.winner == position.side for after in nexts)
        assert (kernel.linear_features(position.state, config, active) == -1) == is_won, str(position)
        wins += is_won
        for cells in images:
            state = position.state.copy()
            for element in (0, 3):
                word = int(position.state[element])
                state[element] = sum(1 << bit for bit, cell in enumerate(cells) if word >> cell & 1)
            assert alike(state) == alike(position.state)
        going = [after for after in nexts if after.outcome is None]
        near = min(going, key=lambda after: kernel.evaluate(after.state, config), default=None)
        position = (
            Position.start(ruleset) if near is None or is_won else near if lot.random() < 0.7 else lot.choice(going)
        )
    assert wins > 2
