"""Fail closed: without a sandbox no uploads are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.cluster.spool import Spool
from arena.config import Settings
from arena.coordinator.executors import open_executor
from arena.events.bus import Bus
from arena.submission.receive import UnsafeError, refuse_unsafe
from referee.sandbox import level


def settings(folder: Path, **changes: object) -> Settings:
    """Return settings of a server without a sandbox."""
    return Settings(data=folder, sandbox="none", **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("is_root", "is_admin", "takes"), [(True, True, False), (False, True, True), (False, False, False)]
)
def test_without_a_sandbox_only_an_admin_may_and_never_as_root(
    is_root: bool, is_admin: bool, takes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level, "is_root", lambda: is_root)
    if takes:
        refuse_unsafe(settings(tmp_path), is_admin=is_admin)
    else:
        with pytest.raises(UnsafeError, match="root" if is_root else "doctor"):
            refuse_unsafe(settings(tmp_path), is_admin=is_admin)
    refuse_unsafe(settings(tmp_path, allow_weak_sandbox=True), is_admin=False)


def test_a_referee_that_would_run_bots_as_root_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level, "is_root", lambda: True)
    with pytest.raises(ValueError, match="allow_weak_sandbox"):
        open_executor(settings(tmp_path), Bus(), Spool(tmp_path / "spool"))
