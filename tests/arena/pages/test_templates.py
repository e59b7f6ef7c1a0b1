"""Templates read like code: lines that fit a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.pages import site

TEMPLATES = sorted((Path(site.__file__).parent / "templates").glob("*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_lines_are_short(path: Path) -> None:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    long = [f"{path.name}:{number} has {len(line)} characters" for number, line in lines if len(line) >= 160]
    assert not long
