"""Invariants that the `Rules` record of every family keeps, whatever the position."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from referee.rules.cache import IS_COMPILED
from referee.rules.core import Kind
from referee.rules.rules import Rules
from referee.rules.unused import unused_options, unused_reasons


def record_is_sound(rules: Rules) -> None:
    """Check that names, options, variants and reasons are unique, complete and consistent."""
    assert rules.title
    assert rules.summary
    assert len(set(rules.sides)) == 2
    names = [variant.name for variant in rules.variants]
    assert len(set(names)) == len(names)
    options = [option.name for option in rules.options]
    assert len(set(options)) == len(options)
    for option in rules.options:
        assert option.read(option.default) == option.default, option.name
        assert option.meaning, option.name
    for variant in rules.variants:
        ruleset = rules.settle(variant.name)
        assert ruleset.write(ruleset.read()) == ruleset.variant.position, variant.name
        assert len(ruleset.config) == len(rules.settle().config), variant.name
        assert ruleset.overrides == {}, variant.name
    assert len(set(rules.reasons)) == len(rules.reasons)
    assert {reason.kind for reason in rules.reasons} == {Kind.RULES}
    assert rules.keeps_moves <= set(rules.reasons)
    assert all(piece.side in ("first", "second", None) for piece in rules.pieces)
    assert 0 <= rules.draw_probability < 1
    assert rules.game_moves >= 1
    assert re.fullmatch(r"M[MmLlHhVvAaCcSsQqTtZz0-9 .,-]+Z", rules.emblem), "the emblem is not an SVG path"


def phase_is_begun_by_its_rule(rules: Rules) -> None:
    """Check that a game has a phase before play exactly if its option enables it."""
    if rules.phase is None:
        return
    assert rules.option(rules.phase.rule).type == "check"
    for variant in rules.variants:
        ruleset = rules.settle(variant.name, {rules.phase.rule: True})
        assert rules.phase.holds(ruleset.read(), ruleset.config), variant.name
        assert ruleset.variant.position == rules.phase.begin(variant.position)
        assert ruleset.overrides == {rules.phase.rule: True}
        without = rules.settle(variant.name, {rules.phase.rule: False})
        assert without.phase is None
        assert not rules.phase.holds(without.read(), without.config), variant.name


def kernel_is_sound(rules: Rules) -> None:
    """Check that states have the size that the kernel declares, and that compiled code is cached on disk."""
    kernel, ruleset = rules.kernel, rules.settle()
    state = ruleset.read()
    assert state.shape == (kernel.STATE_SIZE,)
    assert state.dtype == kernel.DTYPE
    assert 0 < kernel.KEY_SIZE <= kernel.STATE_SIZE
    assert 0 < kernel.MAX_MOVES < 100_000
    functions = [getattr(kernel, name) for name in ("legal", "play", "result")]
    is_kept = all(
        type(getattr(function, "_cache", None)).__name__ not in ("NoneType", "NullCache") for function in functions
    )
    assert is_kept or not IS_COMPILED, "compiled code is not cached: decorate with `referee.rules.jit.jit`"


def page_names_everything(rules: Rules) -> None:
    """Check that `RULES.md` names every variant and every option."""
    kernel = importlib.import_module(rules.kernel_module)
    page = (Path(str(kernel.__file__)).parent / "RULES.md").read_text(encoding="utf-8")
    names = [variant.name for variant in rules.variants] + [option.name for option in rules.options]
    missing = [name for name in names if name not in page]
    assert not missing, f"RULES.md lacks {', '.join(missing)}"


def every_option_changes_something(rules: Rules) -> None:
    """Check that the kernel, the starts or the notations read every option, and tell its values apart."""
    unused = unused_options(rules)
    assert not unused, f"no position shows a difference between values of {', '.join(unused)}; {_CURE}"


def every_reason_ends_a_game(rules: Rules) -> None:
    """Check that the kernel gives every termination of the family in some position."""
    unused = unused_reasons(rules)
    assert not unused, f"no position ends a game by {', '.join(unused)}; {_CURE}"


_CURE = "use it in the kernel, or add a position that shows it to `Rules.rare_positions`"
RECORD_INVARIANTS = (
    record_is_sound,
    phase_is_begun_by_its_rule,
    kernel_is_sound,
    page_names_everything,
    every_option_changes_something,
    every_reason_ends_a_game,
)
"""Invariants of the family as a whole."""
