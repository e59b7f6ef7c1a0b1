"""Checks of uploads: real programs, the referee's check, the stored verdict."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from arena.documents.account import Identity
from arena.errors import ConflictError
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.bots.versions import bot_spec
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.check import check_version, measure_again
from arena.submission.receive import receive
from protocol.capabilities import Capabilities
from referee.sandbox import open_sandbox
from tests.referee.check.pace import keep_pace


def program(body: str) -> bytes:
    return f"#!{sys.executable}\n{body}".encode()


def sample(module: str, family: str = "loa") -> bytes:
    words = ["bot", "--family", family]
    return program(f"import runpy, sys\nsys.argv = {words}\nrunpy.run_module({module!r}, run_name='__main__')\n")


class Desk:
    """Receives and checks uploads."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.bundles = BundleStore(str(folder / "store"), folder / "unpacked")
        self.user = Identity(store.users.add("zoe").id or 0, "zoe", "author", frozenset())

    def submit(self, data: bytes, *families: str) -> Version:
        return receive(self.store, self.bundles, io.BytesIO(data), name="zeta", families=families, user=self.user)

    def check(self, data: bytes, *families: str) -> Version:
        self.submit(data, *families)
        version = self.store.checks.claim()
        assert version is not None
        assert version.id is not None
        return check_version(self.store, self.bundles, version.id, open_sandbox("none"))


@pytest.fixture
def desk(sqlite_store: Store, tmp_path: Path) -> Desk:
    return Desk(sqlite_store, tmp_path)


def test_a_good_bot_becomes_active(desk: Desk) -> None:
    version = desk.check(sample("bots.samples.random_mover"), "loa")
    assert (version.state, version.problem) == ("active", "")
    assert version.id is not None
    fit = desk.store.versions.families(version.id)["loa"]
    assert {"standard", "scrambled-eggs", "zen"} <= set(fit)
    report = version.report["families"]["loa"]
    assert report["fit"]
    assert report["steps"][0]["name"] == "start and handshake"
    assert all(len(step["lines"]) <= 25 for step in report["steps"])
    assert Capabilities.from_json(version.capabilities["loa"]).clocks
    spec = bot_spec(version, "loa")
    assert (spec.name, spec.bundle, spec.folder) == ("zeta v1", version.bundle, None)


def test_failed_family_fails_the_version(desk: Desk) -> None:
    version = desk.check(sample("bots.samples.random_mover"), "loa", "tablut")
    assert version.state == "failed"
    assert version.problem.startswith("tablut: announces tablut")
    assert version.id is not None
    assert desk.store.versions.families(version.id)["tablut"] == ()
    assert desk.store.versions.active("loa") == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import sys\nprint('boom', file=sys.stderr)\nsys.exit(3)\n", "start and handshake"),
        ("while True:\n    pass\n", "start and handshake"),
        ("print('hello')\nprint('world')\nimport time\ntime.sleep(60)\n", "start and handshake"),
        ("import sys\nsys.stdout.write('x' * 10_000_000)\n", "start and handshake"),
    ],
)
def test_bad_bots_fail_with_the_reason(body: str, words: str, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    if "boom" not in body:  # that one ends
        monkeypatch.setattr("referee.check.check.BotLimits", quick_limits)
    version = desk.check(program(body), "loa")
    assert version.state == "failed"
    assert words in version.problem
    if "boom" in body:
        assert "boom" in version.log


@pytest.mark.parametrize(
    ("body", "is_hinted"), [("import neighbour", True), ("open('weights.bin')", True), ("raise SystemExit(3)", False)]
)
def test_check_of_a_single_file_that_lacks_another_names_the_folder(desk: Desk, body: str, is_hinted: bool) -> None:
    version = desk.check(program(body), "loa")
    assert version.state == "failed"
    assert ("upload its folder with a bot.toml" in version.problem) == is_hinted


def test_illegal_moves_fail(desk: Desk) -> None:
    body = """
import sys
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "ugi":
        print("id name cheat\\nid author nobody\\nugiok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        print("bestmove a1a1", flush=True)
    elif word == "quit":
        break
"""
    version = desk.check(program(body), "loa")
    assert version.state == "failed"
    assert "a1a1" in version.problem


def test_report_with_nul_characters_is_stored(desk: Desk) -> None:
    body = """
import sys
sys.stderr.buffer.write(b"a\\0b\\xff\\xfe")
sys.stderr.flush()
sys.stdout.buffer.write(b"id name \\xff\\0\\nugiok\\n")
sys.stdout.flush()
"""
    version = desk.check(program(body), "loa")
    assert version.state == "failed"
    assert "\0" not in version.log + str(version.report) + version.problem


def test_check_needs_the_state_checking(desk: Desk) -> None:
    version = desk.submit(sample("bots.samples.random_mover"), "loa")
    assert version.id is not None
    with pytest.raises(ConflictError, match="is uploaded"):
        check_version(desk.store, desk.bundles, version.id, open_sandbox("none"))


def test_missing_bundle_leaves_the_version_checking(desk: Desk, tmp_path: Path) -> None:
    desk.submit(sample("bots.samples.random_mover"), "loa")
    version = desk.store.checks.claim()
    assert version is not None
    assert version.id is not None
    for path in (tmp_path / "store").rglob(version.bundle):
        path.unlink()
    with pytest.raises(BundleError):
        check_version(desk.store, desk.bundles, version.id, open_sandbox("none"))
    assert desk.store.versions.get(version.id).state == "checking"
    assert desk.store.checks.give_back() == 1


def quick_limits() -> object:
    from referee.game.spec import BotLimits

    return BotLimits(start_ms=700)


def test_a_check_on_a_busy_machine_names_the_load_and_is_measured_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that needs a second while the machine is busy."""
    load, took_ms = [66.0], [1000.0]
    monkeypatch.setattr(os, "getloadavg", lambda: (load[0], 0.0, 0.0))
    keep_pace(monkeypatch, lambda told_ms, number: took_ms[0])
    version = desk.check(sample("bots.samples.random_mover"), "loa")
    number = version.id or 0
    busy = version.capabilities["loa"]
    assert busy["fit_from_ms"] >= 1000
    assert busy["load"].startswith("load 66.0 on ")
    assert desk.store.checks.measured_busy() == [number]
    took_ms[0] = 10.0
    measure_again(desk.store, desk.bundles, number, open_sandbox("none"))  # it is still busy
    assert desk.store.checks.measured_busy() == [number]
    load[0] = 0.0
    measure_again(desk.store, desk.bundles, number, open_sandbox("none"))
    assert desk.store.checks.measured_busy() == []
    assert desk.store.versions.lines([number])[number].fit_from_ms == {"loa": 50}


def test_a_quick_bot_is_not_measured_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (66.0, 0.0, 0.0))
    keep_pace(monkeypatch, lambda told_ms, number: 10.0)
    assert "load" not in desk.check(sample("bots.samples.random_mover"), "loa").capabilities["loa"]
