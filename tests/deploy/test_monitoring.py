"""Alerts and dashboard speak of metrics that are really counted, and promtool agrees where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from arena.metrics import CoordinatorMetrics, Metrics
from tests.deploy.sources import DEPLOY, documents

FOLDER = DEPLOY / "prometheus"
RULES = [rule for group in documents(FOLDER / "rules.yml")[0]["groups"] for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
PANELS = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))["panels"]
QUERIES = [target["expr"] for panel in PANELS for target in panel.get("targets", [])]


def exported() -> set[str]:
    """The names of all series, as a scrape has them."""
    metrics = Metrics()
    assert CoordinatorMetrics(metrics).registry is metrics.registry
    names = set()
    for family in metrics.registry.collect():
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(family.type, ("",))
        names |= {family.name + suffix for suffix in suffixes}
    return names


def test_metrics_exist() -> None:
    known = exported()
    for query in {*QUERIES, *(rule["expr"] for rule in RULES)}:
        named = set(re.findall(r"\barena_[a-z_]+\b", re.sub(r'"[^"]*"', "", query)))
        assert named or "up{" in query, query
        assert named <= known, query


def test_alerts_say_what_to_do_and_are_tested() -> None:
    tests = (FOLDER / "rules_test.yml").read_text(encoding="utf-8")
    for rule in ALERTS:
        assert set(rule["annotations"]) == {"summary", "action"}, rule
        assert rule["labels"]["severity"] in ("page", "ticket"), rule
        assert f'alertname="{rule["alert"]}"' in tests


@pytest.mark.parametrize(
    "words",
    [
        ("check", "rules", "rules.yml"),
        ("test", "rules", "rules_test.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
    ],
    ids=" ".join,
)
def test_promtool_agrees(words: tuple[str, ...]) -> None:
    assert (FOLDER / words[-1]).exists()
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("optional: no promtool here; it comes with prometheus")
    found = subprocess.run([program, *words], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_panels_have_room_of_their_own() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
