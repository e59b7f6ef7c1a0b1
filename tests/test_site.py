"""The built site of the documentation names everything public, and shows each version and page where it belongs.

`make docs` builds it.
"""

from __future__ import annotations

import argparse
import ast
import html
import inspect
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import bots.sdk
from arena.analysis import marking
from arena.analysis.engine import ANALYSIS_ENGINE
from arena.api.routes import table
from arena.cli.terminal.commands import every
from arena.cli.terminal.parser import build
from arena.config import PREFIX, Settings
from arena.events.messages import KINDS
from arena.http.problem import PREFIX as API
from arena.metrics import CoordinatorMetrics
from arena.store.base import schema
from docs.extensions.json_documents import PINNED
from protocol.capabilities import Capabilities
from referee.bot import file as bot_file
from referee.errors import Exit
from referee.ratings import trueskill
from referee.rules import families, load, terminations
from referee.rules.position import Position
from referee.tournament.document import Document
from referee.tournament.formats import formats
from referee.validation import adapter_of, keys
from tests.arena.events.mqtt.tables import address

ROOT = Path(__file__).parents[1]
SITE = ROOT / "arena" / "documentation"
FORMER_METRICS = {"arena_chore_done_timestamp_seconds"}
VARIABLE = re.compile(r"(?:ARENA|NUMBA|XDG)_[A-Z_]+|NO_COLOR")


@cache
def page(name: str) -> str:
    """The text of a page of the site, as a reader sees it."""
    file = SITE / name / "index.html"
    assert file.is_file(), f"the site has no page {name}; run: make docs"
    body = file.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0]
    return html.unescape(re.sub(r"<[^>]*>", "", body))


def words(name: str) -> set[str]:
    return set(re.findall(r"[\w-]+(?:\.[\w-]+)*", page(name)))


