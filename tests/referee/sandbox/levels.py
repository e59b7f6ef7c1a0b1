"""The sandbox a test wants, or the reason why it cannot have it."""

from __future__ import annotations

import pytest

from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox


def sandbox_or_skip(name: str, *, uses_groups: bool = True) -> Sandbox:
    """The sandbox of that name; skips the test where it does not work."""
    found = assess(name)
    if not found.works:
        pytest.skip(f"sandbox {name}: {found.reason}; {found.fix}")
    return open_sandbox(name, uses_groups=uses_groups)


def working(*names: str) -> list[str]:
    """Those of the levels that work here, all unless named; for what is tested wherever it can be."""
    return [name for name in names or LEVELS if assess(name).works]
