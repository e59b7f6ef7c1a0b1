"""Pages of long lists with opaque cursors.

A cursor contains the sort keys of the last row, so rows added meanwhile neither repeat nor hide others.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from arena.documents.query import PageResponse
from arena.errors import BadValueError

T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_ROWS = 500
"""Maximum of rows that one call reads; parts of lists that clients ask for have at most `MAX_LIMIT` items."""


def write_cursor(*keys: Any) -> str:
    """Encode the cursor after a row with these sort keys (numbers, texts, times)."""
    plain = [key.isoformat() if isinstance(key, datetime) else key for key in keys]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).rstrip(b"=").decode()


def read_cursor(text: str | None, *types: type) -> tuple[Any, ...] | None:
    """Decode the sort keys of a cursor, which have these types; return None without a cursor. Raises BadValueError."""
    if text is None:
        return None
    try:
        keys = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        if not isinstance(keys, list) or len(keys) != len(types):
            raise ValueError("not a list of the expected keys")
        return tuple(_read(key, kind) for key, kind in zip(keys, types, strict=True))
    except (binascii.Error, ValueError, TypeError, OverflowError, RecursionError):
        raise BadValueError(f"invalid cursor {text[:80]!r}; use the cursor of the last response") from None


def _read(key: Any, kind: type[Any]) -> Any:
    if kind is datetime:
        time = datetime.fromisoformat(key)
        if time.tzinfo is None:
            raise ValueError("a time without a zone")
        return time
    if kind is float and type(key) is int:
        return float(key)
    if type(key) is not kind or (kind is int and not -(2**63) <= key < 2**63) or (kind is str and "\0" in key):
        raise ValueError("a key of an unexpected type")
    return key


def bounded(limit: int) -> int:
    """Limit a page size to 1…MAX_ROWS."""
    return max(1, min(limit, MAX_ROWS))


def cut(rows: Sequence[T], limit: int, key: Callable[[T], tuple[Any, ...]]) -> PageResponse[T]:
    """Build a page of the first `limit` rows, with a cursor if there are more rows. `key` returns a row's sort keys."""
    items = list(rows[:limit])
    return PageResponse(items, write_cursor(*key(items[-1])) if len(rows) > limit and items else None)
