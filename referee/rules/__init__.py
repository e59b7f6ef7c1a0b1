"""The rules of every family, one folder each, found by discovery. No IO, no clock, no protocol."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from referee.rules.core import UnknownNameError
from referee.rules.rules import Rules


@cache
def families() -> tuple[str, ...]:
    """The names of all families, sorted: the sub-packages of this package."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))


def load(family: str) -> Rules:
    """The rules of a family. Raises UnknownNameError with the nearest names."""
    if family not in families():
        raise UnknownNameError("family", family, families())
    rules: Rules = importlib.import_module(f"{__name__}.{family}").RULES
    return rules
