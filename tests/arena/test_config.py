"""Settings: sources, precedence, and invalid values."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from arena.config import Settings
from arena.config_file import ConfigError, read_settings, template


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ARENA_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_defaults(tmp_path: Path) -> None:
    settings = read_settings()
    assert settings.data == Path("data")
    assert settings.database_url == f"sqlite:///{tmp_path}/data/arena.sqlite3"
    assert settings.bundles_url == f"{tmp_path}/data/bundles"
    assert not settings.is_https


def test_command_line_precedes_environment_precedes_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "arena.toml").write_text('port = 1\nbind = "0.0.0.0"\nquota_bots = 3\n')
    monkeypatch.setenv("ARENA_PORT", "2")
    monkeypatch.setenv("ARENA_QUOTA_BOTS", "4")
    settings = read_settings(port=3, bind=None)
    assert (settings.port, settings.quota_bots, settings.bind) == (3, 4, "0.0.0.0")
    assert read_settings().port == 2


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.toml"
    other.write_text('data = "elsewhere"\nport = 7\n[bundle_options]\nendpoint_url = "http://localhost:9000"\n')
    settings = read_settings(other)
    assert (settings.data, settings.port) == (Path("elsewhere"), 7)
    assert settings.bundle_options == {"endpoint_url": "http://localhost:9000"}
    monkeypatch.setenv("ARENA_CONFIG", str(other))
    assert read_settings().port == 7
    with pytest.raises(ConfigError, match="cannot be read"):
        read_settings(tmp_path / "nothing.toml")
    monkeypatch.delenv("ARENA_CONFIG")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "arena.toml").write_text("port = 8\n")
    monkeypatch.setenv("ARENA_DATA", "here")
    assert read_settings().port == 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = 99999", r"arena.toml: port: "),
        ('port = "x"', r"arena.toml: port: "),
        ("colour = 3", r"arena.toml: colour: unknown setting"),
        ('executor = "cloud"', r"executor: write local, local:N, dask"),
        ('executor = "local:0"', r"executor: "),
        ('executor = "dask://x"', r"executor: write "),
        ('executor = "tls://:1"', r"executor: write "),
        ('public_url = "arena.example"', r"public_url: write an address"),
        ('contact = "ask zoe"', r"contact: write a mail address such as help@arena.example, or a page"),
        ('contact = "javascript:alert(1)"', r"contact: write a mail address"),
        ('sandbox = "glass"', r"sandbox: "),
        ("port = ", r"arena.toml: "),
    ],
)
def test_invalid_settings_name_their_file(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "arena.toml").write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_settings()


def test_invalid_settings_name_their_source(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"^--port: "):
        read_settings(port=-1)
    monkeypatch.setenv("ARENA_PORT", "x")
    with pytest.raises(ConfigError, match=r"^ARENA_PORT: "):
        read_settings()
    monkeypatch.setenv("ARENA_PORT", "1")
    monkeypatch.setenv("ARENA_BUNDLE_OPTIONS", "{x")
    with pytest.raises(ConfigError, match="bundle_options"):
        read_settings()


def test_the_template_has_every_setting_and_says_what_is_default_anyway() -> None:
    text = template()
    lines = [line.removeprefix("# ") for line in text.splitlines() if " = " in line and line.startswith("# ")]
    table = tomllib.loads("\n".join(line for line in lines if line.split(" = ")[0] in Settings.model_fields))
    assert set(table) == set(Settings.model_fields)
    assert Settings(**table) == read_settings()
    assert all(field.description and field.description in text for field in Settings.model_fields.values())


def test_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_PUBLIC_URL", "https://arena.example/")
    settings = read_settings()
    assert settings.is_https
    assert settings.public_url == "https://arena.example"
