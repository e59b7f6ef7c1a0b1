"""What a slot tells its parent, and when."""

from __future__ import annotations

from typing import Any

import pytest

from referee.slot import TOGETHER_S, Outbox

PLY, START = {"event": "ply"}, {"event": "start"}


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, to be set."""
    found = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: found[0])
    return found


def test_plies_that_follow_fast_go_together_and_in_order(at: list[float]) -> None:
    sent: list[tuple[str, Any]] = []
    outbox = Outbox(sent.append)
    outbox.tell(PLY)
    assert sent == [("events", [PLY])]  # the first one for long goes at once
    outbox.tell({**PLY, "number": 2})
    outbox.tell({**PLY, "number": 3})
    assert len(sent) == 1
    at[0] += 1.01 * TOGETHER_S
    outbox.tell({**PLY, "number": 4})
    assert sent[1:] == [("events", [{**PLY, "number": 2}, {**PLY, "number": 3}, {**PLY, "number": 4}])]


def test_nothing_waits_for_plies_and_nothing_is_sent_twice(at: list[float]) -> None:
    sent: list[tuple[str, Any]] = []
    outbox = Outbox(sent.append)
    outbox.tell(PLY)
    outbox.tell(PLY)
    outbox.tell(START)
    assert sent[1:] == [("events", [PLY, START])]
    outbox.tell(PLY)
    outbox.flush()
    outbox.flush()
    assert sent[2:] == [("events", [PLY])]
