"""What a family of games is to the rest of the program: a frozen record of data and functions.

A family is one folder under `referee/rules/` whose `__init__` exports `RULES`, a `Rules`. Everything generic (command
line, laws, playthroughs, sample bots, viewer) follows from it. Refuses to know any family, any process and any file.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from referee.rules.core import SIDES, Side, Termination, UnknownNameError
from referee.rules.names import fold
from referee.rules.symmetry import Symmetry

_MOST_SETTLED = 1000
"""Rulesets of a family that are remembered."""

State: TypeAlias = npt.NDArray[Any]
"""One position as a 1-D array of fixed length and dtype, both the family's choice. Its first `KEY_SIZE` elements are
what repetition compares (board, side to move, rights); the counters (plies, quiet plies, move number) follow."""

Config: TypeAlias = npt.NDArray[np.int64]
"""The rule options of a game as int64: the values of `Rules.options` in order (combo: index into `values`, check: 0/1,
spin: the number), then the variant's `params`."""

Value: TypeAlias = str | int | bool
Changes: TypeAlias = Literal["moves", "result", "limits", "display"]


class Kernel(Protocol):
    """The compiled functions of a family: a module `referee/rules/<family>/kernel.py` with exactly these names.

    Every function is decorated with `referee.rules.jit.jit`. No function allocates a growing structure or keeps state.
    """

    STATE_SIZE: int
    KEY_SIZE: int
    DTYPE: type[np.generic]
    MAX_MOVES: int

    def legal(self, state: State, config: Config, moves: npt.NDArray[np.int64]) -> int:
        """Write the legal moves as ascending codes into `moves` (length MAX_MOVES); return their number.

        0 when the board itself (and the side to move) decides the game; history and limits are not asked.
        Raises OverflowError rather than write past the buffer.
        """

    def count(self, state: State, config: Config) -> int:
        """The number `legal` would return, counted in bulk without listing where that is faster."""

    def play(self, state: State, config: Config, move: int, out: State) -> None:
        """Write the position after `move` (trusted to be legal) to `out`, which must not be `state`."""

    def result(self, state: State, config: Config, occurrences: int, gap: int) -> int:
        """How the game stands: 0 = goes on, else `reason * 4 + winner`.

        winner: 1 first, 2 second, 3 draw; reason: index into `Rules.reasons`. `occurrences` counts this position's
        occurrences in the game, this one included; `gap` is the number of plies since the previous one (0 = none).
        All tests, limits and repetition included, are made in the order of the family's rules.
        """

    def playout(self, state: State, config: Config, rng: npt.NDArray[np.uint64], max_plies: int) -> tuple[int, int]:
        """Uniformly random moves to the end of the game or `max_plies`: (result code or 0, plies played).

        Repetition is not looked at. `rng` is a uint64 array of one element, advanced in place.
        """

    def evaluate(self, state: State, config: Config) -> int:
        """A static score for the side to move, roughly in hundredths of a piece, |score| < 20,000.

        10,000 and more, where the game goes on, only when the side to move wins with this move.
        """


class Tactics(Protocol):
    """What a kernel may bring besides, all of it or nothing, for searches that look at what can be taken at once.

    They go by prices in hundredths of a piece, which are learned.
    """

    PIECE_VALUES: npt.NDArray[np.int64]
    """The prices where nothing was learned."""
    VALUE_GROUPS: npt.NDArray[np.int64]
    """For every price the number of a group: prices of a group are learned as one multiple of those."""

    def captures(
        self,
        state: State,
        config: Config,
        prices: npt.NDArray[np.int64],
        moves: npt.NDArray[np.int64],
        gains: npt.NDArray[np.int64],
    ) -> int:
        """Write the legal moves that take something into `moves`, at these prices what into `gains`.

        Returns their number. Both have the length MAX_MOVES.
        """

    def quiet_eval(self, state: State, config: Config, prices: npt.NDArray[np.int64]) -> int:
        """A static score for the side to move without what can be taken: the search looks at that itself.

        The sum of the prices, each times how often what it is for is there.
        """

    def in_check(self, state: State, config: Config) -> bool:
        """Whether the side to move must do something: it may neither pass nor be judged by `quiet_eval`."""


