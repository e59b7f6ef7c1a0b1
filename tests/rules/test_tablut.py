"""Tablut: the kernel against a slow reference, the examples of RULES.md, texts, evaluation, bounds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.per_family import perft
from referee.rules.position import Position
from referee.rules.rules import GameText, Ruleset
from referee.rules.tablut import RULES
from referee.rules.tablut import state as place
from referee.rules.tablut.notation import captures, display_move, read_move, write_move
from referee.rules.tablut.tables import NAMES
from tests.conftest import EFFORT

ROOT = Path(__file__).resolve().parents[2]
START = "3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3"
PLAIN, OTN = (form for form in RULES.formats if form.name in ("tablut", "otn"))

# A slow reference, written from the rules file alone -----------------------------------------------------------------

BASES = [["d1", "e1", "f1", "e2"], ["a4", "a5", "a6", "b5"], ["i4", "i5", "i6", "h5"], ["d9", "e9", "f9", "e8"]]
IN_BASE = {name: base for base in BASES for name in base}
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def step(name: str, way: tuple[int, int]) -> str | None:
    x, y = "abcdefghi".index(name[0]) + way[0], int(name[1]) + way[1]
    return f"{'abcdefghi'[x]}{y}" if 0 <= x <= 8 and 1 <= y <= 9 else None


class Slow:
    """A board (cell name to symbol), the side to move, and the rule options by name."""

    def __init__(self, board: dict[str, str], side: str, quiet: int, ply: int, values: Any) -> None:
        self.board, self.side, self.quiet, self.ply, self.o = dict(board), side, quiet, ply, values

    def own(self, symbol: str) -> bool:
        return symbol in ("t" if self.side == "a" else "TK")

    def king(self) -> str | None:
        return next((name for name, symbol in self.board.items() if symbol == "K"), None)

    def goals(self) -> set[str]:
        border = {name for name in NAMES if name[0] in "ai" or name[1] in "19"}
        return border if self.o["goal"] == "edge" else border - set(IN_BASE)

    def slide(self, start: str, way: tuple[int, int]) -> list[str]:
        symbol, cells, far = self.board[start], [], 0
        at = step(start, way)
        while at is not None and at not in self.board:
            far += 1
            may_stop = may_pass = True
            if symbol == "K" and self.o["king_max_step"] and far > self.o["king_max_step"]:
                break
            if at == "e5":
                may_stop = symbol == "K" and self.o["king_reenter"]
                may_pass = self.o["throne_pass"] == "all" or (symbol == "K" and self.o["throne_pass"] == "king")
            if at in IN_BASE:
                if self.o["camp_entry"] == "closed":
                    if not (symbol == "t" and start in IN_BASE[at]):
                        may_stop = may_pass = False
                elif symbol == "K" and self.o["king_bases"] != "free":
                    occupied = any(self.board.get(name) == "t" for name in IN_BASE[at])
                    if self.o["king_bases_when"] == "always" or occupied:
                        may_stop = False
                        may_pass = may_pass and self.o["king_bases"] == "no_stop"
            if may_stop:
                cells.append(at)
            if not may_pass:
                break
            at = step(at, way)
        return cells

    def moves(self) -> list[str]:
        if self.verdict():
            return []
        pieces = [name for name, symbol in self.board.items() if self.own(symbol)]
        return sorted(name + end for name in pieces for way in WAYS for end in self.slide(name, way))

    def ways(self) -> int:
        king = self.king()
        return sum(bool(self.goals() & set(self.slide(king, way))) for way in WAYS) if king else 0

    def hostile(self, cell: str | None, victim: str, *, four: bool = False) -> bool:
        if cell is None:
            return four and bool(self.o["king_edge_capture"])
        there = self.board.get(cell)
        ashton = self.o["camp_hostile"] == "ashton" and cell in IN_BASE
        if victim == "K":
            return there == "t" or ashton or (four and cell == "e5" and there is None)
        if victim == "t":
            if there == "T" or (there == "K" and self.o["king_armed"]):
                return True
            if cell == "e5" and there is None and self.o["throne_hostile"] in ("attackers", "both"):
                return True
            return ashton and cell not in ("e1", "a5", "i5", "e9")
        if there == "t" or ashton:
            return True
        if cell != "e5":
            return False
        if there is None:
            return self.o["throne_hostile"] in ("defenders", "both")
        around = [self.board.get(name) for name in ("d5", "f5", "e4", "e6")]
        return self.o["throne_king_hostile"] == "always" or (
            self.o["throne_king_hostile"] == "linnaean" and around.count("t") == 3
        )

    def play(self, move: str) -> Slow:
        start, end = move[:2], move[2:]
        after = Slow(self.board, self.side, self.quiet + 1, self.ply + 1, self.o)
        symbol = after.board[end] = after.board.pop(start)
        taken = []
        for way in WAYS:
            at = step(end, way)
            victim = after.board.get(at) if at else None
            if at is None or victim is None or self.own(victim) or (symbol == "K" and not self.o["king_armed"]):
                continue
            if victim == "K":
                if self.o["king_capture"] == "four" or at in ("e5", "d5", "f5", "e4", "e6"):
                    is_taken = all(after.hostile(step(at, side), "K", four=True) for side in WAYS)
                else:
                    is_taken = after.hostile(step(at, way), "K")
            else:
                is_taken = after.hostile(step(at, way), victim)
            if is_taken:
                taken.append(at)
        for at in taken:
            del after.board[at]
            after.quiet = 0
        after.side = "d" if self.side == "a" else "a"
        return after

    def verdict(self) -> str | None:
        if self.king() is None:
            return "king-captured"
        if self.king() in self.goals():
            return "king-escaped"
        if "t" not in self.board.values():
            return "attackers-eliminated"
        if self.o["tuichi_wins"] and self.side == "a" and self.ways() >= 2:
            return "tuichi"
        return None

    def __str__(self) -> str:
        rows = []
        for rank in "123456789":
            row, empty = "", 0
            for file in "abcdefghi":
                symbol = self.board.get(file + rank)
                if symbol is None:
                    empty += 1
                    continue
                row, empty = row + (str(empty) if empty else "") + symbol, 0
            rows.append(row + (str(empty) if empty else ""))
        return f"{'/'.join(rows)} {self.side} {self.quiet} {self.ply}"


def some_options(rng: random.Random) -> dict[str, Any]:
    """Draw random values of the options that change moves and results, without limits."""
    options: dict[str, Any] = {"repetition": 0}
    for option in RULES.options:
        if option.changes == "limits":
            continue
        if option.type == "combo":
            options[option.name] = rng.choice(option.values)
        elif option.type == "check":
            options[option.name] = rng.random() < 0.5
        else:
            options[option.name] = rng.choice([0, 0, 1, 2, 4, 8])
    if rng.random() < 0.6:
        options["camp_entry"] = "open"
    return options


def compare(slow: Slow, position: Position) -> None:
    """Assert that reference and kernel agree on everything about a position."""
    ruleset, kernel = position.ruleset, RULES.kernel
    problem = f"{slow} {dict(ruleset.overrides)}"
    assert str(position) == str(slow), problem
    buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    codes = buffer[: kernel.legal(position.state, ruleset.config, buffer)].tolist()
    assert codes == sorted(codes), problem
    assert [write_move(code) for code in codes] == slow.moves(), problem
    assert kernel.count(position.state, ruleset.config) == len(codes), problem
    outcome = position.outcome
    if slow.verdict():
        assert outcome is not None, problem
        assert outcome.reason.value == slow.verdict(), problem
        winner = "attackers" if slow.verdict() == "king-captured" else "defenders"
        assert (outcome.winner == "first") == (winner == slow.o["first_player"]), problem
    elif not codes:
        assert outcome is not None, problem
        assert outcome.reason.value == "no-moves", problem
    else:
        assert outcome is None, problem
        ways = ("none", "raichi", "tuichi", "tuichi", "tuichi")[slow.ways()]
        assert (RULES.announce(position.state, ruleset.config) or "none") == ways, problem  # type: ignore[misc]


def slow_from(text: str, values: Any) -> Slow:
    rows, side, quiet, ply = text.split()
    board = {}
    for rank, row in enumerate(rows.split("/"), 1):
        file = 0
        for symbol in row:
            if symbol.isdigit():
                file += int(symbol)
            else:
                board["abcdefghi"[file] + str(rank)] = symbol
                file += 1
    return Slow(board, side, int(quiet), int(ply), values)


@pytest.mark.parametrize("seed", range(40))
def test_random_games_agree_with_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    presets = [variant.name for variant in RULES.variants]
    ruleset = (
        RULES.settle(presets[seed % len(presets)], {"repetition": 0})
        if seed < 12
        else RULES.settle("bell", some_options(rng))
    )
    position = Position.start(ruleset)
    slow = slow_from(str(position), ruleset.values)
    for _ in range(60):
        compare(slow, position)
        moves = slow.moves()
        if not moves:
            break
        move = rng.choice(moves)
        # Compare only what a board with closed camps can contain: only attackers are ever inside.
        slow, position = slow.play(move), position.play(move)


def random_board(rng: random.Random, *, closed: bool) -> str:
    """Draw any pieces, the king often near the throne, the border or a base."""
    attackers, defenders = rng.randint(0, 20), rng.randint(0, 10)
    cells = [name for name in NAMES if name != "e5"]
    king = rng.choice(["e5", "d5", "e6", "d4", "c2", "e3", *NAMES])
    if closed and king in IN_BASE:
        king = "e5"
    free = [name for name in cells if name != king]
    near = [name for way in WAYS if (name := step(king, way)) in free] * 4
    board = {king: "K"} if rng.random() < 0.97 else {}
    for number in range(attackers + defenders):
        name = rng.choice(near if near and number < 4 and rng.random() < 0.8 else free)
        symbol = "t" if number < attackers else "T"
        if name not in board and not (closed and symbol == "T" and name in IN_BASE):
            board[name] = symbol
    return str(Slow(board, rng.choice("ad"), rng.randint(0, 9), rng.randint(0, 99), {}))


@settings(max_examples=50 * EFFORT, deadline=None)
@given(st.integers(0, 2**32))
def test_random_placements_agree_with_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    ruleset = RULES.settle("bell", some_options(rng))
    text = random_board(rng, closed=ruleset.values["camp_entry"] == "closed")
    slow, position = slow_from(text, ruleset.values), Position.start(ruleset, text)
    compare(slow, position)
    moves = slow.moves()
    for move in rng.sample(moves, min(12, len(moves))):
        compare(slow.play(move), position.play(move))


def counted(ruleset: Ruleset, state: Any, depth: int) -> int:
    """Return perft by listing and playing alone."""
    kernel = RULES.kernel
    if depth == 0:
        return 1
    buffer, after = np.empty(kernel.MAX_MOVES, dtype=np.int64), np.empty_like(state)
    leaves = 0
    for code in buffer[: kernel.legal(state, ruleset.config, buffer)].tolist():
        kernel.play(state, ruleset.config, code, after)
        leaves += counted(ruleset, after, depth - 1)
    return leaves


@pytest.mark.parametrize("seed", range(60))
def test_perft_is_what_listing_and_playing_counts(seed: int) -> None:
    rng = random.Random(1000 + seed)
    ruleset = RULES.settle("bell", some_options(rng))
    text = random_board(rng, closed=ruleset.values["camp_entry"] == "closed")
    state = ruleset.read(text)
    for depth in (0, 1, 2):
        wanted = counted(ruleset, state, depth)
        assert perft(ruleset, state, depth) == wanted, (text, depth, dict(ruleset.overrides))


@pytest.mark.parametrize("side", "ad")
@pytest.mark.parametrize("variant", ["bell", "ashton", "linnaeus", "bell_a1_attenuated"])
def test_deeper_perft_is_what_listing_and_playing_counts(variant: str, side: str) -> None:
    ruleset = RULES.settle(variant)
    state = ruleset.read(f"9/2t6/3T5/4K4/9/3tT4/9/6t2/9 {side} 0 0")
    assert perft(ruleset, state, 3) == counted(ruleset, state, 3)


# The rules file's examples -------------------------------------------------------------------------------------------


def boards(*pieces: str) -> str:
    """Return a board from words such as `Ke4` and `td4`."""
    return str(Slow({piece[1:]: piece[0] for piece in pieces}, "a", 0, 0, {})).split()[0]


@pytest.mark.parametrize(
    ("pieces", "move", "options", "taken"),
    [
        ("Ke4 td4 tf4 tc3 Th8", "c3e3", {}, "e4"),
        ("Kc3 tb3 td8 Th8", "d8d3", {}, ""),
        ("Kc3 tb3 td8 Th8", "d8d3", {"king_capture": "custodial"}, "c3"),
        ("Kc8 Te4 te2", "e2e3", {}, ""),
        ("Kc8 Te4 te2", "e2e3", {"throne_hostile": "both"}, "e4"),
        ("Kc8 Te4 te2", "e2e3", {"throne_hostile": "defenders"}, "e4"),
        ("Kc8 Te4 te2", "e2e3", {"throne_hostile": "attackers"}, ""),
        ("Ke5 Te4 td5 tf5 te6 te1", "e1e3", {"throne_king_hostile": "linnaean"}, "e4"),
        ("Ke5 Te4 td5 tf5 te6 te1", "e1e3", {"throne_king_hostile": "always"}, "e4"),
        ("Ke5 Te4 td5 tf5 te6 te1", "e1e3", {"throne_hostile": "both"}, ""),
        ("Ke5 Te4 td5 tf5 te1", "e1e3", {"throne_king_hostile": "linnaean"}, ""),
        ("Ke5 Te4 td5 tf5 te1", "e1e3", {"throne_king_hostile": "always"}, "e4"),
        # The attacker leaves one of the three neighbours: the throne is hostile no more.
        ("Ke5 Te4 td5 tf5 te6 tc4", "c4d4", {"throne_king_hostile": "linnaean"}, ""),
        # A throne with the king is not empty, and only an armed king is a partner.
        ("Ke5 te4 Te2", "e2e3", {}, "e4"),
        ("Ke5 te4 Te2", "e2e3", {"king_armed": False}, ""),
        ("Ke5 te4 Te2", "e2e3", {"king_armed": False, "throne_hostile": "both"}, ""),
        # Against the border and in a corner.
        ("Ke5 Ta2 ta1 tb3", "b3a3", {}, "a2"),
        ("Ke5 Ta1 tb9", "b9b1", {}, ""),
        # The king on the border, base goals off: three and the border.
        ("Ke1 td1 tf1 ta2", "a2e2", {"goal": "edge_no_bases"}, "e1"),
        ("Ke1 td1 tf1 ta2", "a2e2", {"goal": "edge_no_bases", "king_edge_capture": False}, ""),
        # Bases: hostile to a defender wherever, to an attacker except the middle of the border.
        ("Kg7 Td2 td7", "d7d3", {"camp_hostile": "ashton"}, "d2"),
        ("Kg7 Te2 te7", "e7e3", {"camp_hostile": "ashton", "throne_pass": "all"}, "e2"),
        ("Kg7 te2 Te4", "e4e3", {"camp_hostile": "ashton"}, ""),
        ("Kg7 td2 Td7 td1", "d7d3", {"camp_hostile": "ashton"}, "d2"),
        # An own man in a base is hostile all the same.
        ("Kd2 td7 Td1", "d7d3", {"camp_hostile": "ashton", "king_capture": "custodial"}, "d2"),
    ],
)
def test_captures(pieces: str, move: str, options: dict[str, Any], taken: str) -> None:
    ruleset = RULES.settle("bell", options)
    start = {piece[1:]: piece[0] for piece in pieces.split()}
    side = "a" if start[move[:2]] == "t" else "d"
    position = Position.start(ruleset, f"{boards(*pieces.split())} {side} 3 7")
    code = position.read(move)
    assert [NAMES[cell] for cell in captures(code, position.state, ruleset.config)] == taken.split()
    after = position.play(code)
    assert str(after).split()[2:] == ["0" if taken else "4", "8"]
    assert (after.outcome is not None and after.outcome.reason == "king-captured") == (
        taken != "" and start[taken] == "K"
    )


def test_a_king_who_walks_into_a_ring_is_safe_until_it_is_renewed() -> None:
    position = Position.start(RULES.settle(), "9/9/4t4/3t1t3/4K4/9/9/T6t1/9 d 0 0")
    position = position.play_all(["e5e4", "h8h9", "a8b8"])
    assert position.outcome is None
    position = position.play_all(["d4c4", "b8a8", "c4d4"])
    assert position.outcome is not None
    assert position.outcome.reason == "king-captured"


def test_perpetual_raichi_needs_a_way_at_every_turn_of_the_last_cycle() -> None:
    """On c4 and c5 the king has a way, on c3 none; the attackers only make waiting moves."""
    start = "2t6/9/t7t/2K6/9/9/9/7t1/2t6 d 0 0"
    shut = ["c4c3", "h8g8", "c3c4", "g8h8"]
    free = ["c4c5", "h8g8", "c5c4", "g8h8"]
    for moves, option, wanted in [
        (free + free, "normal", ("draw", "repetition")),
        (free + free, "defenders_lose", ("first", "perpetual-raichi")),
        (shut + free, "defenders_lose", ("first", "perpetual-raichi")),
        (free + shut, "defenders_lose", ("draw", "repetition")),
        (shut + shut, "defenders_lose", ("draw", "repetition")),
        # The same where the attackers are on move when the position stands again.
        (["c4c6", *["h8g8", "c6c5", "g8h8", "c5c6"] * 2], "defenders_lose", ("first", "perpetual-raichi")),
        (["c4c6", *["h8g8", "c6c3", "g8h8", "c3c6"] * 2], "defenders_lose", ("draw", "repetition")),
    ]:
        end = Position.start(RULES.settle("bell", {"perpetual_raichi": option}), start).play_all(moves)
        assert end.outcome is not None
        assert (end.outcome.winner, end.outcome.reason.value) == wanted, moves


@pytest.mark.parametrize(("loss", "first"), [("draw", "attackers"), ("loss", "attackers"), ("loss", "defenders")])
def test_repetition_result_loss_is_for_the_side_that_completes_it(loss: str, first: str) -> None:
    ruleset = RULES.settle("bell", {"repetition_result": loss, "first_player": first})
    cycle = ["a4a3", "c5c4", "a3a4", "c4c5"]
    if first == "defenders":
        cycle = ["c5c4", "a4a3", "c4c5", "a3a4"]
    end = Position.start(ruleset).play_all(cycle * 2)
    assert end.outcome is not None
    assert end.outcome.winner == ("draw" if loss == "draw" else "first")


# Rules, variants, starts ---------------------------------------------------------------------------------------------


def test_values_have_the_numbers_of_the_config() -> None:
    for name, value, number in [
        ("king_bases", "forbidden", place.FORBIDDEN),
        ("king_bases_when", "occupied", place.OCCUPIED),
        ("throne_pass", "none", place.PASS_NONE),
        ("throne_pass", "all", place.PASS_ALL),
        ("throne_hostile", "attackers", place.HOSTILE_TO_ATTACKERS),
        ("throne_hostile", "defenders", place.HOSTILE_TO_DEFENDERS),
        ("throne_hostile", "both", place.HOSTILE_TO_BOTH),
        ("throne_king_hostile", "linnaean", place.LINNAEAN),
        ("throne_king_hostile", "always", place.ALWAYS),
        ("king_capture", "custodial", place.CUSTODIAL),
        ("camp_entry", "closed", place.CLOSED),
        ("camp_hostile", "ashton", place.ASHTON),
        ("no_moves", "draw", place.DRAW),
        ("repetition_result", "loss", place.LOSS),
        ("perpetual_raichi", "defenders_lose", place.DEFENDERS_LOSE),
    ]:
        assert RULES.option(name).encode(value) == number


def test_reasons_have_the_order_of_the_kernel() -> None:
    from referee.rules.tablut import kernel_board

    names = [
        "KING_CAPTURED",
        "KING_ESCAPED",
        "ATTACKERS_ELIMINATED",
        "TUICHI",
        "STUCK",
        "REPEATED",
        "PERPETUAL",
        "NO_CAPTURE",
        "TOO_LONG",
    ]
    assert [getattr(kernel_board, name) for name in names] == list(range(len(RULES.reasons)))


@pytest.mark.parametrize(
    ("variant", "options", "side"),
    [
        ("bell", {}, "a"),
        ("bell", {"first_player": "defenders"}, "d"),
        ("ashton", {}, "d"),
        ("ashton", {"first_player": "attackers"}, "a"),
    ],
)
def test_the_first_player_is_on_move_at_the_start(variant: str, options: dict[str, str], side: str) -> None:
    position = Position.start(RULES.settle(variant, options))
    assert str(position) == f"{START} {side} 0 0"
    assert position.side == "first"
    there = Position.start(RULES.settle(variant, options), f"{START} {'da'['da'.index(side) - 1]} 0 0")
    assert there.side == "second"


@pytest.mark.parametrize(
    ("name", "value"),
    [("king_max_step", 9), ("king_max_step", -1), ("repetition", 1), ("goal", "corner"), ("king_armed", "maybe")],
)
def test_unknown_values_are_refused(name: str, value: Any) -> None:
    with pytest.raises(UnknownNameError):
        RULES.settle("bell", {name: value})
    with pytest.raises(UnknownNameError):
        RULES.settle("bell", {"no_such_option": value})
    with pytest.raises(UnknownNameError):
        RULES.settle("belle")


def test_the_most_moves_there_can_be_fit_the_buffer() -> None:
    """Sixteen soldiers with a free view of eight cells have fewer moves than the bound; the buffer is checked."""
    ruleset = RULES.settle("bell", {"throne_pass": "all"})
    kernel = RULES.kernel
    rng, best = random.Random(5), 0
    for _ in range(4000):
        cells = rng.sample([name for name in NAMES if name != "e5"], rng.randint(12, 18))
        board = dict.fromkeys(cells, "t")
        board["e5"] = "K"
        state = ruleset.read(str(Slow(board, "a", 0, 0, {})))
        best = max(best, int(kernel.count(state, ruleset.config)))
    assert 150 < best <= kernel.MAX_MOVES
    for own in range(1, 81):
        assert min(16 * own, 4 * (81 - own)) <= kernel.MAX_MOVES
    state = ruleset.read()
    with pytest.raises(OverflowError):
        kernel.legal(state, ruleset.config, np.empty(60, dtype=np.int64))


# Texts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("e3e4", "E3-E4", "e3-e4", "Te3-e4", "te3e4", "Ke3-e4-", "e3-e4xe9", "e3e4xb3/d3/c4", "e3e4xTb3/d3"),
        *("e3e4+", "e3e4++", "e3e4-", "e3e4--", "e3e4 raichi", "E3E4 Tuichi", " e3e4 ", "Ke3-e4xd4++ tuichi"),
    ],
)
def test_accepted_moves(text: str) -> None:
    assert write_move(read_move(text)) == "e3e4"


@pytest.mark.parametrize(
    ("text", "index"),
    [
        *(("", 0), ("---", 0), ("e3", 2), ("e3e", 2), ("e3e0", 2), ("j3e4", 0), ("e3--e4", 2), ("e3e4e5", 2)),
        *(
            ("e3e4x", 2),
            ("e3e4xb3/", 2),
            ("e3^e4", 2),
            ("e3=e4", 2),
            ("e3e4---", 2),
            ("e3e4 fine", 2),
            ("e3e\u0664", 2),
        ),
        *(("\0", 0), ("e3e4" * 2500, 2), ("\u212ae3e4", 0), ("resign", 0)),
    ],
)
def test_refused_moves(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        read_move(text)
    assert caught.value.index == index
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (f"/{START}/ a", f"{START} a 0 0"),
        (f"{START} d 5", f"{START} d 5 0"),
        (f"  {START}   d  5  007 ", f"{START} d 5 7"),
        ("9/9/111111111/45/9/9/9/9/8t a", "9/9/9/9/9/9/9/9/8t a 0 0"),
        ("9/9/9/9/4K4/9/9/9/8t d 999999999 999999999", "9/9/9/9/4K4/9/9/9/8t d 999999999 999999999"),
    ],
)
def test_accepted_positions(text: str, canonical: str) -> None:
    assert str(Position.start(RULES.settle(), text)) == canonical


@pytest.mark.parametrize(
    ("text", "index"),
    [
        *(("9", 1), (f"{START} x", 50), (f"{START} a 0 0 0", 56), (f"{START} a -1", 52), (f"{START} a 1000000000", 52)),
        *((f"{START} a \u0663", 52), ("9/9/9 a", 5), ("9/9/9/9/9/9/9/9/9/9 a", 17), ("8/9/9/9/9/9/9/9/9 a", 1)),
        *(("9t/9/9/9/9/9/9/9/9 a", 1), ("55/9/9/9/9/9/9/9/9 a", 1), ("KK7/9/9/9/9/9/9/9/9 a", 1)),
        *(("9/9/9/9/4t4/9/9/9/9 a", 9), ("9/9/9/9/4T4/9/9/9/9 a", 9), ("k8/9/9/9/9/9/9/9/9 a", 0)),
        *(("0t8/9/9/9/9/9/9/9/9 a", 0), ("\0 a", 0), ("/ a", 1), ("// a", 1), (f"{START} aa", 50), (" ", 1)),
    ],
)
def test_refused_positions(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        RULES.settle().read(text)
    assert caught.value.index == index, caught.value
    assert caught.value.hint


def test_display_moves_name_captures_and_the_king() -> None:
    ruleset = RULES.settle()
    state = ruleset.read("2t6/9/tT1Tt4/2T6/2t6/9/9/6K2/9 a 0 0")
    assert display_move(read_move("c1c3"), state, ruleset.config) == "c1-c3xb3/c4/d3"
    state = ruleset.read("8t/9/Tt5K1/2t6/2T6/9/9/9/9 d 0 0")
    assert display_move(read_move("h3c3"), state, ruleset.config) == "Kh3-c3xb3/c4"
    # A move from an empty cell, or of the other side, is shown unchanged.
    assert display_move(read_move("a1a2"), state, ruleset.config) == "a1-a2"
    assert display_move(read_move("i1i2"), state, ruleset.config) == "i1-i2"


# A tournament game of 2015 on 9x9, played by rules that `linnaeus` contains: the captures and legal moves must be ours.
REAL_GAME = f"""
[event:Tafl Triathlon 2015]
[result:1]
[termination:White resigns]
[rules:dim:9 name:Tablut esc:e atkf:y ka:y ks:c nj:n cj:n cor: cens: cenh: start:/{START}/]

