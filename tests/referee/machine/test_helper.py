"""Helper processes: what they are given, and that they end with whoever started them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from referee.machine import helper
from referee.machine.pool import SlotPool
from tests.arena.cluster.processes import are_gone, wait

STARTS = """
import signal, sys
from referee.machine import helper
process = helper.start("tests.referee.idle", stderr=helper.PIPE)
process.stderr.readline()
print(process.pid, flush=True)
signal.pause()
"""
GONE_S = 60


@pytest.fixture(autouse=True)
def tests_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let helpers find `tests.referee.idle`: the working folder is not on their path."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


def test_a_helper_is_given_its_words_and_a_group_of_its_own() -> None:
    with helper.start("tests.referee.idle", "one", 2, stderr=helper.PIPE) as process:
        assert process.stderr
        assert process.stderr.readline() == b"tests.referee.idle one 2\n"
        assert os.getpgid(process.pid) == process.pid
        process.kill()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_helper_ends_with_a_parent_that_is_killed(is_stopped: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        started = psutil.Process(int(parent.stdout.readline()))
        if is_stopped:
            started.suspend()
        parent.kill()
        parent.wait()
        wait(lambda: are_gone([started]), "its end")


def test_a_helper_whose_parent_is_gone_already_does_not_begin() -> None:
    line = [sys.executable, "-c", helper._ENTER, "1", "tests.referee.idle"]
    done = subprocess.run(line, stderr=subprocess.PIPE, timeout=GONE_S, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


def test_nobody_leaves_who_said_so_already() -> None:
    code = "import os, signal; from referee.machine.helper import *; end_with(os.getppid()); leave(); "
    code += "print(signal.getsignal(signal.SIGCONT) == signal.SIG_DFL)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=GONE_S, check=True)
    assert done.stdout == b"True\n"


def test_helper_in_a_folder_with_a_file_named_like_a_module_imports_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit(3)")
    (tmp_path / "queue.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    with SlotPool(1) as pool:
        assert pool.submit(os.getpid).result(GONE_S) != os.getpid()