class LinearFeatures(Protocol):
    """What a kernel may bring besides, all of it or nothing, for a learned score: the sum of what its traits are worth.

    Asked only of rules that `Features.fits`.
    """

    LINEAR_FEATURE_COUNT: int
    """How many there are."""
    MAX_LINEAR_FEATURES: int
    """How many a position has, at most."""
    TIED_FEATURES: npt.NDArray[np.int64]
    """For every trait one that is worth the same: the least of those that stand for it in images of the board."""
    PRIOR_WEIGHTS: npt.NDArray[np.float64]
    """What every trait is worth where nothing was learned, in hundredths of a piece."""

    def linear_features(self, state: State, config: Config, found: npt.NDArray[np.int64]) -> int:
        """Write the numbers of the traits of a position to `found`, as the side to move sees it; return how many.

        -1 says that the side to move wins with this move. The game goes on in the position.
        """


@dataclass(frozen=True, slots=True)
class Option:
    """One rule option: its name, what it may be, its default and what it changes.

    `combo` takes one of `values`, `spin` an integer of `minimum..maximum` not in `excluded`, `check` true or false.
    `changes` says whether bots must know the option: `moves` and `result` yes; `limits` and `display` no.
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
        """`value` (as JSON or text) as this option's own type. Raises UnknownNameError naming the legal values."""
        text = str(value).strip().lower() if not isinstance(value, str) else value.strip()
        if self.type == "check":
            found = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
            if found is not None:
                return found
        elif self.type == "spin":
            if text.isascii() and text.isdecimal() and len(text) <= 9:
                number = int(text)
                if self.minimum <= number <= self.maximum and number not in self.excluded:
                    return number
        elif text in self.values:
            return text
        raise UnknownNameError(f"value of option {self.name}", text, self.names())

    def names(self) -> tuple[str, ...]:
        """The legal values in words."""
        if self.type == "check":
            return ("true", "false")
        if self.type == "spin":
            gap = " except " + ", ".join(map(str, self.excluded)) if self.excluded else ""
            return (f"{self.minimum}..{self.maximum}{gap}",)
        return self.values

    def encode(self, value: Value) -> int:
        """The value's number in a `Config`."""
        return self.values.index(str(value)) if self.type == "combo" else int(value)


@dataclass(frozen=True, slots=True)
class Variant:
    """A named start plus rule options: `options` holds what differs from the family's defaults.

    `params` are the family's own constants of a variant that no option expresses (board size, a hole); they stand
    behind the options in `Config`. All variants of a family have the same number of them.
    """

    name: str
    position: str
    options: Mapping[str, Value] = field(default_factory=dict)
    params: tuple[int, ...] = ()
    note: str = ""
    is_dealt: bool = False
    """The name stands for a deal at random, of which `position` is a sample: a game shows its bots the position, and
    every pair of games gets a deal of its own (see `Rules.draw`)."""


@dataclass(frozen=True, slots=True)
class Notation:
    """The texts of a family. Every reader raises `ParseError` and nothing else, whatever the text."""

    read_position: Callable[[str, Config], State]
    """A position string, checked to the last rule; plies played in the game are 0 unless the rules say otherwise."""
    write_position: Callable[[State, Config], str]
    """The canonical position string."""
    read_move: Callable[[str, State, Config], int]
    """Any accepted spelling of a move as its code. Legality is not asked; spellings that need the board may use it."""
    write_move: Callable[[int], str]
    """The canonical text of a code, which never depends on the position."""
    display_move: Callable[[int, State, Config], str]
    """The move as people write it, in the position before it."""
    pass_move: int = -1
    """The code of a pass, -1 where the family knows none."""
    read_setup: Callable[[str], str] | None = None
    """A set-up in the family's own positional notation as a position string; None where there is no such thing."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase before play proper that a bot need not know: for one that does not, the referee passes.

    While it lasts a pass (`Notation.pass_move`) is always among the legal moves; once over it never comes again.
    """

    name: str
    """As people say it: `swap phase`."""
    rule: str
    """The rule option, a check, that says whether a game has it."""
    announced_by: str
    """The option of the protocol by which a bot says that it takes part, and is told whether it will."""
    holds: Callable[[State, Config], bool]
    """Whether a position is in the phase."""
    begin: Callable[[str], str]
    """A start's position string with the phase still to come."""


