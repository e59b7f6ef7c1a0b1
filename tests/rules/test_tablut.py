"""Tablut: the kernel against a slow reference, the rules file's examples, texts, evaluation, bounds."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.core import ParseError, UnknownNameError
from referee.games.tablut import RULES, config
from referee.games.tablut.cells import NAMES
from referee.games.tablut.notation import captures, display_move, read_move, write_move
from referee.position import Position
from referee.rules import GameText, Ruleset

ROOT = Path(__file__).resolve().parents[2]
START = "3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3"
PLAIN, OTN = RULES.formats

# A slow reference, written from the rules file alone ------------------------------------------------------------------

BASES = ["d1 e1 f1 e2".split(), "a4 a5 a6 b5".split(), "i4 i5 i6 h5".split(), "d9 e9 f9 e8".split()]
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
        symbol, found, far = self.board[start], [], 0
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
                found.append(at)
            if not may_pass:
                break
            at = step(at, way)
        return found

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
    """Random values of the options that change moves and results; limits off."""
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
    """The reference and the kernel agree on everything about a position."""
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
        # Only what can stand on a board of closed camps is compared: nobody but attackers is ever inside.
        slow, position = slow.play(move), position.play(move)


def random_board(rng: random.Random, *, closed: bool) -> str:
    """Any heap of pieces, the king often near the throne, the border or a base."""
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


@settings(max_examples=150, deadline=None)
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
    """Perft by listing, playing and nothing else."""
    kernel = RULES.kernel
    if depth == 0:
        return 1
    buffer, after = np.empty(kernel.MAX_MOVES, dtype=np.int64), np.empty_like(state)
    found = 0
    for code in buffer[: kernel.legal(state, ruleset.config, buffer)].tolist():
        kernel.play(state, ruleset.config, code, after)
        found += counted(ruleset, after, depth - 1)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_perft_is_what_listing_and_playing_counts(seed: int) -> None:
    rng = random.Random(1000 + seed)
    ruleset = RULES.settle("bell", some_options(rng))
    text = random_board(rng, closed=ruleset.values["camp_entry"] == "closed")
    state = ruleset.read(text)
    for depth in (0, 1, 2):
        wanted = counted(ruleset, state, depth)
        assert RULES.kernel.perft(state, ruleset.config, depth) == wanted, (text, depth, dict(ruleset.overrides))


def test_deeper_perft_is_what_listing_and_playing_counts() -> None:
    for seed in range(3):
        rng = random.Random(seed)
        ruleset = RULES.settle("bell", {"tuichi_wins": seed == 1, "throne_pass": "all", "camp_hostile": "ashton"})
        state = ruleset.read("9/2t6/3T5/4K4/9/3tT4/9/6t2/9 " + "ad"[seed % 2] + " 0 0")
        assert RULES.kernel.perft(state, ruleset.config, 3) == counted(ruleset, state, 3)
