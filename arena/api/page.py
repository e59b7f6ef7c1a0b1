"""Lists in pages: `{items, next}`, with an opaque cursor that names the last item, so that new items shift nothing.

Refuses to know what is listed.
"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from arena.api.problem import Problem

MAX_LIMIT = 200
T = TypeVar("T")

Key = str | int | float
"""One part of a cursor: the value of a column that a list is ordered by."""


class Page(BaseModel, Generic[T]):
    """A part of a list. `next` is the cursor of the part that follows, null at the end."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    items: list[T]
    next: str | None = None


class PageQuery(BaseModel):
    """Which part of a list."""

    model_config = ConfigDict(extra="forbid")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description=f"how many items, {MAX_LIMIT} at most")] = 50
    after: Annotated[
        str | None, Field(max_length=400, pattern=r"^[A-Za-z0-9_-]*$", description="the `next` of the page before")
    ] = None


def write_cursor(*key: Key) -> str:
    """The cursor after the item with this key."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).rstrip(b"=").decode()


def read_cursor(text: str | None, *types: type) -> tuple[Key, ...] | None:
    """The key of a cursor, None without one. Raises Problem for a text that no page gave out."""
    if not text:
        return None
    try:
        key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        key = None
    is_sound = isinstance(key, list) and len(key) == len(types) and all(map(_fits, key, types))
    if not is_sound:
        raise Problem("invalid", "not a cursor of this list", field="after", hint="take `next` of the page before")
    assert isinstance(key, list)
    return tuple(key)


def _fits(part: object, kind: type) -> bool:
    if kind is str:
        return isinstance(part, str) and part.isprintable()
    if kind is int:
        return type(part) is int and abs(part) < 2**31
    return type(part) in (int, float) and abs(part) < 1e12  # type: ignore[operator]