@dataclass(frozen=True, slots=True)
class GameText:
    """One game as an archive has it: canonical `moves` from `position` (None = the variant's start).

    `marks` (`!`, `?!`) and `comments` are what annotators added, by ply from 1; comment 0 stands before the first move.
    """

    moves: tuple[str, ...]
    variant: str = ""
    options: Mapping[str, Value] = field(default_factory=dict)
    position: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    result: str = "*"
    marks: Mapping[int, str] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GameFormat:
    """A notation of whole games: `read` gives the games of a text (raises ParseError), `write` one game's text."""

    name: str
    read: Callable[[str, Ruleset], Sequence[GameText]]
    write: Callable[[GameText, Ruleset], str]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a board, `x` to the right and `y` upwards in cell widths; `kind` names a special cell."""

    name: str
    x: float
    y: float
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Piece:
    """How a piece symbol looks: its name, its owner (None = neutral) and a glyph for places that draw text.

    `note` says how it moves and takes, where kinds of pieces differ in that.
    """

    symbol: str
    name: str
    side: Side | None
    glyph: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word that a layout says of cells (`Board.marks`): what it means, and how drawings show it.

    `none` and no meaning are for what shows by itself; `is_linked` joins neighbouring cells of one owner by a line.
    """

    name: str
    meaning: str
    form: Literal["ring", "dot", "spot", "cross", "flag", "frost", "none"] = "ring"
    is_linked: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """One position as something to look at.

    `pieces` maps a cell's name to its symbols, bottom first (a stack has two); `marks` maps a cell's name to words
    such as `frozen`; `notes` are short facts about the whole position (`score 3-6`, `raichi`).
    """

    shape: Literal["square", "hex"]
    cells: tuple[Cell, ...]
    pieces: Mapping[str, str]
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Placing:
    """How position texts are written of pieces that somebody puts on a board: rows of cells, empty ones as numbers.

    `tails` are what stands behind the board where first and second are to move and nothing was played.
    """

    tails: tuple[str, str]
    is_from_top: bool = True
    """Whether the uppermost row is written first."""
    most: int = 1
    """So many pieces stand on a cell at most."""
    width: int = 1
    """The letters of a cell that is not empty, filled up with `-`."""


@dataclass(frozen=True, slots=True)
class Setups:
    """Set-ups that have numbers: what is known of a position string that is one, and how people write it."""

    write: Callable[[State], str]
    """A position's pieces in the family's positional notation."""
    numbers: Callable[[str], Mapping[str, Sequence[int | str]]]
    """Its numbers in each numbered family of set-ups: N, or `N/M` where the sides differ; none for another position."""
    permutations: Callable[[str], tuple[str, ...]]
    """Position strings that differ by the names of the pieces alone, the position itself first."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a move does, for those who look at the board. `said` are words beside those of `Rules.explain`.

    `line` are the cells of a row that moves as one, in its direction; `ejected` is the symbol of what went over the
    edge behind its end; `between` are pairs of cells that took what lies between them, or on their corners.
    """

    said: str = ""
    line: tuple[str, ...] = ()
    ejected: str = ""
    between: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """What people call things besides the names that the rules have for them: in French, or by another custom.

    `variants` by their name, `terms` (pieces, marks, kinds of moves) by the English word. They are names as well:
    whatever takes the name of a family, a variant or a side takes these, without regard to case, accents and hyphens.
    """

    family: tuple[str, ...] = ()
    sides: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FeatureImage:
    """Another way to look at a position, worth the same to who is to move: where what it shows comes from.

    With `changes_sides` each side takes the place of the other, on move too.
    """

    planes: tuple[int, ...]
    """Of each plane: which one takes its place."""
    cells: tuple[int, ...] = ()
    """Of each cell likewise; none given: all stay where they are."""
    counts: tuple[int, ...] = ()
    """Of each number likewise."""
    changes_sides: bool = False


