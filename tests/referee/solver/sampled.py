"""Random positions for tests of the solver: a few plies before the end of random games, where wins are near."""

import random
from collections.abc import Iterator

import numpy as np

import tests.referee.solver
from referee.rules import load
from referee.rules.per_family import loaded
from referee.rules.random_walk import after, legal, values
from referee.rules.rules import Ruleset, State, Value


def rulesets(family: str, seed: int) -> Iterator[Ruleset]:
    """Yield rulesets of a family: its default one, then variants and options at random."""
    rules, rng = load(family), random.Random(seed)
    yield rules.settle()
    while True:
        options: dict[str, Value] = {}
        for option in rules.options:
            if rng.random() < 0.25:
                options[option.name] = rng.choice(values(option))
        yield rules.settle(rng.choice([variant.name for variant in rules.variants]), options)


def late_position(ruleset: Ruleset, rng: random.Random, before_end: int, max_plies: int = 400) -> State | None:
    """Return a position `before_end` plies before the end of a random game that the rules decided, or None.

    Moves that win at once are played with every second chance, so that there is something to defend.
    """
    kernel, config = ruleset.rules.kernel, ruleset.config
    states = [ruleset.read()]
    while len(states) < max_plies:
        state = states[-1]
        if kernel.result(state, config, 1, 0):
            break
        moves = legal(ruleset, state)
        best = rng.sample(moves, min(4, len(moves)))
        children = [after(ruleset, state, move) for move in best]
        states.append(min(children, key=lambda child: kernel.evaluate(child, config)))
    for back in range(before_end, len(states)):
        if not kernel.result(states[-1 - back], config, 1, 0):
            return states[-1 - back]
    return None


def brute_force(ruleset: Ruleset, state: State, side: int, moves: int) -> bool:
    """Return whether `side` wins within `moves` of its moves, by plain search."""
    module = loaded(tests.referee.solver.__name__, "exhaustive", ruleset.rules.family)
    kernel = ruleset.rules.kernel
    is_attacker = ruleset.rules.side(state, ruleset.config) == side
    rest = 2 * moves - is_attacker
    states = np.zeros((rest + 2, kernel.STATE_SIZE), dtype=kernel.DTYPE)
    states[0] = state
    buffer = np.zeros((rest + 2, kernel.MAX_MOVES), dtype=np.int64)
    return bool(module.wins(states, buffer, ruleset.config, 0, rest, is_attacker, side))


def brute_force_child(ruleset: Ruleset, state: State, move: int, side: int, moves: int) -> bool:
    """Return whether `side` wins within `moves` more of its moves after `move`, by plain search."""
    module = loaded(tests.referee.solver.__name__, "exhaustive", ruleset.rules.family)
    kernel = ruleset.rules.kernel
    rest = 2 * moves
    states = np.zeros((rest + 3, kernel.STATE_SIZE), dtype=kernel.DTYPE)
    states[0], states[1] = state, after(ruleset, state, move)
    buffer = np.zeros((rest + 3, kernel.MAX_MOVES), dtype=np.int64)
    return bool(module.wins(states, buffer, ruleset.config, 1, rest, False, side))
