"""Families of games."""

from __future__ import annotations

from typing import Literal

from arena.api.schemas.word import Out, Side
from arena.atlas.report import StartFigures


class OptionResponse(Out):
    """A rule option. `changes` is `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"]
    default: str | int | bool
    values: list[str]
    changes: str
    meaning: str


class VariantResponse(Out):
    """A named start position with its rule options."""

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
    """A family with its variants and rule options."""

    version: int
    sides: list[str]
    variants: list[VariantResponse]
    options: list[OptionResponse]


class MoveResponse(Out):
    """A legal move, in canonical notation (`move`) and in the family's usual one (`shown`).

    `ways` lists every sequence of cells that enters the move on a board. `effect` describes side effects, such as
    captures.
    """

    move: str
    shown: str
    ways: list[list[str]]
    effect: str


class OutcomeResponse(Out):
    """The end of a game by the rules."""

    winner: Literal["first", "second", "draw"]
    termination: str


class MovesResponse(Out):
    """The legal moves of the side to move in a position."""

    position: str
    side: Side
    moves: list[MoveResponse]
    outcome: OutcomeResponse | None


class StartsResponse(Out):
    """The atlas of a family: `remarks` on the measurement, and every start; empty where nothing was measured."""

    family: str
    remarks: str
    starts: list[StartFigures]
