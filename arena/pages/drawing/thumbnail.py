"""Pictures for other sites: PNG of boards for link previews, made from the pages' own SVG and style sheet, and animated
GIFs of games.

This is the only module that uses resvg, which needs no browser. It reads the pages' font from `figtree.ttf`, because it
cannot read the compressed one of the style sheet. Animations need Pillow, an optional package.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from math import ceil, floor
from pathlib import Path

from markupsafe import Markup

from arena.pages.drawing import board
from arena.pages.drawing.geometry import plan
from arena.pages.drawing.piece_shapes import CELL
from arena.pages.drawing.scene import Scene
from referee.rules import load
from referee.rules.rules import Rules

WIDTH, HEIGHT = 600, 315
"""Aspect ratio that sites with link previews ask for: nearly 2 to 1."""
_STATIC = Path(__file__).parents[1] / "static"
_FONT = Path(__file__).with_name("figtree.ttf")
_PAPER, _INK, _QUIET = "#f8f6f1", "#1b1e24", "#555b64"
_MARGIN = 10
_BAR = 36
"""Height of the lines above and below a square board."""
_LETTER_WIDTH = 0.56
"""Width of an average letter of the font, as a part of its size."""
_MAX_LETTERS = 44


@cache
def style() -> str:
    """Return the rules of the style sheet for boards in the light theme, with colour variables replaced by their
    values.
    """
    page, text = ((_STATIC / name).read_text(encoding="utf-8") for name in ("arena.css", "board.css"))
    colours: dict[str, str] = {}
    for sheet in (page, text):
        first = sheet[sheet.index(":root {") :]
        colours |= dict(re.findall(r"--([a-z0-9-]+): (?:light-dark\()?([^;,]+)[^;]*;", first[: first.index("}")]))
    boards = text[text.index("/* boards */") : text.index("/* the viewer")]
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: colours[match[1]], boards)


@dataclass(frozen=True, slots=True)
class Caption:
    """The texts of a picture: the game, its players with a line on each (side, rating), and the result if there is one.

    Players are in the order of their sides.
    """

    title: str
    players: tuple[tuple[str, str], tuple[str, str]]
    result: str


Window = tuple[int, int, int, int]
"""Left, top, right and bottom of a part of a picture, in pixels."""


def png(
    rules: Rules,
    scene: Scene,
    width: int = WIDTH,
    height: int = HEIGHT,
    caption: Caption | None = None,
    *,
    window: Window | None = None,
) -> bytes:
    """Return a scene, or a window of it, as a PNG of this size in pixels.

    It has a caption at its right or, in a square, above and below; a window is part of the board and has none.
    """
    import resvg_py

    sprites = re.sub(r"</?svg[^>]*>", "", board.sprites([rules]))
    drawing = str(board.svg(rules, scene, label="", is_small=True))
    drawing = re.sub(r'<text\b.*?</text>|<g data-layer="trough">.*?</g>', "", drawing, flags=re.DOTALL)
    is_wide = width > height
    top = _BAR if caption and not is_wide else _MARGIN
    across = (height if caption and is_wide else width) - 2 * _MARGIN
    place = f'x="{_MARGIN}" y="{top}" width="{across}" height="{height - 2 * top}" overflow="visible"'
    placed = drawing.replace("<svg ", f"<svg {place} ", 1)  # to clip it would take most of the time
    write = _beside if is_wide else _around
    texts = write(caption, width, height) if caption and not window else ""
    left, top, right, bottom = window or (0, 0, width, height)
    size = f'width="{right - left}" height="{bottom - top}"'
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {size} '
        f'viewBox="{left} {top} {right - left} {bottom - top}">{sprites}{placed}{texts}</svg>'
    )
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=whole,
            style_sheet=style(),
            background=_PAPER,
            # The same picture on every machine.
            skip_system_fonts=True,
            font_files=[str(_FONT)],
            font_family="Figtree",
        )
    )


def icon(size: int) -> bytes:
    """Return the icon of the site as a square PNG of this size in pixels."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=(_STATIC / "icon.svg").read_text(), width=size, height=size))


