"""JSON for responses, with bidirectional control characters escaped so that foreign text cannot rearrange a page."""

from __future__ import annotations

import json
import re
from typing import Any

BIDI_CONTROLS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Bidirectional control characters, as the inside of a regular expression's character class."""
_TURNING = re.compile(f"[{BIDI_CONTROLS}]")


def as_json(data: Any) -> str:
    """Return plain data as one line of JSON."""
    return escape_bidi_controls(json.dumps(data, separators=(",", ":"), ensure_ascii=False))


def escape_bidi_controls(text: str) -> str:
    r"""Return equivalent JSON with escapes such as `\u202e` in place of bidirectional control characters."""
    return _TURNING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
