"""Finds the families: the folders under `referee/rules`, and installed packages that define one.

A package defines a family by an entry point of the group `arena.families`: the family's name and the module with its
`RULES`. No module of a family is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from referee.entry_points import entry_points

GROUP = "arena.families"
BUILT_IN = "referee.rules"
_NAME = re.compile(r"[a-z][a-z0-9]{1,30}")


class FamilyPackageError(RuntimeError):
    """A package with an invalid family; the message names the package and the family, and says what to do."""


@cache
def homes() -> Mapping[str, str]:
    """Map the name of every family to the name of its module, sorted by family. Raises FamilyPackageError."""
    modules = {name: f"{BUILT_IN}.{name}" for name in _folders()}
    owners = dict.fromkeys(modules, "the arena itself")
    for entry in entry_points(GROUP):
        name, package = entry.name, entry.package
        if not is_name(name):
            raise FamilyPackageError(
                f"{package} names a family {name!r}: a name has lower-case letters and digits; fix or uninstall it"
            )
        if name in owners:
            raise FamilyPackageError(
                f"{package} brings a family {name!r}, which {owners[name]} has as well; uninstall one of them"
            )
        modules[name], owners[name] = entry.module, package
    return dict(sorted(modules.items()))


def is_name(text: str) -> bool:
    """Return whether the text is a valid name of a family."""
    return _NAME.fullmatch(text) is not None


def folder(family: str) -> Path:
    """Return the folder of a family's files, without importing it. Raises KeyError, FamilyPackageError."""
    module = homes()[family]
    try:
        return folder_of(module)
    except LookupError:
        problem = f"the family {family!r} names the package {module}, which is not there; reinstall the family"
        raise FamilyPackageError(problem) from None


def folder_of(package: str) -> Path:
    """Return the folder of a package, without importing it. Raises LookupError if there is none."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"no package {package}")
    return Path(spec.submodule_search_locations[0])


def _folders() -> Iterator[str]:
    import pkgutil

    spec = find_spec(BUILT_IN)
    places = spec.submodule_search_locations if spec is not None else None
    return (module.name for module in pkgutil.iter_modules(places) if module.ispkg)
