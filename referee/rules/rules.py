"""The record types that describe a family of games as data and functions.

A family is one folder under `referee/rules/` whose `__init__` exports `RULES`, a `Rules`. Command line, invariants,
playthroughs, sample bots and viewer work with any such record.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from referee.rules.core import SIDES, Side, Termination, UnknownNameError, value_text
from referee.rules.names import fold

if TYPE_CHECKING:
    from referee.rules.kernel_protocol import Kernel

_MAX_SETTLED = 1000
"""Largest number of rulesets cached per family."""

State: TypeAlias = npt.NDArray[Any]
"""One position as a 1-D array whose length and dtype the family chooses. Its first `KEY_SIZE` elements are what
repetition compares: board, side to move, rights. The counters (plies, quiet plies, move number) follow.
"""

States: TypeAlias = npt.NDArray[Any]
"""Several positions as a 2-D array, one state per row."""

Config: TypeAlias = npt.NDArray[np.int64]
"""The rule options of a game as int64: the values of `Rules.options` in order, then the variant's `params`. A combo is
stored as its index into `values`, a check as 0 or 1, a spin as its number.
"""

Value: TypeAlias = str | int | bool
Changes: TypeAlias = Literal["moves", "result", "limits", "display"]


@dataclass(frozen=True, slots=True)
class Option:
    """One rule option: its name, type, permitted values, default and effect.

    `combo` takes one of `values`, `spin` an integer of `minimum..maximum` not in `excluded`, `check` true or false.
    Bots must support an option whose `changes` is `moves` or `result`; they need not support `limits` or `display`.
    """

    name: str
    type: Literal["combo", "spin", "check"]
    default: Value
    changes: Changes
    meaning: str
    values: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 1_000_000
    excluded: tuple[int, ...] = ()

    def read(self, value: Value) -> Value:
        """Convert `value` (from JSON or text) to the option's own type. Raise UnknownNameError with legal values."""
        text = value_text(value).strip()
        if self.type == "check":
            is_on = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
            if is_on is not None:
                return is_on
        elif self.type == "spin":
            if text.isascii() and text.isdecimal() and len(text) <= 9:
                number = int(text)
                if self.minimum <= number <= self.maximum and number not in self.excluded:
                    return number
        elif text in self.values:
            return text
        raise UnknownNameError(f"value of option {self.name}", text, self.names())

    def names(self) -> tuple[str, ...]:
        """Return the legal values as text."""
        if self.type == "check":
            return ("true", "false")
        if self.type == "spin":
            gap = " except " + ", ".join(map(str, self.excluded)) if self.excluded else ""
            return (f"{self.minimum}..{self.maximum}{gap}",)
        return self.values

    def encode(self, value: Value) -> int:
        """Return the number that stands for the value in a `Config`."""
        return self.values.index(str(value)) if self.type == "combo" else int(value)


