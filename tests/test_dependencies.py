"""What is installed lies within the bounds of `pyproject.toml`, and what may break has an upper one."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from tests.tools.latest import pinned, requirements

BOUNDED = (
    "numba", "llvmlite", "numpy", "aiohttp", "aiohttp-jinja2", "sqlmodel", "sqlalchemy", "alembic",
    "pydantic", "pydantic-settings", "aiomqtt", "distributed", "dask", "trueskill",
)  # fmt: skip
"""Whose semi-public interface is used."""


def test_pinned_version_lies_within_its_bounds() -> None:
    for requirement in requirements():
        version = pinned()[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} in pyproject.toml, {version} in constraints.txt"


def test_library_has_an_upper_bound() -> None:
    for name in BOUNDED:
        bounds = [library.specifier for library in requirements() if canonicalize_name(library.name) == name]
        assert bounds, name
        assert all(any(part.operator == "<" for part in bound) for bound in bounds), name
