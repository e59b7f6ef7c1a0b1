"""The pool of game slots where the system gives no processes, and where one goes while nobody needs it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from referee.machine import helper
from referee.machine.pool import MAX_FAILED_STARTS, JobError, SlotPool, SlotStartError, WorkerLostError

pytestmark = pytest.mark.usefixtures("interpreted")


def test_a_slot_that_cannot_be_started_fails_its_job_and_is_started_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, tries = subprocess.Popen, []

    def popen(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        tries.append(words)
        if len(tries) == 1:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return start(*words, **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    with SlotPool(1) as pool:
        with pytest.raises(WorkerLostError, match="temporarily unavailable"):
            pool.submit(os.getpid).result(60)
        assert pool.submit(os.getpid).result(60) != os.getpid()


def test_a_slot_that_died_idle_is_replaced_and_its_socket_closed() -> None:
    with SlotPool(1) as pool:
        pid = pool.submit(os.getpid).result(60)
        before = set(Path("/proc/self/fd").iterdir())
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert pool.submit(os.getpid).result(60) != pid
        assert len(set(Path("/proc/self/fd").iterdir())) == len(before)


def test_an_answer_that_cannot_be_read_fails_its_job_alone() -> None:
    unreadable = "type('Answer', (), {'__reduce__': lambda self: (getattr, (int, 'nothing'))})()"
    with SlotPool(1) as pool:
        with pytest.raises(JobError, match="nothing"):
            pool.submit(eval, unreadable).result(60)
        assert pool.submit(os.getpid).result(60) != os.getpid()


def test_slot_that_dies_at_start_again_and_again_is_an_error_with_its_words(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    start = helper.start

    def fails(module: str, *words: object, **options: Any) -> helper.Popen:
        return start("no.such.module", *words, **options)

    monkeypatch.setattr(helper, "start", fails)
    with SlotPool(1) as pool:
        for _ in range(MAX_FAILED_STARTS - 1):
            with pytest.raises(WorkerLostError, match="before it was ready"):
                pool.submit(os.getpid).result(60)
        with pytest.raises(SlotStartError, match="No module named"):
            pool.submit(os.getpid).result(60)
        monkeypatch.setattr(helper, "start", start)
        assert pool.submit(os.getpid).result(60) != os.getpid()
    assert "No module named" in capfd.readouterr().err
