"""The atlases that come with the program: `data/FAMILY.csv`, as `arena atlas report --csv` writes them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from arena.atlas.report import StartFigures, from_csv
from arena.errors import ArenaError
from referee.game.openings import Opening
from referee.rules.rules import Ruleset

_DATA = Path(__file__).parent / "data"
STEPS = (50, 100, 150, 200, 300, 400)
"""Elo points for which a handicap is suggested."""


class NoFairStartError(ArenaError):
    """Openings asked of an atlas that has none such."""

    kind = "invalid"


@cache
def published(family: str) -> tuple[StartFigures, ...]:
    """The lines of a family's atlas, all strengths; none where there is no atlas."""
    file = _DATA / f"{family}.csv"
    return tuple(from_csv(file.read_text(encoding="utf-8"))) if file.is_file() else ()


def remarks(family: str) -> str:
    """What the atlas says of itself."""
    file = _DATA / f"{family}.csv"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return "\n".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))


def strongest(starts: Sequence[StartFigures]) -> list[StartFigures]:
    """The lines of the highest strength."""
    top = max((one.nodes for one in starts), default=0)
    return [one for one in starts if one.nodes == top]


def fair(family: str, bound: float) -> list[StartFigures]:
    """The starts whose advantage is below a bound with 95 % by the shrunk estimate, at the highest strength."""
    chosen = strongest(published(family))
    return [one for one in chosen if -bound < one.shrunk_low and one.shrunk_high < bound]


def fair_openings(ruleset: Ruleset, bound: float, seed: int) -> list[Opening]:
    """The fair starts that are played by these rules, in an order drawn by seed. Raises NoFairStartError."""
    family = ruleset.rules.family
    found = []
    for one in fair(family, bound):
        if "+" in one.variant:
            continue
        other = ruleset.rules.settle(one.variant, ruleset.overrides).variant
        if (other.options, other.params) == (ruleset.variant.options, ruleset.variant.params):
            found.append(Opening(other.name))
    if not found:
        known = strongest(published(family))
        hint = "take a wider bound" if known else "`arena atlas run` measures them"
        raise NoFairStartError(
            f"no start of {family} {ruleset.variant.name} is known to be fair within {bound:g} with 95 %", hint=hint
        )
    random.Random(seed).shuffle(found)
    return found


def handicaps(family: str) -> list[tuple[int, StartFigures]]:
    """For steps of strength in Elo: the start that makes up for about so much, the weaker one on its better side."""
    found: list[tuple[int, StartFigures]] = []
    for step in STEPS:
        near = min(
            strongest(published(family)), key=lambda one: (abs(abs(one.elo) - step), one.elo_error), default=None
        )
        if near and abs(abs(near.elo) - step) <= max(25, step // 5) and all(near != one for _, one in found):
            found.append((step, near))
    return found
