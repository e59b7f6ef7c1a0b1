"""Hypothesis strategies for any family, variant and options: positions from random walks and shuffled texts."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from referee.rules import load
from referee.rules.random_walk import named, shuffled, values, walk
from referee.rules.rules import Ruleset, State, Value


class Chosen(Ruleset):
    """A ruleset that Hypothesis prints in one line."""

    def __repr__(self) -> str:
        return f"<{self.rules.family} {self.variant.name} {self.overrides or ''}>"


class Place(NamedTuple):
    """Rules and a position, printed by `named`."""

    ruleset: Ruleset
    state: State

    def __repr__(self) -> str:
        return f"<{named(self.ruleset, self.state)}>"


@st.composite
def rulesets(draw: Any, family: str) -> Ruleset:
    """Draw a variant of the family; half of the draws change some options."""
    rules = load(family)
    variant = draw(st.sampled_from([variant.name for variant in rules.variants]))
    options: dict[str, Value] = {}
    if draw(st.booleans()):
        names = draw(st.sets(st.sampled_from([option.name for option in rules.options]))) if rules.options else set()
        options = {name: draw(st.sampled_from(values(rules.option(name)))) for name in sorted(names)}
    settled = rules.settle(variant, options)
    return Chosen(settled.rules, settled.variant, settled.values)


@st.composite
def positions(draw: Any, family: str) -> Place:
    """Draw rules and a position: mostly along a random game, else shuffled, with optional moves after it."""
    ruleset = draw(rulesets(family))
    state = walk(ruleset, draw(st.integers(0, 2**32)), draw(st.integers(0, 120)))
    if draw(st.integers(0, 2)) == 0:
        seed = draw(st.integers(0, 2**32))
        state = walk(ruleset, seed, draw(st.integers(0, 3)), shuffled(ruleset, state, random.Random(seed)))
    return Place(ruleset, state)
