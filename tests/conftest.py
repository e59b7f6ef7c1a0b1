"""What holds for all tests: where ARENA_FORBID_SKIPS is set, a test that is skipped has failed; long ones come first.

Only what nobody is obliged to have may be missing: a skip whose reason begins with OPTIONAL stays a skip. What tests
start ends with them: a guard sees to it, even when they are killed.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import uuid
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests import guard

EFFORT = int(os.environ.get("ARENA_TEST_EFFORT", "1"))
"""How many times as many examples, random games and requests are tried as in everyday work; a release takes 5."""
# A busy machine is not an error: neither that an example takes long, nor that drawing one does. Examples are drawn anew
# at every desk; where a commit is judged they are the same each time, so that it is not judged by those before it.
settings.register_profile(
    "arena",
    max_examples=25 * EFFORT,
    deadline=None,
    derandomize=os.environ.get("ARENA_FORBID_SKIPS") == "1",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("arena")
gc.set_threshold(20_000)  # what tests import stays: walking through it after every 700 new objects takes a tenth more
OPTIONAL = "optional: "
SITE = Path(__file__).parents[1] / "arena" / "documentation" / "index.html"
INTERPRETED = {"NUMBA_DISABLE_JIT": "1", "ARENA_ANALYSIS_GAMES_PER_DAY": "0"}
"""For the environment of processes that play short games: kernels as ordinary Python, ready in half the time.

An arena that rests for a minute, as on a busy machine, analyses nothing of itself: the judge would take a whole core.
"""
T = TypeVar("T")


def pytest_configure(config: pytest.Config) -> None:
    """Start the guard of this run; the workers of pytest-xdist and all they start inherit its mark."""
    if not hasattr(config, "workerinput"):
        if not SITE.is_file() and not config.option.collectonly:
            raise pytest.UsageError("the documentation, which tests read, is not built; run: make docs")
        os.environ[guard.NAME] = uuid.uuid4().hex
        line = [sys.executable, "-I", "-S", "-B", guard.__file__, str(os.getpid())]
        # Without the mark itself, or it would end itself.
        unmarked = {name: value for name, value in os.environ.items() if name != guard.NAME}
        subprocess.run([*line, f"{guard.NAME}={os.environ[guard.NAME]}"], check=True, env=unmarked)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this test starts has its kernels as ordinary Python."""
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A skip that is forbidden becomes a failure that shows the reason."""
    report = yield
    if report.skipped and os.environ.get("ARENA_FORBID_SKIPS") == "1" and not hasattr(report, "wasxfail"):
        where, line, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
        if reason.removeprefix("Skipped: ").startswith(OPTIONAL):
            return report
        report.outcome = "failed"
        report.longrepr = f"{where}:{line}: {reason}\nskips are forbidden here (ARENA_FORBID_SKIPS=1)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """The same for whole modules."""
    report = yield
    if report.skipped and os.environ.get("ARENA_FORBID_SKIPS") == "1":
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: {report.longrepr}\nskips are forbidden here (ARENA_FORBID_SKIPS=1)"
    return report


def pytest_collection_finish() -> None:
    """Leave modules and tests out of collections of garbage: they stay, and walking through them takes long."""
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whoever runs tests begins with its share of the long ones, which mostly wait: at the end nobody waits for one."""
    if hasattr(config, "workerinput"):
        long = [item for item in items if item.get_closest_marker("long")]
        items[:] = spread(long, items, config.workerinput["workercount"])


def spread(long: Sequence[T], everything: Sequence[T], workers: int) -> list[T]:
    """The order in which xdist, which cuts it into a piece for each worker, gives every worker some of `long` first."""
    chosen = set(map(id, long))
    rest = [item for item in everything if id(item) not in chosen]
    ordered: list[T] = []
    for number in range(workers):
        end = (len(everything) - len(ordered)) // (workers - number) + len(ordered)
        share = long[len(long) * number // workers : len(long) * (number + 1) // workers]
        ordered += share
        taken = max(0, end - len(ordered))
        ordered += rest[:taken]
        del rest[:taken]
    return ordered + rest
