"""Parts of long lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from arena.documents.query import Query, described

MAX_LIMIT = 200
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PageResponse(Generic[T]):
    """Part of a list. `next` is the cursor of the following part, null at the end."""

    items: list[T]
    next: str | None = None

    def map(self, change: Callable[[T], R]) -> PageResponse[R]:
        """Return the same part with converted items."""
        return PageResponse([change(item) for item in self.items], self.next)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuery(Query):
    """The part of a list to return."""

    limit: int = described(f"number of items, at most {MAX_LIMIT}", {"ge": 1, "le": MAX_LIMIT}, default=50)
    after: str | None = described(
        "`next` of the previous part", {"min_length": 1, "max_length": 400, "pattern": r"^[A-Za-z0-9_-]+$"}
    )


def joined(read: Callable[[str | None], PageResponse[T]], count: int | None = None) -> list[T]:
    """Return the items of all parts of a list; with `count`, stop once there are as many. `read` takes a cursor."""
    part = read(None)
    items = list(part.items)
    while part.next is not None and (count is None or len(items) < count):
        part = read(part.next)
        items += part.items
    return items
