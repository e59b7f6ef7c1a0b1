"""Looks whether a family keeps the laws that the rest of the program relies on: the same positions for a seed."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from referee.rules import families, family_named, load
from referee.rules.core import UnknownNameError
from referee.rules.invariants import INVARIANTS, RECORD_INVARIANTS
from referee.rules.rules import Rules, Ruleset, State, Value
from referee.rules.walk import shuffled, values, walk

LONGEST = 120
"""Plies of the random walks to the positions."""


@dataclass(frozen=True, slots=True)
class InvariantResult:
    """One law: at how many positions it was asked, and where it does not hold, in words; empty where it does."""

    invariant: str
    asked: int
    problem: str = ""


def find(name: str) -> Rules:
    """The rules of a family, or of a module that is to become one.

    Raises UnknownNameError for neither, FamilyPackageError, and whatever the module itself raises.
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
    """Every law in turn, the positions spread over all variants and many options. A law ends where it is broken."""
    for record_law in RECORD_INVARIANTS:
        yield _ask(record_law, [(rules,)])
    rng = random.Random(seed)
    try:
        places = [_place(rules, rng) for _ in range(positions)]
    except Exception as error:  # a family that is being written may fail in any way
        yield InvariantResult("games can be played at random", 0, f"{type(error).__name__}: {error}")
        return
    for law in INVARIANTS:
        yield _ask(law, places)


def _ask(law: Callable[..., None], given: Sequence[tuple[object, ...]]) -> InvariantResult:
    name = law.__name__.replace("_", " ")
    for number, one in enumerate(given, 1):
        try:
            law(*one)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            return InvariantResult(name, number, f"{kind}{error}" or "it does not hold")
    return InvariantResult(name, len(given))


def _place(rules: Rules, rng: random.Random) -> tuple[Ruleset, State]:
    """Rules and a position: mostly somewhere along a random game, else with its pieces shuffled."""
    options: dict[str, Value] = {}
    if rng.random() < 0.5:
        options = {one.name: rng.choice(values(one)) for one in rules.options if rng.random() < 0.5}
    ruleset = rules.settle(rng.choice(rules.variants).name, options)
    state = walk(ruleset, rng.randrange(2**32), rng.randrange(LONGEST))
    if rng.random() < 1 / 3:
        state = walk(ruleset, rng.randrange(2**32), rng.randrange(3), shuffled(ruleset, state, rng))
    return ruleset, state
