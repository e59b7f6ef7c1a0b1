"""`arena doctor`: one line for each part, and a fix wherever something is not as it could be."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from arena.cli.server import doctor, machine_checks
from arena.cli.terminal.exit import Exit
from arena.cluster.spool import Spool
from arena.config_file import read_settings
from arena.errors import StorageError
from arena.feature import installed
from arena.store import Store
from arena.store.base.health import mark_of
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame
from referee.sandbox import kernel_memory, level
from tests.arena.field import record_of
from tests.port import free_port

Parts = dict[str, dict[str, str]]
NAMES = ("sandbox", "control groups", "setpriv", "cc", "numba cache", "cores", "clock", "lag meter", "sqlite", "broker")


def look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Parts]:
    code = doctor.run(doctor.DoctorArguments(data=tmp_path, config=None, output="json"))
    return code, {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}


def test_every_part_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, parts = look(tmp_path, capsys)
    assert code == 0
    assert set(NAMES) <= set(parts)
    for part in parts.values():
        assert part["state"] in ("ok", "weak")
        assert bool(part["fix"]) == (part["state"] != "ok")
    doctor.run(doctor.DoctorArguments(data=tmp_path, config=None, output="table"))
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


def test_a_feature_without_its_tables_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.in_folder(tmp_path).close()
    name = next(entry.name for entry in installed())
    assert look(tmp_path, capsys)[1][name]["state"] == "ok"
    monkeypatch.setattr("arena.store.base.schema.waiting", lambda engine: (name,))
    code, parts = look(tmp_path, capsys)
    assert (code, parts[name]["state"]) == (Exit.FAILED, "broken")
    assert parts[name]["fix"] == f"`arena db upgrade --data {tmp_path}`"
    assert look(tmp_path / "none", capsys)[1][name]["state"] == "ok"


def test_results_that_wait_are_told_with_their_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.in_folder(tmp_path).close()
    spool = Spool(read_settings(data=tmp_path).spool_folder)
    spool.keep(record_of(PlannedGame.of(GameSpec("loa", "standard", BotSpec("a", ("a",)), BotSpec("b", ("b",))))))
    results = look(tmp_path, capsys)[1]["results"]
    assert (results["state"], results["fix"]) == ("ok", "")
    assert results["detail"] == "1 wait for the next commit, none for long"
    monkeypatch.setattr("arena.cluster.spool.LATE_S", 0.0)
    results = look(tmp_path, capsys)[1]["results"]
    assert results["detail"].endswith(" UTC: no referee runs")
    assert results["fix"] == (
        f"start `arena serve --data {tmp_path}` or `arena referee --data {tmp_path}`: it commits them"
    )
    monkeypatch.setattr(Store, "require_writable", _refuse)
    results = look(tmp_path, capsys)[1]["results"]
    assert results["fix"] == "make the database writable; a running referee then commits them"


def _refuse(store: Store) -> None:
    raise StorageError("the database is read-only")


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
    monkeypatch.setattr(level.bwrap, "program", lambda: None)
    monkeypatch.setattr(level.landlock, "missing", lambda: "the kernel has none")
    level.assess.cache_clear()
    try:
        _, parts = look(tmp_path, capsys)
    finally:
        level.assess.cache_clear()
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


@pytest.mark.parametrize(
    ("cold", "is_writable", "detail"),
    [((), False, "has the code"), (("loa",), False, "cannot be"), (("loa",), True, "lacks the code of loa")],
)
def test_only_kernels_that_are_absent_and_cannot_be_kept_are_compiled_again(
    monkeypatch: pytest.MonkeyPatch, cold: tuple[str, ...], is_writable: bool, detail: str
) -> None:
    monkeypatch.setattr(machine_checks, "is_cold", lambda family: family in cold)
    monkeypatch.setattr(machine_checks, "is_writable", lambda folder: is_writable)
    part = machine_checks.kernels()
    assert (part.state, detail in part.detail) == ("weak" if cold else "ok", True)
    assert ("arena warmup --bots" in part.fix) == bool(cold)


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
