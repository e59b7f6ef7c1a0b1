"""Families: what can be played."""

from __future__ import annotations

from typing import Literal

from arena.api.schemas.word import Out, Side
from arena.atlas.report import StartFigures


class OptionResponse(Out):
    """A rule option. `changes`: `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"]
    default: str | int | bool
    values: list[str]
    changes: str
    meaning: str


class VariantResponse(Out):
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


class FamilyResponse(FamilyItem):
    """A family with everything that can be chosen in it."""

    version: int
    sides: list[str]
    variants: list[VariantResponse]
    options: list[OptionResponse]


class MoveResponse(Out):
    """A legal move: canonical, and as people write it. `ways` are the cells to pick for it on a board, in order, in
    every way it may be entered; `effect` says what it does besides moving."""

    move: str
    shown: str
    ways: list[list[str]]
    effect: str


class OutcomeResponse(Out):
    """How a game ended by the rules."""

    winner: Literal["first", "second", "draw"]
    termination: str


class MovesResponse(Out):
    """What may be played in a position, by the side to move."""

    position: str
    side: Side
    moves: list[MoveResponse]
    outcome: OutcomeResponse | None


class StartsResponse(Out):
    """The atlas of a family: what was measured, in `remarks`, and every start; none where nothing was measured."""

    family: str
    remarks: str
    starts: list[StartFigures]
