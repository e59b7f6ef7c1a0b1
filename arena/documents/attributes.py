"""Creates documents from rows and from other documents."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def of_attributes(document: type[T], source: object, **others: Any) -> T:
    """Return a document whose fields are the object's attributes of the same names; `others` are further fields."""
    names = [one.name for one in fields(document) if one.name not in others]  # type: ignore[arg-type]
    return document(**{name: getattr(source, name) for name in names if hasattr(source, name)}, **others)
