"""The stage, in both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog

from arena.store import Store
from tests.arena.coordinator.stage import Stage


@pytest.fixture
def stage(store: Store, tmp_path: Path) -> Stage:
    """Return an arena with four bots."""
    return Stage(store, tmp_path / "data")


@pytest.fixture(autouse=True)
def _fresh_log() -> None:
    """Reset logging, which a command of another test may have bound to a closed standard error."""
    structlog.reset_defaults()
