"""What holds for all tests: where ARENA_FORBID_SKIPS is set, a test that is skipped has failed.

Only what nobody is obliged to have may be missing: a skip whose reason begins with OPTIONAL stays a skip.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("arena", deadline=None)  # a busy machine is not an error
settings.load_profile("arena")
OPTIONAL = "optional: "


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
