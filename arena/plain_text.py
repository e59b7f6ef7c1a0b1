"""Reads text from users, and makes it safe to show: control, invisible and bidirectional characters become `�`.

Such characters move the cursor of a terminal, or rearrange the text around them on a terminal and on a page.
"""

from __future__ import annotations

import codecs
import re

BIDI_CONTROLS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Bidirectional control characters, in the form of a regular expression's character class without brackets."""
UNSAFE = rf"\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200d\u2028\u2029\u2060-\u2065\ufeff{BIDI_CONTROLS}"
"""All unsafe characters, in the same form; tabs and line feeds are safe."""
_UNSAFE = re.compile(f"[{UNSAFE}]")
_BIDI = re.compile(f"[{BIDI_CONTROLS}]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def decoded(raw: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte-order mark, as Windows shells write it.

    Raise UnicodeDecodeError.
    """
    return raw.decode("utf-16" if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")


def plain(text: str) -> str:
    """Return the text with all unsafe characters replaced; its length stays the same."""
    return _UNSAFE.sub(_REPLACEMENT, text)


def escaped(text: str) -> str:
    """Return the text with all unsafe characters as escapes, such as `\\x1b`, so that nothing of it is lost."""
    return _UNSAFE.sub(_escape, text)


def escape_bidi_controls(text: str) -> str:
    r"""Return equivalent JSON with escapes such as `\u202e` in place of bidirectional control characters."""
    return _BIDI.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
