"""Times of answers as a test says, so that how busy the machine is does not matter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.check.examinee import BotUnderTest


def keep_pace(monkeypatch: pytest.MonkeyPatch, took_ms: Callable[[float, int], float]) -> list[float]:
    """Let a bot under test take `took_ms` of the move time that it is told and the number of its answer, from 1.

    Returns the move times it is told.
    """
    really, told = BotUnderTest.time, list[float]()

    def time(examinee: BotUnderTest, told_ms: int, timeout_ms: float) -> float:
        really(examinee, told_ms, timeout_ms)
        told.append(told_ms)
        return took_ms(told_ms, len(told))

    monkeypatch.setattr(BotUnderTest, "time", time)
    return told