@dataclass(frozen=True, slots=True)
class Variant:
    """A named start plus rule options: `options` holds the values that differ from the family's defaults.

    `params` are the family's own constants that no option expresses (board size, a hole). In a `Config` they follow the
    options. All variants of a family have the same number of them.
    """

    name: str
    position: str
    options: Mapping[str, Value] = field(default_factory=dict)
    params: tuple[int, ...] = ()
    note: str = ""
    is_dealt: bool = False
    """Whether the name stands for a random start, of which `position` is a sample. A game sends its bots the position,
    and every pair of games gets another one (see `Rules.draw`).
    """


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
class Phase:
    """A phase before the main game. If a bot does not support it, the referee passes in its place.

    During the phase a pass (`Notation.pass_move`) is always legal. A phase that has ended never returns.
    """

    name: str
    """The name shown to people: `swap phase`."""
    rule: str
    """The rule option, a check, that enables the phase."""
    announced_by: str
    """The protocol option by which a bot announces support and learns whether the phase takes place."""
    holds: Callable[[State, Config], bool]
    """Return whether a position is in the phase."""
    begin: Callable[[str], str]
    """Return a start's position string with the phase still to be played."""


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


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a board, `x` to the right and `y` upwards in cell widths; `kind` names a special cell."""

    name: str
    x: float
    y: float
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Piece:
    """The appearance of a piece symbol: name, owner (None = neutral) and a glyph for text output.

    `note` says how the piece moves and captures, in families whose pieces differ in that.
    """

    symbol: str
    name: str
    side: Side | None
    glyph: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A label that a layout puts on cells (`Board.marks`), with its meaning and its shape in drawings.

    Use the form `none` and an empty meaning for what is visible anyway; `is_linked` draws a line between neighbouring
    cells of one owner. Pages show an `is_optional` mark only on request.
    """

    name: str
    meaning: str
    form: Literal["ring", "dot", "spot", "cross", "flag", "frost", "none"] = "ring"
    is_linked: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """One position prepared for drawing.

    - `pieces` maps a cell's name to its symbols, bottom first (a stack has two).
    - `marks` maps a cell's name to labels such as `frozen`.
    - `notes` are short facts about the whole position (`score 3-6`, `raichi`).
    """

    shape: Literal["square", "hex"]
    cells: tuple[Cell, ...]
    pieces: Mapping[str, str]
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
class Effect:
    """The visible effect of a move. `description` is text shown in addition to `Rules.explain`.

    - `line` are the cells of a row that moves as one, from its rear to the cell that it enters.
    - `ejected` is the symbol pushed off the board at the end of that row.
    - `between` are pairs of cells whose pieces captured a piece between them, or on a corner of their rectangle.
    """

    description: str = ""
    line: tuple[str, ...] = ()
    ejected: str = ""
    between: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """Further names, in French or of other communities, in addition to those in `Rules`.

    `variants` are keyed by variant name, `terms` (pieces, marks, kinds of moves) by the English word. Every input of a
    family, variant or side accepts these names too; case, accents and hyphens do not matter.
    """

    family: tuple[str, ...] = ()
    sides: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By language code, the translation of each English word and sentence that the family shows to people. In a
    sentence, `{}` stands for a value.
    """


@dataclass(frozen=True, slots=True)
class Image:
    """One map of a board onto itself: cell `i` goes to cell `cells[i]`, symbol `s` becomes `symbols[s]`."""

    cells: tuple[int, ...]
    symbols: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The symbols on the cells of a family's positions, and the images of the board under which they count as equal.

    Every image keeps the side to move and all rules: a move of a position has its image among the moves of the image.
    """

    contents: Callable[[States, Config], npt.NDArray[np.uint8]]
    """Return the symbol on each cell, shape (states, cells)."""
    rest: Callable[[States, Config], npt.NDArray[np.int64]]
    """Return one number per state for all other differences (side to move, phase, board); images keep it."""
    images: Callable[[Config], tuple[Image, ...]]
    """Return all images of the board of a config, the identity included. Equal boards get the same object."""


@dataclass(frozen=True, slots=True)
class FeatureImage:
    """A transformation of the features under which a position keeps its value for the side to move.

    With `changes_sides` the two sides are exchanged, the side to move too.
    """

    planes: tuple[int, ...]
    """For each plane, the plane that replaces it."""
    cells: tuple[int, ...] = ()
    """For each cell, the cell that replaces it. If empty, all cells stay."""
    counts: tuple[int, ...] = ()
    """For each count, the count that replaces it. If empty, all counts stay."""
    changes_sides: bool = False


