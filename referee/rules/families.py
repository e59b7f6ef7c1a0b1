"""Where the families are: the folders under `referee/rules`, and installed packages that name one.

A package names its family by an entry point of the group `arena.families`: the family's name and the module whose
`RULES` it is. Nothing of a family is imported here. Refuses to know what rules are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

GROUP = "arena.families"
BUILT_IN = "referee.rules"
_NAME = re.compile(r"[a-z][a-z0-9]{1,30}")


class FamilyPackageError(RuntimeError):
    """A package that names a family as it cannot be: the message says which, and what to do."""


@cache
def homes() -> Mapping[str, str]:
    """Every family and the module it is, sorted by name. Raises FamilyPackageError."""
    found = {name: f"{BUILT_IN}.{name}" for name in _folders()}
    owners = dict.fromkeys(found, "the arena itself")
    for name, module, package in _packages():
        if not is_name(name):
            raise FamilyPackageError(
                f"{package} names a family {name!r}: a name is lower case letters and digits; mend or uninstall it"
            )
        if name in owners:
            raise FamilyPackageError(
                f"{package} brings a family {name!r}, which {owners[name]} has as well; uninstall one of them"
            )
        found[name], owners[name] = module, package
    return dict(sorted(found.items()))


def is_name(text: str) -> bool:
    """Whether a family may be called that."""
    return _NAME.fullmatch(text) is not None


def folder(family: str) -> Path:
    """The folder of a family's files, without importing it. Raises KeyError, FamilyPackageError."""
    module = homes()[family]
    try:
        return folder_of(module)
    except LookupError:
        problem = f"the family {family!r} is said to be the package {module}, which is not there"
        raise FamilyPackageError(problem) from None


def folder_of(package: str) -> Path:
    """The folder of a package, without importing it. Raises LookupError where there is none."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"no package {package}")
    return Path(spec.submodule_search_locations[0])


def _folders() -> Iterator[str]:
    import pkgutil

    spec = find_spec(BUILT_IN)
    places = spec.submodule_search_locations if spec is not None else None
    return (module.name for module in pkgutil.iter_modules(places) if module.ispkg)


def _packages() -> Iterator[tuple[str, str, str]]:
    """Name, module and distribution of every entry point of the group; each distribution once."""
    if not _is_any_named():
        return
    from importlib.metadata import distributions

    seen = set()
    for package in distributions():
        name = package.metadata["Name"]
        for entry in package.entry_points:
            if entry.group == GROUP and (name, entry.name) not in seen:
                seen.add((name, entry.name))
                yield entry.name, entry.module, name


def _is_any_named() -> bool:
    """Whether the group is named anywhere: reading everything that is installed takes many times as long."""
    for place in dict.fromkeys(sys.path):
        for file in Path(place or ".").glob("*.*-info/entry_points.txt"):
            try:
                if GROUP in file.read_text(errors="replace"):
                    return True
            except OSError:
                continue
    return False
