"""Problems that come with the program, so that a new arena has some to solve."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from arena.features.problems import service
from arena.features.problems.documents import FoundProblem, WinProblemQuery, WinProblemState
from arena.services.arena import Arena

SETS = Path(__file__).parent / "sets"
"""A file for each family, with lines of `arena problems find -o ndjson`."""


def furnish(arena: Arena, families: Iterable[str]) -> None:
    """Add the problems of these families that have none; the coordinator proves them one after another."""
    for family in families:
        file = SETS / f"{family}.ndjson"
        if file.exists() and not _has_problems(arena, family):  # a family that a package adds has no file
            for line in file.read_text(encoding="utf-8").splitlines():
                service.add(arena, FoundProblem.read(json.loads(line)).request, None)


def _has_problems(arena: Arena, family: str) -> bool:
    states: tuple[WinProblemState, ...] = ("accepted", "waiting")
    return any(service.search(arena, WinProblemQuery(family=family, state=state, limit=1)).items for state in states)
