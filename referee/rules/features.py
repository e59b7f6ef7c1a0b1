"""The inputs of a learned evaluation, as a family describes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.rules.kernel_protocol import Config


@dataclass(frozen=True, slots=True)
class FeatureImage:
    """A transformation of the features under which a position keeps its value for the side to move.

    With `changes_sides` the two sides are exchanged, the side to move too.
    """

    planes: tuple[int, ...]
    """For each plane, the plane that replaces it."""
    cells: tuple[int, ...] = ()
    """For each cell, the cell that replaces it. If empty, all cells stay."""
    counts: tuple[int, ...] = ()
    """For each count, the count that replaces it. If empty, all counts stay."""
    changes_sides: bool = False


@dataclass(frozen=True, slots=True)
class Features:
    """The inputs of a learned evaluation: which elements of a state are sets of cells, and where the side to move is
    stored.
    """

    cells: int
    """The number of cells of the board. A plane has one bit per cell: whether a certain piece is there."""
    boards: tuple[tuple[int, int, tuple[int, ...]], ...]
    """(element of the state, plane, the cell of each of its bits)."""
    places: tuple[tuple[int, int, int], ...] = ()
    """(element, plane, n): the element holds a cell plus n; a value below n means that there is no such cell."""
    counts: tuple[tuple[int, int], ...] = ()
    """(element, maximum): a number that is an input by itself, up to the maximum."""
    mover: tuple[int, int] = (0, 1)
    """(element, bit): the bit, as a number, is set when the second side is to move."""
    seen_from: int = -1
    """An element that holds a cell relative to which all boards are encoded a second time, or -1. If it is used, every
    bit of the boards must have a cell.
    """
    directions: tuple[tuple[int, ...], ...] = ()
    """[that cell][cell]: the number of the relative direction and distance from one to the other."""
    fits: Callable[[Config], bool] = lambda config: True
    """Return whether the states of these rules have this layout."""
    images: tuple[FeatureImage, ...] = ()
    """Symmetries of pieces and sides that the board maps in `Symmetry` lack. Compositions of these with one another and
    with the board maps are included implicitly.
    """
