"""What the files for operation name really exists: command lines, settings, files."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from arena.cli.terminal.parser import build, find
from arena.config import PREFIX, Settings
from arena.config_file import read_settings
from tests.deploy.sources import DEPLOY, ROOT, command_lines, compose, documents
from tests.with_features import commands_off

LINES = [(place, words) for place, words in command_lines() if words[0] not in commands_off()]
NO_SETTINGS = {
    "ARENA_CONFIG",
    "ARENA_WORKER_TOKEN",
    "ARENA_WORKER_TOKEN_FILE",
    "ARENA_TOKEN",
    "ARENA_SERVER",
    "ARENA_SANDBOX_UID",
    # set by a bridge for the program that it starts
    *(f"ARENA_{name}" for name in ("FAMILY", "PLY", "SIDE", "TIME_MS", "VARIANT")),
}
"""Variables that are read elsewhere."""
TEXTS = sorted(
    path
    for path in (*DEPLOY.rglob("*"), *(ROOT / "docs" / "how-to").glob("*.md"))
    if path.is_file() and path.suffix != ".json" and "secrets" not in path.relative_to(ROOT).parts[:-1]
)


def test_command_lines_are_understood() -> None:
    for place, line in LINES:
        words = [re.sub(r"\$\{?\w+(:-([^}]*))?\}?", lambda value: value[2] or "1", word) for word in line]
        assert build(find(words[0])).parse_args(words), place


def test_all_kinds_of_files_have_command_lines() -> None:
    places = {place.partition(" ")[0] for place, _ in LINES}
    assert {"compose", "k8s", "back-up-and-restore.md", "arena.service", "arena-worker@.service"} <= places
    assert {words[0] for _, words in LINES} >= {"serve", "referee", "scheduler", "worker", "db", "user", "init"}


def test_settings_that_are_named_exist() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields} | NO_SETTINGS
    for path in TEXTS:
        assert set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", path.read_text(encoding="utf-8"))) <= known, path


def test_settings_have_values_that_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    services = compose()["services"]
    given = {name: dict(services[name]["environment"]) for name in ("arena", "referee", "migrate")}
    given["k8s"] = dict(documents(DEPLOY / "k8s" / "config.yaml")[0]["data"])
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    secret = tmp_path / "arena.toml"
    secret.write_text(documents(DEPLOY / "k8s" / "secrets.example.yaml")[0]["stringData"]["arena.toml"])
    for place, variables in given.items():
        with monkeypatch.context() as context:
            for name, value in variables.items():
                value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))
                value = re.sub(r"\$\{ARENA_PUBLIC_URL[^}]*\}", "https://arena.example", value)
                context.setenv(name, str(secret) if name == "ARENA_CONFIG" else value)
            settings = read_settings()
            assert settings.is_https, place
            assert settings.database.startswith("postgresql+psycopg://arena:"), place
            assert settings.mqtt.startswith("mqtt://arena:"), place


def test_variables_of_the_compose_file_are_explained() -> None:
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", (DEPLOY / "compose.yaml").read_text(encoding="utf-8")))
    shown = set(re.findall(r"^(\w+)=", (DEPLOY / ".env.example").read_text(encoding="utf-8"), re.MULTILINE))
    assert used == shown


def test_nothing_of_one_machine_is_in_them() -> None:
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        assert str(ROOT) not in text, path
        assert not re.findall(r"\b(?:docker\.io|ghcr\.io|quay\.io|gcr\.io|[\w.-]+\.azurecr\.io)\b", text), path
        assert not re.findall(r"image:\s*\S+:latest", text), path
