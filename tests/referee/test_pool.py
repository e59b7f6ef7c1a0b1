"""The pool of game slots where the system gives no processes, and where one goes while nobody needs it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from referee.pool import JobError, SlotPool, WorkerLostError

ALONE = {"OPENBLAS_NUM_THREADS": "1"}
"""Else numpy starts threads."""


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


COPIED = """
import os, signal, sys
from pathlib import Path
from referee.pool import SlotPool, WorkerLostError

sys.modules["loaded"] = sys.modules["os"]
with open(sys.argv[1], "w") as file, SlotPool(1, forks=True) as pool:
    pid = pool.submit(os.getpid).result(60)
    print(Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes())
    print(pool.submit(eval, "__import__('loaded').getppid()").result(60) == os.getpid())
    opened = [os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir()]
    print(file.name in opened, "/dev/null" in opened)
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    print(pool.submit(os.getpid).result(60) != pid)
print(Path(f"/proc/{pid}").exists())
"""


def test_the_first_slot_is_a_copy_of_a_process_with_one_thread_and_has_none_of_its_files(tmp_path: Path) -> None:
    line = [sys.executable, "-c", COPIED, str(tmp_path / "file")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **ALONE})
    assert done.stdout.split() == ["True", "True", "False", "True", "True", "False"], done.stderr


def test_the_first_job_goes_to_the_slot_that_has_begun() -> None:
    code = "import os; from referee.pool import SlotPool as P; import sys; sys.modules['loaded'] = os\n"
    code += """with P(3, forks=True) as pool: print(pool.submit(eval, "__import__('loaded').getppid()").result(60))"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, **ALONE})
    assert int(process.communicate(timeout=120)[0]) == process.pid


def test_a_process_with_threads_is_not_copied() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    with SlotPool(1, forks=True) as pool:
        pid = pool.submit(os.getpid).result(60)
        assert Path(f"/proc/{pid}/cmdline").read_bytes() != Path("/proc/self/cmdline").read_bytes()
    end.set()
    thread.join()
