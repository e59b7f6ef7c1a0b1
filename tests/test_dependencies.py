"""What is installed lies within the bounds of `pyproject.toml`, and what may break has an upper one."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tools.latest import pinned, requirements

BOUNDED = (
    "numba", "llvmlite", "numpy", "aiohttp", "aiohttp-jinja2", "sqlmodel", "sqlalchemy", "alembic",
    "pydantic", "pydantic-settings", "aiomqtt", "distributed", "dask", "trueskill",
)  # fmt: skip
"""Whose semi-public interface is used."""


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_pinned_version_lies_within_its_bounds(requirement: Requirement) -> None:
    version = pinned()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version), f"{requirement} in pyproject.toml, {version} in constraints.txt"


@pytest.mark.parametrize("name", BOUNDED)
def test_library_has_an_upper_bound(name: str) -> None:
    bounds = [one.specifier for one in requirements() if canonicalize_name(one.name) == name]
    assert bounds
    assert all(any(one.operator == "<" for one in bound) for bound in bounds)
