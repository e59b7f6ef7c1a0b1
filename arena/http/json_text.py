"""JSON for responses, with bidirectional control characters escaped so that users' texts cannot rearrange a page."""

from __future__ import annotations

import json
import re
from typing import Any

from arena.plain_text import BIDI_CONTROLS

_TURNING = re.compile(f"[{BIDI_CONTROLS}]")


def as_json(data: Any) -> str:
    """Return plain data as one line of JSON."""
    return escape_bidi_controls(json.dumps(data, separators=(",", ":"), ensure_ascii=False))


def escape_bidi_controls(text: str) -> str:
    r"""Return equivalent JSON with escapes such as `\u202e` in place of bidirectional control characters."""
    return _TURNING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