def parsers(parser: Any, name: str = "arena") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command and subcommand with its parser."""
    inner = {} if parser._actions_of is None else parser._actions_of.choices
    for word, one in inner.items():
        yield f"{name} {word}", one
        yield from parsers(one, f"{name} {word}")


@cache
def commands() -> Mapping[str, argparse.ArgumentParser]:
    parser = build()
    parser.fill_all()
    return dict(parsers(parser))


def test_every_command_and_option_is_on_the_site() -> None:
    parts = dict(
        re.findall(
            r"^usage: (arena(?: [a-z][a-z-]*)*)(.*?)(?=^usage: |\Z)", page("reference/command-line"), re.M | re.S
        )
    )
    assert {f"arena {command.name}" for command in every()} <= commands().keys()
    for name, parser in commands().items():
        assert name in parts, name
        options = {option for action in parser._actions for option in action.option_strings}
        missing = {option for option in options if not re.search(rf"(?<![\w-]){re.escape(option)}\b", parts[name])}
        assert not missing, name
    assert all(f"\n{code.value}\n" in page("reference/command-line") for code in Exit)


def test_every_key_of_files_is_on_the_site() -> None:
    tournaments, bot_files = words("reference/tournament-files"), words("reference/bot-files")
    assert {key.rpartition(".")[2] for key in keys(Document)} <= tournaments
    capabilities = {field.name for field in fields(Capabilities)} - bot_file.SAID
    assert {*bot_file.KEYS, *bot_file.NEEDS, *capabilities} <= bot_files


def test_every_setting_and_variable_is_on_the_site() -> None:
    assert Settings.model_fields.keys() <= words("reference/settings")
    read = set()
    for package in ("protocol", "referee", "bots", "arena"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and VARIABLE.fullmatch(node.value):
                    read.add(node.value)
    assert {"ARENA_TOKEN", "NO_COLOR", "XDG_CACHE_HOME"} <= read
    ours = read - {PREFIX + name.upper() for name in Settings.model_fields}
    assert ours <= words("reference/environment-variables")


def test_every_operation_is_on_the_site() -> None:
    text = page("reference/json-interface")
    assert not [one.path for one in table() if f"{one.method} {API}{one.path}" not in text]
    assert "\nScope: organise\nBody: Document\nAnswer 201: TournamentResponse\nErrors: 403 Forbidden, 409 " in text


def test_every_object_of_the_json_interface_is_on_the_site() -> None:
    text = words("reference/json-objects")
    bodies = [adapter_of(one.body).json_schema() for one in table() if one.body is not None]
    answers = [adapter_of(one.answer).json_schema(mode="serialization") for one in table() if one.answer is not None]
    for exchanged in (*bodies, *answers):
        for model in (exchanged, *exchanged.get("$defs", {}).values()):
            is_list = model.get("title", "").startswith("PageResponse")
            assert is_list or {model["title"], *model.get("properties", {})} <= text | {"items", "next"}, model["title"]


def test_every_document_of_the_command_line_is_on_the_site() -> None:
    text = words("reference/json-documents")
    assert not [key for _, names in PINNED.values() for key in names.split() if key not in text]


def test_every_topic_is_on_the_site() -> None:
    topics = {address(topic) for kind in KINDS for topic in (*kind.COPIES, kind.TOPIC)}
    assert not [topic for topic in sorted(topics) if topic not in page("reference/events")]


def test_every_termination_is_on_the_site() -> None:
    assert terminations().keys() <= words("reference/terminations")


def test_every_metric_is_on_the_site_and_no_guide_names_another() -> None:
    kinds = list(CoordinatorMetrics().registry.collect())
    metrics = {one.name + ("_total" if one.type == "counter" else "") for one in kinds}
    assert len(metrics) > 20
    assert metrics <= words("reference/metrics")
    for path in (ROOT / "docs").rglob("*.md"):
        named = set(re.findall(r"`(arena_[a-z_*]+)", path.read_text(encoding="utf-8"))) - FORMER_METRICS
        assert named <= metrics, path


def test_all_background_work_is_named_where_its_failures_are() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "arena").rglob("*.py"))
    works = {name for source in sources for name in re.findall(r'\bBackground\(\s*"(\w+)"', source)}
    text = (ROOT / "docs" / "how-to" / "monitor.md").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if "`arena_background_failures_total`" in line)
    assert set(re.findall(r"`(\w+)`", line)) == works | {"arena_background_failures_total", "work"}


def test_every_name_of_the_sdk_is_on_the_site() -> None:
    text = words("reference/sdk")
    for name in bots.sdk.__all__:
        assert {one for one in text if one.rpartition(".")[2] == name}, name
    for kind in (bots.sdk.Bot, bots.sdk.Clock, Position):
        public = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
        assert public <= {one.rpartition(".")[2] for one in text}, kind.__name__


def test_every_line_of_the_protocol_is_on_the_site() -> None:
    grammar = tomllib.loads((ROOT / "protocol" / "grammar.toml").read_text(encoding="utf-8"))
    verbs = {verb for end in ("referee", "bot") for verb in grammar[end]}
    assert {"go", "bestmove", "query"} <= verbs
    assert verbs <= words("reference/protocol")


def test_every_variant_and_rule_option_is_on_the_site() -> None:
    text = words("reference/variants")
    for family in families():
        rules = load(family)
        assert {family, *(option.name for option in rules.options), *(one.name for one in rules.variants)} <= text


def test_upgrade_page_has_every_schema() -> None:
    assert set(schema.revisions()) <= words("how-to/upgrade")


def test_figures_of_pages_are_those_of_the_code() -> None:
    ratings = page("explanation/ratings")
    assert f"fewer than {trueskill.PROVISIONAL_GAMES} games, or sigma above {trueskill.PROVISIONAL_SIGMA:g}" in ratings
    assert f"bots.samples.{ANALYSIS_ENGINE}" in page("reference/samples")
    assert f"sample bot {ANALYSIS_ENGINE}" in page("explanation/analysis")
    for loss, mark in marking.MARKS:
        assert re.search(rf"^{re.escape(mark)}\n{loss:g} or more", page("explanation/analysis"), re.M), mark


def test_limits_of_uploads_are_those_of_the_settings() -> None:
    names = ("max_upload_bytes", "max_bundle_bytes", "max_bundle_files", "quota_bots", "quota_versions", "quota_bytes")
    units = {"": 1, "MiB": 2**20, "GiB": 2**30}
    rows = re.findall(r"^([\d,]+) ?([MG]iB)?\n(max_\w+|quota_\w+)", page("reference/bot-files"), re.M)
    found = {name: int(number.replace(",", "")) * units[unit] for number, unit, name in rows}
    assert found == {name: Settings.model_fields[name].default for name in names}


def test_order_of_ties_is_that_of_the_code() -> None:
    lines = page("how-to/choose-a-format").splitlines()
    for name, system in formats().items():
        rows = [after for line, after in pairwise(lines) if name in line.split(", ")]
        assert [row for row in rows if ", ".join(system.tie_breaks) in row], name


def test_every_alert_is_on_the_site() -> None:
    rules = (ROOT / "deploy" / "prometheus" / "rules.yml").read_text(encoding="utf-8")
    alerts = set(re.findall(r"- alert: (\w+)", rules))
    assert len(alerts) > 10
    assert alerts <= words("how-to/monitor")


def test_pages_show_the_version_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for name in ("index.html", "fr/index.html"):
        assert f"Bot arena {version}" in (SITE / name).read_text(encoding="utf-8"), "run: make docs"


def test_reports_are_dated_and_say_how_they_were_measured() -> None:
    reports = [path for path in (ROOT / "docs" / "reports").glob("*.md") if path.name != "changelog.md"]
    assert reports
    for path in reports:
        text = path.read_text(encoding="utf-8")
        date = re.match(r"(\d{4})-\d\d-\d\d-", path.name)
        assert date, path.name
        assert f" {date[1]}\n" in text[:200], f"the title of {path.name} has no date"
        assert re.search(r"[Mm]easured.*Python 3\.", text, re.DOTALL), f"{path.name} does not name the machine"
        assert re.search(r"^    (?:make|arena|python) ", text, re.M), f"{path.name} names no command"
