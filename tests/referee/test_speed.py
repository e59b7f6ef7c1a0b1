"""How fast a process is."""

from __future__ import annotations

import pytest

from referee import speed
from referee.rules import families, load


def test_leaves_are_counted_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((10.0, 10.1, 10.2, 10.5))
    monkeypatch.setattr(speed, "DEPTH", 1)
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    ruleset = load(families()[0]).settle()
    moves = ruleset.rules.kernel.count(ruleset.read(), ruleset.config)
    assert speed.measure() == pytest.approx(2 * moves / 0.5), "twice within the time"
