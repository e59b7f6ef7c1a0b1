"""Positions up to symmetry: images have the same key, moves and results; no other positions have the same key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from referee.rules import families, load
from referee.rules.abalone import tables as abalone
from referee.rules.loa import state as loa
from referee.rules.pijersi import state as pijersi
from referee.rules.pijersi.symmetry import _TOP
from referee.rules.pijersi.tables import CELL_NAMES
from referee.rules.random_walk import after, legal, named, walk
from referee.rules.rules import Ruleset, State
from referee.rules.symmetry import key_of, keys_of
from tests.rules.walks import positions


def _abalone(contents: list[int], ruleset: Ruleset, state: State) -> None:
    for symbol in (1, 2):
        cells = [cell for cell, found in zip(abalone.PLACES, contents, strict=True) if found == symbol]
        state[symbol - 1] = sum(1 << cell for cell in cells)


def _baroque(contents: list[int], ruleset: Ruleset, state: State) -> None:
    for symbol in range(1, 15):
        state[symbol - 1] = sum(1 << square for square, found in enumerate(contents) if found == symbol)


def _loa(contents: list[int], ruleset: Ruleset, state: State) -> None:
    squares = loa.squares(int(ruleset.config[loa.SIZE]))
    pieces = {square: "-bwz"[found] for square, found in zip(squares, contents, strict=True) if 0 < found < 4}
    ban = next((square for square, found in zip(squares, contents, strict=True) if found == 4), -1)
    state[: loa.KEY_SIZE] = loa.pack(pieces, ruleset.config, side=int(state[loa.SIDE]), ban=ban)[: loa.KEY_SIZE]


def _pijersi(contents: list[int], ruleset: Ruleset, state: State) -> None:
    pieces = {}
    for name, found in zip(CELL_NAMES, contents, strict=True):
        top, bottom = "-RPSWrpsw"[found % _TOP], "-RPSW"[found // _TOP]
        if found:
            pieces[name] = ((bottom if top.isupper() else bottom.lower()) + top).replace("-", "")
    state[: pijersi.PHASE] = pijersi.state_of(pieces)[: pijersi.PHASE]


def _tablut(contents: list[int], ruleset: Ruleset, state: State) -> None:
    state[:36], state[36] = 0, -1
    for cell, symbol in enumerate(contents):
        file, rank = divmod(cell, 9)
        if symbol:
            start = 18 * (symbol > 1)
            state[start + rank] |= 1 << file
            state[start + 9 + file] |= 1 << rank
        if symbol == 3:
            state[36] = cell


def _hexapawn(contents: list[int], ruleset: Ruleset, state: State) -> None:
    state[:12] = contents


BUILDERS: dict[str, Callable[[list[int], Ruleset, State], None]] = {
    "abalone": _abalone,
    "baroque": _baroque,
    "loa": _loa,
    "pijersi": _pijersi,
    "tablut": _tablut,
    "hexapawn": _hexapawn,
}
COUNTS = {"abalone": 12, "baroque": 8, "loa": 8, "pijersi": 6, "tablut": 8, "hexapawn": 2}


def images(ruleset: Ruleset, state: State) -> list[State]:
    """Return all images of a state; its counters stay unchanged."""
    symmetry = ruleset.rules.symmetry
    assert symmetry is not None
    contents = symmetry.contents(state[np.newaxis], ruleset.config)[0].tolist()
    states = []
    for image in symmetry.images(ruleset.config):
        moved = [0] * len(contents)
        for cell, symbol in enumerate(contents):
            moved[image.cells[cell]] = image.symbols[symbol]
        built = state.copy()
        BUILDERS[ruleset.rules.family](moved, ruleset, built)
        states.append(built)
    return states


@pytest.mark.parametrize("family", families())
def test_moves_of_an_image_are_the_images_of_the_moves(family: str) -> None:
    @settings(max_examples=8)
    @given(positions(family))
    def holds(place: tuple[Ruleset, State]) -> None:
        ruleset, state = place
        kernel, size = ruleset.rules.kernel, ruleset.rules.kernel.KEY_SIZE

        def told(position: State) -> tuple[int, int, list[int]]:
            children = [after(ruleset, position, move) for move in legal(ruleset, position)]
            keys = sorted(keys_of(ruleset, np.array(children)).tolist()) if children else []
            return key_of(ruleset, position), int(kernel.result(position, ruleset.config, 1, 0)), keys

        wanted, mirrored = told(state), images(ruleset, state)
        assert any(image[:size].tolist() == state[:size].tolist() for image in mirrored), named(ruleset, state)
        for image in mirrored:
            assert told(image) == wanted, named(ruleset, state, "and its image", ruleset.write(image))

    holds()


@pytest.mark.parametrize("family", families())
def test_only_images_have_the_same_key(family: str) -> None:
    ruleset = load(family).settle()
    size, seen = ruleset.rules.kernel.KEY_SIZE, {}
    for seed in range(24):
        state = walk(ruleset, seed, seed % 12)
        orbit = frozenset(image[:size].tobytes() for image in images(ruleset, state))
        assert len(orbit) <= COUNTS[family]
        assert seen.setdefault(key_of(ruleset, state), orbit) == orbit, named(ruleset, state)
    assert len(seen) > 5
    assert len(set(seen.values())) == len(seen)


@pytest.mark.parametrize("family", families())
def test_as_many_images_as_the_board_has(family: str) -> None:
    ruleset = load(family).settle()
    assert ruleset.rules.symmetry is not None
    found = {image.cells + image.symbols for image in ruleset.rules.symmetry.images(ruleset.config)}
    assert len(found) == COUNTS[family]


def test_keys_differ_by_side_to_move_board_and_hole() -> None:
    ruleset = load("loa").settle()
    state = ruleset.read()
    turned = state.copy()
    turned[loa.SIDE] = 1
    sizes = [load("loa").settle(variant.name) for variant in load("loa").variants]
    empty = {key_of(sized, np.zeros_like(state)) for sized in sizes}
    boards = {(int(sized.config[loa.SIZE]), int(sized.config[loa.HOLE])) for sized in sizes}
    assert key_of(ruleset, turned) != key_of(ruleset, state)
    assert len(empty) == len(boards) > 1


def test_keys_differ_by_swap_phase() -> None:
    ruleset = load("pijersi").settle("standard", {"swap_phase": True})
    states = np.repeat(ruleset.read()[np.newaxis], 4, axis=0)
    states[:, pijersi.PHASE] = [0, 1, pijersi.SWAPPING, pijersi.SWAPPING | 1]
    assert len(set(keys_of(ruleset, states).tolist())) == 4


def test_a_family_without_symmetry_compares_what_repetition_compares() -> None:
    ruleset = load("loa").settle()
    plain = Ruleset(replace(ruleset.rules, symmetry=None), ruleset.variant, ruleset.values)
    mirrored = images(ruleset, walk(ruleset, 3, 5))
    keys = keys_of(plain, np.array(mirrored))
    assert len(set(keys.tolist())) == len({image[: loa.KEY_SIZE].tobytes() for image in mirrored}) == 8
    later = mirrored[0].copy()
    later[loa.PLIES] += 7
    assert key_of(plain, later) == int(keys[0])


@pytest.mark.parametrize("family", families())
def test_keys_equal_the_stored_ones(family: str) -> None:
    """Databases store the keys: a change requires a revision that rebuilds the index of positions."""
    kept = {
        "abalone": 0x0A993C625D9273AD,
        "baroque": 0x71F9E05280B6CA60,
        "loa": 0xD67C1AB1A31CB7CB,
        "pijersi": 0x3ECEC7D97A2F75C0,
        "tablut": 0xCCB3AF7A53806C16,
    }
    if family in kept:
        ruleset = load(family).settle()
        assert key_of(ruleset, ruleset.read()) == kept[family]
