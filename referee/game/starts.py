"""Figures of the fairness of each start, shipped with the program as `arena atlas report --csv` writes them."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from referee.errors import ArenaError
from referee.game.openings import Opening
from referee.meaning import meaning
from referee.rules.rules import Ruleset

_DATA = Path(__file__).parent / "start_figures"
STEPS = (50, 100, 150, 200, 300, 400)
"""Elo differences for which a handicap is suggested."""


@dataclass(frozen=True, slots=True)
class StartFigures:
    """Results of one start at one strength; the report on the atlas explains the `shrunk…` figures.

    Advantages are the first side's share of points minus one half; `plies` is the mean length of the games. `group` is
    the same for symmetric starts.
    """

    variant: str = field(metadata=meaning("name of the start"))
    nodes: int = field(metadata=meaning("strength of the players: nodes searched for each move"))
    games: int
    first: int = field(metadata=meaning("games won by the side that moves first"))
    draw: int = field(metadata=meaning("drawn games"))
    second: int = field(metadata=meaning("games won by the other side"))
    advantage: float = field(metadata=meaning("from -0.5 to 0.5; positive: moving first helps"))
    low: float = field(metadata=meaning("lower bound of the 95 % interval of `advantage`"))
    high: float = field(metadata=meaning("upper bound of the 95 % interval of `advantage`"))
    elo: int = field(metadata=meaning("advantage of the first side in Elo, from wins and losses alone"))
    elo_error: int = field(metadata=meaning("half of the 95 % interval of `elo`"))
    shrunk: float = field(
        metadata=meaning("`advantage` drawn towards the mean of all starts, the more the fewer its games")
    )
    shrunk_low: float = field(metadata=meaning("lower bound of the 95 % interval of `shrunk`"))
    shrunk_high: float = field(metadata=meaning("upper bound of the 95 % interval of `shrunk`"))
    is_uneven: bool = field(
        metadata=meaning("true: one side is favoured significantly, with all starts tested together")
    )
    group: str
    plies: float
    endings: str = field(
        metadata=meaning("terminations with their numbers of games, such as `no-moves:3 repetition:1`")
    )


class NoFairStartError(ArenaError):
    """No start is fair enough."""


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
    openings = [Opening(start.variant) for start in _with_rules(ruleset, fair(family, bound))]
    if not openings:
        least = narrowest_bound(ruleset)
        wider = f"choose a wider bound, such as {least:g}" if least else "choose other rules"
        raise NoFairStartError(
            f"no start of {family} {ruleset.variant.name} has, with 95 % confidence, an advantage of at most {bound:g}",
            hint=wider if strongest(published(family)) else "`arena atlas run` measures them",
        )
    random.Random(seed).shuffle(openings)
    return openings


def narrowest_bound(ruleset: Ruleset, usual: float = 0.05) -> float | None:
    """Return the smallest bound, with two decimals and at least the usual one, for which there are fair starts."""
    starts = _with_rules(ruleset, strongest(published(ruleset.rules.family)))
    if not starts:
        return None
    # A start is fair if its interval lies within the bound, so the bound is above it.
    least = min(max(-start.shrunk_low, start.shrunk_high) for start in starts)
    return max(usual, (math.floor(100 * least) + 1) / 100)


def _with_rules(ruleset: Ruleset, starts: Sequence[StartFigures]) -> list[StartFigures]:
    """Return the starts whose variant has the options and parameters of these rules."""
    chosen = []
    for start in starts:
        if "+" in start.variant:
            continue
        other = ruleset.rules.settle(start.variant, ruleset.overrides).variant
        if (other.options, other.params) == (ruleset.variant.options, ruleset.variant.params):
            chosen.append(start)
    return chosen


def handicaps(family: str) -> list[tuple[int, StartFigures]]:
    """Return Elo differences, each with a start that makes up for this difference if the weaker bot has the better
    side.
    """
    chosen: list[tuple[int, StartFigures]] = []
    for step in STEPS:
        near = min(
            strongest(published(family)), key=lambda start: (abs(abs(start.elo) - step), start.elo_error), default=None
        )
        if near and abs(abs(near.elo) - step) <= max(25, step // 5) and all(near != start for _, start in chosen):
            chosen.append((step, near))
    return chosen


def from_csv(text: str) -> list[StartFigures]:
    """Parse a published atlas."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = []
    for row in csv.DictReader(lines):
        values = {one.name: _READERS[str(one.type)](row[one.name]) for one in fields(StartFigures)}
        found.append(StartFigures(**values))
    return found


_READERS: Mapping[str, Any] = {"int": int, "float": float, "str": str, "bool": lambda text: text == "1"}
