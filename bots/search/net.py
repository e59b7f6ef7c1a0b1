"""A small learned evaluation: what it is made of, and how it is kept.

One layer of `HIDDEN` units sums a row of weights for every feature that is present (`referee.rules.rules.Features`);
their values, cut to 0..ONE, are weighed by one of two heads, that of the side to move. The sum is a correction of the
family's own static score. All numbers are whole, so a search finds the same on every machine; and a move changes few
features, so the sums are kept up by difference (Yu Nasu, 2018, for shogi).

A family whose kernel tells of traits may have what each is worth instead, to be added up for every position: many more
weights, and no sums to be kept. They lie in the rows of a net one after the other.

Refuses to know search and training.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from referee.families import folder
from referee.rules.rules import Config, Features, Rules

HIDDEN = 32
ONE = 1024
"""A unit's value when it is fully on."""
FINE = 64
"""A head's weight that stands for one hundredth of a piece."""
WIDTH = 64
"""Bits of an element of a state, at most."""
FILE = "net.npz"
"""The file of weights: in the folder of a family that brings its own, else FAMILY.npz in NETS."""
NETS = Path(__file__).parents[1] / "nets"
NONE = "none"
"""The name of no weights."""


BIAS, HEAD, FIRST_ROW = 0, 1, 3
"""Rows of the weights that are no feature's: the sums with no feature at all; what the units are worth to the first of
the two movers, when that one moves and when the other does."""
MOVER, MOVER_BIT, TECHNIQUES, TEMPO, ERROR, LATE_FROM, SEEN_FROM, STRIDE, FIRST_PRICE = range(9)
"""The first line of the map: element and bit that say who is to move, the techniques that the search uses, what it is
worth to be on move beyond what the static score says, how far that score commonly is from what a search finds, which
move of a position is the first late one, by how many rows for each value of which element the rows of the boards are
further on; from the last one on, the prices that tactics go by (`referee.rules.rules.Tactics`)."""
LATE, EVEN, REST, LEAVE, PASS, WINDOW, NET, DROP, SKIM, SETTLE = 1, 2, 4, 8, 16, 32, 64, 128, 256, 512
TRAITS, PRICES = 1024, 2048
"""Techniques, as bits: late moves are looked at less deeply, the less the later, or so by an even number of plies; a
side that stands well is asked to hold even if it does nothing; near the leaves, positions that stand well, moves that
look bad and positions that stand badly are left; iterations begin in a window around the last score; the net corrects
the static score; at the leaves, positions that stand well are left, and of those that stand badly only moves that end
the game are seen; behind the leaves what takes something is looked at until nothing more is to be taken, where the
kernel tells (`referee.rules.rules.Tactics`), by the static score without a net; what the traits of a position are worth
takes the place of the static score, where the kernel tells of them (`referee.rules.rules.LinearFeatures`); the prices
that settling goes by are learned ones."""
ELEMENT, IS_BOARD, FIRST_COLUMN = range(3)
"""Each further line is for an element of the state: which, whether it is a set of cells, then the row of each of its
bits or values; a number beyond the last column counts as that."""
FIRST_LINE = 1
Learned = tuple[int, int, int, int]
UNTRAINED: Learned = (0, 0, 60, 12)
"""TECHNIQUES to LATE_FROM where nothing was learned."""


class Net(NamedTuple):
    """A net laid out for the compiled search: weights int32 [row, unit], the last row all zeros, and the map."""

    rows: npt.NDArray[np.int32]
    maps: npt.NDArray[np.int64]


def feature_count(features: Features) -> int:
    """The number of features: cells times planes, the boards' planes times ways to see them, values of numbers."""
    ways = board_planes(features) * way_count(features)
    return planes(features) * features.cells + ways + sum(most + 1 for _, most in features.counts)


def planes(features: Features) -> int:
    """How many planes there are."""
    return 1 + max(plane for _, plane, _ in (*features.boards, *features.places))


def board_planes(features: Features) -> int:
    """How many planes the boards have: the first ones."""
    return 1 + max(plane for _, plane, _ in features.boards)


def way_count(features: Features) -> int:
    """How many ways there are from the cell that the boards are seen from to another; 0 where there is no such cell."""
    return 1 + max(max(ways) for ways in features.directions) if features.seen_from >= 0 else 0


