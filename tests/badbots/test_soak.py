"""Many hostile games in one process: it does not grow, and holds nothing more than before."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from referee.sandbox.reaper import children
from tests.badbots import match
from tests.badbots.catalogue import FAULTS
from tests.referee.sandbox.levels import sandbox_or_skip

QUICK = [fault for fault in FAULTS if fault.limit_ms == 0 and fault.leaves_ms == 0]
GAMES = 40


def test_the_referee_stays_as_small_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with match.roster(sandbox_or_skip("none")) as roster:
        for fault in QUICK[:8]:
            match.judge(fault, roster)
        others = children()
        before = match.Trace.take(others)
        for number in range(GAMES):
            fault = QUICK[number % len(QUICK)]
            verdict = match.judge(fault, roster, number)
            assert not match.complaint(fault, verdict, is_confined=False)
        after = match.Trace.take(others)
    assert (after.processes, after.files) == (before.processes, before.files)
    assert after.descriptors <= before.descriptors  # what earlier tests forgot may be collected meanwhile
    assert after.resident_bytes - before.resident_bytes < 10_000_000
