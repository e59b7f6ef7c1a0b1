"""Draw a scene as SVG, for every family from its layout data alone.

Only attributes and CSS classes are used, never `style`, so that a strict content security policy holds. The viewer's
script redraws the same layers from `chart()`; it leaves cells and labels as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import hypot

from markupsafe import Markup

from arena.pages.drawing.geometry import ALGEBRAIC, TROUGH, Geometry, coordinate, plan
from arena.pages.drawing.piece_shapes import CELL, key, looks
from arena.pages.drawing.scene import Scene
from referee.rules.rules import Cell, Mark, Rules
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
STACK_OFFSET = (4.6, 7.0)
"""Offset of the two pieces of a stack from the centre of their cell."""
STACK_SIZE = 0.84
BEYOND, GHOST_SIZE = 0.62, 0.6
"""Distance past the last cell, and size, of a piece that was pushed off; in cells."""
_LABEL = 0.7
"""Distance of a label on the rim from the centre of its cell; in cells."""
BADGE_OFFSET, BADGE_SIZE = 13.0, 17.0
"""Offset of the mark of a move from the centre of its last cell, and its size."""
BADGES = {"??": "blunder", "?": "mistake", "?!": "dubious", "!?": "interesting", "!": "good", "!!": "brilliant"}
ARROW_GAP = 13.0
"""Distance between the tip of an arrow and the centre of its cell."""


def prefix(family: str) -> str:
    """Return the prefix that the identifiers of a family's pieces share on a page."""
    return f"p-{re.sub('[^a-z0-9]', '-', family)}-"