def lay_out(features: Features, weights: npt.NDArray[np.int32], learned: Learned = UNTRAINED) -> Net:
    """A net for states of which `features` tells. `weights`: bias, two heads, then a row for each feature."""
    none, cells = len(weights), features.cells
    last = max([WIDTH, cells + 2, *(most + 1 for _, most in features.counts)])
    seen_from, stride = max(features.seen_from, 0), 0
    first_count = FIRST_ROW + planes(features) * cells
    if features.seen_from >= 0:
        weights, stride = _spread(features, weights), board_planes(features) * cells
        first_count += (cells - 1) * stride
        none = len(weights)
    lines = [[features.mover[0], features.mover[1], *learned, seen_from, stride]]
    for element, plane, of_bits in features.boards:
        first = FIRST_ROW + plane * cells
        lines.append([element, 1, *(first + cell if cell >= 0 else none for cell in of_bits)])
    for element, plane, shift in features.places:
        first = FIRST_ROW + plane * cells + (cells - 1) * stride
        lines.append([element, 0, *[none] * shift, *range(first, first + cells)])
    at = first_count
    for element, most in features.counts:
        lines.append([element, 0, *(at + min(value, most) for value in range(last))])
        at += most + 1
    maps = np.full((len(lines), FIRST_COLUMN + last), none, dtype=np.int64)
    for number, line in enumerate(lines):
        maps[number, : len(line)] = line
    zeros = np.zeros((1, HIDDEN), dtype=np.int32)
    return Net(np.ascontiguousarray(np.vstack([weights, zeros]), dtype=np.int32), maps)


def of_traits(features: Features, weights: npt.NDArray[np.int32], learned: Learned) -> Net:
    """What the traits of a family are worth in place of a net's weights: [row, unit], the one after the other."""
    maps = lay_out(features, weights, learned).maps[:FIRST_LINE]
    return Net(np.ascontiguousarray(weights, dtype=np.int32), maps)


def of_prices(features: Features, weights: npt.NDArray[np.int32], learned: Learned) -> Net:
    """No net, and prices for the tactics of a family: [1, price]."""
    net = blank(features, learned)
    net.maps[0, FIRST_PRICE : FIRST_PRICE + weights.size] = weights.ravel()
    return net


def _spread(features: Features, weights: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The weights with rows of the boards' planes for every cell that these may be seen from, both kinds in one."""
    cells, ways = features.cells, way_count(features)
    own, seen = board_planes(features) * cells, FIRST_ROW + planes(features) * cells
    alone = weights[FIRST_ROW : FIRST_ROW + own].reshape(-1, cells, HIDDEN)
    relative = weights[seen : seen + len(alone) * ways].reshape(-1, ways, HIDDEN)
    both = alone[None] + relative[:, np.array(features.directions)].transpose(1, 0, 2, 3)
    rest = weights[FIRST_ROW + own : seen], weights[seen + len(alone) * ways :]
    return np.vstack([weights[:FIRST_ROW], both.reshape(-1, HIDDEN), *rest])


def blank(features: Features | None, learned: Learned = UNTRAINED) -> Net:
    """A net that says nothing, for rules that none was trained for."""
    features = features or Features(cells=1, boards=((0, 0, (0,)),))
    return lay_out(features, np.zeros((FIRST_ROW + feature_count(features), HIDDEN), dtype=np.int32), learned)


def place_of(rules: Rules) -> Path:
    """Where the weights of a family are; the file need not be there."""
    own = Path(folder(rules.family)) / FILE
    return own if own.exists() else NETS / f"{rules.family}.npz"


def net_named(rules: Rules, config: Config, given: str) -> Net:
    """The net that a person names: in a file, `none` for a blank one, or the family's own where nothing is given.

    Raises FileNotFoundError.
    """
    if given == NONE:
        return blank(None)
    if given and not Path(given).is_file():
        raise FileNotFoundError(f"no file {given}; name one that bots.training made, or {NONE}")
    return net_for(rules, config, Path(given) if given else None)


def net_for(rules: Rules, config: Config, path: Path | None = None) -> Net:
    """The net of a family, or that in the file `path`; a blank one for rules whose states it was not made for."""
    path = path or place_of(rules)
    features = rules.features
    if features is None or not features.fits(config):
        return blank(None)
    if not path.exists():
        return blank(features)
    with np.load(path) as kept:
        learned = int(kept["techniques"]), int(kept["tempo"]), int(kept["error"]), int(kept["late_from"])
        if learned[0] & TRAITS:
            return of_traits(features, kept["weights"], learned)
        if learned[0] & PRICES:
            return of_prices(features, kept["weights"], learned)
        if learned[0] & NET == 0:
            return blank(features, learned)
        return lay_out(features, kept["weights"].astype(np.int32), learned)
