"""The query of a list, for the queries that are models of pydantic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from arena.documents.page import MAX_LIMIT, PageResponse

T = TypeVar("T")
R = TypeVar("R")


class PageQuery(BaseModel):
    """The part of a list to return."""

    model_config = ConfigDict(extra="forbid")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description=f"number of items, at most {MAX_LIMIT}")] = 50
    after: Annotated[
        str | None,
        Field(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9_-]+$", description="`next` of the previous part"),
    ] = None


def page(rows: PageResponse[R], shape: Callable[[R], T]) -> PageResponse[T]:
    """Convert a page of store rows to a page of schemas."""
    return rows.map(shape)
