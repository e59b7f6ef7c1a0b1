"""`arena doctor`: one line for each part, and a fix wherever something is not as it could be."""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path

import pytest

from arena.cli.server import doctor, machine_checks
from arena.store.base.health import mark_of
from referee.game.spec import BotLimits
from referee.sandbox import assessment, kernel_memory
from tests.port import free_port

Parts = dict[str, dict[str, str]]
NAMES = ("sandbox", "control groups", "setpriv", "cc", "numba cache", "cores", "clock", "lag meter", "sqlite", "broker")


def look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Parts]:
    code = doctor.run(argparse.Namespace(data=tmp_path, config=None, output="json"))
    return code, {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}


def test_every_part_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, parts = look(tmp_path, capsys)
    assert code == 0
    assert set(NAMES) <= set(parts)
    for part in parts.values():
        assert part["state"] in ("ok", "weak")
        assert bool(part["fix"]) == (part["state"] != "ok")
    doctor.run(argparse.Namespace(data=tmp_path, config=None, output="table"))
    assert capsys.readouterr().out.count("\n") >= len(parts)


def test_a_folder_that_others_can_read_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir(0o755)
    _, parts = look(folder, capsys)
    assert parts["data folder"]["state"] == "weak"
    assert parts["data folder"]["fix"] == f"chmod o= {folder}"
    folder.chmod(0o700)
    _, parts = look(folder, capsys)
    assert (parts["data folder"]["state"], parts["data folder"]["fix"]) == ("ok", "")
    _, parts = look(tmp_path / "none", capsys)
    assert parts["data folder"]["detail"].endswith("is not there yet")


def test_a_service_that_does_not_answer_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        monkeypatch.setenv("ARENA_DATABASE", f"postgresql+psycopg://user:hush@127.0.0.1:{port}/arena")
        code, parts = look(tmp_path, capsys)
        assert (code, parts["database"]["state"]) == (0, "ok")
    code, parts = look(tmp_path, capsys)
    assert (code, parts["database"]["state"]) == (1, "broken")
    assert "hush" not in str(parts)


def test_a_weaker_sandbox_says_why_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assessment.bwrap, "program", lambda: None)
    monkeypatch.setattr(assessment.landlock, "missing", lambda: "the kernel has none")
    assessment.assess.cache_clear()
    try:
        _, parts = look(tmp_path, capsys)
    finally:
        assessment.assess.cache_clear()
    assert parts["sandbox"]["state"] == "weak"
    assert "not bwrap: bubblewrap is not installed; not landlock: the kernel has none" in parts["sandbox"]["detail"]
    assert parts["sandbox"]["fix"] == "apt-get install bubblewrap"
    assert parts["uploads"]["detail"].startswith("bots of strangers are refused")


def test_without_control_groups_the_kernels_memory_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "find_cgroup_parent", lambda: "none are mounted")
    monkeypatch.setattr(kernel_memory, "descriptor_bytes", lambda: 2**17)
    assert kernel_memory.bound_bytes(BotLimits()) == 64 * 256 * 2**17
    part = machine_checks.groups()
    assert part.state == "weak"
    assert "its 64 processes can take at most 2.0 GiB" in part.detail


def test_a_damaged_database_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "arena.sqlite3").touch()
    mark_of(tmp_path / "arena.sqlite3").write_text("page 7 is lost\n")
    code, parts = look(tmp_path, capsys)
    assert (code, parts["sqlite"]["state"]) == (1, "broken")
    assert parts["sqlite"]["detail"].endswith("is damaged: page 7 is lost")
    assert "arena db restore" in parts["sqlite"]["fix"]


def test_a_file_in_the_place_of_the_data_folder_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").touch()
    code, parts = look(tmp_path / "data", capsys)
    assert code == 1
    assert (parts["data folder"]["state"], parts["data folder"]["fix"]) == ("broken", "name another one with --data")
