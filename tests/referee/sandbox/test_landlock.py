"""The second level, where the kernel has it: the same attackers, held by nothing but Landlock and a filter."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.game.record import GameRecord
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame
from referee.play.play import play
from referee.sandbox import Sandbox, assess, level, open_sandbox, seccomp, syscalls
from referee.sandbox.child import Child
from referee.sandbox.landlock import launcher
from referee.sandbox.level import attack as examine
from referee.sandbox.watchdog import Watchdog
from tests.badbots import match
from tests.referee.conftest import PATIENT_TIME
from tests.referee.sandbox.conftest import ATTACKS, FOUND_OUT_LATE, LIMITS, is_root
from tests.referee.sandbox.levels import sandbox_or_skip, working

# The bot's user must be able to read its Python, and an environment under /root is for root alone.
PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") if is_root() else sys.executable
HONEST = BotSpec("honest", ("/bin/sh", str(Path(__file__).with_name("honest.sh"))))
VERSIONS = range(3, launcher.landlock_version() + 1)
"""Of Landlock: those of older kernels are had by asking for no more than they know."""


@pytest.fixture
def one_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bots run as one user, as they do where the arena is not started by root; not as that of tests beside this."""
    if is_root():
        monkeypatch.setenv("ARENA_SANDBOX_UID", str(0x7000_0000 - 1 - os.getpid()))


def attack(folder: Path, name: str, *words: object, **changes: Any) -> tuple[GameRecord, dict[str, Any]]:
    """Play an attacker; the record and what it got."""
    bundle = folder / "bundle"
    if not bundle.exists():
        shutil.copytree(ATTACKS, bundle, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HONEST.command[1], bundle)
    command = (str(PYTHON), "-S", "-E", f"{name}.py", *map(str, words))
    spec = GameSpec(
        "loa",
        "standard",
        BotSpec(name, command, str(bundle)),
        BotSpec("honest", ("/bin/sh", "honest.sh"), str(bundle)),
        time=PATIENT_TIME,
        limits=LIMITS,
    )
    with match.roster(open_sandbox("landlock")) as roster:
        record = play(PlannedGame.of(replace(spec, **changes)), roster)
    lines = [line for line in record.logs.get("first", "").splitlines() if line.startswith("{")]
    return record, json.loads(lines[0]) if lines else {"log": record.logs, "detail": record.detail}


def done(found: dict[str, Any]) -> set[str]:
    return {name for name, result in found.items() if isinstance(result, str) and result.startswith("done")}


def test_files_network_and_processes_are_out_of_reach(open_folder: Path) -> None:
    for _ in working("landlock"):
        secret = open_folder / "secret"
        secret.write_text("the password")
        record, results = attack(open_folder, "files", secret, "/etc/group")
        assert record.termination == "resigned", results
        assert not done(results["found"])
        assert not done(results["own"])
        with socket.create_server(("127.0.0.1", 0)) as server:
            record, results = attack(open_folder, "network", server.getsockname()[1], "127.0.0.1", "nobody", "at:/x")
        assert record.termination == "resigned", results
        assert not done(results)
        assert results["udp out"] == results["AF_VSOCK"] == "Permission denied"
        record, results = attack(open_folder, "processes", os.getpid(), os.getppid())
        assert record.termination == "resigned", results
        for kind in ("kill", "stop", "trace", "read memory"):
            assert not done(results[kind])
        assert results["seen"] == {}, "it sees nobody in /proc"


def test_nothing_can_be_written_or_changed(open_folder: Path) -> None:
    for _ in working("landlock"):
        record, results = attack(open_folder, "disk_filler", "big")
        assert record.termination == "resigned", results
        assert results["places"] == {}
        shutil.copy(shutil.which("id"), open_folder / "bundle" / "setuid-id")
        record, results = attack(open_folder, "bundle")
        assert record.termination == "resigned", results
        assert results.pop("who") == results.pop("whoami")
        assert not done(results)


def test_too_much_is_too_much(open_folder: Path) -> None:
    for _ in working("landlock"):
        record, found = attack(open_folder, "memory_hog", "own")
        assert record.termination == "memory-limit", found
        # Started by a user who is not root, nobody but the watchdog counts its processes.
        record, found = attack(open_folder, "fork_bomb", "gently", **FOUND_OUT_LATE)
        assert record.termination == "process-limit", found


@pytest.mark.usefixtures("one_user")
def test_bots_of_one_user_cannot_reach_each_other_under_any_version(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in VERSIONS:
        monkeypatch.setattr(launcher, "landlock_version", lambda version=version: version)
        assert examine(Sandbox("landlock")) == "", version
        record, reported = attack(open_folder, "duel")
        assert (record.termination, record.loser) == ("resigned", "second"), reported
        allowed = {"No such process"} if version >= 6 else set()  # it is Landlock that refuses, and tells who is there
        for name in ("stop", "kill"):
            assert set(reported.pop(name)) - allowed <= {"Operation not permitted"}
        assert {tuple(results) for results in reported.values()} == {("Operation not permitted",)}


def allow_wholly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the filter allow a call about other processes too."""
    numbers = syscalls.OF_A_PROCESS[name]
    monkeypatch.delitem(syscalls.OF_A_PROCESS, name)
    monkeypatch.setitem(syscalls.GROUPS[0].calls, name, numbers)


@pytest.mark.usefixtures("one_user")
@pytest.mark.parametrize("name", ["prlimit64", "sched_setscheduler", "getsid"])
def test_a_level_that_lets_bots_reach_each_other_is_not_strong(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_wholly(name, monkeypatch)
    for version in set(VERSIONS) & {3, 6}:
        monkeypatch.setattr(launcher, "landlock_version", lambda version=version: version)
        assert f"the bot could reach another bot: {name}" in examine(Sandbox("landlock"))


@pytest.mark.usefixtures("one_user")
def test_signals_are_seen_at_the_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_SET_FLAGS", 0xFFFF)
    monkeypatch.setattr(seccomp, "_FILE_COMMANDS", (*seccomp._FILE_COMMANDS, 4, 8))
    for version in set(VERSIONS) & {3}:
        monkeypatch.setattr(launcher, "landlock_version", lambda version=version: version)
        assert "change its kernel state" in examine(Sandbox("landlock"))


@pytest.mark.usefixtures("one_user")
def test_strangers_are_refused_where_bots_could_reach_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level.bwrap, "program", lambda: None)
    allow_wholly("prlimit64", monkeypatch)
    assess.cache_clear()
    try:
        assert not assess("landlock").works
        assert "could read this machine's files" in level.refusal(open_sandbox("auto"))
    finally:
        assess.cache_clear()


def test_a_bot_reads_its_own_entry_of_proc_without_the_connections_of_the_machine() -> None:
    sandbox_or_skip("landlock")
    code = """
import os
def reads(path):
    try:
        return bool(open(path, "rb").read(100))
    except OSError:
        return False
names = ("status", "maps", "stat", "cmdline", "net/tcp", "net/unix", "task/%d/net/tcp" % os.getpid(), "root/etc/passwd")
print([name.partition("/")[0] for name in names if reads("/proc/self/" + name)], flush=True)
"""
    limits = BotLimits()
    line = (str(PYTHON), "-ISBc", code)
    child = Child(open_sandbox("landlock").confine(line, None, limits), limits, Watchdog())
    try:
        select.select([child.stdout], [], [], 60)
        assert os.read(child.stdout, 1000).decode() == "['status', 'maps', 'stat', 'cmdline']\n"
    finally:
        child.end()
