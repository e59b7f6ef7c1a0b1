"""A family of games as data and functions, and the rules of one game.

A family is one folder under `referee/rules/`, or a package, whose `__init__` exports `RULES`, a `Rules`. Command line,
invariants, playthroughs, sample bots and viewer work with any such record. All types of which it is made are imported
from here.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np

from referee.rules.core import SIDES, Side, Termination, UnknownNameError
from referee.rules.features import FeatureImage, Features
from referee.rules.kernel_protocol import Config, Kernel, State, States
from referee.rules.layout import Board, Cell, Effect, Mark, Piece
from referee.rules.names import Words, fold
from referee.rules.notation import ChessDialect, GameFormat, GameText, Notation, PositionSetup, Setups, Variation
from referee.rules.symmetry import Image, Symmetry
from referee.rules.variant import Changes, Option, Phase, Value, Variant

__all__ = ["Board", "Cell", "Effect", "Mark", "Piece"]
__all__ += ["ChessDialect", "GameFormat", "GameText", "Notation", "PositionSetup", "Setups", "Variation", "Words"]
__all__ += ["Changes", "Option", "Phase", "Rules", "Ruleset", "Value", "Variant"]
__all__ += ["Config", "FeatureImage", "Features", "Image", "State", "States", "Symmetry"]

_MAX_SETTLED = 1000
"""Largest number of rulesets cached per family."""


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
