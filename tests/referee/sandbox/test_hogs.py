"""Programs that take memory where it is hard to see: each is refused it, or killed before it has much too much."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from referee.game.spec import BotLimits
from referee.sandbox import LEVELS
from referee.sandbox.child import Child
from referee.sandbox.privilege import is_root
from referee.sandbox.reaper import become_subreaper, children, sweep
from referee.sandbox.watchdog import INTERVAL_NS, Watchdog
from tests.referee.sandbox.attacks import hog
from tests.referee.sandbox.levels import public_python, sandbox_or_skip

LIMITS = replace(BotLimits(), memory_bytes=64 * 2**20, processes=64)
"""Some of what is taken the kernel is slow to give: twice as much takes up to three times as long and shows no more."""
TIMEOUT_S = 300
AT_ONCE = 11
"""Megabytes that a hog may take between two checks, as many as a program takes in that time that does little else."""
OPEN = {
    # A bot that is not confined may use what any program of its user may.
    ("rlimits", "control groups"): {"backlog"},
    ("rlimits", "watchdog"): {"disk", "links", "network", "backlog"},
    ("none", "watchdog"): {
        *("disk", "links", "attributes", "access_lists", "network", "backlog", "datagrams", "zero_copy"),
        *("in_flight", "rulesets", "locks", "locks_of_files", "timers", "merged_pages"),
    },
}
"""Kinds that a level does not see, as SECURITY.md says."""
if not is_root():  # the kernel shows the size of unmapped shared memory only to root
    OPEN["rlimits", "watchdog"] |= {"zero"}
    OPEN["none", "watchdog"] |= {"zero", "trimmed"}
OF_GROUPS = {"memory_files", *OPEN["rlimits", "control groups"]}
"""The groups count alike at all levels: these, which no filter refuses, stand for the others in the stronger ones."""
CASES = [
    (level, counter, kind)
    for level in LEVELS
    for counter in ("control groups", "watchdog")
    for kind in hog.KINDS
    if (level, counter) != ("none", "control groups") and kind not in OPEN.get((level, counter), ())
    if (level, counter) == ("rlimits", "control groups") or counter == "watchdog" or kind in OF_GROUPS
]


@dataclass(frozen=True, slots=True)
class Result:
    """How a hog ended, and the most that it said it held."""

    refusal: str
    excess: str
    held: int


@pytest.fixture(autouse=True)
def no_strays() -> Iterator[None]:
    become_subreaper()
    before = children()
    yield
    sweep(before)


@contextmanager
def started(level: str, kind: str, limits: BotLimits, *, uses_groups: bool) -> Iterator[tuple[Child, Watchdog]]:
    sandbox = sandbox_or_skip(level, uses_groups=uses_groups)
    python = public_python()
    text = Path(hog.__file__).read_text()
    watchdog = Watchdog()
    child = Child(sandbox.confine((python, "-ISBc", text, kind), None, limits, has_network=True), limits, watchdog)
    try:
        yield child, watchdog
    finally:
        child.end()


def watch(child: Child, watchdog: Watchdog, max_held: int) -> Result:
    """Check the limits as a referee that waits for a move, until the hog has ended, is refused, or has too much.

    After each check it may take some more than it was seen to hold, however long the next one is in coming.
    """
    text, refusal, held, allowed = "", "", 0, 0
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        select.select([child.stdout, child.pid_fd], [], [], INTERVAL_NS / 1e9)
        checked_ns = watchdog.next_ns
        child.check_limits()
        with suppress(BlockingIOError):
            text += os.read(child.stdout, 65536).decode()
        *lines, text = text.split("\n")
        for word, _, rest in (line.partition(" ") for line in lines):
            refusal = rest if word == "refused:" else refusal
            held = int(rest) if word == "held" else held
        if refusal or child.excess() or child.has_exited or held > max_held:
            break
        if watchdog.next_ns != checked_ns and (more := held // hog.STEP + AT_ONCE - allowed) > 0:
            allowed += os.write(child.stdin, bytes(more))
    return Result(refusal, child.excess(), held)


@pytest.mark.parametrize(("level", "counter", "kind"), CASES)
def test_a_hog_is_refused_or_killed_within_half_more_than_its_limit(level: str, counter: str, kind: str) -> None:
    uses_groups = counter == "control groups"
    if uses_groups and sandbox_or_skip(level, uses_groups=True).cgroup_parent is None:
        pytest.skip("optional: no control groups can be made here")
    max_held = LIMITS.memory_bytes * 3 // 2
    with started(level, kind, LIMITS, uses_groups=uses_groups) as (child, watchdog):
        result = watch(child, watchdog, max_held)
    assert result.refusal or result.excess == "memory", result
    assert result.held <= max_held, result
