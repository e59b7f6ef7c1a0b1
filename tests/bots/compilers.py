"""The programs that the templates of bots need, and which of them nobody is obliged to have."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from arena.submission.template import template_files
from tests.bots.driver import ROOT
from tests.conftest import OPTIONAL

NEEDS = {
    "python": ("make",),
    "python-plain": ("make",),
    "c": ("cc", "make"),
    "cpp": ("c++", "make"),
    "java": ("javac", "java", "make"),
    "javascript": ("node", "make"),
    "rust": ("rustc", "make"),
    "go": ("go", "make"),
}
_OURS = ("cc", "make")
"""Programs that `.ci/run` installs."""
_VERSION = {"java": "-version", "javac": "-version", "go": "version"}


@cache
def works(program: str) -> bool:
    """Whether a program is there and says its version: the launcher of a compiler may have nothing behind it."""
    try:
        done = subprocess.run(
            [program, _VERSION.get(program, "--version")], capture_output=True, check=False, timeout=500
        )
    except OSError:
        return False
    return done.returncode == 0


def need(language: str) -> None:
    """Skip the test if a program of the language is missing."""
    missing = [program for program in NEEDS[language] if not works(program)]
    if missing:
        optional = "" if set(missing) <= set(_OURS) else OPTIONAL
        pytest.skip(f"{optional}no {' and no '.join(missing)} here")


def write_template(language: str, family: str, folder: Path) -> None:
    """Write the files of a template into a new folder."""
    folder.mkdir(parents=True)
    for name, data in template_files(language, family).items():
        (folder / name).write_bytes(data)


def build(folder: Path) -> None:
    """Build the bot of a folder, if it is one to build; warnings are errors where the compiler can do that."""
    if "bin/" in (folder / "Makefile").read_text(encoding="utf-8"):
        subprocess.run(["make", "-s", "-C", str(folder), "CFLAGS=-O2 -Werror", "CXXFLAGS=-O2 -Werror"], check=True)


def build_loa_bot(folder: Path) -> str:
    """Build the bot in C with rules of its own in a copy below a folder; return the path of the program."""
    need("c")
    place = folder / "loa"
    if not place.exists():
        shutil.copytree(ROOT / "bots" / "examples" / "loa", place, ignore=shutil.ignore_patterns("bin"))
    build(place)
    return str(place / "bin" / "loa_bot")