def _beside(caption: Caption, width: int, height: int) -> str:
    """Write a caption at the right of a board: the second side above, as the board shows it."""
    at, room = height + 10, width - height - 25
    (first, first_line), (second, second_line) = caption.players
    return "".join(
        (
            _text(caption.title, at, 36, 15, room=room, colour=_QUIET),
            _text(second, at, 92, 26, room=room),
            _text(second_line, at, 115, 15, room=room, colour=_QUIET),
            _text(caption.result, at, 184, 44, room=room),
            _text(first, at, 246, 26, room=room),
            _text(first_line, at, 269, 15, room=room, colour=_QUIET),
        )
    )


def _around(caption: Caption, width: int, height: int) -> str:
    """Write a caption above and below a board."""
    (first, _), (second, _) = caption.players
    room = width - 90
    return "".join(
        (
            _text(second, 12, _BAR - 12, 18, room=room),
            _text(first, 12, height - 11, 18, room=room),
            _text(caption.result, width - 12, height - 11, 18, room=70, anchor="end"),
        )
    )


def _text(text: str, x: int, y: int, size: float, *, room: int, colour: str = _INK, anchor: str = "start") -> str:
    """Write a line in the largest size, at most `size`, in which it fits into `room` pixels."""
    shown = text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"
    size = min(size, room / (_LETTER_WIDTH * max(1, len(shown))))
    return str(
        Markup('<text x="{}" y="{}" font-size="{:.1f}" font-weight="600" fill="{}" text-anchor="{}">{}</text>').format(
            x, y, size, colour, anchor, shown
        )
    )


SIZE = 400
"""Width and height in pixels."""
MAX_FRAMES = 300
"""Maximum of frames; longer games are shown without their first plies."""
_PLY_MS, _END_MS = 700, 3000
_COLOURS = 64
_REACH = 0.6
"""Distance from the centre of a cell within which everything on it is drawn, in cells; a piece pushed off is beyond."""


def can_animate() -> bool:
    """Return whether GIFs can be made."""
    return find_spec("PIL") is not None


def gif(family: str, scenes: Sequence[Scene], caption: Caption) -> bytes:
    """Return a game as an animated GIF of `SIZE` by `SIZE` pixels that repeats.

    A frame takes 5 to 25 ms, because only its changed part is drawn. Call it in another process.
    """
    from PIL import Image

    rules = load(family)
    shown = scenes[-MAX_FRAMES:]
    picture = Image.open(io.BytesIO(png(rules, shown[0], SIZE, SIZE, caption))).convert("RGB")
    first = picture.quantize(_COLOURS)
    rest = []
    for before, scene in pairwise(shown):
        if window := changed_window(before, scene):
            part = Image.open(io.BytesIO(png(rules, scene, SIZE, SIZE, caption, window=window)))
            picture.paste(part.convert("RGB"), window[:2])
        rest.append(picture.quantize(palette=first, dither=Image.Dither.NONE))
    file = io.BytesIO()
    durations = [_PLY_MS] * len(rest) + [_END_MS]
    first.save(file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return file.getvalue()


def changed_window(before: Scene, after: Scene) -> Window | None:
    """Return the part of a square picture outside of which two scenes of a game are equal; None if they are equal."""
    where = plan(after.board)
    parts = _parts(before) ^ _parts(after)
    places = [where.places[name] for part in parts for name in part if name in where.places]
    if not places:
        return None
    left, top, width, height = where.frame(is_small=True)
    across, down = SIZE - 2 * _MARGIN, SIZE - 2 * _BAR
    scale = min(across / width, down / height)
    # The drawing is in the middle of its place.
    left, top = left - (across / scale - width) / 2 - _MARGIN / scale, top - (down / scale - height) / 2 - _BAR / scale
    xs, ys = zip(*places, strict=True)
    reach = CELL * (1 if before.effect.ejected or after.effect.ejected else _REACH)
    return (
        max(0, floor((min(xs) - reach - left) * scale)),
        max(_BAR, floor((min(ys) - reach - top) * scale)),
        min(SIZE, ceil((max(xs) + reach - left) * scale)),
        min(SIZE - _BAR, ceil((max(ys) + reach - top) * scale)),
    )


def _parts(scene: Scene) -> set[tuple[str, ...]]:
    """Return what is drawn of a scene on and between cells; each part names its cells."""
    board, effect = scene.board, scene.effect
    return {
        *scene.trail,
        *scene.links,
        *effect.between,
        ("ghost", effect.ejected, *effect.line),
        *(("struck", name) for name in scene.struck),
        *(("piece", name, symbols) for name, symbols in board.pieces.items()),
        *(("mark", name, *words) for name, words in board.marks.items()),
    }
