"""The sandbox a test wants, or the reason why it cannot have it."""

from __future__ import annotations

import os
import sys

import pytest

from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox
from referee.sandbox.privilege import is_passable


def sandbox_or_skip(name: str, *, uses_groups: bool = True) -> Sandbox:
    """The sandbox of that name; skips the test where it does not work."""
    found = assess(name)
    if not found.works:
        pytest.skip(f"sandbox {name}: {found.reason}; {found.fix}")
    return open_sandbox(name, uses_groups=uses_groups)


def working(*names: str) -> list[str]:
    """Those of the levels that work here, all unless named; for what is tested wherever it can be."""
    return [name for name in names or LEVELS if assess(name).works]


def public_python() -> str:
    """A Python that every user may run: this one, unless it is in a folder of root's."""
    return sys.executable if is_passable(os.path.realpath(sys.executable)) else "/usr/bin/python3"
