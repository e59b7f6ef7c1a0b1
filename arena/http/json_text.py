"""JSON as it leaves the server: what somebody wrote does not rearrange the rest of what people see of it."""

from __future__ import annotations

import json
import re
from typing import Any

BIDI_CONTROLS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that turn the direction of text, as in a character class of a pattern."""
_TURNING = re.compile(f"[{BIDI_CONTROLS}]")


def as_json(data: Any) -> str:
    """Plain data in one line."""
    return escape_bidi_controls(json.dumps(data, separators=(",", ":"), ensure_ascii=False))


def escape_bidi_controls(text: str) -> str:
    r"""JSON that means the same, with `\u202e` instead of a character that turns the direction of text."""
    return _TURNING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