@dataclass(frozen=True, slots=True)
class Features:
    """The inputs of a learned evaluation: which elements of a state are sets of cells, and where the side to move is
    stored.
    """

    cells: int
    """The number of cells of the board. A plane has one bit per cell: whether a certain piece is there."""
    boards: tuple[tuple[int, int, tuple[int, ...]], ...]
    """(element of the state, plane, the cell of each of its bits)."""
    places: tuple[tuple[int, int, int], ...] = ()
    """(element, plane, n): the element holds a cell plus n; a value below n means that there is no such cell."""
    counts: tuple[tuple[int, int], ...] = ()
    """(element, maximum): a number that is an input by itself, up to the maximum."""
    mover: tuple[int, int] = (0, 1)
    """(element, bit): the bit, as a number, is set when the second side is to move."""
    seen_from: int = -1
    """An element that holds a cell relative to which all boards are encoded a second time, or -1. If it is used, every
    bit of the boards must have a cell.
    """
    directions: tuple[tuple[int, ...], ...] = ()
    """[that cell][cell]: the number of the relative direction and distance from one to the other."""
    fits: Callable[[Config], bool] = lambda config: True
    """Return whether the states of these rules have this layout."""
    images: tuple[FeatureImage, ...] = ()
    """Symmetries of pieces and sides that the board maps in `Symmetry` lack. Compositions of these with one another and
    with the board maps are included implicitly.
    """


def _no_variant(name: str, options: Mapping[str, Value]) -> Variant | None:
    return None


