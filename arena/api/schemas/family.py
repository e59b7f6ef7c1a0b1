"""Families: what can be played."""

from __future__ import annotations

from typing import Literal

from arena.api.schemas.word import Out


class OptionDocument(Out):
    """A rule option. `changes`: `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"]
    default: str | int | bool
    values: list[str]
    changes: str
    meaning: str


class VariantDocument(Out):
    """A named start with its options."""

    name: str
    position: str
    options: dict[str, str | int | bool]
    note: str


class FamilyItem(Out):
    """A family in a list."""

    family: str
    title: str
    summary: str


class FamilyDocument(FamilyItem):
    """A family with everything that can be chosen in it."""

    version: int
    sides: list[str]
    variants: list[VariantDocument]
    options: list[OptionDocument]
