"""A small learned evaluation: its features and weights, and how they are stored.

One layer of `HIDDEN` units sums a row of weights for every feature that is present (`referee.rules.features.Features`).
The values of the units, clipped to 0..ACTIVATION_ONE, are weighted by one of two heads, that of the side to move. The
weighted sum corrects the static score of the family. All numbers are integers, so a search finds the same on every
machine. A move changes few features, so the sums are updated incrementally (NNUE: Yu Nasu, 2018, for shogi).

A family whose kernel has linear features (`referee.rules.kernel_protocol.LinearFeatures`) may instead have a weight for
each feature. There are many more such weights, and they are summed up from scratch in every position. They are stored
in the rows of a net, one after the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from referee.families import folder
from referee.rules.rules import Features, Ruleset

HIDDEN = 32
ACTIVATION_ONE = 1024
"""Value of a unit that is fully on."""
HEAD_SCALE = 64
"""Weight of a head that stands for one centipawn."""
MAX_BITS = 64
"""Bits of an element of a state, at most."""
FILE = "net.npz"
"""Name of the file of weights in the folder of a family that brings its own; else it is FAMILY.npz in NETS, or
FAMILY-VARIANT.npz for a variant with weights of its own.
"""
NETS = Path(__file__).parents[1] / "nets"
NO_WEIGHTS = "none"
"""Value of the option `Weights` for an evaluation without learned weights."""


BIAS, HEAD, FIRST_ROW = 0, 1, 3
"""Rows of the weights that belong to no feature: the bias of the units, then the head for positions with the first
mover to move and the head for the other. The row of the first feature follows.
"""
MOVER, MOVER_BIT, SEARCH_FEATURES, TEMPO, EVAL_MARGIN, LMR_FIRST_MOVE, SEEN_FROM, STRIDE, FIRST_PIECE_VALUE = range(9)
"""Columns of the first row of the map. MOVER and MOVER_BIT: element and bit that hold the side to move.
SEARCH_FEATURES: the switches below. TEMPO: bonus for the side to move on top of the static score. EVAL_MARGIN:
typical error of a static score, the unit of pruning margins. LMR_FIRST_MOVE: number of the first move that is
reduced. SEEN_FROM, STRIDE: element that holds the anchor of anchored planes, and how many rows each of its values
takes. From FIRST_PIECE_VALUE on: the piece values of quiescence search (`referee.rules.kernel_protocol.Tactics`).
"""
NULL_MOVE, REVERSE_FUTILITY, FUTILITY, NET, RAZORING, QUIESCENCE = 4, 8, 16, 64, 128, 512
LINEAR_EVAL, TUNED_PIECE_VALUES, NO_COUNTERMOVES = 1024, 2048, 4096
"""Search features, as bits.

