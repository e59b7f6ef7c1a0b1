"""The formats of tournaments, each in a module of this folder that defines `FORMAT`.

`format_named` finds them: no other code compares the name of a format. A module `double_swiss.py` is the format
`double-swiss`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are listed without loading a format
    from referee.tournament.formats.format import Format

DEFAULT = "round-robin"
_OTHER_MODULES = ("format",)


@cache
def names() -> tuple[str, ...]:
    """Return the names of all formats, the default first, the others sorted. No format is loaded."""
    modules = (module.name for module in pkgutil.iter_modules(__path__) if module.name not in _OTHER_MODULES)
    return tuple(sorted((module.replace("_", "-") for module in modules), key=lambda name: (name != DEFAULT, name)))


@cache
def formats() -> Mapping[str, Format[Any]]:
    """Return all formats by name."""
    modules = {name: importlib.import_module(f"{__name__}.{name.replace('-', '_')}") for name in names()}
    return {name: module.FORMAT for name, module in modules.items()}


def format_named(name: str) -> Format[Any]:
    """Return the format of this name. One stored by another version of the program counts as the default format."""
    return formats().get(name) or formats()[DEFAULT]
