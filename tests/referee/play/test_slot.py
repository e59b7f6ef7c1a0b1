"""What a slot tells its parent, and when."""

from __future__ import annotations

from typing import Any

import pytest

from referee.play.slot import TOGETHER_S, EventOutbox

START = {"event": "start", "game": "g"}


def plies(*numbers: int, game: str = "g") -> dict[str, Any]:
    """The event of plies that follow one another."""
    moves = [f"m{number}" for number in numbers]
    return {"event": "plies", "game": game, "number": numbers[0], "moves": moves, "plies": [(1.0,)] * len(moves)}


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, to be set."""
    found = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: found[0])
    return found


def test_plies_that_follow_fast_go_together_in_one_event(at: list[float]) -> None:
    sent: list[tuple[str, Any]] = []
    outbox = EventOutbox(sent.append)
    outbox.tell(plies(1))
    assert sent == [("events", [plies(1)])]  # the first one for long goes at once
    outbox.tell(plies(2))
    outbox.tell(plies(3))
    assert len(sent) == 1
    at[0] += 1.01 * TOGETHER_S
    outbox.tell(plies(4))
    assert sent[1:] == [("events", [plies(2, 3, 4)])]


def test_plies_that_nothing_follows_are_sent_once_they_are_due(at: list[float]) -> None:
    sent: list[tuple[str, Any]] = []
    outbox = EventOutbox(sent.append)
    outbox.tell(plies(1))
    outbox.tell(plies(2))
    outbox.flush_due()
    assert len(sent) == 1, "others were sent a moment ago"
    at[0] += 1.01 * TOGETHER_S
    outbox.flush_due()
    assert sent[1:] == [("events", [plies(2)])]
    at[0] += 1.01 * TOGETHER_S
    outbox.flush_due()
    assert len(sent) == 2, "nothing waits"


def test_plies_of_another_game_and_with_a_gap_between_are_told_apart(at: list[float]) -> None:
    sent: list[tuple[str, Any]] = []
    outbox = EventOutbox(sent.append)
    outbox.tell(plies(1))
    for event in (plies(2), plies(2), plies(3, game="h"), plies(5, game="h"), plies(6, game="h")):
        outbox.tell(event)
    outbox.flush()
    assert sent[1:] == [("events", [plies(2), plies(2), plies(3, game="h"), plies(5, 6, game="h")])]


def test_nothing_waits_for_plies_and_nothing_is_sent_twice(at: list[float]) -> None:
    sent: list[tuple[str, Any]] = []
    outbox = EventOutbox(sent.append)
    outbox.tell(plies(1))
    outbox.tell(plies(2))
    outbox.tell(START)
    assert sent[1:] == [("events", [plies(2), START])]
    outbox.tell(plies(3))
    outbox.flush()
    outbox.flush()
    assert sent[2:] == [("events", [plies(3)])]