- NULL_MOVE: null-move pruning
- REVERSE_FUTILITY: near the leaves, return the static score if it exceeds beta by a margin
- FUTILITY: near the leaves, skip the remaining moves if their static scores are below alpha by a margin
- NET: correct the static score by the net
- RAZORING: at depth 1, return the static score if it is below alpha by a margin
- QUIESCENCE: quiescence search at the leaves, by the static score without a net, if the kernel has `Tactics`
- LINEAR_EVAL: the sum of linear features replaces the static score, if the kernel has `LinearFeatures`
- TUNED_PIECE_VALUES: quiescence search uses the piece values in the map, not those of the kernel
- NO_COUNTERMOVES: order moves without the countermove heuristic
"""
ELEMENT, IS_BOARD, FIRST_COLUMN = range(3)
"""Columns of the further rows of the map, one row for each element of the state: the element, whether it is a bitboard,
then the row of weights of each of its bits or values. Values beyond the last column count as the last one.
"""
FIRST_LINE = 1
SearchParameters = tuple[int, int, int, int]
UNTRAINED: SearchParameters = (0, 0, 60, 12)
"""SEARCH_FEATURES to LMR_FIRST_MOVE of an untrained evaluation."""
PLAIN: SearchParameters = (NO_COUNTERMOVES, *UNTRAINED[1:])
"""The same for the sample `alphabeta`, a search without any refinement."""


class Net(NamedTuple):
    """A net in the layout of the compiled search.

    `rows` holds the weights [row, unit]; in a net with hidden units, the last row is all zeros, for bits without a
    feature. `maps` holds the search parameters in row 0; each further row gives, for one element of a state, the rows
    of weights for its bits or values.
    """

    rows: npt.NDArray[np.int32]
    maps: npt.NDArray[np.int64]


def feature_count(features: Features) -> int:
    """Count the features: planes times cells, bitboard planes times anchor offsets, and the values of each counter."""
    ways = board_plane_count(features) * direction_count(features)
    return plane_count(features) * features.cells + ways + sum(most + 1 for _, most in features.counts)


def plane_count(features: Features) -> int:
    return 1 + max(plane for _, plane, _ in (*features.boards, *features.places))


def board_plane_count(features: Features) -> int:
    """Return the number of bitboard planes, which come before the other planes."""
    return 1 + max(plane for _, plane, _ in features.boards)


def direction_count(features: Features) -> int:
    """Return how many different offsets from the anchor cell (`Features.seen_from`) there are; 0 without an anchor."""
    return 1 + max(max(ways) for ways in features.directions) if features.seen_from >= 0 else 0


def build_net(features: Features, weights: npt.NDArray[np.int32], parameters: SearchParameters = UNTRAINED) -> Net:
    """Build the net for states with these features. `weights`: bias, two heads, then a row for each feature."""
    none, cells = len(weights), features.cells
    last = max([MAX_BITS, cells + 2, *(most + 1 for _, most in features.counts)])
    seen_from, stride = max(features.seen_from, 0), 0
    first_count = FIRST_ROW + plane_count(features) * cells
    if features.seen_from >= 0:
        weights, stride = _expand_anchored_planes(features, weights), board_plane_count(features) * cells
        first_count += (cells - 1) * stride
        none = len(weights)
    lines = [[features.mover[0], features.mover[1], *parameters, seen_from, stride]]
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


def linear_net(features: Features, weights: npt.NDArray[np.int32], parameters: SearchParameters) -> Net:
    """Build a net that holds the weights of linear features, one after the other, in [row, unit]."""
    maps = build_net(features, weights, parameters).maps[:FIRST_LINE]
    return Net(np.ascontiguousarray(weights, dtype=np.int32), maps)


def piece_value_net(features: Features, weights: npt.NDArray[np.int32], parameters: SearchParameters) -> Net:
    """Build a net whose only weights are piece values for quiescence search; `weights` is one row with all of them."""
    net = empty_net(features, parameters)
    net.maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + weights.size] = weights.ravel()
    return net


def _expand_anchored_planes(features: Features, weights: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the weights with rows of the bitboards for every anchor cell: absolute plus relative weights."""
    cells, ways = features.cells, direction_count(features)
    own, seen = board_plane_count(features) * cells, FIRST_ROW + plane_count(features) * cells
    alone = weights[FIRST_ROW : FIRST_ROW + own].reshape(-1, cells, HIDDEN)
    relative = weights[seen : seen + len(alone) * ways].reshape(-1, ways, HIDDEN)
    both = alone[None] + relative[:, np.array(features.directions)].transpose(1, 0, 2, 3)
    rest = weights[FIRST_ROW + own : seen], weights[seen + len(alone) * ways :]
    return np.vstack([weights[:FIRST_ROW], both.reshape(-1, HIDDEN), *rest])


def empty_net(features: Features | None, parameters: SearchParameters = UNTRAINED) -> Net:
    """Build a net of zero weights, for rules without a trained one."""
    features = features or Features(cells=1, boards=((0, 0, (0,)),))
    return build_net(features, np.zeros((FIRST_ROW + feature_count(features), HIDDEN), dtype=np.int32), parameters)


def weights_path(ruleset: Ruleset) -> Path:
    """Return the path of the weights for a variant: its own if it has any, else those of the family. The file need not
    exist.
    """
    family = ruleset.rules.family
    for path in (NETS / f"{family}-{ruleset.variant.name}.npz", Path(folder(family)) / FILE):
        if path.exists():
            return path
    return NETS / f"{family}.npz"


def load_named_net(ruleset: Ruleset, given: str) -> Net:
    """Load the net that an option names: a file, `none` for an empty net, or "" for that of the variant.

    Raises FileNotFoundError.
    """
    if given == NO_WEIGHTS:
        return empty_net(None)
    if given and not Path(given).is_file():
        raise FileNotFoundError(f"no file {given}; name one that bots.training made, or {NO_WEIGHTS}")
    return load_net(ruleset, Path(given) if given else None)


def load_net(ruleset: Ruleset, path: Path | None = None) -> Net:
    """Load the net of a variant or of the file `path`; return an empty net if there is none for these rules."""
    path = path or weights_path(ruleset)
    features = ruleset.rules.features
    if features is None or not features.fits(ruleset.config):
        return empty_net(None)
    if not path.exists():
        return empty_net(features)
    with np.load(path) as kept:
        parameters = int(kept["techniques"]), int(kept["tempo"]), int(kept["error"]), int(kept["late_from"])
        if parameters[0] & LINEAR_EVAL:
            return linear_net(features, kept["weights"], parameters)
        if parameters[0] & TUNED_PIECE_VALUES:
            return piece_value_net(features, kept["weights"], parameters)
        if parameters[0] & NET == 0:
            return empty_net(features, parameters)
        return build_net(features, kept["weights"].astype(np.int32), parameters)
