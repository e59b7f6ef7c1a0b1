"""What each sandbox adds to the start of a bot."""

from __future__ import annotations

from collections.abc import Iterator

from tests.tools.bench.figure import Figure
from tests.tools.startup import BOUND_MS, measure


def run(quick: bool) -> Iterator[Figure]:
    """From the command to the first line, in every sandbox that works here."""
    bare, *levels = measure(15 if quick else 60)
    for cost in levels:
        goal = f"< {bare.best_ms + BOUND_MS:.1f}"
        yield Figure("sandbox", f"start of a bot in {cost.name}", cost.best_ms, "ms", "bare start", bare.best_ms, goal)
