"""Lists in pages as the interface gives them: `{items, next}`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from arena.store.page import CursorPage as Rows

MAX_LIMIT = 200
T = TypeVar("T")
R = TypeVar("R")


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
        str | None,
        Field(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9_-]+$", description="the `next` of the page before"),
    ] = None


def page(rows: Rows[R], shape: Callable[[R], T]) -> Page[T]:
    """Rows of the store as a page of documents."""
    return Page(items=[shape(row) for row in rows.items], next=rows.next)
