"""Levels 1 to 8 of the champion: the strength of each, by family.

Each level beats the one below about two to one. The values were measured for the report of 30 November 2026
(`docs/reports/2026-11-30-levels.md`). After a change raise the revision of the champion in `arena/store/bots/bots.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

LEVELS = 8
STRENGTHS: Mapping[str, tuple[int, ...]] = {
    "abalone": (0, 4, 8, 15, 26, 30, 33, 36),
    "baroque": (0, 9, 14, 21, 26, 31, 36, 40),
    "loa": (12, 17, 22, 30, 38, 46, 53, 61),
    "pijersi": (0, 8, 13, 20, 37, 42, 49, 56),
    "tablut": (0, 10, 22, 29, 36, 43, 49, 56),
}
_OTHERS = (0, 8, 16, 24, 32, 40, 48, 56)
"""For families that were not measured."""


def strength_at(level: int, family: str) -> int:
    """Return the champion's `Strength` at a level, counted from 1, in a family."""
    return STRENGTHS.get(family, _OTHERS)[level - 1]
