"""Draws a scene as SVG: one drawing for every family, from layout data alone.

Presentation by attributes and CSS classes only, never by `style`, so that a strict content policy holds. The viewer's
script draws the same layers from `chart()`; what stands still (cells, labels) it takes as it finds it.
Refuses to know any game and any page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import hypot, sqrt
from typing import Any

from markupsafe import Markup

from arena.pages.drawing.piece_shapes import CELL, key, looks
from arena.pages.drawing.scene import Scene, piece_names
from referee.rules.rules import Board, Cell, Mark, Rules
from referee.rules.text_board import rows

_FORM_SHAPES: Mapping[str, Markup] = {
    "ring": Markup('<circle r="18.5" class="mark-line"/>'),
    "dot": Markup('<circle r="4" class="mark-warm"/>'),
    "spot": Markup('<circle r="7" class="mark-fill"/>'),
    "cross": Markup('<path class="mark-line" d="M-9-9L9 9M9-9L-9 9"/>'),
    "flag": Markup('<path class="mark-badge" d="M4-19H19V-4Z"/>'),
    "frost": Markup(
        '<circle r="17.5" class="mark-cold" stroke-dasharray="5.5 3.7"/>'
        '<path class="mark-flake" d="M13-19.500V-8.500M8.200-16.700L17.800-11.300M17.800-16.700L8.200-11.300"/>'
    ),
}
_MOTIFS: Mapping[str, str] = {
    "throne": "M-14-14L14 14M14-14L-14 14",
    "base": "M-13-13H-5M-13-13V-5M13 13H5M13 13V5",
    "goal": "M-3 0H3M0-3V3",
}
_MARGIN = 22.0
_EDGE = 4.0
_STACK = 5.6
"""How far the two pieces of a stack lie from the middle of their cell."""
_STACK_SIZE = 0.72
_BEYOND, _GHOST_SIZE = 0.62, 0.6
"""How far behind the last cell, and how large, what went over the edge is drawn; in cells."""
_SHORT = 13.0
"""How far before the middle of its cell an arrow ends."""
_ALGEBRAIC = re.compile(r"([a-z]+)(\d+)", re.ASCII)


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Geometry:
    """Where the cells of a board lie on the drawing."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.is_hex = board.shape == "hex"
        self.half_height = CELL / sqrt(3) if self.is_hex else CELL / 2
        xs, ys = [cell.x for cell in board.cells], [cell.y for cell in board.cells]
        self.is_edged = not self.is_hex and all(_ALGEBRAIC.fullmatch(cell.name) for cell in board.cells)
        margin = _MARGIN if self.is_edged else _EDGE
        self.left, self.top = margin - min(xs) * CELL + CELL / 2, _EDGE + max(ys) * CELL + self.half_height
        self.width = margin + (max(xs) - min(xs) + 1) * CELL + _EDGE
        self.height = _EDGE + (max(ys) - min(ys)) * CELL + 2 * self.half_height + margin
        self.middle = (
            margin + (max(xs) - min(xs) + 1) * CELL / 2,
            _EDGE + (max(ys) - min(ys)) * CELL / 2 + self.half_height,
        )
        self.places = {cell.name: (self.left + cell.x * CELL, self.top - cell.y * CELL) for cell in board.cells}

    def place(self, name: str, *, flip: bool) -> tuple[float, float]:
        """The middle of a cell."""
        x, y = self.places[name]
        return (2 * self.middle[0] - x, 2 * self.middle[1] - y) if flip else (x, y)

    def outline(self, cell: Cell, *, flip: bool) -> str:
        """The path around a cell."""
        x, y = self.place(cell.name, flip=flip)
        if not self.is_hex:
            return f"M{_number(x - CELL / 2)} {_number(y - CELL / 2)}h{CELL}v{CELL}h-{CELL}z"
        r = self.half_height
        w, h = CELL // 2, _number(r / 2)
        return f"M{_number(x)} {_number(y - r)}l{w} {h}v{_number(r)}l-{w} {h}l-{w}-{h}v-{_number(r)}z"


@lru_cache(maxsize=64)
def _plan(shape: str, cells: tuple[Cell, ...]) -> Geometry:
    return Geometry(Board(shape, cells, {}))  # type: ignore[arg-type]


def plan(board: Board) -> Geometry:
    """The plan of a board's cells."""
    return _plan(board.shape, board.cells)


def prefix(family: str) -> str:
    """What the identifiers of a family's pieces on a page begin with."""
    return f"p-{re.sub('[^a-z0-9]', '-', family)}-"


def sprites(families: Iterable[Rules]) -> Markup:
    """The pieces of some families and all marks, once per page; boards refer to them."""
    parts = [
        Markup('<symbol id="mark-{}" class="mark" viewBox="-20 -20 40 40" overflow="visible">{}</symbol>').format(
            name, body
        )
        for name, body in _FORM_SHAPES.items()
    ]
    parts.append(
        Markup(
            '<marker id="arrow" viewBox="0 0 10 10" refX="7" refY="5" markerWidth="4" markerHeight="4" '
            'orient="auto-start-reverse"><path class="arrow" d="M0 0L10 5L0 10Z"/></marker>'
        )
    )
    parts += [look.symbol_svg(prefix(rules.family)) for rules in families for look in looks(rules.pieces)]
    return Markup(
        '<svg class="sprites" width="0" height="0" aria-hidden="true" focusable="false"><defs>{}</defs></svg>'
    ).format(Markup("").join(parts))


