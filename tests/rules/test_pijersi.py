"""Pijersi: a slow reference against the kernel, the examples of the rules, setups, texts, and the static score."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.per_family import perft
from referee.rules.pijersi import RULES
from referee.rules.pijersi.notation import display_move, read_move, read_setup, write_move, write_setup
from referee.rules.pijersi.start import (
    FAMILIES,
    STANDARD,
    TRIPLETS,
    draw,
    is_mirrored,
    is_setup,
    numbers,
    permutations_of,
    rows,
    wings,
)
from referee.rules.pijersi.state import pieces_of, state_of
from referee.rules.pijersi.tables import CELL_NAMES, coordinates
from referee.rules.position import IllegalMoveError, Position
from tests.conftest import EFFORT

RULESET = RULES.settle()
KERNEL = RULES.kernel
CONFIG = RULESET.config

# -- a reference that is obviously right: cells by name, cubes as text bottom first -----------------------------------

Pieces = dict[str, str]
POINTS = {coordinates(number): name for number, name in enumerate(CELL_NAMES)}
PLACE = {name: point for point, name in POINTS.items()}
STEPS = ((-1, -1), (1, -1), (-2, 0), (2, 0), (-1, 1), (1, 1))
PREY = {"R": "S", "S": "P", "P": "R", "W": ""}


def go(cell: str, step: tuple[int, int]) -> str | None:
    return POINTS.get((PLACE[cell][0] + step[0], PLACE[cell][1] + step[1]))


def may_take(mover: str, held: str) -> bool:
    return mover.isupper() != held.isupper() and PREY[mover[-1].upper()] == held[-1].upper()


def cube_actions(pieces: Pieces, start: str) -> list[tuple[str, Pieces]]:
    cube, under, actions = pieces[start][-1], pieces[start][:-1], []
    for step in STEPS:
        to = go(start, step)
        if to is None:
            continue
        held = pieces.get(to, "")
        climbs = len(held) == 1 and held.isupper() == cube.isupper() and (cube not in "Ww" or held in "Ww")
        if not held or climbs or may_take(cube, held):
            after = {**pieces, to: (held if climbs else "") + cube, start: under}
            actions.append((to, {cell: cubes for cell, cubes in after.items() if cubes}))
    return actions


def stack_actions(pieces: Pieces, start: str) -> list[tuple[str, Pieces]]:
    actions: list[tuple[str, Pieces]] = []
    stack = pieces[start]
    for step in STEPS if len(stack) == 2 else ():
        near = go(start, step)
        far = go(near, step) if near else None
        for to in (near, far if near and near not in pieces else None):
            if to and (to not in pieces or may_take(stack, pieces[to])):
                actions.append((to, {**{cell: held for cell, held in pieces.items() if cell != start}, to: stack}))
    return actions


def won(pieces: Pieces) -> bool:
    return any(
        cell[0] == ("g" if held.isupper() else "a") and held.strip("Ww") for cell, held in pieces.items() if held
    )


def turns(pieces: Pieces, black: bool) -> dict[str, Pieces]:
    """Return every turn by its canonical text, with the cubes after it."""
    after_turn: dict[str, Pieces] = {}
    if won(pieces):
        return after_turn
    for start, held in pieces.items():
        if held.islower() != black:
            continue
        whole = len(held) == 2
        for mid, after in cube_actions(pieces, start):
            after_turn[start + (start if whole else "") + mid] = after
            if len(after[mid]) == 2 and pieces.get(mid):
                after_turn |= {start + mid + end: last for end, last in stack_actions(after, mid)}
        for mid, after in stack_actions(pieces, start):
            after_turn[start + mid + mid] = after
            after_turn |= {start + mid + end: last for end, last in cube_actions(after, mid)}
    return after_turn


def slow_perft(pieces: Pieces, black: bool, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(slow_perft(after, not black, depth - 1) for after in turns(pieces, black).values())


STACKS = [low + top for low in "RPSW" for top in "RPSW" if top != "W" or low == "W"]
CONTENTS = [*"RPSW", *STACKS, *"rpsw", *map(str.lower, STACKS)]


@st.composite
def placements(draw_from: st.DrawFn) -> Pieces:
    """Draw any pieces, dense or sparse, often touching."""
    chance = draw_from(st.randoms(use_true_random=False))
    size = draw_from(st.integers(1, 30))
    cells = chance.sample(CELL_NAMES[6:39] if chance.random() < 0.7 else CELL_NAMES, min(size, 33))
    kinds = CONTENTS if chance.random() < 0.5 else ["R", "PS", "r", "ps", "W", "WW", "w", "SR", "sr"]
    return {cell: chance.choice(kinds) for cell in cells}


def check(pieces: Pieces, black: bool) -> None:
    state = state_of(pieces, side=black, half=3, full=7)
    expected = turns(pieces, black)
    buffer = np.empty(KERNEL.MAX_MOVES, dtype=np.int64)
    codes = buffer[: KERNEL.legal(state, CONFIG, buffer)].tolist()
    where = RULESET.write(state)
    assert all(low < high for low, high in pairwise(codes)), where
    assert list(map(write_move, codes)) == sorted(expected), where
    assert KERNEL.count(state, CONFIG) == len(expected), where
    after = np.empty_like(state)
    for code in codes:
        KERNEL.play(state, CONFIG, code, after)
        assert pieces_of(after) == dict(sorted(expected[write_move(code)].items())), (where, write_move(code))
        lost = Counter("".join(pieces.values())) - Counter("".join(expected[write_move(code)].values()))
        assert after[13:].tolist() == [0 if lost else 4, 7 + black], (where, write_move(code))


@given(placements(), st.booleans())
def test_turns_are_those_of_the_reference(pieces: Pieces, black: bool) -> None:
    check(pieces, black)


@settings(max_examples=10 * EFFORT)
@given(placements(), st.booleans())
def test_two_plies_are_those_of_the_reference(pieces: Pieces, black: bool) -> None:
    pieces = dict(list(pieces.items())[:8])
    state = state_of(pieces, side=black)
    assert perft(RULESET, state, 2) == slow_perft(pieces, black, 2), RULESET.write(state)


def test_games_at_random_follow_the_reference() -> None:
    chance = random.Random(5)
    for name in ("standard", "full-random", "pijersi-8100#random/random"):
        position = Position.start(RULESET, draw(name, chance).position)
        while position.outcome is None:
            check(pieces_of(position.state), position.side == "second")
            position = position.play(chance.choice(position.moves))


@given(placements(), st.booleans())
def test_the_board_turned_round_is_the_same_game(pieces: Pieces, black: bool) -> None:
    turned = {CELL_NAMES[44 - CELL_NAMES.index(cell)]: held.swapcase() for cell, held in pieces.items()}
    one, other = state_of(pieces, side=black, half=6), state_of(turned, side=not black, half=6)
    assert KERNEL.count(one, CONFIG) == KERNEL.count(other, CONFIG)
    if not won(pieces):
        assert KERNEL.evaluate(one, CONFIG) == KERNEL.evaluate(other, CONFIG), RULESET.write(one)


@pytest.mark.parametrize(
    "position",
    [
        "1r-4/3SP3/1RP2SR1/3RP3/1RS2WS1/3WP3/6 w 0 1",
        "5r-/3RP3/1PS2RP1/3WS3/1RR2PS1/3WS3/6 w 0 1",
    ],
)
def test_the_most_turns_known(position: str) -> None:
    state = RULESET.read(position)
    assert KERNEL.count(state, CONFIG) == len(turns(pieces_of(state), False)) == 430


def test_a_buffer_too_short_is_an_error() -> None:
    with pytest.raises(OverflowError):
        KERNEL.legal(RULESET.read(), CONFIG, np.empty(185, dtype=np.int64))
    swapping = RULES.settle("standard", {"swap_phase": True})
    with pytest.raises(OverflowError):
        KERNEL.legal(swapping.read(), swapping.config, np.empty(66, dtype=np.int64))


# -- examples of the rules ---------------------------------------------------------------------------------------------


def texts(position: str, **options: int) -> list[str]:
    return Position.start(RULES.settle(None, options), position).texts


@pytest.mark.parametrize(
    ("position", "legal", "illegal"),
    [
        ("6/6p-/6/7/2R-P-2/7/6 w 0 1", "c3c4c3 c3c4c2 c3c4 c4c3c5", "c3c3c4 c3c4c4"),
        ("6/6p-/6/7/2PRP-2/7/6 w 0 1", "c3c4c5 c3c3c4", "c3c4c3 c3c4c2 c3c4"),
        ("6/6p-/6/7/2W-R-W-1/7/6 w 0 1", "c4c3 c4c5 c4c3c1", "c3c4 c5c4 c3c4c4"),
        ("6/6p-/6/3W-W-2/3W-2/7/6 w 0 1", "d4d5 d4d5d7 c4d4f3", "d4d5d4d5"),
        ("6/7/6/2s-r-3/2WWp-2/3s-3/6 w 2 9", "c3c3c2 c3c1c1", "c3d3d3 c3c3d4 c3d4d4 c3c4c4"),
        ("6/7/1s-s-3/7/2PR3/7/6 w 3 9", "c3e2e3 c3e2e2 c3d3c3", "c3d3e3e3"),
        ("6/2WR4/6/7/6/6p-/6 w 0 1", "f3g3f4 f3g3g4 f3g3g3 f3f3g3", "f3g3"),
        ("6/7/6/7/6/p-s-5/WRw-4 w 4 12", "a1a1b2 a1b2b2 a1b2a1", "a1b1b1 a1a2a2"),
    ],
)
def test_turns_of_cubes_and_stacks(position: str, legal: str, illegal: str) -> None:
    found = texts(position)
    assert set(legal.split()) <= set(found)
    assert not set(illegal.split()) & set(found)


def test_a_taken_stack_is_gone_with_its_bottom_and_the_count_starts_again() -> None:
    after = Position.start(RULESET, "6/7/6/2wsR-3/6/7/5S- w 5 9").play("d4d3")
    assert str(after) == "6/7/6/2R-4/6/7/5S- b 0 9"


@pytest.mark.parametrize(
    ("position", "options", "winner", "reason"),
    [
        ("2R-3/7/6/7/6/6p-/6 b 1 1", {}, "first", "goal"),
        ("2R-3/7/6/7/6/7/2p-3 b 1 1", {}, "first", "goal"),
        ("6/7/6/7/6/6P-/2wp3 w 30 1", {}, "second", "goal"),
        ("2R-3/7/6/3s-3/6/7/6 b 20 15", {}, "first", "goal"),
        ("R-5/7/6/3s-3/6/7/6 b 20 15", {}, "first", "goal"),
        ("6/7/6/7/6/s-s-5/W-w-4 w 20 22", {}, "draw", "no-capture"),
        ("6/7/6/7/6/s-s-5/W-w-4 w 20 22", {"no_capture_limit": 0}, "second", "no-moves"),
        ("6/7/6/7/6/s-s-5/W-w-4 w 19 22", {}, "second", "no-moves"),
        # The wise pair may not climb the rock next to it, and the rock may climb no pair.
        ("6/7/6/7/6/p-p-p-4/WWR-w-3 w 0 1", {}, "second", "no-moves"),
        ("6/7/6/7/6/7/6 b 0 1", {}, "first", "no-moves"),
        ("2WW3/7/6/7/6/6p-/6 b 1 1", {}, None, None),
    ],
)
def test_results_of_games(position: str, options: dict[str, int], winner: str | None, reason: str | None) -> None:
    outcome = Position.start(RULES.settle(None, options), position).outcome
    assert (outcome and outcome.winner) == winner
    assert (outcome and outcome.reason.value) == reason


def test_repetition_needs_its_option() -> None:
    shuffle = ["a1b1", "d4e4", "b1a1", "e4d4"] * 2
    start = "6/5w-1/6/3r-3/6/6W-/R-5 w 0 1"
    ended = Position.start(RULES.settle(None, {"repetition": 3}), start).play_all(shuffle).outcome
    assert ended is not None
    assert (ended.winner, ended.reason) == ("draw", "repetition")
    assert Position.start(RULESET, start).play_all(shuffle).outcome is None
    with pytest.raises(UnknownNameError):
        RULES.settle(None, {"repetition": 1})


def test_swap_phase() -> None:
    ruleset = RULES.settle("pijersi-8100#123/4567", {"swap_phase": 1})
    start = Position.start(ruleset)
    assert str(start).endswith(" w 0 1 swap")
    assert len(start.moves) == 67
    assert start.texts[0] == "()"
    assert "(a1b4)" not in start.texts
    black = start.play("(b7 a1)")
    assert black.side == "second"
    cells, before = pieces_of(black.state), pieces_of(start.state)
    assert (cells["a1"], cells["b7"]) == (before["b7"], before["a1"])
    play = black.play("()")
    assert str(play).endswith(" w 0 2")
    assert len(play.moves) > 100
    assert start.display(start.read("(a1b7)")) == "(a1b7)"
    with pytest.raises(IllegalMoveError):
        start.play("a1b1")
    with pytest.raises(IllegalMoveError):
        play.play("()")
    assert RULES.notation.write_move(RULES.notation.pass_move) == "()"
    equal = Position.start(RULES.settle("standard", {"swap_phase": 1})).play("(a1a4)")
    assert str(equal) == STANDARD.replace(" w 0 1", " b 0 1 swap")


def test_random_turns_are_uniform() -> None:
    from referee.rules.pijersi.kernel import _random_turn
    from referee.rules.pijersi.kernel_turns import MAX_PAIRS

    rng = np.array([11], dtype=np.uint64)
    starts, thirds = np.empty(MAX_PAIRS, dtype=np.int64), np.empty(MAX_PAIRS, dtype=np.int64)
    for options in ({}, {"swap_phase": 1}):
        position = Position.start(RULES.settle(None, options))
        drawn = Counter(_random_turn(position.state, rng, starts, thirds) for _ in range(20_000))
        assert sorted(drawn) == list(position.moves)
        mean = 20_000 / len(drawn)
        assert sum((seen - mean) ** 2 / mean for seen in drawn.values()) < len(drawn) + 6 * (2 * len(drawn)) ** 0.5


# -- starts ------------------------------------------------------------------------------------------------------------


def test_numbered_families_contain_each_other() -> None:
    starts_of = {
        family: {RULES.settle(f"{family}#{number}").variant.position for number in range(size)}
        for family, size in FAMILIES.items()
        if size < 2000
    }
    starts_of["pijersi-8100"] = {
        RULES.variant(f"pijersi-8100#{number}").position for number in range(FAMILIES["pijersi-8100"])
    }
    assert {family: len(starts) for family, starts in starts_of.items()} == FAMILIES
    assert starts_of["pijersi-24"] < starts_of["pijersi-36"] < starts_of["pijersi-1296"] < starts_of["pijersi-8100"]
    assert STANDARD not in starts_of["pijersi-24"]
    for name in ("pijersi-36#0", "pijersi-1296#972", "pijersi-8100#1455"):
        assert RULES.variant(name).position == STANDARD


def test_exactly_the_36_obey_the_triangle_rule() -> None:
    def holds(number: int) -> bool:
        front, left, _, right = rows("pijersi-1296", number)
        at = {f"a{place + 1}": cube for place, cube in enumerate(front)}
        at |= {f"b{place + 1}": cube for place, cube in enumerate(left)}
        at |= {f"b{place + 5}": cube for place, cube in enumerate(right)}
        wings_of = ({"a1", "a2", "a3", "b1", "b2", "b3"}, {"a4", "a5", "a6", "b5", "b6", "b7"})
        for wing in wings_of:
            for cell in wing:
                for step, other_step in (((2, 0), (1, 1)), ((1, 1), (-1, 1)), ((2, 0), (1, -1))):
                    triangle = {cell, go(cell, step), go(cell, other_step)}
                    if triangle <= wing and len({at[corner] for corner in triangle if corner}) < 3:
                        return False
        return True

    assert {number for number in range(1296) if holds(number)} == {
        number
        for number in range(1296)
        if RULES.variant(f"pijersi-1296#{number}").position
        in {RULES.variant(f"pijersi-36#{other}").position for other in range(36)}
    }
    assert sum(map(holds, range(1296))) == 36


@pytest.mark.parametrize(
    ("number", "wing"),
    [(0, "RRPPSS"), (1, "RRPSPS"), (12, "RPSRPS"), (15, "RPSPSR"), (16, "RPSSRP"), (17, "RPSSPR"), (44, "PPRSSR")],
)
def test_wings(number: int, wing: str) -> None:
    assert wings()[number] == wing
    assert (len(wings()), wings()[89]) == (90, "SSPPRR")


def test_numbers_in_words() -> None:
    assert rows("pijersi-24", 17) == ("SPRPSR", "PRS", "WW", "RPS")
    assert rows("pijersi-36", 25)[0] == TRIPLETS[25 % 6] + TRIPLETS[25 // 6]
    assert [variant.name for variant in RULES.variants] == ["standard", *FAMILIES, "half-random", "full-random"]
    assert RULES.variants[1].position == RULES.variant("pijersi-24#0").position


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("pijersi-24#24", 11),
        ("pijersi-24#", 11),
        ("pijersi-24#-1", 11),
        ("pijersi-24#1/24", 13),
        ("pijersi-24#1/", 11),
        ("pijersi-36#x", 11),
        ("pijersi-36#random", 11),
        ("pijersi-8100#8100", 13),
        ("pijersi-8100#٣", 13),
        ("pijersi-8100#99999999999999999999", 13),
    ],
)
def test_bad_numbers(name: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        RULES.settle(name)
    assert caught.value.index == index
    assert caught.value.hint


def test_unknown_starts() -> None:
    for name in ("pijersi-48#1", "standard#1", "", "pijersi", "half-random#3"):
        with pytest.raises(UnknownNameError):
            RULES.variant(name)
        with pytest.raises(UnknownNameError):
            draw(name, random.Random(1))


@pytest.mark.parametrize("name", ["half-random", "full-random"])
def test_dealt_starts(name: str) -> None:
    chance = random.Random(3)
    seen = set()
    mirrored = 0
    for _ in range(300):
        position = draw(name, chance).position
        seen.add(position)
        state = RULESET.read(position)
        assert RULESET.write(state) == position
        pieces = pieces_of(state)
        assert len(pieces) == 26
        for colour in (str.upper, str.lower):
            own = "".join(held for held in pieces.values() if colour(held) == held)
            assert sorted(own.upper()) == sorted("RRRRPPPPSSSSWW")
        turned = {CELL_NAMES[44 - CELL_NAMES.index(cell)]: held.swapcase() for cell, held in pieces.items()}
        mirrored += turned == pieces
        assert len(pieces["b4"]) == len(pieces["f4"]) == 2
    assert len(seen) == 300
    assert mirrored == (300 if name == "half-random" else 0)
    listed = [variant for variant in RULES.variants if variant.name == name]
    assert "fixed seed" in listed[0].note


def test_drawn_numbers() -> None:
    chance = random.Random(9)
    names = {draw("pijersi-24", chance).name for _ in range(400)}
    assert names == {f"pijersi-24#{number}" for number in range(24)}
    drawn = draw("pijersi-8100#17/random", chance)
    assert drawn.name.startswith("pijersi-8100#17/")
    assert RULES.variant(drawn.name) == drawn
    assert "/" in draw("pijersi-1296#random/random", chance).name
    assert draw("standard", chance).position == STANDARD
    assert draw("pijersi-36", random.Random(4)) == draw("pijersi-36", random.Random(4))


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        ("6/7/6/7/6/7/6 w 0", 17),
        ("6/7/6/7/6/7 w 0 1", 0),
        ("6/7/6/7/6/7/7 w 0 1", 12),
        ("6/7/6/7/6/7/5 w 0 1", 13),
        ("6/7/6/7/6/7/R6 w 0 1", 12),
        ("6/7/6/7/6/7/R-6 w 0 1", 14),
        ("6/7/6/7/6/7/0R-5 w 0 1", 12),
        ("6/7/6/7/6/7/٣R-2 w 0 1", 12),
        ("6/7/6/7/6/7/RW5 w 0 1", 12),
        ("6/7/6/7/6/7/Rw5 w 0 1", 12),
        ("6/7/6/7/6/7/K-5 w 0 1", 12),
        ("6/7/6/7/6/7/-R5 w 0 1", 12),
        ("6/7/6/7/6/7/6 x 0 1", 14),
        ("6/7/6/7/6/7/6 w -1 1", 16),
        ("6/7/6/7/6/7/6 w 0 0", 18),
        ("6/7/6/7/6/7/6 w 0 9999999999", 18),
        ("6/7/6/7/6/7/6 w ² 1", 16),
        ("6/7/6/7/6/7/6 w 0 1 swop", 20),
        ("6/7/6/7/6/7/6 w 4 1 swap", 16),
        ("6/7/6/7/6/7/6 w 0 1 swap x", 26),
        ("\0" * 10_000, 10_000),
        ("6/7/6/7/6/7/6\tw\t0\t1", 19),
    ],
)
def test_malformed_positions(text: str, index: int) -> None:
    with pytest.raises(ParseError) as caught:
        RULESET.read(text) if text else RULES.notation.read_position(text, CONFIG)
    assert caught.value.index == index
    assert caught.value.hint


@given(placements(), st.booleans(), st.integers(0, 40), st.integers(1, 10**9 - 1), st.booleans())
def test_positions_round_trip_as_text(pieces: Pieces, black: bool, half: int, full: int, swapping: bool) -> None:
    state = state_of(pieces, side=black, half=0 if swapping else half, full=full, swapping=swapping)
    text = RULESET.write(state)
    assert np.array_equal(RULESET.read(text), state)
    assert RULESET.write(RULESET.read(text)) == text
    if pieces:
        placed = read_setup(write_setup(state))
        assert placed.split()[0] == text.split()[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "/",
        "R a1:R",
        "a1:",
        "a1:R/a1:P",
        "a7:R",
        "a17:RPSRPSR",
        "a61:RPSRPS",
        "a10:R",
        "h1:R",
        "a1:()",
        "a1:(R)",
        "a1:(RPS)",
        "a12:RPS",
        "a12:(RP",
        "b4:WR",
        "b4:(Rw)",
        "a1:X",
        "a١:R",
        "a1:R\0",
        "a" * 10_000,
    ],
)
def test_malformed_setups(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_setup(text)
    assert caught.value.hint


def test_setups_are_written_top_first() -> None:
    assert read_setup("c4:(RW) / g12: s p") == "s-p-4/7/6/7/3WR2/7/6 w 0 1"
    assert read_setup("a 1 3 : R P S\n\tb 4 : R W") == "6/7/6/7/6/3WR3/R-P-S-3 w 0 1"
    assert write_setup(RULESET.read("s-p-4/7/6/7/3WR2/7/6 w 0 1")) == "c4:(RW) / g12:sp"
    standard = "a16:RPSRPS / b17:PSR(WW)SRP / f17:prs(ww)rsp / g16:sprspr"
    assert write_setup(RULESET.read()) == standard
    assert read_setup(standard) == STANDARD


@pytest.mark.parametrize(
    ("position", "human", "code"),
    [
        ("6/6p-/6/7/2R-P-2/7/6 w 0 1", "c3-c4=c2", "c3c4c2"),
        ("6/6p-/6/7/2R-P-2/7/6 w 0 1", "c3-d3", "c3d3"),
        ("6/6p-/6/7/2PRP-2/7/6 w 0 1", "c3-d3", "c3c3d3"),
        ("6/6p-/6/7/2PRP-2/7/6 w 0 1", "c3-c4", "c3c3c4"),
        ("6/6p-/6/7/2PRP-2/7/6 w 0 1", "c3-c4=c5", "c3c4c5"),
        ("6/6p-/6/7/2PRP-2/7/6 w 0 1", "c3=e4", "c3e4e4"),
        ("6/6p-/6/7/2PRP-2/7/6 w 0 1", "c3=d3-c3", "c3d3c3"),
        ("6/7/1s-s-3/7/2PR3/7/6 w 3 9", "c3=e2!-e3!", "c3e2e3"),
        ("6/7/1s-s-3/7/2PR3/7/6 w 3 9", "c3=e2!", "c3e2e2"),
    ],
)
def test_the_notation_for_people(position: str, human: str, code: str) -> None:
    state = RULESET.read(position)
    assert write_move(read_move(human, state, CONFIG)) == code
    assert read_move(human.replace("!", ""), state, CONFIG) == read_move(code, state, CONFIG)
    assert display_move(read_move(code, state, CONFIG), state, CONFIG) == human


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a1",
        "a1b",
        "a7b1",
        "a1g7",
        "h1a1",
        "A1B",
        " a1b1",
        "a1b1 ",
        "a1b1c1d1",
        "a1=b1",
        "b4=c4=d4",
        "a1-b1-c1",
        "b4-b5-c5",
        "a1-c1=d1",
        "b4=b5-c5",
        "(a1)",
        "(a1a1)",
        "(a1a7)",
        "(a1b7",
        "a1b7)",
        "(a1,b7)",
        "b4=c4!!",
        "a١b1",
        "0000",
        "------",
        "wtf",
        "\0",
        "a1b1\n",
        "(" * 10_000,
    ],
)
def test_malformed_moves(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_move(text, RULESET.read(), CONFIG)
    assert caught.value.hint
    assert 0 <= caught.value.index <= len(text)


def test_two_cells_are_not_a_turn_of_a_stack() -> None:
    start = Position.start(RULESET)
    for text in ("b4d4", "a1b1b1", "a1a1b1", "b4c4"):
        with pytest.raises(IllegalMoveError):
            start.play(text)


# -- whole games -------------------------------------------------------------------------------------------------------

READ, WRITE = RULES.formats[0].read, RULES.formats[0].write
SETUP = "a16:RPSRPS b13:PSR b4:WW b57:SRP f13:prs f4:ww f57:rsp g16:sprspr"


def test_a_game_text_with_everything() -> None:
    (game,) = READ(
        '# a game\n#! random/symmetry\n# [White "zoe"]\na16:WPRPSR b13:PSP b4:RR b57:SWS  # White\n'
        "f13:sws f4:rr f57:psp g16:rsprpw\n\n1 a4-b5=c4 2 g3-f3=e3 # well\n3. b2-b1=d2 4 e3=f3-e3",
        RULESET,
    )
    assert game.moves == ("a4b5c4", "g3f3e3", "b2b1d2", "e3f3e3")
    assert game.position == "r-s-p-r-p-w-/s-w-s-rrp-s-p-/6/7/6/P-S-P-RRS-W-S-/W-P-R-P-S-R- w 0 1"
    assert game.tags == {"Setup": "random/symmetry", "White": "zoe"}
    assert READ(WRITE(game, RULESET), RULESET) == [game]


def test_swaps_in_a_game_text() -> None:
    text = f"#! random\n{SETUP}\n1 (b7 a1) 2 ()\n3 a4-b5=c4"
    (game,) = READ(text, RULESET)
    assert game.moves == ("(a1b7)", "()", "a4b5c4")
    assert game.options == {"swap_phase": True}
    assert game.position is None
    written = WRITE(game, RULESET)
    assert "1 (a1b7)   2 ()" in written
    assert READ(written, RULESET) == [game]
    swapping = RULES.settle("standard", {"swap_phase": True})
    assert READ(text, swapping)[0].options == {}
    assert READ("1 a4-b5=c4", swapping)[0].options == {"swap_phase": False}


def test_several_games_and_none() -> None:
    text = f"1 a4-b5=c4 2 f4=d5-d4\n1 b4=d3\n{SETUP}\nb4=d3\n#! exercise\nc4:RW g12:sw\nc4-d4"
    assert [game.moves for game in READ(text, RULESET)] == [
        ("a4b5c4", "f4d5d4"),
        ("b4d3d3",),
        ("b4d3d3",),
        ("c4c4d4",),
    ]
    assert READ("", RULESET) == READ("# nothing\n\n", RULESET) == []
    assert READ("1 b4=d3", RULES.settle("pijersi-36#25"))[0].variant == "standard"


@pytest.mark.parametrize(
    "text",
    [
        "1 a4-b5=c4 3 f4=d5-d4",
        "1 a4-b5=c9",
        "1 a4-b5=c4 2 a4-b5",
        "2 a4-b5=c4",
        "b4d4",
        "#! chaos\n",
        "#! standard\na1:R g12:sp\n",
        "a1:RPS\n1 a1-b1",
        "1 (a1b7) 2 a1-b1",
        '# [Variant "x"]\n',
        '# [Rule.x "x"]\n',
        '# [Position "x"]\n',
        '# [Position ""]\n',
        "99999999999999999999999 a4-b5=c4",
        "((((",
        "\0",
    ],
)
def test_malformed_game_texts(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        READ(text, RULESET)
    assert caught.value.hint


def test_the_index_of_an_error_is_that_of_the_whole_text() -> None:
    for text, wrong in (("a12:RP\n b13:RX\n1 a1-b1", "X"), ("1 a4-b5=c4\n2 f4=d5!x", "x"), ("#! chaos", "#")):
        with pytest.raises(ParseError) as caught:
            READ(text, RULESET)
        assert caught.value.index == text.index(wrong)


def test_the_transcript_of_the_dialect_page_is_legal() -> None:
    page = (Path(__file__).parents[2] / "protocol/dialects/pijersi.md").read_text(encoding="utf-8")
    transcript = page.partition("## Transcript")[2]
    position = Position.start(RULES.settle("pijersi-8100#17/4242", {"swap_phase": True}))
    assert f"fen {position.play_all(['()', '()'])}\n" in transcript
    for line in transcript.splitlines():
        if "< bestmove" in line:
            position = position.play(line.split()[-1])
        elif "startpos moves" in line:
            seen = line.split(" moves ")[1].split()
            position = position.play_all(seen[1:]) if len(seen) == 2 else position
            assert seen[-1] == "()"
    assert position.side == "second"


# -- board and static score --------------------------------------------------------------------------------------------


def test_board_has_marks_and_notes() -> None:
    board = Position.start(RULESET).board
    assert (board.shape, len(board.cells), len(board.pieces)) == ("hex", 45, 26)
    assert board.pieces["b4"] == "WW"
    assert board.marks == {"b4": ("stack",), "f4": ("stack",)}
    cells = {cell.name: cell for cell in board.cells}
    assert (cells["a1"].x, cells["b1"].x, cells["a1"].kind, cells["d4"].kind) == (0.5, 0.0, "goal", "plain")
    gaps = [
        ((cell.x - other.x) ** 2 + (cell.y - other.y) ** 2) ** 0.5
        for cell in board.cells
        for other in board.cells
        if cell.name < other.name
    ]
    assert sum(abs(gap - 1) < 1e-9 for gap in gaps) == 110
    assert min(gaps) > 0.999
    finished = Position.start(RULESET, "2WR3/7/6/7/6/6p-/6 b 1 1").board
    assert finished.marks["g3"] == ("stack", "goal")
    assert "1 ply without a capture of 20" in finished.notes
    assert any("swap" in note for note in Position.start(RULES.settle(None, {"swap_phase": 1})).board.notes)
    assert {piece.symbol for piece in RULES.pieces} == set("RPSWrpsw")


@given(placements(), st.booleans())
def test_static_score_finds_the_goal_in_one(pieces: Pieces, black: bool) -> None:
    score = int(KERNEL.evaluate(state_of(pieces, side=black), CONFIG))
    assert abs(score) < 20_000
    if not won(pieces):
        reached = any(map(won, turns(pieces, black).values()))
        assert (score > 10_000) == reached, RULESET.write(state_of(pieces, side=black))


def test_more_cubes_score_more() -> None:
    more = KERNEL.evaluate(RULESET.read("6/s-6/6/7/6/P-R-5/6 w 0 1"), CONFIG)
    less = KERNEL.evaluate(RULESET.read("6/s-6/6/7/6/P-6/6 w 0 1"), CONFIG)
    assert more > less + 50
    assert KERNEL.evaluate(RULESET.read("6/s-6/6/7/6/P-R-5/6 w 20 1"), CONFIG) == 0


# -- numbers, permutations, what a text claims about its setup -------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_every_number_is_found_by_its_position(family):
    rng = random.Random(family)
    last = FAMILIES[family]
    for number in {0, last - 1, *(rng.randrange(last) for _ in range(10))}:
        other = rng.randrange(last)
        alone, apart = (RULES.variant(f"{family}#{name}") for name in (number, f"{number}/{other}"))
        assert numbers(alone.position)[family] == [number]
        assert numbers(apart.position)[family] == [number if number == other else f"{number}/{other}"]
        assert (is_setup(apart.position), is_mirrored(alone.position)) == (True, True)
        assert is_mirrored(apart.position) == (number == other)


def test_position_that_is_not_a_setup_has_no_number():
    start = RULES.settle()
    later = Position.start(start).play("a4b5c4")
    for position in (str(later), "6/7/6/7/6/7/R-5 w 0 1", STANDARD.replace("ww", "rr").replace("WW", "RR")):
        assert not is_setup(position)
        assert set(map(tuple, numbers(position).values())) == {()}
    assert numbers(RULES.variant("full-random").position)["pijersi-24"] == []


def test_permutations_rename_the_three_kinds():
    found = permutations_of(STANDARD)
    assert found[0] == STANDARD
    assert len(set(found)) == 6
    assert {numbers(one)["pijersi-36"][0] for one in found} <= set(range(36))
    assert all(permutations_of(one)[0] == one and set(permutations_of(one)) == set(found) for one in found)


def test_positional_notation_is_a_position():
    text = "A16:RPSRPS / b17:PSR(WW)SRP / f17:prs(ww)rsp / g16:sprspr"
    rules = RULES
    assert rules.settle().write(rules.settle().read(text)) == STANDARD
    swapping = rules.settle(options={"swap_phase": True})
    assert swapping.write(swapping.read(text)) == f"{STANDARD} swap"
    with pytest.raises(ParseError, match="names 3 cells but 2 contents"):
        rules.settle().read("a13:RP")


def test_a_number_in_a_game_text():
    form, ruleset = RULES.formats[0], RULES.settle()
    position = RULES.variant("pijersi-24#17").position
    lines = write_setup(ruleset.read(position))
    (alone,) = form.read("#! pijersi-24#17\n1 a2-b2\n", ruleset)
    assert (alone.variant, alone.position) == ("pijersi-24#17", None)
    assert form.read(f"#! pijersi-24#17\n{lines}\n1 a2-b2\n", ruleset)[0].moves == ("a2b2",)
    assert form.read(f"#! pijersi-24\n{lines}\n1 a2-b2\n", ruleset)[0].moves == ("a2b2",)
    for claim in ("pijersi-24#16", "pijersi-8100#17/23", "standard"):
        with pytest.raises(ParseError, match="setup"):
            form.read(f"#! {claim}\n{lines}\n1 a2-b2\n", ruleset)
    for claim in ("random/symmetry", "random", "exercise"):
        assert form.read(f"#! {claim}\n{lines}\n", ruleset)[0].tags["Setup"] == claim
    apart = write_setup(ruleset.read(RULES.variant("pijersi-24#17/3").position))
    with pytest.raises(ParseError, match="contradicts #! random/symmetry"):
        form.read(f"#! random/symmetry\n{apart}\n", ruleset)
    with pytest.raises(ParseError, match="contradicts #! random"):
        form.read("#! random\nc4:(RW) / g12: s p\n", ruleset)
    with pytest.raises(ParseError, match="no setup 24"):
        form.read("#! pijersi-24#24\n1 a2-b2\n", ruleset)
    with pytest.raises(ParseError, match="#! pijersi-24#18 contradicts pijersi-24#17 above") as caught:
        form.read("#! pijersi-24#17\n#! pijersi-24#18\n1 a2-b2\n", ruleset)
    assert caught.value.index > 16
    alike = form.read("#! pijersi-24#17\n#! pijersi-36#23\n1 a2-b2\n", ruleset)
    assert [game.moves for game in alike] == [("a2b2",)]


def test_first_exclamation_mark_of_a_capture_is_its_sign():
    form, ruleset = RULES.formats[0], RULES.settle()
    lines = "c3:R / d3:s / g1:p"
    for text, mark in (("1 c3-d3!", {}), ("1 c3-d3!!", {1: "!"}), ("1 c3-d3! ?!", {1: "?!"}), ("1 c3-c4!", {1: "!"})):
        assert form.read(f"{lines}\n{text}\n", ruleset)[0].marks == mark, text
