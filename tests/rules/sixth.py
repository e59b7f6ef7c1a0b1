"""Registers the families under `tests/rules/toy/`: a pytest plugin, and a function for tests.

python -m pytest -p tests.rules.sixth tests/rules -k hexapawn
"""

from __future__ import annotations

from pathlib import Path

import referee.families
import referee.rules

TOY = Path(__file__).parent / "toy"


def install() -> None:
    """Make discovery find the toy families too."""
    if str(TOY) not in referee.rules.__path__:
        referee.rules.__path__.append(str(TOY))
        forget()


def forget() -> None:
    """Clear the caches of discovery."""
    for found in (referee.families.homes, referee.rules.families, referee.rules.terminations):
        found.cache_clear()


def pytest_configure() -> None:
    """Install the toy families before pytest collects tests."""
    install()
