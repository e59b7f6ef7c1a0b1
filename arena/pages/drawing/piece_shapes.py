"""What pieces look like: a token per piece whose shape and tone follow from the name of its Unicode glyph.

`♙` is "WHITE CHESS PAWN": a light token with a pawn on it. So the drawing knows shapes, not games, and a family need
only choose its glyphs. Pieces differ by form as well as by colour: light tokens carry an inner ring, their emblems are
outlines; dark ones are solid. A glyph without a drawing here is written as text.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from referee.rules.rules import Piece

Tone = Literal["light", "dark", "neutral"]

CELL = 40
"""Drawing units per cell width."""
RADIUS = 16.0
"""Of a token."""


def _star(points: int, outer: float, inner: float) -> str:
    corners = []
    for index in range(2 * points):
        radius = inner if index % 2 else outer
        angle = math.pi * index / points
        corners.append(f"{radius * math.sin(angle):.1f} {-radius * math.cos(angle):.1f}")
    return "M" + "L".join(corners) + "Z"


EMBLEMS = {
    "CHESS PAWN": "M-6 9H6L4.5 5H3L2-.5A4.5 4.5 0 1 0-2-.5L-3 5H-4.5Z",
    "CHESS ROOK": "M-8 9H8V5H5.5V-2H8V-9H4.5V-6.5H2V-9H-2V-6.5H-4.5V-9H-8V-2H-5.5V5H-8Z",
    "CHESS KNIGHT": "M-7 9H7C8 1 6.5-6 1-8L-1-10.5L-2.5-8C-5-6-7-2.5-8 1L-5.5 3L-1.5 .5L-5 5Z",
    "CHESS BISHOP": "M-7 9H7V6L3.5 5C7 1 6-4 1.5-8A2 2 0 1 0-1.5-8C-6-4-7 1-3.5 5L-7 6ZM0-5V1M-2.5-2H2.5",
    "CHESS QUEEN": "M-7 9H7L9-6L4 1L2.5-9L0 0L-2.5-9L-4 1L-9-6Z",
    "CHESS KING": "M-7 9H7L9.5-1C8-5 3-4.5 1.200-1V-5H4V-7.5H1.200V-10.5H-1.200V-7.5H-4V-5H-1.200V-1C-3-4.5-8-5-9.5-1Z",
    "STAR": _star(5, 10.5, 4.3),
    "CIRCLE": "M-8 0A8 8 0 1 0 8 0A8 8 0 1 0-8 0Z",
    "SQUARE": "M-7.5-7.5H7.5V7.5H-7.5Z",
    "DIAMOND": "M0-10L9 0L0 10L-9 0Z",
    "SCISSORS": (
        "M-7-10L1.5 2.5M7-10L-1.5 2.5M-4.5 2.5A3.5 3.5 0 1 0-4.400 9.5A3.5 3.5 0 1 0-4.5 2.5Z"
        "M4.5 2.5A3.5 3.5 0 1 1 4.400 9.5A3.5 3.5 0 1 1 4.5 2.5Z"
    ),
}
"""Paths around (0, 0), within a radius of 11: what lies on a token."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a piece is drawn: its tone, and the emblem on its token (a path, or text where there is none)."""

    symbol: str
    name: str
    tone: Tone
    path: str = ""
    text: str = ""

    def symbol_svg(self, prefix: str) -> Markup:
        """The piece as an SVG `<symbol>` of two cell widths around its middle, named `prefix` and its code point."""
        half, tone = CELL // 2, self.tone
        if tone == "neutral":
            body = Markup('<path class="token" d="M0-17L17 0L0 17L-17 0Z"/>')
        else:
            body = Markup('<circle class="token" r="{}"/>').format(RADIUS)
        if tone == "light":
            ring = RADIUS - 3 if self.path or self.text else RADIUS / 2
            body += Markup('<circle class="ring" r="{}"/>').format(ring)
        if self.path:
            size = Markup(' transform="scale(.82)"') if tone == "light" else ""
            body += Markup('<path class="emblem" d="{}"{}/>').format(self.path, size)
        elif self.text:
            body += Markup('<text class="letter" y="7" font-size="20" text-anchor="middle">{}</text>').format(self.text)
        return Markup(
            '<symbol id="{}{}" class="piece {}" viewBox="-{h} -{h} {c} {c}" overflow="visible">{}</symbol>'
        ).format(prefix, key(self.symbol), tone, body, h=half, c=CELL)


def key(symbol: str) -> str:
    """A piece symbol as part of an identifier: case is meaning, and any character may be one."""
    return f"{ord(symbol):x}"


def looks(pieces: Sequence[Piece]) -> tuple[Look, ...]:
    """How the pieces of a family are drawn. Where a side has one or two kinds, round ones are plain stones."""
    kinds = Counter(piece.side for piece in pieces)
    has_many = max(kinds.values(), default=0) > 2
    return tuple(_look(piece, has_many=has_many) for piece in pieces)


def _look(piece: Piece, *, has_many: bool) -> Look:
    name = unicodedata.name(piece.glyph, "") if len(piece.glyph) == 1 else ""
    tone: Tone = "neutral" if piece.side is None else "dark"
    if piece.side is not None and (name.startswith("WHITE ") or (not name and piece.side == "second")):
        tone = "light"
    shape = name.removeprefix("WHITE ").removeprefix("BLACK ")
    if tone == "neutral" or (shape == "CIRCLE" and not has_many):
        return Look(piece.symbol, piece.name, tone)
    path = EMBLEMS.get(shape, "")
    return Look(piece.symbol, piece.name, tone, path, "" if path else piece.glyph[:2])