def _shade(cell: Cell, *, is_hex: bool) -> str:
    if cell.kind != "plain":
        return re.sub("[^a-z-]", "-", cell.kind)
    return "odd" if not is_hex and round(cell.x + cell.y) % 2 else "plain"


def _ground(where: Geometry, *, flip: bool, is_small: bool) -> Markup:
    """Cells and labels: what stands still through a game."""
    paths: dict[str, list[str]] = {}
    motifs = Markup("")
    for cell in where.board.cells:
        paths.setdefault(_shade(cell, is_hex=where.is_hex), []).append(where.outline(cell, flip=flip))
        if cell.kind in _MOTIFS and not where.is_hex:  # a hexagon holds its name
            x, y = where.place(cell.name, flip=flip)
            motifs += Markup('<path class="motif" transform="translate({} {})" d="{}"/>').format(
                _number(x), _number(y), _MOTIFS[cell.kind]
            )
    cells = Markup("").join(
        Markup('<path class="cell cell-{}" d="{}"/>').format(shade, "".join(found)) for shade, found in paths.items()
    )
    found = Markup('<g data-layer="cells">{}{}</g>').format(cells, motifs)
    return found if is_small else found + _labels(where, flip=flip)


def _labels(where: Geometry, *, flip: bool) -> Markup:
    labels = []
    if where.is_edged:
        base = where.height - 7
        lowest = min(cell.y for cell in where.board.cells)
        for cell in rows(where.board)[-1]:
            if cell.y == lowest:
                x, _ = where.place(cell.name, flip=flip)
                labels.append((_ALGEBRAIC.fullmatch(cell.name)[1], x, base, "x"))  # type: ignore[index]
        for row in rows(where.board):
            _, y = where.place(row[0].name, flip=flip)
            labels.append((_ALGEBRAIC.fullmatch(row[0].name)[2], 10.0, y + 5, "y"))  # type: ignore[index]
    else:
        for cell in where.board.cells:
            if cell.kind != "hole":
                x, y = where.place(cell.name, flip=flip)
                labels.append((cell.name, x, y + 4, "xy"))
    drawn = Markup("").join(
        Markup('<text x="{}" y="{}" data-axis="{}">{}</text>').format(_number(x), _number(y), axis, text)
        for text, x, y, axis in labels
    )
    size = 14 if where.is_edged else 11
    return Markup(
        '<g data-layer="labels" class="labels" font-size="{}" text-anchor="middle" aria-hidden="true">{}</g>'
    ).format(size, drawn)


def _use(target: str, x: float, y: float, size: float = CELL, name: str = "piece") -> Markup:
    return Markup('<use href="#{}" class="{}" x="{}" y="{}" width="{s}" height="{s}"/>').format(
        target, name, _number(x - size / 2), _number(y - size / 2), s=_number(size)
    )


def _pieces(scene: Scene, where: Geometry, start: str, *, flip: bool) -> Markup:
    found = []
    for name, symbols in scene.board.pieces.items():
        x, y = where.place(name, flip=flip)
        if len(symbols) == 1:
            found.append(_use(start + key(symbols), x, y))
            continue
        # A stack: the lower piece to the left and below, so that both stay visible.
        for index, symbol in enumerate(symbols[:2]):
            shift = _STACK * (1 if index else -1)
            found.append(_use(start + key(symbol), x + shift, y - shift, CELL * _STACK_SIZE))
    return Markup("").join(found)


def _form(marks: Mapping[str, Mark], word: str) -> str:
    """How a mark is drawn; one that the family does not explain gets a ring."""
    return marks[word].form if word in marks else "ring"


def _marks(rules: Rules, scene: Scene, where: Geometry, *, flip: bool) -> Markup:
    found, known = [], {mark.name: mark for mark in rules.marks}
    for name, words in scene.board.marks.items():
        for word in words:
            form = _form(known, word)
            if form != "none":
                safe = re.sub("[^a-z-]", "-", word)
                found.append(_use(f"mark-{form}", *where.place(name, flip=flip), name=f"mark mark-{safe}"))
    return Markup("").join(found)


def _line(where: Geometry, names: Iterable[str], *, flip: bool, short: float = 0.0) -> str:
    """Points through the middles of cells; the last one `short` of its middle, so that an arrow shows its piece."""
    points = [where.place(name, flip=flip) for name in names if name in where.places]
    if short and len(points) > 1 and points[-1] != points[-2]:
        (a, b), (x, y) = points[-2:]
        part = short / hypot(x - a, y - b)
        points[-1] = (x - (x - a) * part, y - (y - b) * part)
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _trail(scene: Scene, where: Geometry, *, flip: bool) -> Markup:
    return Markup("").join(
        Markup('<polyline points="{}" marker-end="url(#arrow)"/>').format(_line(where, line, flip=flip, short=_SHORT))
        for line in scene.trail
        if len(line) > 1
    )


