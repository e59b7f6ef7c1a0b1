"""Invariants that the `Rules` record of every family keeps, whatever the position.

Options that change nothing, and terminations that end no game, are looked for at positions of a fixed seed: a kernel
that never reads an option, or never gives a termination, causes no error anywhere else.
"""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Hashable, Iterator
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from referee.rules.cache import IS_COMPILED
from referee.rules.core import Kind, ParseError, UnknownNameError, value_text
from referee.rules.position import outcome_of
from referee.rules.random_walk import SPINS, after, legal, shuffled, thinned, values, walk
from referee.rules.rules import GameText, Option, Rules, Ruleset, State, Value


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


_POSITIONS = 1000
"""The number of positions searched. All but a few options show within the first hundred."""
_WALKS = (0, 3, 20, 70, 120)
_HISTORIES = ((1, 0), *((count, gap) for count in SPINS if count > 1 for gap in (2, 4)))
"""Occurrences of a position and plies since the last one, as `Kernel.result` takes them."""


def unused_reasons(rules: Rules) -> tuple[str, ...]:
    """Return the terminations of `rules.reasons` by which the game ends in no position."""
    missing = dict.fromkeys(rules.reasons)
    for ruleset, state in _positions(rules):
        for code in _codes(ruleset, state):
            outcome = outcome_of(ruleset, code)
            if outcome is not None:
                missing.pop(outcome.reason, None)
        if not missing:
            break
    return tuple(missing)


def unused_options(rules: Rules) -> tuple[str, ...]:
    """Return the options that change nothing, with their values that are alike: `no_moves (loss, draw)`.

    Of a number two values that differ suffice, since large ones are often like no limit.
    """
    alike = {option: list(combinations(values(option), 2)) for option in rules.options}
    for ruleset, state in _positions(rules):
        for option, pairs in list(alike.items()):
            seen = {value: _seen(ruleset, state, option, value) for value in values(option)}
            left = [(low, high) for low, high in pairs if None in (seen[low], seen[high]) or seen[low] == seen[high]]
            if not left or (option.type == "spin" and left != pairs):
                del alike[option]
            else:
                alike[option] = left
        if not alike:
            break
    return tuple(f"{option.name} ({_listed(pairs)})" for option, pairs in alike.items())


def _listed(pairs: list[tuple[Value, Value]]) -> str:
    return ", ".join(dict.fromkeys(value_text(value) for pair in pairs for value in pair))


def _positions(rules: Rules) -> Iterator[tuple[Ruleset, State]]:
    """Yield rules with random options, and positions: of random games, with pieces exchanged or taken away, and rare
    ones.
    """
    rng = random.Random(1)
    for number in range(_POSITIONS):
        share = rng.choice((0.0, 0.3))
        options = {option.name: rng.choice(values(option)) for option in rules.options if rng.random() < share}
        ruleset = rules.settle(rng.choice(rules.variants).name, options)
        state = walk(ruleset, rng.randrange(2**32), rng.choice(_WALKS))
        if number % 4 == 1:
            state = shuffled(ruleset, state, rng)
        elif number % 4 == 2:
            state = thinned(ruleset, state, rng)
        elif number % 4 == 3 and rules.rare_positions:
            with suppress(ParseError):
                state = ruleset.read(rng.choice(rules.rare_positions))
        yield ruleset, state
        yield ruleset, walk(ruleset, rng.randrange(2**32), rng.randrange(1, 6), state)


def _codes(ruleset: Ruleset, state: State) -> tuple[int, ...]:
    return tuple(int(ruleset.rules.kernel.result(state, ruleset.config, *history)) for history in _HISTORIES)


def _seen(ruleset: Ruleset, state: State, option: Option, value: Value) -> Hashable:
    """Return everything in this position that the option may change, with that value; None if it cannot have it."""
    rules, write = ruleset.rules, ruleset.rules.notation.write_move
    try:
        settled = rules.settle(ruleset.variant.name, {**ruleset.overrides, option.name: value})
    except (ParseError, UnknownNameError):
        return None
    codes, moves = _codes(settled, state), legal(settled, state)
    if option.changes == "display":
        games = [GameText((write(move),), position=ruleset.write(state)) for move in moves]
        return tuple(form.write(game, settled) for game in games for form in rules.formats)
    children = [after(settled, state, move) for move in moves] if not codes[0] else []
    ends = [int(rules.kernel.result(child, settled.config, 1, 0)) for child in children]
    return settled.start, settled.sides, codes, *moves, *(child.tobytes() for child in children), *ends
