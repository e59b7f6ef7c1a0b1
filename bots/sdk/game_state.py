"""State of a game as sent by the referee: family, variant, rules, set-up, start and moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from protocol.errors import BadOption
from protocol.options import OptionDecl
from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError, value_text
from referee.rules.position import Position
from referee.rules.rules import Option, Ruleset

RULE_PREFIX = "Rule."


def _declaration(option: Option) -> OptionDecl:
    name = RULE_PREFIX + option.name
    if option.type == "check":
        return OptionDecl(name, "check", value_text(option.default))
    if option.type == "spin":
        return OptionDecl(name, "spin", str(option.default), option.minimum, option.maximum)
    return OptionDecl(name, "combo", str(option.default), values=option.values)


def declarations(
    families: Iterable[str], variants: Sequence[str] = (), rules: Mapping[str, Sequence[str]] | None = None
) -> list[OptionDecl]:
    """Return the options that announce every variant and rule of these families, each option once.

    An option of several families takes the values of all. It has a default only if all families have the same one;
    without a default, the referee sets the option for every game. `variants` are announced instead of all variants,
    `rules` instead of all rule options: values by name, the default first.
    """
    by_name: dict[str, list[OptionDecl]] = {}
    for family in families:
        for option in GameState(family).declarations():
            by_name.setdefault(option.name, []).append(option)
    if variants:
        by_name["Variant"] = [OptionDecl("Variant", "combo", variants[0], values=tuple(variants))]
        by_name.pop("Setup", None)
    if rules is not None:
        by_name = {name: options for name, options in by_name.items() if not name.startswith(RULE_PREFIX)}
        for rule, values in rules.items():
            by_name[RULE_PREFIX + rule] = [OptionDecl(RULE_PREFIX + rule, "combo", values[0], values=tuple(values))]
    return [_merge(options) for options in by_name.values()]


def _merge(options: Sequence[OptionDecl]) -> OptionDecl:
    first, *others = options
    default = first.default if all(option.default == first.default for option in others) else None
    if any(option.type != first.type for option in others):
        return OptionDecl(first.name, "string", default)
    lows, highs = ([getattr(option, bound) for option in options] for bound in ("minimum", "maximum"))
    return OptionDecl(
        first.name,
        first.type,
        default,
        None if None in lows else min(lows),
        None if None in highs else max(highs),
        tuple(dict.fromkeys(value for option in options for value in option.values)),
    )


class GameState:
    """The rules set so far, and the position on the board."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.rules = load(family)
        self.reset()

    def reset(self) -> None:
        """Return to the family's default variant and rules."""
        self._variant: str | None = None
        self._options: dict[str, str] = {}
        self._setup: str | None = None
        """A set-up in positional notation, already read."""
        self._ruleset: Ruleset | None = None
        self._clear_position()

    def _clear_position(self) -> None:
        self._fen: str | None = None
        self._moves: tuple[str, ...] = ()
        self._positions: list[Position] = []

    @property
    def position(self) -> Position | None:
        """Present position; None before the first `position`."""
        return self._positions[-1] if self._positions else None

    def declarations(self) -> list[OptionDecl]:
        """Return the options that announce every variant and rule of the family."""
        variants = tuple(variant.name for variant in self.rules.variants)
        options = [OptionDecl("Variant", "combo", variants[0], values=variants)]
        options += map(_declaration, self.rules.options)
        if self.rules.notation.read_setup is not None:
            options.append(OptionDecl("Setup", "string", variants[0]))
        if self.rules.phase is not None:
            options.append(OptionDecl(self.rules.phase.announced_by, "check", "false"))
        return options

    def has_option(self, name: str) -> bool:
        """Return whether the family has an option of that name."""
        return any(option.name == name for option in self.declarations())

    def set_option(self, name: str, value: str) -> None:
        """Set one of the options of `declarations`. Raises UnknownNameError, ParseError or BadOption; then nothing has
        changed.

        A variant brings its own rules, so it discards single rules set before it.
        """
        if name == "Variant":
            wanted = value or self.rules.variants[0].name
            self.rules.settle(wanted)
            self._variant, self._setup, self._options = wanted, None, {}
        elif name == "Setup":
            self._read_setup(value)
        elif rule := self._rule_of(name):
            self.rules.option(rule).read(value)
            self._options[rule] = value
        else:
            raise BadOption("option", name, [option.name for option in self.declarations()])
        self._ruleset = None
        self._clear_position()

    def _rule_of(self, name: str) -> str:
        """Return the rule that an option sets, empty if it sets none.

        Such options are `Rule.<rule>`, and the one that announces the phase before play.
        """
        phase = self.rules.phase
        if phase is not None and name == phase.announced_by:
            return phase.rule
        return name.removeprefix(RULE_PREFIX) if name.startswith(RULE_PREFIX) else ""

    def _read_setup(self, value: str) -> None:
        """Read a named or numbered set-up, or one in positional notation."""
        try:
            self.rules.settle(value)
        except (UnknownNameError, ParseError):
            if self.rules.notation.read_setup is None or "#" in value:
                raise
            self._setup = self.rules.notation.read_setup(value)
        else:
            self._variant, self._setup = value, None

    @property
    def ruleset(self) -> Ruleset:
        """The exact rules. Raises UnknownNameError or ParseError if the options do not fit together."""
        if self._ruleset is None:
            self._ruleset = self.rules.settle(self._variant, self._options)
        return self._ruleset

    def start(self) -> Position:
        """Return the position of `startpos`. Raises the errors of `ruleset`."""
        return Position.start(self.ruleset, self._setup)

    def follow(self, fen: str | None, moves: Sequence[str]) -> Position:
        """Set up the position of a `position` line. Plays only the moves that the previous line did not have.

        Raises ParseError or IllegalMoveError; then the position is None.
        """
        texts = tuple(moves)
        if not self._positions or fen != self._fen:
            self._positions = []
            first = self.start() if fen is None else Position.start(self.ruleset, fen)
            self._fen, self._moves, self._positions = fen, (), [first]
        shared = len(self._moves)
        if texts[:shared] != self._moves:
            pairs = zip(texts, self._moves, strict=False)
            shared = next((n for n, (new, old) in enumerate(pairs) if new != old), min(len(texts), shared))
        positions = self._positions[: shared + 1]
        self._positions = []
        for move in texts[shared:]:
            positions.append(positions[-1].play(move))
        self._moves, self._positions = texts, positions
        return positions[-1]
