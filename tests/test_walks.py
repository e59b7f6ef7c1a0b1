"""The walks of `docs/explanation/architecture.md` descend the layers, along imports."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Any

import pytest

from tests.test_modules import PACKAGES, ROOT

TEXT = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8").partition("## Four walks")[2]
WALKS = {
    title: re.findall(r"^- `([a-z_.]+)`: (.+)$", steps, re.MULTILINE)
    for title, steps in re.findall(r"^\*\*(.+)\*\*\n\n((?:- .+\n)+)", TEXT, re.MULTILINE)
}
HANDOVER = "reached through the database"
"""A step that no import leads to."""


@cache
def layers() -> dict[str, int]:
    """Return the number of each layer from the top down: those of the arena, then those of the referee."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["name"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}
    groups: list[list[str]] = []
    for package in ("arena", "referee"):
        lines = contracts[f"Layers of {package}"]["layers"]
        groups += [[f"{package}.{name.strip('() ')}" for name in re.split(r" [|:] ", line)] for line in lines]
    return {name: number for number, names in enumerate(groups) for name in names}


@cache
def graph() -> Any:
    """Return the imports of the product."""
    import grimp

    return grimp.build_graph(*PACKAGES)


def test_walks_are_found() -> None:
    assert len(WALKS) == 4
    assert all(len(steps) >= 6 for steps in WALKS.values())


@pytest.mark.parametrize("title", WALKS)
def test_walk_descends_the_layers_once(title: str) -> None:
    numbers = [layers()[".".join(name.split(".")[:2])] for name, _ in WALKS[title]]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("title", WALKS)
def test_walk_follows_imports(title: str) -> None:
    names = [name for name, _ in WALKS[title]]
    for place, (name, about) in enumerate(WALKS[title]):
        assert name in graph().modules, name
        if place and HANDOVER not in about:
            assert any(graph().chain_exists(one, name) for one in names[:place]), f"nothing above imports {name}"
