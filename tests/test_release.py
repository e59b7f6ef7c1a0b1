"""The release script, on a small project in a repository of its own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "release"
PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "tiny"
version = "0.2.0"

[tool.setuptools]
packages = ["tiny"]
"""
LOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n- A thing.\n\n## [0.2.0] - 2026-11-22\n\n### Added\n- All.\n"


def git(folder: Path, *words: str) -> str:
    line = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=100).stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "release")
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    (tmp_path / ".gitignore").write_text("dist/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Begin")
    return tmp_path


def release(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(folder / ".ci" / "release"), version]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


def test_a_release_is_built_tagged_and_summed(project: Path) -> None:
    done = release(project, "0.3.0")
    assert done.returncode == 0, done.stderr
    log = (project / "CHANGELOG.md").read_text()
    assert log.index("## [Unreleased]\n\n## [0.3.0] - 20") < log.index("- A thing.") < log.index("## [0.2.0]")
    assert 'version = "0.3.0"' in (project / "pyproject.toml").read_text()
    assert git(project, "log", "-1", "--format=%s") == "Release 0.3.0\n"
    assert git(project, "cat-file", "tag", "v0.3.0").partition("\n\n")[2] == "Version 0.3.0\n\n### Added\n- A thing.\n"
    assert git(project, "status", "--porcelain") == ""
    sums = (project / "dist" / "SHA256SUMS").read_text().splitlines()
    files = {name: digest for digest, name in (line.split("  ") for line in sums)}
    assert set(files) == {"tiny-0.3.0.tar.gz", "tiny-0.3.0-py3-none-any.whl"}
    for name, digest in files.items():
        assert hashlib.sha256((project / "dist" / name).read_bytes()).hexdigest() == digest
    assert "tiny/__init__.py" in zipfile.ZipFile(project / "dist" / "tiny-0.3.0-py3-none-any.whl").namelist()
    again = release(project, "0.4.0")
    assert again.returncode == 1
    assert "nothing stands under [Unreleased]" in again.stderr


@pytest.mark.parametrize(
    ("version", "change", "said"),
    [
        ("0.3", "", "three numbers"),
        ("0.2.0", "", "does not follow 0.2.0"),
        ("0.1.9", "", "take a later one"),
        ("0.3.0", "x", "not committed"),
    ],
)
def test_what_is_no_release_changes_nothing(project: Path, version: str, change: str, said: str) -> None:
    if change:
        (project / "tiny" / "__init__.py").write_text(change)
    done = release(project, version)
    assert done.returncode == 1
    assert said in done.stderr
    assert git(project, "tag") == ""
    assert (project / "CHANGELOG.md").read_text() == LOG
