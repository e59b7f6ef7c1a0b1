"""Reads untrusted TOML within bounds: input that would cost minutes or memory is refused before it is parsed.

The parser of the standard library takes time quadratic in the number of parts of a key, recurses at every bracket, and
fails on long numbers with an error that is not its TOML error.
"""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, date, datetime, time
from typing import Any

MAX_BYTES = 2**20
MAX_PARTS = 8
"""Parts of one dotted key."""
MAX_WORD = 100
"""Characters of a key, number or time outside of quotes."""
MAX_DEPTH = 12
"""Nesting of brackets and braces."""
MAX_ITEMS = 5000
"""Keys and values in total."""

_STRINGS = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*"{3,5}'
    r"|'''(?:[^']++|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]++|\\.)*"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+"
    r"|(?P<open>[\"'])"
)
# The groups of alternatives are not repeated possessively: Python 3.11.2 (Debian 12) matches that wrongly.
_BRACKETS = re.compile(r"[\[\]{}]")
_BETWEEN = re.compile(r"[\n=,\[\]{}]")


class TomlError(ValueError):
    """Invalid or too large TOML; the message names the line or the bound."""


def read(text: str, *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Parse a text to a table, within the bounds of this module. Raises TomlError.

    A byte order mark is skipped, and lines may end with CR, LF or both, as editors of Windows and old Macs write them.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    check(text, max_bytes=max_bytes)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise TomlError(_reason(error)) from None


def read_plain(text: str, *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Parse like `read`, with dates and times as ISO 8601 text, in UTC if they have no zone. Raises TomlError."""
    found: dict[str, Any] = _plain(read(text, max_bytes=max_bytes))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return str(value) if isinstance(value, date | time) else value


def check(text: str, *, max_bytes: int = MAX_BYTES) -> None:
    """Refuse text beyond the bounds, in time linear in its length. Raises TomlError naming the bound."""
    if len(text.encode("utf-8", "replace")) > max_bytes:
        raise TomlError(f"longer than {max_bytes:,} bytes")
    bare = _STRINGS.sub(_without_string, text)
    depth = 0
    for bracket in _BRACKETS.finditer(bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            raise TomlError(f"brackets nested more than {MAX_DEPTH} deep")
    words = _BETWEEN.split(bare)
    if len(words) > 2 * MAX_ITEMS:
        raise TomlError(f"more than {MAX_ITEMS:,} keys and values")
    for word in words:
        if word.count(".") >= MAX_PARTS:
            raise TomlError(f"a key of more than {MAX_PARTS} parts: {_shown(word)}")
        if len(word.strip()) > MAX_WORD:
            raise TomlError(f"a name or number of more than {MAX_WORD} characters: {_shown(word)}")


def _without_string(found: re.Match[str]) -> str:
    if found["open"]:
        raise TomlError(f"a text that begins with {found[0]} in line {_line(found)} does not end")
    return "" if found[0].startswith("#") else "_"


def _line(found: re.Match[str]) -> int:
    return found.string.count("\n", 0, found.start()) + 1


def _shown(word: str) -> str:
    return f"{word.strip()[:40]!r}…"


def _reason(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error)
