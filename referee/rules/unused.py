"""Unused options, which change nothing, and terminations that end no game, found at positions of a fixed seed.

A kernel that never reads an option, or never gives a termination, causes no error anywhere else.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from contextlib import suppress
from itertools import combinations

from referee.rules.core import ParseError, UnknownNameError, value_text
from referee.rules.position import outcome_of
from referee.rules.random_walk import SPINS, after, legal, shuffled, thinned, values, walk
from referee.rules.rules import GameText, Option, Rules, Ruleset, State, Value

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
