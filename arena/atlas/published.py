"""The atlases shipped with the program: `data/FAMILY.csv`, as written by `arena atlas report --csv`."""

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
"""Elo differences for which a handicap is suggested."""


class NoFairStartError(ArenaError):
    """No start of the atlas is fair enough."""

    kind = "invalid"


@cache
def published(family: str) -> tuple[StartFigures, ...]:
    """Return the rows of a family's atlas, one for each start and strength of the players; empty without an atlas."""
    file = _DATA / f"{family}.csv"
    return tuple(from_csv(file.read_text(encoding="utf-8"))) if file.is_file() else ()


def remarks(family: str) -> str:
    """Return the header comment of an atlas."""
    file = _DATA / f"{family}.csv"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return "\n".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))


def strongest(starts: Sequence[StartFigures]) -> list[StartFigures]:
    """Return the rows of the highest strength."""
    top = max((one.nodes for one in starts), default=0)
    return [one for one in starts if one.nodes == top]


def fair(family: str, bound: float) -> list[StartFigures]:
    """Return the starts whose shrunk 95 % interval of the advantage, at the highest strength, lies within ±`bound`."""
    chosen = strongest(published(family))
    return [one for one in chosen if -bound < one.shrunk_low and one.shrunk_high < bound]


def fair_openings(ruleset: Ruleset, bound: float, seed: int) -> list[Opening]:
    """Return the fair starts with these rules, in an order drawn by seed. Raises NoFairStartError."""
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
        hint = "choose a wider bound" if known else "`arena atlas run` measures them"
        raise NoFairStartError(
            f"no start of {family} {ruleset.variant.name} has, with 95 % confidence, an advantage of at most {bound:g}",
            hint=hint,
        )
    random.Random(seed).shuffle(found)
    return found


def handicaps(family: str) -> list[tuple[int, StartFigures]]:
    """Return Elo differences, each with a start that makes up for this difference if the weaker bot has the better
    side.
    """
    found: list[tuple[int, StartFigures]] = []
    for step in STEPS:
        near = min(
            strongest(published(family)), key=lambda one: (abs(abs(one.elo) - step), one.elo_error), default=None
        )
        if near and abs(abs(near.elo) - step) <= max(25, step // 5) and all(near != one for _, one in found):
            found.append((step, near))
    return found
