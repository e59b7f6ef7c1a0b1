"""The compilers of the examples: which are needed by everybody, which only where they are found."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.bots.driver import ROOT
from tests.conftest import OPTIONAL

NEEDS = {
    "c": ("cc", "make"),
    "cpp": ("c++", "make"),
    "rust": ("rustc", "make"),
    "java": ("javac", "java", "make"),
    "javascript": ("node",),
}


@cache
def works(program: str) -> bool:
    """Whether a program is there and says its version: the launcher of a compiler may have nothing behind it."""
    word = "-version" if program.startswith("java") else "--version"
    try:
        done = subprocess.run([program, word], capture_output=True, check=False, timeout=500)
    except OSError:
        return False
    return done.returncode == 0


def build(language: str, folder: Path) -> list[str]:
    """Build the example of a language in a copy below `folder`; its command. Skips where a compiler is missing."""
    missing = [program for program in NEEDS[language] if not works(program)]
    if missing:
        pytest.skip(f"{OPTIONAL if language != 'c' else ''}no {' and no '.join(missing)} here")
    place = folder / language
    if not place.exists():
        shutil.copytree(ROOT / "bots" / "examples" / language, place, ignore=shutil.ignore_patterns("bin"))
    if language == "javascript":
        return [str(place / "loa_bot.js")]
    subprocess.run(["make", "-s", "-C", str(place)], check=True, timeout=500)
    binary = str(place / "bin")
    return ["java", "-cp", binary, "LoaBot"] if language == "java" else [f"{binary}/loa_bot"]
