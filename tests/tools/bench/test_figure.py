"""Intervals of ratios, and the JSON that holds the figures."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.tools.bench.__main__ import _line, main
from tests.tools.bench.figure import Figure, ratio_interval


def test_ratio_interval_is_that_of_students_distribution() -> None:
    interval = ratio_interval([2.0, 4.0, 6.0], [2.0, 2.0, 2.0])
    assert interval == pytest.approx((2 - 4.30 / 3**0.5, 2 + 4.30 / 3**0.5))


def test_ratio_interval_compares_what_was_measured_one_after_the_other() -> None:
    assert ratio_interval([2.0, 20.0, 8.0], [1.0, 10.0, 4.0]) == pytest.approx((2, 2))


def test_ratio_interval_of_one_measurement_is_unknown() -> None:
    assert ratio_interval([2.0], [1.0]) is None


def test_a_line_ends_with_the_interval_of_its_ratio() -> None:
    figure = Figure("peers", "fast", 6.0, "µs", "arena play", 3.0, interval=(1.5, 2.5))
    assert _line(figure).endswith("2 x arena play (3) [1.5 to 2.5]")


@pytest.mark.parametrize(("words", "names"), [((), ["live"]), (("--keep",), ["kernels", "live"])])
def test_json_keeps_sections_that_are_not_measured_if_asked_to(
    words: Sequence[str], names: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bench.json"
    path.write_text('{"kernels": {"figures": []}}')
    section = SimpleNamespace(run=lambda quick: iter([Figure("live", "delay", 3.0, "ms")]))
    monkeypatch.setattr(importlib, "import_module", lambda name: section)
    line = ["bench", "--only", "live", "--json", str(path), "--table", str(tmp_path / "bench.txt"), *words]
    monkeypatch.setattr(sys, "argv", line)
    assert main() == 0
    sections = json.loads(path.read_text())
    assert list(sections) == names
    assert sections["live"]["figures"][0]["value"] == 3.0
