"""The text formats of a family's positions, moves and whole games, its own and those of chess engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.rules.kernel_protocol import Config, State
from referee.rules.variant import Value

if TYPE_CHECKING:
    from referee.rules.rules import Ruleset


@dataclass(frozen=True, slots=True)
class Notation:
    """The text formats of a family. Every reader raises `ParseError` and no other error, whatever the text."""

    read_position: Callable[[str, Config], State]
    """Parse a position string and check it fully. The count of plies played is 0 unless the string contains it."""
    write_position: Callable[[State, Config], str]
    """Return the canonical position string."""
    read_move: Callable[[str, State, Config], int]
    """Return the code of a move in any accepted spelling. Legality is not checked; some spellings need the board."""
    write_move: Callable[[int], str]
    """Return the canonical text of a code, which never depends on the position."""
    display_move: Callable[[int, State, Config], str]
    """Return the move as people write it, in the position before it."""
    pass_move: int = -1
    """The code of a pass; -1 in a family without passes."""
    read_setup: Callable[[str], str] | None = None
    """Convert a setup in the family's own notation to a position string; None in a family without such a notation."""
    chess: tuple[ChessDialect, ...] = ()
    """The names and letters of chess engines that play a variant of the family; the preferred ones first."""


@dataclass(frozen=True, slots=True)
class ChessDialect:
    """The name and the letters that engines with a chess protocol (UCI, XBoard) have for a variant of the family.

    Moves are the same texts as here: source and target cell.
    """

    name: str
    """Their name of the variant; empty for engines that play nothing else and have no name for it."""
    variant: str
    """The variant of the family."""
    pieces: Mapping[str, str]
    """Their letter for each piece letter of a position string."""
    sides: Mapping[str, str]
    """Their colour, `w` or `b`, for each side letter of a position string."""
    rules: Mapping[str, Value] = field(default_factory=dict)
    """The rule options by which they play, where these differ from the variant's."""
    has_lowest_rank_first: bool = False
    """True if the position string lists rank 1 first; theirs never does."""
    is_exact: bool = True
    """False if they capture by slightly other rules. Then they are sent every position, instead of the moves."""

    def colour(self, position: str) -> str:
        """Return their colour of the side to move in a canonical position string."""
        return self.sides[position.split(" ")[1]]

    def fen(self, position: str) -> str:
        """Return a canonical position string as these engines write it."""
        ranks = position.split(" ", maxsplit=1)[0].split("/")
        if self.has_lowest_rank_first:
            ranks.reverse()
        text = "/".join("".join(self.pieces.get(letter, letter) for letter in rank) for rank in ranks)
        return f"{text} {self.colour(position)} - - 0 1"


@dataclass(frozen=True, slots=True)
class Setups:
    """Numbered setups of a family: how to write them and how to find their numbers."""

    write: Callable[[State], str]
    """Return a position's pieces in the family's setup notation."""
    numbers: Callable[[str], Mapping[str, Sequence[int | str]]]
    """Return the numbers of a position string in each numbered group of setups: N, or `N/M` where the sides differ.
    Another position gets an empty mapping.
    """
    permutations: Callable[[str], tuple[str, ...]]
    """Return position strings that differ only in the names of the pieces, the position itself first."""


@dataclass(frozen=True, slots=True)
class PositionSetup:
    """The position format for pieces that a person puts on a board: rows of cells, runs of empty ones as numbers.

    `tails` are the fields after the board in the string of a start: with the first side to move, and with the second.
    """

    tails: tuple[str, str]
    is_from_top: bool = True
    """Whether the uppermost row is written first."""
    max_pieces: int = 1
    """Largest number of pieces on one cell."""
    width: int = 1
    """Number of characters of an occupied cell, padded with `-`."""


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
