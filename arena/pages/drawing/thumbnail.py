"""A board as a small PNG, for those who show a link and read no SVG: drawn from the page's own drawing and style sheet.

The one home of resvg, which needs no browser and no fonts: the picture has no letters.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from arena.pages.drawing import board
from arena.pages.drawing.scene import Scene
from referee.rules.rules import Rules

WIDTH, HEIGHT = 600, 315
"""As those who show links ask for: nearly twice as wide as high."""
_STYLES = Path(__file__).parents[1] / "static" / "arena.css"
_PAPER = "#fbfaf7"


@cache
def style() -> str:
    """The rules of the style sheet for boards, by light, with the colours in the place of their names."""
    text = _STYLES.read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([a-z0-9-]+): ([^;]+);", text[: text.index("}")]))
    boards = text[text.index("/* boards */") : text.index("/* the viewer")]
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda found: colours[found[1]], boards)


def png(rules: Rules, scene: Scene) -> bytes:
    """The scene in the middle of a picture of `WIDTH` by `HEIGHT` pixels."""
    import resvg_py

    sprites = re.sub(r"</?svg[^>]*>", "", board.sprites([rules]))
    drawing = str(board.svg(rules, scene, label="", is_small=True))
    drawing = re.sub(r"<text\b.*?</text>", "", drawing, flags=re.DOTALL)
    placed = drawing.replace("<svg ", f'<svg x="10" y="10" width="{WIDTH - 20}" height="{HEIGHT - 20}" ', 1)
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{WIDTH}" '
        f'height="{HEIGHT}">{sprites}{placed}</svg>'
    )
    return bytes(
        resvg_py.svg_to_bytes(svg_string=whole, style_sheet=style(), background=_PAPER, skip_system_fonts=True)
    )
