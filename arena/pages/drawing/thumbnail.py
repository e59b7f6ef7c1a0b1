"""PNG pictures of boards for link previews, made from the pages' own SVG and style sheet.

This is the only module that uses resvg, which needs neither a browser nor fonts: the picture contains no text.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from arena.pages.drawing import board
from arena.pages.drawing.scene import Scene
from referee.rules.rules import Rules

WIDTH, HEIGHT = 600, 315
"""Aspect ratio that sites with link previews ask for: nearly 2 to 1."""
_STATIC = Path(__file__).parents[1] / "static"
_PAPER = "#f8f6f1"


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
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda found: colours[found[1]], boards)


def png(rules: Rules, scene: Scene, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """Return a scene as a PNG of this size in pixels."""
    import resvg_py

    sprites = re.sub(r"</?svg[^>]*>", "", board.sprites([rules]))
    drawing = str(board.svg(rules, scene, label="", is_small=True))
    drawing = re.sub(r"<text\b.*?</text>", "", drawing, flags=re.DOTALL)
    placed = drawing.replace("<svg ", f'<svg x="10" y="10" width="{width - 20}" height="{height - 20}" ', 1)
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" '
        f'height="{height}">{sprites}{placed}</svg>'
    )
    return bytes(
        resvg_py.svg_to_bytes(svg_string=whole, style_sheet=style(), background=_PAPER, skip_system_fonts=True)
    )
