"""Checks at random positions, reproducible by seed, whether a family keeps the invariants of `referee.rules`."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from referee.rules import families, family_named, load
from referee.rules.core import UnknownNameError
from referee.rules.invariants import INVARIANTS
from referee.rules.random_walk import shuffled, values, walk
from referee.rules.record_invariants import RECORD_INVARIANTS
from referee.rules.rules import Rules, Ruleset, State, Value

MAX_PLIES = 120
"""Maximum length of the random walks to the positions."""


@dataclass(frozen=True, slots=True)
class InvariantResult:
    """The result of one invariant: the number of positions checked, and its violation in words; empty if it holds."""

    invariant: str
    positions: int
    problem: str = ""


def find(name: str) -> Rules:
    """Return the rules of a family, or of a module that has `RULES`.

    Raise UnknownNameError if the name is neither; FamilyPackageError; any error that importing the module raises.
    """
    if family_named(name) in families():
        return load(name)
    try:
        rules = importlib.import_module(name).RULES
    except (ModuleNotFoundError, AttributeError) as error:
        raise UnknownNameError("family or module with RULES", name, families()) from error
    if not isinstance(rules, Rules):
        raise UnknownNameError("family or module with RULES", name, families())
    return rules


def check_conformance(rules: Rules, positions: int, seed: int) -> Iterator[InvariantResult]:
    """Check every invariant at random positions of all variants with many options, and yield the result of each.

    The check of an invariant stops at its first violation.
    """
    for record_invariant in RECORD_INVARIANTS:
        yield _check(record_invariant, [(rules,)])
    rng = random.Random(seed)
    try:
        places = [_place(rules, rng) for _ in range(positions)]
    except Exception as error:  # a family under development may fail in any way
        yield InvariantResult("games can be played at random", 0, f"{type(error).__name__}: {error}")
        return
    for invariant in INVARIANTS:
        yield _check(invariant, places)


def _check(invariant: Callable[..., None], cases: Sequence[tuple[object, ...]]) -> InvariantResult:
    name = invariant.__name__.replace("_", " ")
    for number, case in enumerate(cases, 1):
        try:
            invariant(*case)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            return InvariantResult(name, number, f"{kind}{error}" or "violated")
    return InvariantResult(name, len(cases))


def _place(rules: Rules, rng: random.Random) -> tuple[Ruleset, State]:
    """Return rules with random options, and a position.

    Two positions in three are from a random game, the others have shuffled pieces.
    """
    options: dict[str, Value] = {}
    if rng.random() < 0.5:
        options = {option.name: rng.choice(values(option)) for option in rules.options if rng.random() < 0.5}
    ruleset = rules.settle(rng.choice(rules.variants).name, options)
    state = walk(ruleset, rng.randrange(2**32), rng.randrange(MAX_PLIES))
    if rng.random() < 1 / 3:
        state = walk(ruleset, rng.randrange(2**32), rng.randrange(3), shuffled(ruleset, state, rng))
    return ruleset, state