1. e2-g2 e3-h3
2. b5-b3 e4-f4
3. e1-e3 c5-c2
4. e8-b8 f4-f3
5. d1-d3 g5-g4
6. i4-h4 g4-d4
7. i5-i3 c2-d2xd3
8. g2-g3xf3/h3 f5-f3
9. b3-d3 d4-e4
10. f1-d1xd2 e4-c4
11. e3-e2 Ke5-f5
12. h5-g5 Kf5-f7
13. g5-g7 f3-f6
14. f9-f8 f6-h6
15. d3-f3 Kf7-f5
16. i3-i5 d5-d3
17. a4-b4 c4-c3
18. d1-d2 Kf5-d5
19. h4-d4xd3 c3-d3xd4
20. b4-d4xd3 h6-h1
21. a5-c5 Kd5-f5
22. g3-h3 h1-e1
23. d2-d3 e1-b1
24. a6-b6 b1-b3
25. i5-g5 e6-d6
26. d4-d5 d6-g6
27. i6-h6 g6-f6
28. f3-f4 e7-a7
29. h6-g6
"""


def test_a_real_game_has_our_captures() -> None:
    (game,) = OTN.read(REAL_GAME, RULES.settle())
    assert (game.variant, dict(game.options), game.position, game.result) == ("linnaeus", {}, None, "1-0")
    assert game.tags == {"event": "Tafl Triathlon 2015", "termination": "White resigns"}
    assert len(game.moves) == 57
    position = Position.start(RULES.settle(game.variant, game.options))
    written = [word for word in REAL_GAME.split("/]")[1].split() if not word.endswith(".")]
    for move, shown in zip(game.moves, written, strict=True):
        assert position.display(position.read(move)) == shown
        position = position.play(move)
    assert position.outcome is None


def test_opentafl_records_are_read() -> None:
    text = f"""[date:2020.01.02]