@dataclass(frozen=True, slots=True)
class Features:
    """What of a state a learned evaluation looks at: which elements are sets of cells, and who is to move."""

    cells: int
    """How many cells the board has. A plane says of each whether something stands on it."""
    boards: tuple[tuple[int, int, tuple[int, ...]], ...]
    """(element of the state, plane, the cell of each of its bits)."""
    places: tuple[tuple[int, int, int], ...] = ()
    """(element, plane, n): the element holds a cell plus n, or less than n for no cell."""
    counts: tuple[tuple[int, int], ...] = ()
    """(element, most): a number that matters by itself, up to `most`."""
    mover: tuple[int, int] = (0, 1)
    """(element, bit): the bit, as a number, is set when the second of the two to move is."""
    seen_from: int = -1
    """An element that holds a cell from which everything on the boards is seen once more, or -1. Every bit of these has
    a cell then."""
    directions: tuple[tuple[int, ...], ...] = ()
    """[that cell][cell]: the number of the way from one to the other."""
    fits: Callable[[Config], bool] = lambda config: True
    """Whether the states of these rules are laid out so."""
    images: tuple[FeatureImage, ...] = ()
    """What the maps of the board in `Symmetry` leave out: changes of what the pieces are and whose. All that follow
    from these and from one another are understood."""


def _no_variant(name: str, options: Mapping[str, Value]) -> Variant | None:
    return None


