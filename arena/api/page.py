"""Pages of lists, as the interface returns them: `{items, next}`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from arena.store.base.page import CursorPage as Rows

MAX_LIMIT = 200
T = TypeVar("T")
R = TypeVar("R")


class PageResponse(BaseModel, Generic[T]):
    """Part of a list. `next` is the cursor of the following part, null at the end."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    items: list[T]
    next: str | None = None


class PageQuery(BaseModel):
    """The part of a list to return."""

    model_config = ConfigDict(extra="forbid")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description=f"number of items, at most {MAX_LIMIT}")] = 50
    after: Annotated[
        str | None,
        Field(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9_-]+$", description="`next` of the previous part"),
    ] = None


def page(rows: Rows[R], shape: Callable[[R], T]) -> PageResponse[T]:
    """Convert a page of store rows to a page of schemas."""
    return PageResponse(items=[shape(row) for row in rows.items], next=rows.next)
