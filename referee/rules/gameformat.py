"""Whole games as texts contain them, and the notations in which they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.rules.variant import Value

if TYPE_CHECKING:
    from referee.rules.rules import Ruleset


@dataclass(frozen=True, slots=True)
class GameText:
    """One game as an archive stores it: canonical `moves` from `position` (None = the variant's start).

    `marks` (`!`, `?!`) and `comments` are annotations by ply, counted from 1; comment 0 precedes the first move.
    `variations` are in the order of their plies. `unread` variations of the text could not be read and became comments.
    """

    moves: tuple[str, ...]
    variant: str = ""
    options: Mapping[str, Value] = field(default_factory=dict)
    position: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    result: str = "*"
    marks: Mapping[int, str] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)
    variations: tuple[Variation, ...] = ()
    unread: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Variation:
    """Canonical `moves` that could have been played from ply `ply` on, instead of those of the game or outer variation.

    `marks` and `comments` are by ply of the whole game, as in `GameText`. `variations` replace some of these `moves`.
    """

    ply: int
    moves: tuple[str, ...]
    marks: Mapping[int, str] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)
    variations: tuple[Variation, ...] = ()


@dataclass(frozen=True, slots=True)
class GameFormat:
    """A notation of whole games: `read` returns the games of a text (raises ParseError), `write` returns one game's
    text.

    `starts` yields the indexes of a text at which a line and a game begin; without it, paragraphs are games.
    """

    name: str
    read: Callable[[str, Ruleset], Sequence[GameText]]
    write: Callable[[GameText, Ruleset], str]
    note: str = ""
    starts: Callable[[str, Ruleset], Iterable[int]] | None = None
