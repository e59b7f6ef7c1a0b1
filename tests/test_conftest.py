"""Where skips are forbidden, a skip is a failure that says why; elsewhere it is a skip."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import conftest
from tests.conftest import spread

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 60.0


def wait_until(is_true: Callable[[], bool]) -> bool:
    """Look until it is true, or patience ends."""
    deadline = time.monotonic() + TIMEOUT_S
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize(("forbid", "failed"), [("1", 2), ("", 0)])
def test_a_forbidden_skip_fails(forbid: str, failed: int, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import pytest\n\ndef test_skipped():\n    pytest.skip('no such machine')\n\n"
        "@pytest.mark.skip(reason='not today')\ndef test_marked():\n    pass\n\n"
        "@pytest.mark.xfail(strict=True)\ndef test_known():\n    assert False\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "ARENA_FORBID_SKIPS": forbid, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("1 failed, 1 xfailed, 1 error" if failed else "2 skipped, 1 xfailed") in done.stdout, done.stdout
    if failed:
        assert "no such machine" in done.stdout
        assert "skips are forbidden here" in done.stdout


def test_a_killed_run_leaves_no_process_behind(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(
        "import os, subprocess, time\n\ndef test_server():\n"
        "    line = 'setsid sleep 600 & echo $! > pid; mv pid started; exec sleep 600'\n"
        "    settings = [name for name in os.environ if name.startswith('ARENA_')]\n"
        "    subprocess.run(['sh', '-c', line], env={k: v for k, v in os.environ.items() if k not in settings})\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "tests.conftest", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    line = [*command, f"--rootdir={tmp_path}", str(tmp_path)]
    with subprocess.Popen(line, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as run:
        started = tmp_path / "started"
        assert wait_until(started.exists)
        server = os.pidfd_open(int(started.read_text()))
        run.kill()
    assert select.select([server], [], [], TIMEOUT_S)[0], "a server outlived the test run"
    os.close(server)


def test_without_the_documentation_a_run_says_how_it_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(conftest, "SITE", tmp_path / "index.html")
    config = SimpleNamespace(option=SimpleNamespace(collectonly=False))
    with pytest.raises(pytest.UsageError, match="run: make docs"):
        conftest.pytest_configure(config)  # type: ignore[arg-type]


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "test_three.py").write_text("import pytest\n\ndef test_it():\n    pytest.skip('optional: no rust')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "ARENA_FORBID_SKIPS": "1", "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 skipped" in done.stdout, done.stdout
    assert done.returncode == 0


def test_a_module_may_not_skip_itself_either(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text("import pytest\n\npytest.importorskip('no_such_module_anywhere')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "ARENA_FORBID_SKIPS": "1", "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "no_such_module_anywhere" in done.stdout


def test_every_worker_begins_with_long_tests() -> None:
    everything = [f"test {number}" for number in range(20)]
    long = everything[3:5] + everything[11:13]
    assert spread(long, everything, 1) == long + [test for test in everything if test not in long]
    halves = spread(long, everything, 2)
    assert (halves[:2], halves[10:12]) == (long[:2], long[2:])
    for workers in range(1, 30):
        assert sorted(spread(long, everything, workers)) == sorted(everything)
    assert spread([], everything, 3) == everything
