"""Animated GIFs of games, a frame for each ply. Needs Pillow, an optional package."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec

from arena.pages.drawing import thumbnail
from arena.pages.drawing.scene import Scene
from referee.rules.rules import Rules

SIZE = 400
"""Width and height in pixels."""
MAX_FRAMES = 300
"""Maximum of frames; longer games are shown without their first plies."""
_PLY_MS, _END_MS = 700, 3000
_COLOURS = 64


def is_available() -> bool:
    """Return whether GIFs can be made."""
    return find_spec("PIL") is not None


def gif(rules: Rules, scenes: Sequence[Scene], caption: thumbnail.Caption) -> bytes:
    """Return a game as an animated GIF of `SIZE` by `SIZE` pixels that repeats."""
    from PIL import Image

    shown = scenes[-MAX_FRAMES:]
    drawn = (thumbnail.png(rules, scene, SIZE, SIZE, caption) for scene in shown)
    pictures = (Image.open(io.BytesIO(one)).convert("RGB") for one in drawn)
    first = next(pictures).quantize(_COLOURS)
    rest = [picture.quantize(palette=first, dither=Image.Dither.NONE) for picture in pictures]
    found = io.BytesIO()
    durations = [_PLY_MS] * len(rest) + [_END_MS]
    first.save(found, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    return found.getvalue()