def _lit(scene: Scene, where: Geometry, *, flip: bool) -> Markup:
    cells = {cell.name: cell for cell in where.board.cells}
    names = dict.fromkeys(name for line in scene.trail for name in line if name in cells)
    return Markup("").join(Markup('<path d="{}"/>').format(where.outline(cells[name], flip=flip)) for name in names)


def _ghost(rules: Rules, scene: Scene, where: Geometry, *, flip: bool) -> Markup:
    """What went over the edge, half beyond it."""
    effect = scene.effect
    if not effect.ejected or len(effect.line) < 2:
        return Markup("")
    (a, b), (x, y) = (where.place(name, flip=flip) for name in effect.line[-2:])
    place = x + _BEYOND * (x - a), y + _BEYOND * (y - b)
    return _use(prefix(rules.family) + key(effect.ejected), *place, CELL * _GHOST_SIZE, "piece")


def _polylines(pairs: Iterable[tuple[str, str]], where: Geometry, *, flip: bool) -> Markup:
    return Markup("").join(Markup('<polyline points="{}"/>').format(_line(where, pair, flip=flip)) for pair in pairs)


def svg(rules: Rules, scene: Scene, *, label: str, flip: bool = False, is_small: bool = False) -> Markup:
    """The scene as an SVG element; the page must hold `sprites` of the family."""
    where = plan(scene.board)
    # Where a piece was taken by the one that stands there now, the arrow says it; a cross would hide who stands there.
    struck = Markup("").join(
        _use("mark-cross", *where.place(name, flip=flip), name="mark")
        for name in scene.struck
        if not scene.board.pieces.get(name)
    )
    return Markup(
        '<svg class="board board-{shape}{small}" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{ground}'
        '<g data-layer="lit" class="lit">{lit}</g><g data-layer="links" class="links">{links}</g>'
        '<g data-layer="between" class="between">{between}</g><g data-layer="ghost" class="ghost">{ghost}</g>'
        '<g data-layer="pieces">{pieces}</g><g data-layer="marks">{marks}</g>'
        '<g data-layer="struck" class="struck">{struck}</g><g data-layer="trail" class="trail">{trail}</g></svg>'
    ).format(
        shape=scene.board.shape,
        small=" board-small" if is_small else "",
        w=_number(where.width),
        h=_number(where.height if not is_small or not where.is_edged else where.height - _MARGIN + _EDGE),
        label=label,
        ground=_ground(where, flip=flip, is_small=is_small),
        lit=_lit(scene, where, flip=flip),
        links=_polylines(scene.links, where, flip=flip),
        between=_polylines(scene.effect.between, where, flip=flip),
        ghost=_ghost(rules, scene, where, flip=flip),
        pieces=_pieces(scene, where, prefix(rules.family), flip=flip),
        marks=_marks(rules, scene, where, flip=flip),
        struck=struck,
        trail=_trail(scene, where, flip=flip),
    )


def chart(rules: Rules, board: Board) -> dict[str, Any]:
    """What the script needs to draw scenes of this game: places and outlines of cells, pieces, forms of marks."""
    where = plan(board)
    return {
        "cell": CELL,
        "stack": _STACK,
        "stackSize": _STACK_SIZE,
        "short": _SHORT,
        "middle": list(where.middle),
        "places": {name: [round(x, 1), round(y, 1)] for name, (x, y) in where.places.items()},
        "hex": where.is_hex,
        "beyond": _BEYOND,
        "ghostSize": _GHOST_SIZE,
        "pieces": {symbol: [prefix(rules.family) + key(symbol), name] for symbol, name in piece_names(rules).items()},
        "owners": {piece.symbol: piece.side for piece in rules.pieces if piece.side},
        "rows": [[cell.name for cell in row] for row in rows(board)],
        "kinds": {cell.name: cell.kind for cell in board.cells if cell.kind != "plain"},
        "forms": {mark.name: mark.form for mark in rules.marks},
        "meanings": {mark.name: mark.meaning for mark in rules.marks},
    }


def described(rules: Rules, scene: Scene, cell: Cell) -> str:
    """A cell in words: `a1 black marble, can be pushed off`."""
    names = piece_names(rules)
    symbols = scene.board.pieces.get(cell.name, "")
    held = " on ".join(names.get(symbol, symbol) for symbol in reversed(symbols)) or "empty"
    kind = "" if cell.kind == "plain" else f" ({cell.kind})"
    words = "".join(f", {word}" for word in scene.board.marks.get(cell.name, ()))
    return f"{cell.name}{kind} {held}{words}"


def legend(rules: Rules, scene: Scene) -> list[tuple[str, str, str]]:
    """(mark, form, meaning) of every mark on the board that needs one said."""
    known = {mark.name: mark for mark in rules.marks}
    words = sorted({word for found in scene.board.marks.values() for word in found})
    shown = [word for word in words if word not in known or known[word].meaning]
    return [(word, _form(known, word), known[word].meaning if word in known else word) for word in shown]
