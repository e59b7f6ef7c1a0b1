"""Families of games: their rules, and the legal moves of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from arena.documents.words import Side, Winner
from referee.meaning import meaning


@dataclass(frozen=True, slots=True)
class OptionResponse:
    """A rule option. `changes` is what it changes: `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"] = field(
        metadata=meaning("`combo`: one of `values`; `spin`: a whole number; `check`: true or false")
    )
    default: str | int | bool
    values: Sequence[str] = field(metadata=meaning("allowed values as text; a range such as `0..100` for a `spin`"))
    changes: str
    meaning: str = field(metadata=meaning("what the option does, in words"))


@dataclass(frozen=True, slots=True)
class VariantResponse:
    """A named start position with its rule options."""

    name: str
    position: str
    options: Mapping[str, str | int | bool] = field(
        metadata=meaning("values that differ from the defaults of the family")
    )
    note: str = field(metadata=meaning("remark for people, may be empty"))


@dataclass(frozen=True, slots=True)
class FamilyItem:
    """A family in a list."""

    family: str = field(metadata=meaning("name in addresses and parameters"))
    title: str = field(metadata=meaning("name for people"))
    summary: str = field(metadata=meaning("the game in a few sentences"))


@dataclass(frozen=True, slots=True)
class FamilyResponse(FamilyItem):
    """A family with its variants and rule options."""

    version: int = field(metadata=meaning("raised only when the behaviour of the rules changes"))
    sides: Sequence[str] = field(metadata=meaning("names for people of the first and the second side"))
    variants: list[VariantResponse] = field(metadata=meaning("the first one is the default"))
    options: list[OptionResponse]


@dataclass(frozen=True, slots=True)
class MoveResponse:
    """A legal move, in canonical notation (`move`) and in the family's usual one (`shown`).

    `ways` lists every sequence of cells that enters the move on a board. `effect` describes side effects, such as
    captures.
    """

    move: str
    shown: str
    ways: Sequence[Sequence[str]] = field(
        metadata=meaning("cells in the order in which to pick them; an empty list enters a pass")
    )
    effect: str = field(metadata=meaning("in words; empty: none"))


@dataclass(frozen=True, slots=True)
class OutcomeResponse:
    """The result of a game, and the reason of its end."""

    winner: Winner
    termination: str


@dataclass(frozen=True, slots=True)
class MovesResponse:
    """The legal moves of the side to move in a position."""

    position: str = field(metadata=meaning("the position after the requested moves"))
    side: Side = field(metadata=meaning("the side to move"))
    moves: list[MoveResponse] = field(metadata=meaning("sorted by `move`"))
    outcome: OutcomeResponse | None = field(metadata=meaning("the result by the rules; null: the game is not over"))
