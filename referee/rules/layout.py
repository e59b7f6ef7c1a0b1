"""Drawings of a position and of a move, for every kind of display: cells, pieces, marks and effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from referee.rules.core import Side


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a board, `x` to the right and `y` upwards in cell widths; `kind` names a special cell."""

    name: str
    x: float
    y: float
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Piece:
    """The appearance of a piece symbol: name, owner (None = neutral) and a glyph for text output.

    `note` says how the piece moves and captures, in families whose pieces differ in that.
    """

    symbol: str
    name: str
    side: Side | None
    glyph: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A label that a layout puts on cells (`Board.marks`), with its meaning and its shape in drawings.

    Use the form `none` and an empty meaning for what is visible anyway; `is_linked` draws a line between neighbouring
    cells of one owner. Pages show an `is_optional` mark only on request.
    """

    name: str
    meaning: str
    form: Literal["ring", "dot", "spot", "cross", "flag", "frost", "none"] = "ring"
    is_linked: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """One position prepared for drawing.

    - `pieces` maps a cell's name to its symbols, bottom first (a stack has two).
    - `marks` maps a cell's name to labels such as `frozen`.
    - `notes` are short facts about the whole position (`score 3-6`, `raichi`).
    """

    shape: Literal["square", "hex"]
    cells: tuple[Cell, ...]
    pieces: Mapping[str, str]
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """The visible effect of a move. `description` is text shown in addition to `Rules.explain`.

    - `line` are the cells of a row that moves as one, from its rear to the cell that it enters.
    - `ejected` is the symbol pushed off the board at the end of that row.
    - `between` are pairs of cells whose pieces captured a piece between them, or on a corner of their rectangle.
    """

    description: str = ""
    line: tuple[str, ...] = ()
    ejected: str = ""
    between: tuple[tuple[str, str], ...] = ()
