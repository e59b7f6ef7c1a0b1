"""Shapes of pieces: a token per piece, whose form and tone are derived from the Unicode name of its glyph.

`♙` is "WHITE CHESS PAWN": a light token with a pawn on it, or a pawn without a token if a side has more than two
kinds of pieces. A family only chooses its glyphs. Sides differ by form as well as by colour: light tokens have an inner
ring and outlined emblems, dark ones are solid. A glyph without a drawing here is written as text.
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
"""Radius of a token."""


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
        "M-6.5-11C-5-5.5-2 .5 2.600 4.300L4.200 2.400C1.200-1.500-3-7-6.5-11Z"
        "M6.5-11C5-5.5 2 .5-2.600 4.300L-4.200 2.400C-1.200-1.500 3-7 6.5-11Z"
    ),
}
"""Emblems on tokens: paths around (0, 0), within a radius of 11."""
_HANDLES = {
    "SCISSORS": (
        "M-8.800 7A3.200 3.200 0 1 0-2.400 7A3.200 3.200 0 1 0-8.800 7Z"
        "M2.400 7A3.200 3.200 0 1 0 8.800 7A3.200 3.200 0 1 0 2.400 7Z"
    )
}
"""Parts of emblems that are open rings."""
_CHESSMAN = "CHESS "
"""Chessmen are drawn without a token, at this scale: dark ones have a line across their base."""
_CHESSMAN_SCALE = 1.7
_BASE_LINE = "M-5 6.2H5"


@dataclass(frozen=True, slots=True)
class Look:
    """The appearance of a piece: its tone, and its emblem as a path or, if there is none, as text.

    `handles` are open rings of the emblem. If `is_bare`, no token is below the emblem.
    """

    symbol: str
    name: str
    tone: Tone
    path: str = ""
    text: str = ""
    handles: str = ""
    is_bare: bool = False

    def symbol_svg(self, prefix: str) -> Markup:
        """Return the piece as an SVG `<symbol>`, one cell wide. Its id is `prefix` and the `key` of the piece."""
        half, tone = CELL // 2, self.tone
        if self.is_bare:
            body = Markup('<path class="chessman" d="{}" transform="scale({})"/>').format(self.path, _CHESSMAN_SCALE)
            if tone == "dark":
                line = Markup('<path class="base" d="{}" transform="scale({})"/>')
                body += line.format(_BASE_LINE, _CHESSMAN_SCALE)
        else:
            body = self._token() + self._emblem()
        return Markup(
            '<symbol id="{}{}" class="piece {}" viewBox="-{h} -{h} {c} {c}" overflow="visible">{}</symbol>'
        ).format(prefix, key(self.symbol), tone, body, h=half, c=CELL)

    def _token(self) -> Markup:
        if self.tone == "neutral":
            return Markup('<path class="token" d="M0-17L17 0L0 17L-17 0Z"/>')
        token = Markup('<circle class="token" r="{}"/>').format(RADIUS)
        if self.tone == "light" and not self.path:
            token += Markup('<circle class="ring" r="{}"/>').format(RADIUS - 3 if self.text else RADIUS / 2)
        return token

    def _emblem(self) -> Markup:
        if not self.path:
            letter = Markup('<text class="letter" y="7" font-size="20" text-anchor="middle">{}</text>')
            return letter.format(self.text) if self.text else Markup("")
        size = Markup(' transform="scale(.92)"') if self.tone == "light" else ""
        body = Markup('<path class="emblem{}" d="{}"{}/>').format(" solid" if self.handles else "", self.path, size)
        if self.handles:
            body += Markup('<path class="emblem open" d="{}"{}/>').format(self.handles, size)
        return body


def key(symbol: str) -> str:
    """Return a piece symbol as part of an identifier: its code point, since a symbol may be any character."""
    return f"{ord(symbol):x}"


def looks(pieces: Sequence[Piece]) -> tuple[Look, ...]:
    """Return the looks of a family's pieces. If no side has more than two kinds, circles are plain stones."""
    kinds = Counter(piece.side for piece in pieces)
    has_many = max(kinds.values(), default=0) > 2
    is_chess = has_many and any(_CHESSMAN in unicodedata.name(piece.glyph[:1], "") for piece in pieces)
    return tuple(_look(piece, has_many=has_many, is_chess=is_chess) for piece in pieces)


def _look(piece: Piece, *, has_many: bool, is_chess: bool) -> Look:
    name = unicodedata.name(piece.glyph, "") if len(piece.glyph) == 1 else ""
    tone: Tone = "neutral" if piece.side is None else "dark"
    if piece.side is not None and (name.startswith("WHITE ") or (not name and piece.side == "second")):
        tone = "light"
    shape = name.removeprefix("WHITE ").removeprefix("BLACK ")
    if tone == "neutral" or (shape == "CIRCLE" and not has_many):
        return Look(piece.symbol, piece.name, tone)
    path = EMBLEMS.get(shape, "")
    is_bare = is_chess and bool(path)
    return Look(piece.symbol, piece.name, tone, path, "" if path else piece.glyph[:2], _HANDLES.get(shape, ""), is_bare)
