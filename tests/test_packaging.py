"""What is installed: a wheel made from the sources holds every file of the packages, also what the pages show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("protocol", "referee", "bots", "arena")
OTHERS = ("tests", "docs", "deploy", ".ci")
FILES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile")
BUILD = "from setuptools.build_meta import build_sdist, build_wheel; build_sdist('dist'), build_wheel('dist')"


def sources(*tops: str) -> set[str]:
    """Every file below, but for what programs leave behind there."""
    found = set()
    for top in tops:
        for folder, folders, names in os.walk(ROOT / top):
            folders[:] = [name for name in folders if name not in ("__pycache__", "bin")]
            found |= {str(Path(folder, name).relative_to(ROOT)) for name in names}
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and an archive of sources, built from a copy of the sources without network."""
    folder = tmp_path_factory.mktemp("sources")
    left = shutil.ignore_patterns("__pycache__", "bin")
    for name in (*PACKAGES, *OTHERS):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=left)
    for name in (*FILES, "MANIFEST.in", "constraints.txt"):
        shutil.copy(ROOT / name, folder / name)
    subprocess.run([sys.executable, "-c", BUILD], cwd=folder, check=True, capture_output=True)
    return folder / "dist"


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(built.glob("*.whl")))


def test_the_archive_of_sources_is_whole(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert sources(*PACKAGES, *OTHERS) | {*FILES, "MANIFEST.in", "constraints.txt"} <= names


def test_a_wheel_holds_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == sources(*PACKAGES)
    assert "arena/migrations/script.py.mako" in names


def test_a_wheel_says_that_it_is_typed(wheel: zipfile.ZipFile) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(wheel.namelist())


def test_the_documentation_is_found_when_installed(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    pages = ("index.html", "search/index.html", "searchindex.js", "reference/command-line/index.html", "fr/index.html")
    assert {f"arena/documentation/{name}" for name in pages} <= names
