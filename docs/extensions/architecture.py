"""Directive `architecture`: the packages and their layers, drawn from the import contracts of `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]


@cache
def settings() -> Mapping[str, Any]:
    """Return the settings of the import contracts."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = tomllib.loads(text)["tool"]["importlinter"]
    return found


def layers(container: str) -> list[list[str]]:
    """Return the layers of a package from the top down, each a list of rooms (modules); empty without a contract.

    The rooms of the top layer of the arena include its features.
    """
    for contract in settings()["contracts"]:
        if contract["type"] == "layers" and contract.get("containers") == [container]:
            listed = [[room.strip("() ") for room in re.split(r" [|:] ", layer)] for layer in contract["layers"]]
            return [
                [part for room in layer for part in (features() if room == "features" else [room])] for layer in listed
            ]
    return []


def features() -> list[str]:
    return [f"features.{path.parent.name}" for path in sorted((ROOT / "arena/features").glob("*/__init__.py"))]


def forbidden(package: str) -> set[str]:
    """Return the modules that a package may not import."""
    return {
        name
        for contract in settings()["contracts"]
        if contract["type"] == "forbidden" and package in contract["source_modules"]
        for name in contract["forbidden_modules"]
    }


def imports() -> dict[str, list[str]]:
    """Return which packages each package may import."""
    packages: Sequence[str] = settings()["root_packages"]
    return {name: [other for other in packages if other not in (name, *forbidden(name))] for name in packages}


def described(package: str) -> str:
    """Return in words what a package may import."""
    closed = forbidden(package)
    words = [
        f"{'parts of ' if any(name.startswith(f'{other}.') for name in closed) else ''}<code>{other}</code>"
        for other in imports()[package]
    ]
    return f"imports {' and '.join(words)}" if words else "imports nothing of ours"


def levels() -> list[list[str]]:
    """Return the packages from the top down: each imports only packages of lower levels."""
    below = imports()
    height: dict[str, int] = {}
    while len(height) < len(below):
        ready = [name for name in below if name not in height and all(other in height for other in below[name])]
        height |= {name: 1 + max((height[other] for other in below[name]), default=-1) for name in ready}
    return [[name for name in below if height[name] == level] for level in sorted(set(height.values()), reverse=True)]


def drawing() -> str:
    """Return the diagram as HTML: boxes in rows, so that it fits any width."""
    lines = ['<div class="architecture">']
    for level in levels():
        lines.append('<div class="level">')
        for package in level:
            lines.append(f'<div class="package"><p><strong>{escape(package)}</strong> {described(package)}</p>')
            for rooms in layers(package):
                boxes = "".join(f"<li><code>{escape(room)}</code></li>" for room in rooms)
                lines.append(f'<ul class="layer">{boxes}</ul>')
            lines.append("</div>")
        lines.append("</div>")
    return "\n".join([*lines, "</div>"])


class ArchitectureDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        """Return the diagram."""
        return [nodes.raw("", drawing(), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("architecture", ArchitectureDirective)
    return {"parallel_read_safe": True}
