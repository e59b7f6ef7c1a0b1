"""A folder for the kernels of one run, where the usual one cannot be written."""

from __future__ import annotations

import argparse
import os
import stat
from pathlib import Path

import pytest

from arena.cli.terminal import kernel_cache
from referee.rules.cache import cache_root


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which code is compiled, a temporary folder, and a usual folder that is a file's child."""
    (tmp_path / "file").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "numba"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(kernel_cache, "IS_COMPILED", True)
    monkeypatch.setattr(kernel_cache, "_is_cold", lambda family: True)
    monkeypatch.setattr(kernel_cache, "_forget_folders", lambda: None)
    return tmp_path


def test_have_folder_unwritable_usual_one_makes_one_for_the_run(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []
    monkeypatch.setattr("atexit.register", lambda *call: kept.append(call))
    kernel_cache.have_folder(argparse.Namespace(family="loa"))
    folder = cache_root()
    assert folder.parent == place / "tmp"
    assert not stat.S_IMODE(folder.stat().st_mode) & 0o022, "bots may not write code"
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be written" in line
    assert "set NUMBA_CACHE_DIR" in line
    ((remove, *arguments),) = kept
    remove(arguments[0], os.getpid() + 1)
    assert folder.exists(), "a child leaves it alone"
    remove(*arguments)
    assert not folder.exists()


def test_have_folder_warm_read_only_one_is_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_is_cold", lambda family: False)
    kernel_cache.have_folder(argparse.Namespace())
    assert cache_root() == place / "file" / "numba"


def test_have_folder_writable_usual_one_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place / "fine"))
    kernel_cache.have_folder(argparse.Namespace())
    assert cache_root() == place / "fine"


def test_have_folder_full_disk_says_that_every_process_compiles(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", fail)
    kernel_cache.have_folder(argparse.Namespace())
    assert "every process compiles its kernels" in capsys.readouterr().err
    assert cache_root() == place / "file" / "numba"
