"""Metadata of the fields of dataclasses that become JSON: what a field means, and which fields are left out."""

from __future__ import annotations

from collections.abc import Mapping

HIDDEN: Mapping[str, bool] = {"exclude": True}
"""The metadata of a field of a document that is not part of its JSON."""


def meaning(text: str) -> Mapping[str, str]:
    """Return the metadata of a field of a document: its meaning, as the reference of the JSON interface shows it."""
    return {"description": text}
