"""Families of games: their rules, and the legal moves of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.documents.query import documented
from arena.documents.words import Side, Winner


@dataclass(frozen=True, slots=True)
class OptionResponse:
    """A rule option. `changes` is what it changes: `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"] = documented(
        "`combo`: one of `values`; `spin`: a whole number; `check`: true or false"
    )
    default: str | int | bool
    values: Sequence[str] = documented("allowed values as text; a range such as `0..100` for a `spin`")
    changes: str
    meaning: str = documented("what the option does, in words")


@dataclass(frozen=True, slots=True)
class VariantResponse:
    """A named start position with its rule options."""

    name: str
    position: str
    options: Mapping[str, str | int | bool] = documented("values that differ from the defaults of the family")
    note: str = documented("remark for people, may be empty")


@dataclass(frozen=True, slots=True)
class FamilyItem:
    """A family in a list."""

    family: str = documented("name in addresses and parameters, such as `loa`")
    title: str = documented("name for people, such as `Lines of Action`")
    summary: str = documented("the game in a few sentences")


@dataclass(frozen=True, slots=True)
class FamilyResponse(FamilyItem):
    """A family with its variants and rule options."""

    version: int = documented("raised only when the behaviour of the rules changes")
    sides: Sequence[str] = documented("names for people of the first and the second side")
    variants: list[VariantResponse] = documented("the first one is the default")
    options: list[OptionResponse]


@dataclass(frozen=True, slots=True)
class MoveResponse:
    """A legal move, in canonical notation (`move`) and in the family's usual one (`shown`).

    `ways` lists every sequence of cells that enters the move on a board. `effect` describes side effects, such as
    captures.
    """

    move: str
    shown: str
    ways: Sequence[Sequence[str]] = documented("cells in the order in which to pick them; an empty list enters a pass")
    effect: str = documented("in words; empty: none")


@dataclass(frozen=True, slots=True)
class OutcomeResponse:
    """The end of a game: of a position by the rules alone, of a game that was played for any reason."""

    winner: Winner
    termination: str


@dataclass(frozen=True, slots=True)
class MovesResponse:
    """The legal moves of the side to move in a position."""

    position: str = documented("the position after the requested moves")
    side: Side = documented("the side to move")
    moves: list[MoveResponse] = documented("sorted by `move`")
    outcome: OutcomeResponse | None = documented("null: the game is not over")
