"""Problems that come with the program: each can be solved, and a new arena gets them once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.app import context_of
from arena.events.bus import Bus
from arena.features.problems import shipped
from arena.features.problems.store import Problems
from arena.store import Store
from referee.rules import families
from referee.solver.mining import ProblemStatement, prove
from tests.arena.api.server import settings_in
from tests.conftest import EFFORT

FAMILIES = sorted(families())


def lines_of(family: str) -> list[str]:
    return (shipped.SETS / f"{family}.ndjson").read_text("utf-8").splitlines()


@pytest.mark.parametrize("family", FAMILIES)
def test_an_arena_gets_the_problems_of_a_family_once(tmp_path: Path, family: str) -> None:
    store = Store.in_folder(tmp_path)
    arena = context_of(store, settings_in(tmp_path), Bus()).arena
    for _ in range(2):
        shipped.furnish(arena, [family, "unknown"])
    problems = Problems(store.sessions)
    numbers = range(1, len(lines_of(family)) + 1)
    assert len(numbers) >= 8
    assert {problems.get(number).state for number in numbers} == {"waiting"}
    assert problems.next_waiting() is not None
    assert {problems.get(number).family for number in numbers} == {family}
    store.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_shipped_problems_are_proved(family: str) -> None:
    for line in lines_of(family)[: None if EFFORT > 1 else 1]:
        mined = json.loads(line)
        claim = ProblemStatement(
            family=family,
            variant=mined["variant"],
            options=mined["options"],
            position=mined["position"],
            max_moves=mined["in"],
            condition="",
        )
        assert prove(claim).moves == mined["in"]