@dataclass(frozen=True)
class Rules:
    """A family of games. `version` is raised only when behaviour changes.

    - `sides` are the display names of the first and the second side.
    - `variants[0]` is the default variant.
    - `reasons` gives the meaning of the reason numbers of `Kernel.result`.
    - `resolve` finds variants that no list can hold: numbered setups, starts that depend on an option. It runs before
      `variants` is searched.
    - `draw` returns a random start for a variant name that stands for many starts.
    - `phase` is a phase before the main game.
    - `keeps_moves` are the terminations after which a position still lists its moves.
    """

    family: str
    title: str
    version: int
    sides: tuple[str, str]
    options: tuple[Option, ...]
    variants: tuple[Variant, ...]
    notation: Notation
    pieces: tuple[Piece, ...]
    board: Callable[[State, Config], Board]
    side: Callable[[State, Config], int]
    """Return 0 when the first side is to move, else 1."""
    kernel_module: str
    reasons: tuple[Termination, ...]
    resolve: Callable[[str, Mapping[str, Value]], Variant | None] = _no_variant
    draw: Callable[[str, random.Random], Variant] | None = None
    formats: tuple[GameFormat, ...] = ()
    announce: Callable[[State, Config], str | None] | None = None
    keeps_moves: frozenset[Termination] = frozenset()
    limits: frozenset[Termination] = frozenset()
    """The family's own terminations that depend on a count alone, whatever is on the board."""
    rare_positions: tuple[str, ...] = ()
    """Position strings that the search for unused options and terminations hardly reaches by random moves."""
    phase: Phase | None = None
    symmetry: Symmetry | None = None
    """The symmetries under which positions count as the same. None: the family has no symmetry."""
    effect: Callable[[int, State, State, Config], Effect] | None = None
    """Return the visible effect of a move, given its code and the states before and after."""
    marks: tuple[Mark, ...] = ()
    """All labels that `board` may put on cells."""
    emblem: str = ""
    """The icon of the family: the path of an SVG 24 units wide, filled by the rule `evenodd`."""
    draw_probability: float = 0.10
    """The prior probability of a draw between equals. It decides how much a draw changes ratings."""
    game_moves: int = 40
    """The usual number of moves of one side in a game between strong bots. It decides how bots that know no clocks
    spread their time.
    """
    level_strengths: tuple[int, ...] = (0, 8, 16, 24, 32, 40, 48, 56)
    """The champion's `Strength` at levels 1 to 8, each of which beats the one below about two to one: measured values
    (`docs/reports/2026-11-30-levels.md`). After a change raise the champion's revision in `arena/store/bots/bots.py`.
    The default is for families that were not measured.
    """
    summary: str = ""
    move_input: Callable[[int, State], tuple[tuple[str, ...], ...]] | None = None
    """Return the cell sequences that enter a legal move; None: the cells that its canonical text names, in order."""
    explain: Callable[[int, State, Config], str] | None = None
    """Return text on the side effects of a move (`leaps over the pincer on d5`), or an empty string."""
    refuse: Callable[[int, State, Config], str] | None = None
    """Return why a move of an own piece is not legal, for players (`this row cannot be pushed: 2 against 2`); empty if
    that is not known.
    """
    features: Features | None = None
    """The inputs of a learned evaluation; None: the family's champion uses its kernel's static score alone."""
    take_back: Callable[[str, Mapping[str, str]], Mapping[str, str]] | None = None
    """Return the pieces by cell before a move that took nothing away, given its canonical text and the pieces after it.
    None: the piece on the last cell that the text names goes back to the first.
    """
    opener: str = ""
    """The combo option that decides which of `sides` moves first; empty where the first one always does. Its values
    have the order of `sides`.
    """
    setups: Setups | None = None
    """Numbered setups, in families that have them."""
    position_setup: PositionSetup | None = None
    """How people set up positions by hand; None: by position strings only."""
    words: Words = field(default_factory=Words)
    """Names in other languages and communities."""

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled functions. Importing them takes about a second, so it happens on first use."""
        return cast("Kernel", importlib.import_module(self.kernel_module))

    def option(self, name: str) -> Option:
        """Return the option of that name. Raise UnknownNameError."""
        for option in self.options:
            if option.name == name:
                return option
        raise UnknownNameError(f"option of {self.family}", name, tuple(option.name for option in self.options))

    @cached_property
    def folded_sides(self) -> frozenset[str]:
        """All names of the sides, in all languages, as `fold` writes them."""
        return frozenset(fold(name) for names in (self.sides, *self.words.sides) for name in names)

    @cached_property
    def _variant_names(self) -> Mapping[str, str]:
        """Map of every name of a variant, as `fold` writes it, to the variant's own name."""
        found: dict[str, str] = {}
        for variant in self.variants:
            for name in (variant.name, *self.words.variants.get(variant.name, ())):
                found.setdefault(fold(name), variant.name)
        return found

    def variant_named(self, name: str) -> str:
        """Return the variant that a text names in any language and spelling, with its number (`#17`); "" if there is
        none.
        """
        base, sign, numbers = name.strip().partition("#")
        known = self._variant_names.get(fold(base), "")
        if not known or not sign:
            return known
        try:
            return self.variant(known + sign + numbers).name
        except ValueError:
            return ""

    def variant(self, name: str, options: Mapping[str, Value] | None = None) -> Variant:
        """Return the variant of that name, in any language and spelling of `words`, with an optional number (`#17`).

        Raise UnknownNameError, or ParseError for a malformed numbered name.
        """
        base, sign, numbers = name.partition("#")
        for spelling in (name, self._variant_names.get(fold(base), base) + sign + numbers):
            resolved = self.resolve(spelling, options or {})
            if resolved is not None:
                return resolved
            for variant in self.variants:
                if variant.name == spelling:
                    return variant
        known = tuple(variant.name for variant in self.variants)
        raise UnknownNameError(f"variant of {self.family}", name, known, self.words.variants)

    def __reduce__(self) -> tuple[Callable[[str], Rules], tuple[str]]:
        """Return the name of the family for pickling: its functions cannot be sent to another process."""
        from referee.rules import load

        return load, (self.family,)

    def settle(self, variant: str | None = None, options: Mapping[str, Value] | None = None) -> Ruleset:
        """Return the exact rules of a game: a variant's preset overridden by options.

        Raise UnknownNameError for any unknown name or value, ParseError for a malformed numbered variant.
        """
        key = repr((variant, options or {}))
        ruleset = self._settled.get(key)
        if ruleset is None:
            ruleset = self._settle(variant, options)
            if len(self._settled) >= _MAX_SETTLED:
                self._settled.clear()
            self._settled[key] = ruleset
        return ruleset

    @cached_property
    def _settled(self) -> dict[str, Ruleset]:
        """Cache of rulesets by variant and options: many games share few of them."""
        return {}

    def _settle(self, variant: str | None, options: Mapping[str, Value] | None) -> Ruleset:
        given = {name: self.option(name).read(value) for name, value in (options or {}).items()}
        chosen = self.variant(variant or self.variants[0].name, given)
        preset = {name: self.option(name).read(value) for name, value in chosen.options.items()}
        values = {option.name: option.default for option in self.options} | preset | given
        if self.phase and values[self.phase.rule]:
            # Do not add the phase's option to those of the variant: a record stores only options that differ from
            # the variant's, and it must store this one.
            chosen = replace(chosen, position=self.phase.begin(chosen.position))
        return Ruleset(self, chosen, values)


