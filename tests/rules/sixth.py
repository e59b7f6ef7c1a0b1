"""Makes the families under `tests/rules/toy/` families of the program: a pytest plugin, and a function for tests.

python -m pytest -p tests.rules.sixth tests/rules -k hexapawn
"""

from __future__ import annotations

from pathlib import Path

import referee.rules
import referee.rules.families

TOY = Path(__file__).parent / "toy"


def install() -> None:
    """Let discovery find the toy families as well."""
    if str(TOY) not in referee.rules.__path__:
        referee.rules.__path__.append(str(TOY))
        forget()


def forget() -> None:
    """Let discovery look again."""
    for found in (referee.rules.families.homes, referee.rules.families, referee.rules.terminations):
        found.cache_clear()


def pytest_configure() -> None:
    """Called by pytest before it collects."""
    install()
