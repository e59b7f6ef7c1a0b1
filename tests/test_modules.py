"""A module is worth its file: it has forty lines, or several importers.

Commands and revisions are imported by name, so they have no importer here.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("protocol", "referee", "bots", "arena")
MIN_LINES = 40


def modules() -> dict[str, Path]:
    """Return the modules of the product by name, packages without their `__init__`."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.stem not in ("__init__", "__main__")
    }


def imports(path: Path) -> Iterator[str]:
    """Yield the names that a module imports from, anywhere in it: `a.b` and `a.b.c` for `from a.b import c`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


@cache
def importers() -> dict[str, set[str]]:
    """Return the product's modules that import each module."""
    known, users = modules(), defaultdict[str, set[str]](set)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for module in imports(path):
                if module in known and module != name:
                    users[module].add(name)
    return users


def is_of_family(path: Path) -> bool:
    """Return whether a module is in the folder of a family: all families have the same files, whatever their length."""
    return (path.parent / "kernel.py").exists()


def is_of_routes(path: Path) -> bool:
    """Return whether a module is in a table of routes, which has a file for each noun."""
    return path.parent.name == "routes"


def test_short_module_has_several_importers() -> None:
    users_of = importers()
    short = {
        name: users_of[name]
        for name, path in modules().items()
        if len(path.read_text(encoding="utf-8").splitlines()) < MIN_LINES
        and not is_of_family(path)
        and not is_of_routes(path)
    }
    assert not {name: sorted(users) for name, users in short.items() if len(users) == 1}


def test_importers_are_found_in_functions_and_packages() -> None:
    found = importers()
    assert "arena.features.laboratory.cli.tune" in found["arena.pages.drawing.plot"], "imported in a function"
    assert "arena.services.__init__" in found["arena.services.arena"]
