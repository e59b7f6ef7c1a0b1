"""The atlases that come with the program: `data/FAMILY.csv`, as `arena atlas report --csv` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from arena.atlas.report import StartFigures, from_csv
from arena.errors import ArenaError

_DATA = Path(__file__).parent / "data"
SURE = "fair"
"""How openings begin that are drawn from an atlas: `fair:0.05`, or `fair:0.05:SEED`."""


class NoAtlasError(ArenaError):
    """A family, or a bound, for which the atlas has nothing."""

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