@dataclass(frozen=True)
class Ruleset:
    """The rules of one game: a variant with a value for every option in `values`."""

    rules: Rules
    variant: Variant
    values: Mapping[str, Value]

    @cached_property
    def config(self) -> Config:
        """The options and the variant's parameters as the kernel takes them."""
        numbers = [option.encode(self.values[option.name]) for option in self.rules.options]
        config = np.array([*numbers, *self.variant.params], dtype=np.int64)
        config.setflags(write=False)
        return config

    @property
    def phase(self) -> Phase | None:
        """The phase before the main game; None if this game has none."""
        phase = self.rules.phase
        return phase if phase and self.values[phase.rule] else None

    @property
    def sides(self) -> tuple[str, str]:
        """The display names of the first and the second side in this game."""
        first, second = self.rules.sides
        return (second, first) if self._is_turned else (first, second)

    @property
    def side_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """All names of the first and the second side in this game, in all languages."""
        first, second = ((name, *more) for name, more in zip(self.rules.sides, self.rules.words.sides, strict=True))
        return (second, first) if self._is_turned else (first, second)

    def side_named(self, name: str) -> int | None:
        """Return 0 for any name of the first side, 1 for any name of the second, None for another word."""
        for index, (side, names) in enumerate(zip(SIDES, self.side_names, strict=True)):
            if fold(name) in {fold(one) for one in (side, *names)}:
                return index
        return None

    def owner(self, symbol: str) -> Side | None:
        """Return the side that a piece belongs to; None for a neutral one."""
        side = next(piece.side for piece in self.rules.pieces if piece.symbol == symbol)
        return SIDES[1 - SIDES.index(side)] if side and self._is_turned else side

    @property
    def _is_turned(self) -> bool:
        opener = self.rules.opener
        return bool(opener) and self.values[opener] != self.rules.option(opener).values[0]

    @property
    def overrides(self) -> dict[str, Value]:
        """The options that differ from the variant's own, in declared order; records store these."""
        return dict(self._overrides)

    @cached_property
    def _overrides(self) -> dict[str, Value]:
        preset = {option.name: option.default for option in self.rules.options}
        preset |= {name: self.rules.option(name).read(value) for name, value in self.variant.options.items()}
        return {name: value for name, value in self.values.items() if preset[name] != value}

    def changed(self, kinds: Iterable[Changes] = ("moves", "result")) -> dict[str, Value]:
        """Return the options of these kinds that differ from the family's defaults: they tell rating pools apart."""
        wanted = frozenset(kinds)
        return {
            option.name: self.values[option.name]
            for option in self.rules.options
            if option.changes in wanted and self.values[option.name] != option.default
        }

    def read(self, position: str | None = None) -> State:
        """Return the state of a position string, or of the variant's start. Raise ParseError."""
        if position is None or position == self.start:
            return self._start.copy()
        return self.rules.notation.read_position(position, self.config)

    @cached_property
    def _start(self) -> State:
        return self.rules.notation.read_position(self.variant.position, self.config)

    @cached_property
    def start(self) -> str:
        """The canonical position string of the variant's start."""
        return self.write(self._start)

    def write(self, state: State) -> str:
        """Return the canonical position string of a state."""
        return self.rules.notation.write_position(state, self.config)
