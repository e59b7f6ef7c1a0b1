"""Priorities of processes beside games."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from arena.offload import REQUEST_NICENESS, OffloadProcess, share_with_games, yield_to_games


@pytest.mark.parametrize(
    ("lower", "niceness", "policy"),
    [(share_with_games, REQUEST_NICENESS, os.SCHED_OTHER), (yield_to_games, 19, os.SCHED_IDLE)],
)
def test_what_a_person_waits_for_competes_with_games_and_other_work_does_not(
    lower: Callable[[], None], niceness: int, policy: int
) -> None:
    process = OffloadProcess()
    try:
        process.call(lower)
        present = process.call(os.getpriority, os.PRIO_PROCESS, 0)
        assert present == max(niceness, os.getpriority(os.PRIO_PROCESS, 0))  # the tests may run at a low one themselves
        assert process.call(os.sched_getscheduler, 0) == policy
    finally:
        process.close()
