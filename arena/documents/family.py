"""Families of games: their rules, and the legal moves of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.documents.words import Side, Winner


@dataclass(frozen=True, slots=True)
class OptionResponse:
    """A rule option. `changes` is what it changes: `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"]
    default: str | int | bool
    values: Sequence[str]
    changes: str
    meaning: str


@dataclass(frozen=True, slots=True)
class VariantResponse:
    """A named start position with its rule options."""

    name: str
    position: str
    options: Mapping[str, str | int | bool]
    note: str


@dataclass(frozen=True, slots=True)
class FamilyItem:
    """A family in a list."""

    family: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class FamilyResponse(FamilyItem):
    """A family with its variants and rule options."""

    version: int
    sides: Sequence[str]
    variants: list[VariantResponse]
    options: list[OptionResponse]


@dataclass(frozen=True, slots=True)
class MoveResponse:
    """A legal move, in canonical notation (`move`) and in the family's usual one (`shown`).

    `ways` lists every sequence of cells that enters the move on a board. `effect` describes side effects, such as
    captures.
    """

    move: str
    shown: str
    ways: Sequence[Sequence[str]]
    effect: str


@dataclass(frozen=True, slots=True)
class OutcomeResponse:
    """The end of a game by the rules."""

    winner: Winner
    termination: str


@dataclass(frozen=True, slots=True)
class MovesResponse:
    """The legal moves of the side to move in a position."""

    position: str
    side: Side
    moves: list[MoveResponse]
    outcome: OutcomeResponse | None