def sprites(families: Iterable[Rules]) -> Markup:
    """Return SVG symbols for the pieces of some families and for all marks. A page has them once for all boards."""
    parts = [
        Markup('<symbol id="mark-{}" class="mark" viewBox="-20 -20 40 40" overflow="visible">{}</symbol>').format(
            name, body
        )
        for name, body in _FORM_SHAPES.items()
    ]
    parts += [
        Markup(
            '<symbol id="badge-{}" class="badge badge-{}" viewBox="-10 -10 20 20" overflow="visible">'
            '<circle r="9.500"/><text y="5" text-anchor="middle">{}</text></symbol>'
        ).format(name, name, mark)
        for mark, name in BADGES.items()
    ]
    parts += [
        Markup(
            '<radialGradient id="shade-{}" cx=".38" cy=".32" r=".8"><stop offset="0" class="shade-{}-1"/>'
            '<stop offset="1" class="shade-{}-2"/></radialGradient>'
        ).format(tone, tone, tone)
        for tone in ("dark", "light", "neutral")
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


def _ground(where: Geometry, *, is_small: bool) -> Markup:
    """Draw the cells and labels, which do not change during a game."""
    paths: dict[str, list[str]] = {}
    motifs = Markup("")
    tray = Markup("")
    if where.is_rimmed:
        tray = Markup('<path class="tray" d="{}"/>').format(where.hexagon(where.rim))
        if not is_small:
            tray = Markup('<path class="trough" d="{}"/>{}').format(where.hexagon(where.rim + TROUGH), tray)
    for cell in where.board.cells:
        outline = where.pit(cell) if where.is_rimmed else where.outline(cell)
        paths.setdefault(_shade(cell, is_hex=where.is_hex), []).append(outline)
        if cell.kind in _MOTIFS and not where.is_hex:  # hexagons show their name instead
            x, y = where.places[cell.name]
            motifs += Markup('<path class="motif" transform="translate({} {})" d="{}"/>').format(
                coordinate(x), coordinate(y), _MOTIFS[cell.kind]
            )
    cells = Markup("").join(
        Markup('<path class="cell cell-{}" d="{}"/>').format(shade, "".join(outlines))
        for shade, outlines in paths.items()
    )
    ground = Markup('<g data-layer="cells">{}{}{}</g>').format(tray, cells, motifs)
    return ground if is_small else ground + _labels(where)


def _rim_labels(where: Geometry) -> list[tuple[str, float, float, str]]:
    """Return the labels on the rim: letters to the left of the rows, and numbers below the lines."""
    places: list[tuple[str, float, float]] = []
    beside = (_LABEL if where.is_flipped else -_LABEL) * CELL
    for row in rows(where.board):
        x, y = where.places[row[0].name]
        places.append((ALGEBRAIC.fullmatch(row[0].name)[1], x + beside, y))  # type: ignore[index]
    for number, line in where.lines.items():
        (a, b), (x, y) = (where.places[cell.name] for cell in line[-2:])
        places.append((number, x + _LABEL * (x - a), y + _LABEL * (y - b)))
    return [(text, x, y + 4, "xy") for text, x, y in places]


def _labels(where: Geometry) -> Markup:
    labels = []
    if where.is_rimmed:
        labels = _rim_labels(where)
    elif where.is_edged:
        base = where.height - 7
        lowest = min(cell.y for cell in where.board.cells)
        for cell in rows(where.board)[-1]:
            if cell.y == lowest:
                x, _ = where.places[cell.name]
                labels.append((ALGEBRAIC.fullmatch(cell.name)[1], x, base, "x"))  # type: ignore[index]
        for row in rows(where.board):
            _, y = where.places[row[0].name]
            labels.append((ALGEBRAIC.fullmatch(row[0].name)[2], 10.0, y + 5, "y"))  # type: ignore[index]
    else:
        for cell in where.board.cells:
            if cell.kind != "hole":
                x, y = where.places[cell.name]
                labels.append((cell.name, x, y + 4, "xy"))
    drawn = Markup("").join(
        Markup('<text x="{}" y="{}" data-axis="{}">{}</text>').format(coordinate(x), coordinate(y), axis, text)
        for text, x, y, axis in labels
    )
    size = 12 if where.is_edged else 11
    return Markup(
        '<g data-layer="labels" class="labels" font-size="{}" text-anchor="middle" aria-hidden="true">{}</g>'
    ).format(size, drawn)


def _use(target: str, x: float, y: float, size: float = CELL, name: str = "piece") -> Markup:
    return Markup('<use href="#{}" class="{}" x="{}" y="{}" width="{s}" height="{s}"/>').format(
        target, name, coordinate(x - size / 2), coordinate(y - size / 2), s=coordinate(size)
    )


def _pieces(scene: Scene, where: Geometry, start: str) -> Markup:
    drawn = []
    for name, symbols in scene.board.pieces.items():
        x, y = where.places[name]
        if len(symbols) == 1:
            drawn.append(_use(start + key(symbols), x, y))
            continue
        # A stack: the lower piece is to the left and below, so that both stay visible.
        for index, symbol in enumerate(symbols[:2]):
            right, up = (shift * (1 if index else -1) for shift in STACK_OFFSET)
            size, name = CELL * STACK_SIZE, "piece upper" if index else "piece"
            drawn.append(_use(start + key(symbol), x + right, y - up, size, name))
    return Markup("").join(drawn)


def _trough(rules: Rules, scene: Scene, where: Geometry) -> Markup:
    """Draw the pieces that left a rimmed board, in the trough around it."""
    drawn = []
    start = prefix(rules.family)
    free = {side: list(places) for side, places in where.slots.items()}
    for symbol, count in scene.gone.items():
        places = free.get(scene.owners.get(symbol, "first"), [])
        for x, y in places[:count]:
            drawn.append(_use(start + key(symbol), x, y, CELL * STACK_SIZE))
        del places[:count]
    return Markup("").join(drawn)


def _badge(scene: Scene, mark: str, where: Geometry) -> Markup:
    """Draw the mark of the move, such as `??`, on its last cell."""
    if mark not in BADGES or not scene.trail:
        return Markup("")
    x, y = where.places[scene.trail[-1][-1]]
    return _use(f"badge-{BADGES[mark]}", x + BADGE_OFFSET, y - BADGE_OFFSET, BADGE_SIZE, "badge")


def form_of(marks: Mapping[str, Mark], word: str) -> str:
    """Return the form of a mark; a ring for a mark that the family does not define."""
    return marks[word].form if word in marks else "ring"


def _marks(rules: Rules, scene: Scene, where: Geometry) -> Markup:
    drawn, known = [], {mark.name: mark for mark in rules.marks}
    optional = {mark.name for mark in rules.marks if mark.is_optional}
    for name, words in scene.board.marks.items():
        for word in words:
            form = form_of(known, word)
            if form != "none":
                classes = f"mark mark-{re.sub('[^a-z-]', '-', word)}{' optional' if word in optional else ''}"
                drawn.append(_use(f"mark-{form}", *where.places[name], name=classes))
    return Markup("").join(drawn)


def _line(where: Geometry, names: Iterable[str], *, short: float = 0.0) -> str:
    """Return points through the centres of cells. The last point is moved back by `short`, so that an arrow leaves
    the piece there visible.
    """
    points = [where.places[name] for name in names if name in where.places]
    if short and len(points) > 1 and points[-1] != points[-2]:
        (a, b), (x, y) = points[-2:]
        part = short / hypot(x - a, y - b)
        points[-1] = (x - (x - a) * part, y - (y - b) * part)
    return " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in points)


def _trail(scene: Scene, where: Geometry) -> Markup:
    return Markup("").join(
        Markup('<polyline points="{}" marker-end="url(#arrow)"/>').format(_line(where, line, short=ARROW_GAP))
        for line in scene.trail
        if len(line) > 1
    )


def arrows(scene: Scene) -> str:
    """Return the points of the arrows of a scene's move, those of different arrows separated by `|`."""
    where = plan(scene.board)
    return "|".join(_line(where, line, short=ARROW_GAP) for line in scene.trail if len(line) > 1)


def _lit(scene: Scene, where: Geometry) -> Markup:
    cells = {cell.name: cell for cell in where.board.cells}
    names = dict.fromkeys(name for line in scene.trail for name in line if name in cells)
    return Markup("").join(Markup('<path d="{}"/>').format(where.outline(cells[name])) for name in names)


def _ghost(rules: Rules, scene: Scene, where: Geometry) -> Markup:
    """Draw the piece that was pushed off, half beyond the edge."""
    effect = scene.effect
    if not effect.ejected or len(effect.line) < 2:
        return Markup("")
    (a, b), (x, y) = (where.places[name] for name in effect.line[-2:])
    place = x + BEYOND * (x - a), y + BEYOND * (y - b)
    return _use(prefix(rules.family) + key(effect.ejected), *place, CELL * GHOST_SIZE)


def _polylines(pairs: Iterable[tuple[str, str]], where: Geometry) -> Markup:
    return Markup("").join(Markup('<polyline points="{}"/>').format(_line(where, pair)) for pair in pairs)


def svg(
    rules: Rules, scene: Scene, *, label: str, flip: bool = False, is_small: bool = False, mark: str = ""
) -> Markup:
    """Draw the scene as an SVG element. The page must contain the `sprites` of the family.

    `mark` is the mark of the move, such as `??`.
    """
    where = plan(scene.board, is_flipped=flip)
    # On a cell that the capturing piece entered, the arrow shows the capture: a cross would hide that piece.
    struck = Markup("").join(
        _use("mark-cross", *where.places[name], name="mark")
        for name in scene.struck
        if not scene.board.pieces.get(name)
    )
    return Markup(
        '<svg class="board board-{shape}{rimmed}{small}" viewBox="{x} {y} {w} {h}" role="img" '
        'aria-label="{label}">{ground}'
        '<g data-layer="lit" class="lit">{lit}</g><g data-layer="links" class="links">{links}</g>'
        '<g data-layer="between" class="between">{between}</g><g data-layer="trough">{trough}</g>'
        '<g data-layer="ghost" class="ghost">{ghost}</g>'
        '<g data-layer="pieces">{pieces}</g><g data-layer="marks">{marks}</g>'
        '<g data-layer="struck" class="struck">{struck}</g><g data-layer="trail" class="trail">{trail}</g>'
        '<g data-layer="badge">{badge}</g></svg>'
    ).format(
        shape=scene.board.shape,
        rimmed=" board-rimmed" if where.is_rimmed else "",
        small=" board-small" if is_small else "",
        **dict(zip("xywh", map(coordinate, where.frame(is_small=is_small)), strict=True)),
        label=label,
        ground=_ground(where, is_small=is_small),
        lit=_lit(scene, where),
        links=_polylines(scene.links, where),
        between=_polylines(scene.effect.between, where),
        ghost=_ghost(rules, scene, where),
        pieces=_pieces(scene, where, prefix(rules.family)),
        marks=_marks(rules, scene, where),
        struck=struck,
        trail=_trail(scene, where),
        trough=_trough(rules, scene, where),
        badge=_badge(scene, mark, where),
    )
