"""`arena serve` as a process: start, requests, orderly shutdown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.store import Store
from tests.arena.cluster.processes import wait
from tests.conftest import INTERPRETED


def test_it_serves_until_told_to_stop(tmp_path: Path) -> None:
    Store.in_folder(tmp_path / "data").close()
    line = [sys.executable, "-m", "arena", "serve", "--data", str(tmp_path / "data"), "--port", "0"]
    line += ["--executor", "local:1"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        assert url.startswith("http://127.0.0.1:")
        wait(lambda: _degraded(url) == [], "the referee")  # there is none before the lease
        with urllib.request.urlopen(f"{url}/api/v1/families", timeout=60) as answer:
            assert len(json.load(answer)["items"]) >= 5
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=100)
    assert process.returncode == Exit.DONE, err.decode()
    assert b"Traceback" not in err
    events = [json.loads(text) for text in err.splitlines() if text.startswith(b"{")]
    assert {"/readyz", "/api/v1/families"} <= {event.get("path") for event in events}


def _degraded(url: str) -> list[str]:
    with urllib.request.urlopen(f"{url}/readyz", timeout=60) as answer:
        parts: list[str] = json.load(answer)["degraded"]
    return parts


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")} | INTERPRETED


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    Store.in_folder(tmp_path).close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["serve", "--data", str(tmp_path), "--port", port, "--no-referee"]) == Exit.FAILED
    assert "choose another --port" in capsys.readouterr().err


def test_settings_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--data", str(tmp_path), "--executor", "nonsense"]) == Exit.USAGE
    assert "write local" in capsys.readouterr().err
    assert run(["serve", "--data", str(tmp_path), "--mqtt", "broker:1883"]) == Exit.USAGE
    assert "--mqtt: write mqtt://" in capsys.readouterr().err
    (tmp_path / "arena.toml").write_text("prot = 1\n")
    assert run(["serve", "--data", str(tmp_path)]) == Exit.USAGE
    assert "prot" in capsys.readouterr().err


def test_a_folder_that_was_never_initialised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--data", str(tmp_path / "new")]) == Exit.NOT_FOUND
    assert "arena init" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_database_of_another_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.sqlite3").touch()
    url = f"sqlite:///{tmp_path / 'empty.sqlite3'}"
    assert run(["serve", "--data", str(tmp_path), "--database", url, "--no-referee"]) == Exit.NOT_FOUND
    assert "arena db upgrade" in capsys.readouterr().err
