"""The stage, in both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog

from arena.store import Store
from tests.arena.coordinator.stage import Stage


@pytest.fixture
def stage(store: Store, tmp_path: Path) -> Stage:
    """An arena with four bots."""
    return Stage(store, tmp_path / "data")


@pytest.fixture(autouse=True)
def _fresh_log() -> None:
    """A command run inside this process has set logs up for a standard error that is closed by now."""
    structlog.reset_defaults()
