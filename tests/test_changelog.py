"""The changelog can be read: few entries of few words, by area, breaking changes first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
VERSIONS = {text.partition("]")[0]: text for text in TEXT.split("\n## [")[1:]}
MAX_ENTRIES, MAX_WORDS = 60, 20


@pytest.mark.parametrize("version", VERSIONS)
def test_version_has_short_entries_by_area(version: str) -> None:
    heading, *lines = [line for line in VERSIONS[version].splitlines() if line]
    assert re.fullmatch(r"\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d|Unreleased\]", heading)
    entries = [line for line in lines if line.startswith("- ")]
    areas = [line for line in lines if line.startswith("### ")]
    assert set(lines) == {*areas, *entries}, "an entry is one line"
    assert 0 < len(entries) <= MAX_ENTRIES
    assert not [line for line in entries if len(line.split()) - 1 > MAX_WORDS]
    assert not [line for line in entries if not line.endswith((".", "…"))]
    assert "### Breaking changes" not in areas[1:], "breaking changes come first"


def test_versions_descend() -> None:
    numbers = [tuple(map(int, version.split("."))) for version in VERSIONS if version != "Unreleased"]
    assert numbers == sorted(set(numbers), reverse=True)