@dataclass(frozen=True)
class Rules:
    """A family of games. `version` is raised only when behaviour changes.

    `sides` are the display names of first and second; `variants[0]` is the default variant; `reasons` gives the
    meaning of the reason numbers of `Kernel.result`; `resolve` finds variants that no list can hold (numbered set-ups,
    starts that depend on an option) and is asked before `variants`; `draw` deals a start at random for a variant name
    that stands for many; `phase` is what may come before play; `keeps_moves` are the terminations after which a
    position still lists its moves.
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
    """0 when the side named first is to move, else 1."""
    kernel_module: str
    reasons: tuple[Termination, ...]
    resolve: Callable[[str, Mapping[str, Value]], Variant | None] = _no_variant
    draw: Callable[[str, random.Random], Variant] | None = None
    formats: tuple[GameFormat, ...] = ()
    announce: Callable[[State, Config], str | None] | None = None
    keeps_moves: frozenset[Termination] = frozenset()
    limits: frozenset[Termination] = frozenset()
    """Terminations of the family's own that a count brings about, whatever stands on the board."""
    phase: Phase | None = None
    symmetry: Symmetry | None = None
    """Which positions are the same but for the way one looks at the board; None: none are."""
    effect: Callable[[int, State, State, Config], Effect] | None = None
    """What there is to see of a move, given its code and the states before and after."""
    marks: tuple[Mark, ...] = ()
    """The words that `board` may mark cells with."""
    emblem: str = ""
    """What stands for the family beside its name: the path of an SVG of 24 units, filled by the rule `evenodd`."""
    draw_probability: float = 0.10
    """The prior chance of a draw between equals: it sets how much a draw tells of them."""
    summary: str = ""
    clicks: Callable[[int, State], tuple[tuple[str, ...], ...]] | None = None
    """The ways to enter a legal move by picking cells; None: by those that its canonical text names, in order."""
    explain: Callable[[int, State, Config], str] | None = None
    """What a move does besides moving, in words (`leaps over the pincer on d5`); empty for nothing."""
    features: Features | None = None
    """What a learned evaluation looks at; None: the family's champion knows its kernel's static score alone."""
    opener: str = ""
    """The option that says which of `sides` moves first; empty where the first of them always does. Its values stand in
    the order of `sides`, and it must be a combo."""
    setups: Setups | None = None
    """Numbered set-ups, where the family has such."""
    placing: Placing | None = None
    """How positions are set up by hand; None: by their text alone."""
    words: Words = field(default_factory=Words)
    """The same in the languages of those who play it."""

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled functions; importing them costs about a second, so it happens on first use."""
        return cast(Kernel, importlib.import_module(self.kernel_module))

    def option(self, name: str) -> Option:
        """The option of that name. Raises UnknownNameError."""
        for option in self.options:
            if option.name == name:
                return option
        raise UnknownNameError(f"option of {self.family}", name, tuple(option.name for option in self.options))

    @cached_property
    def folded_sides(self) -> frozenset[str]:
        """Every name of a side, in all languages, folded."""
        return frozenset(fold(name) for names in (self.sides, *self.words.sides) for name in names)

    @cached_property
    def _variant_names(self) -> Mapping[str, str]:
        """Every name of a variant, folded, and the name that it has here."""
        found: dict[str, str] = {}
        for variant in self.variants:
            for name in (variant.name, *self.words.variants.get(variant.name, ())):
                found.setdefault(fold(name), variant.name)
        return found

    def variant_named(self, name: str) -> str:
        """The variant that a text names, in any language and spelling, numbers (`#17`) behind it; empty for none."""
        base, sign, numbers = name.strip().partition("#")
        known = self._variant_names.get(fold(base), "")
        if not known or not sign:
            return known
        try:
            return self.variant(known + sign + numbers).name
        except ValueError:
            return ""

    def variant(self, name: str, options: Mapping[str, Value] | None = None) -> Variant:
        """The variant of that name, in any language and spelling of `words`, numbers (`#17`) behind it.

        Raises UnknownNameError, or ParseError from a numbered name.
        """
        base, sign, numbers = name.partition("#")
        for spelling in (name, self._variant_names.get(fold(base), base) + sign + numbers):
            found = self.resolve(spelling, options or {})
            if found is not None:
                return found
            for variant in self.variants:
                if variant.name == spelling:
                    return variant
        known = tuple(variant.name for variant in self.variants)
        raise UnknownNameError(f"variant of {self.family}", name, known, self.words.variants)

    def settle(self, variant: str | None = None, options: Mapping[str, Value] | None = None) -> Ruleset:
        """The exact rules of a game: a variant with options on top of its preset.

        Raises UnknownNameError for any unknown name or value, ParseError for a malformed numbered variant.
        """
        key = repr((variant, options or {}))
        found = self._settled.get(key)
        if found is None:
            found = self._settle(variant, options)
            if len(self._settled) >= _MOST_SETTLED:
                self._settled.clear()
            self._settled[key] = found
        return found

    @cached_property
    def _settled(self) -> dict[str, Ruleset]:
        """Rulesets by what they were asked for with: those of a thousand games are few."""
        return {}

    def _settle(self, variant: str | None, options: Mapping[str, Value] | None) -> Ruleset:
        given = {name: self.option(name).read(value) for name, value in (options or {}).items()}
        found = self.variant(variant or self.variants[0].name, given)
        preset = {name: self.option(name).read(value) for name, value in found.options.items()}
        values = {option.name: option.default for option in self.options} | preset | given
        if self.phase and values[self.phase.rule]:
            # Not among the variant's own options: it would be no override then, and no record would store it.
            found = replace(found, position=self.phase.begin(found.position))
        return Ruleset(self, found, values)


@dataclass(frozen=True)
class Ruleset:
    """A variant with every option settled: what one game is played by. `values` has every option."""

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
        """The phase before play, if this game has one."""
        phase = self.rules.phase
        return phase if phase and self.values[phase.rule] else None

    @property
    def sides(self) -> tuple[str, str]:
        """What people call first and second in this game."""
        first, second = self.rules.sides
        return (second, first) if self._is_turned else (first, second)

    @property
    def side_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Every name of first and second in this game, in all languages."""
        first, second = ((name, *more) for name, more in zip(self.rules.sides, self.rules.words.sides, strict=True))
        return (second, first) if self._is_turned else (first, second)

    def side_named(self, name: str) -> int | None:
        """0 for first, 1 for second, by any name of theirs in this game; None for another word."""
        for index, (side, names) in enumerate(zip(SIDES, self.side_names, strict=True)):
            if fold(name) in {fold(one) for one in (side, *names)}:
                return index
        return None

    @property
    def _is_turned(self) -> bool:
        opener = self.rules.opener
        return bool(opener) and self.values[opener] != self.rules.option(opener).values[0]

    @property
    def overrides(self) -> dict[str, Value]:
        """The options that differ from the variant's own, in declared order: what a record stores."""
        return dict(self._overrides)

    @cached_property
    def _overrides(self) -> dict[str, Value]:
        preset = {option.name: option.default for option in self.rules.options}
        preset |= {name: self.rules.option(name).read(value) for name, value in self.variant.options.items()}
        return {name: value for name, value in self.values.items() if preset[name] != value}

    def changed(self, kinds: Iterable[Changes] = ("moves", "result")) -> dict[str, Value]:
        """The options of these kinds that differ from the family's defaults: what a bot must be told."""
        wanted = frozenset(kinds)
        return {
            option.name: self.values[option.name]
            for option in self.rules.options
            if option.changes in wanted and self.values[option.name] != option.default
        }

    def read(self, position: str | None = None) -> State:
        """The state of a position string, or of the variant's start. Raises ParseError."""
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
        """The canonical position string of a state."""
        return self.rules.notation.write_position(state, self.config)