[attackers:One, A. [brackets end tags]
[result:-1]
[rules:dim:9 name:Other esc:e atkf:n ka:n ks:s tfr:l cenp:K cens:K cenhe:T cenh:T start:/{START}/]
1. c5-c4 a4-a3
[a comment with e2-e3 in it,

on several lines|and the other half]
1a.1.1a. e5-e3 d1-d3
[a variation is left out]
1b.1.1a. ..... d1-d2
2. c4-c5- a3-a4 3. ---
"""
    (game,) = OTN.read(text, RULES.settle())
    assert game.moves == ("c5c4", "a4a3", "c4c5", "a3a4")
    assert game.result == "1-0"
    assert game.tags["attackers"].startswith("One")
    assert (game.variant, dict(game.options)) == (
        "linnaeus",
        {
            "first_player": "defenders",
            "king_edge_capture": False,
            "king_armed": False,
            "king_reenter": True,
            "throne_pass": "king",
            "throne_hostile": "defenders",
            "throne_king_hostile": "always",
            "king_capture": "four",
            "repetition_result": "loss",
        },
    )
    bare = OTN.read("dim:9 esc:e ks:c cens: start:/9/9/9/9/4K4/9/9/9/8t/\n\n1. i9-i8 Ke5-e1--", RULES.settle())
    assert bare[0].position == "9/9/9/9/4K4/9/9/9/8t a 0 0"
    assert bare[0].moves == ("i9i8", "e5e1")
    assert OTN.read("1. e2-e3", RULES.settle("ashton"))[0].variant == "ashton"
    assert OTN.read("", RULES.settle()) == []


@pytest.mark.parametrize(
    "text",
    [
        *("[rules:dim:11 esc:e]", "[rules:dim:9]", "[rules:dim:9 esc:e ks:w]", "[rules:dim:9 esc:e cen:]"),
        *("[rules:dim:9 esc:e tfr:w]", "1. e2^e4", "1. e2-e3 ---\n2. e3-e4", "[date:2000", "1. e2-e3 ]"),
        *("[variant:bell no_such=1]", "[variant:bell king_max_step=99]", "[position:/9/9/] 1. e2-e3", "/8/ 1. e2-e3"),
    ],
)
def test_opentafl_records_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ParseError):
        OTN.read(text, RULES.settle())


def test_plain_games_are_read() -> None:
    text = """[Event "A \\"cup\\""]
[Variant "bell_k4"]
[Rule.max_plies "300"]

1. a4a3 {a comment} C5-C4 raichi  2. a3a4 ; the rest is talk e5e4
c4c5 1/2-1/2

[Variant "ashton"] [Position "/9/9/9/9/4K4/9/9/9/8t/ a"]
1... i9-i8 1-0
"""
    first, second = PLAIN.read(text, RULES.settle())
    assert first == GameText(
        ("a4a3", "c5c4", "a3a4", "c4c5"),
        "bell_k4",
        {"max_plies": 300},
        None,
        {"Event": 'A "cup"'},
        "1/2-1/2",
        comments={1: "a comment", 3: "the rest is talk e5e4"},
    )
    assert second == GameText(("i9i8",), "ashton", {}, "9/9/9/9/4K4/9/9/9/8t a 0 0", {}, "1-0")
    assert PLAIN.read("a4a3", RULES.settle("bell_a1", {"repetition": 5})) == [
        GameText(("a4a3",), "bell_a1", {"repetition": 5})
    ]
    assert PLAIN.read(" \n", RULES.settle()) == []


@pytest.mark.parametrize(
    "text",
    [
        *("a4", "a4a3 }", '[Variant "no"]', '[Rule.goal "no"] a4a3', '[Position "9 a"]', '[Result "2-0"]', "[Event]"),
        *("a4a3 1-0 c5c4", "a4a3 1-0 0-1", "{never closed", '[Rule.no_such "1"]', "1. a4a3 ..c5", '[A "b'),
    ],
)
def test_plain_games_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ParseError):
        PLAIN.read(text, RULES.settle())


# What is seen --------------------------------------------------------------------------------------------------------


def test_the_board_shows_special_cells_ways_and_notes() -> None:
    board = Position.start(RULES.settle("bell_a1"), "4K4/9/9/9/1t5t1/9/2T6/9/4t4 a 2 31").board
    kinds = {cell.name: cell.kind for cell in board.cells}
    assert (kinds["e5"], kinds["e2"], kinds["a1"], kinds["c3"]) == ("throne", "base", "goal", "plain")
    places = {cell.name: (cell.x, cell.y) for cell in board.cells}
    assert (places["a1"], places["i9"], places["c1"]) == ((0.0, 0.0), (8.0, 8.0), (2.0, 0.0))
    assert board.pieces == {"e1": "K", "b5": "t", "h5": "t", "c7": "T", "e9": "t"}
    assert {name for name, marks in board.marks.items() if "way" in marks} == {"a1", "b1", "c1", "g1", "h1", "i1"}
    assert board.notes[0] == "tuichi"
    assert "first player: attackers" in board.notes
    assert "first player: defenders" in Position.start(RULES.settle("ashton")).board.notes
    gone = Position.start(RULES.settle(), "9/9/9/9/9/9/9/9/8t d 0 0").board
    assert not gone.marks
    assert any("king captured" in note for note in gone.notes)


def test_nothing_is_announced_in_a_finished_game() -> None:
    text = "9/9/2K1T4/9/1t4T2/9/4t4/9/9 d 0 9"
    for options, wanted in (({}, "tuichi"), ({"max_plies": 9}, None), ({"king_max_step": 1}, None)):
        ruleset = RULES.settle("bell", options)
        assert RULES.announce is not None
        assert RULES.announce(ruleset.read(text), ruleset.config) == wanted


# Evaluation ----------------------------------------------------------------------------------------------------------


def score(text: str, variant: str = "bell") -> int:
    ruleset = RULES.settle(variant)
    return int(RULES.kernel.evaluate(ruleset.read(text), ruleset.config))


def test_evaluation_scores_winning_moves() -> None:
    assert abs(score(f"{START} a 0 0")) < 300
    assert score("4K4/9/9/9/1t5t1/9/2T6/9/4t4 a 0 0") < -18_000
    assert score("9/9/9/9/1t5t1/9/2T6/9/4t4 d 0 0") < -18_000
    assert score("9/9/2K1T4/9/1t4T2/9/4t4/9/9 d 0 0") > 14_000
    assert score("9/9/2t6/3tKt3/9/9/9/1t1t1t3/9 a 0 0") > 14_000, "c3e3 takes the king"
    assert score("9/9/t1Kt5/9/9/9/9/7T1/9 a 0 0", "linnaeus") > 14_000, "a3b3 takes the king"
    assert -14_000 < score("9/9/t1Kt5/9/9/9/9/7T1/9 a 0 0") < 0


# The same without compilation ----------------------------------------------------------------------------------------


def test_side_names_do_not_depend_on_the_first_player() -> None:
    bell, ashton = RULES.settle("bell"), RULES.settle("ashton")
    assert (bell.sides, ashton.sides) == (("Attackers", "Defenders"), ("Defenders", "Attackers"))
    assert (bell.side_named("moscovites"), ashton.side_named("Moscovites"), bell.side_named("white")) == (0, 1, None)
    assert ashton.side_named("first") == bell.side_named("FIRST") == 0


def test_move_list_contains_raichi_and_tuichi() -> None:
    game = GameText(("e2c2", "e4h4", "f9f7", "e3e2", "a6a8", "e5e3", "e8b8"), "bell", marks={6: "!"})
    text = PLAIN.write(game, RULES.settle())
    assert "3. a6a8 e5e3! tuichi 4. e8b8 tuichi" in text
    assert PLAIN.read(text, RULES.settle()) == [game]
    assert PLAIN.read("e2c2 raichi!? e4h4", RULES.settle())[0].marks == {1: "!?"}
    here = Position.start(RULES.settle()).play_all(game.moves[:6])
    assert (here.announced, here.previous.announced if here.previous else "") == ("tuichi", "")
