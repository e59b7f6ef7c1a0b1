"""Families from packages: installed, found, created from a template, checked for conformance, and rejected with a
message.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.__main__ import main
from referee.families import FamilyPackageError, folder, homes, is_name
from referee.machine import source
from referee.rules import families, load, terminations
from referee.rules.invariants import INVARIANTS
from referee.rules.record_invariants import RECORD_INVARIANTS
from referee.verify.conformance import check_conformance
from tests.conftest import INTERPRETED

ROOT = Path(__file__).parents[2]
OTHELLO = ROOT / "tests" / "othello"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on the path of this process into which packages can be installed."""
    monkeypatch.syspath_prepend(tmp_path)
    _forget()
    yield tmp_path
    sys.modules.pop("mine", None)
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for found in (homes, families, terminations, source.parts, source.digest):
        found.cache_clear()


def install(site: Path, name: str, family: str, text: str) -> None:
    """Write the files that an installer leaves for a package of one module."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[arena.families]\n{family} = {name}\n")
    (site / name).mkdir()
    (site / name / "__init__.py").write_text(text)
    _forget()


def arena(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with that folder on the path and interpreted kernels."""
    environment = {**os.environ, **INTERPRETED, "PYTHONPATH": str(site)}
    line = [sys.executable, "-m", "arena", *words]
    return subprocess.run(line, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=500, check=False)


def test_installed_wheel_adds_a_family(tmp_path: Path) -> None:
    quiet = ["--quiet", "--no-deps", "--disable-pip-version-check", "--no-index"]
    build = [sys.executable, "-m", "pip", "wheel", *quiet, "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    copy = tmp_path / "source"
    subprocess.run(["cp", "-r", str(OTHELLO), str(copy)], check=True)
    subprocess.run([*build, str(copy)], check=True, timeout=500)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, "--target", str(site), str(wheel)], check=True)

    listed = json.loads(arena(site, "rules", "list", "othello", "--json").stdout)["families"]
    assert [(family["family"], family["sides"]) for family in listed] == [("othello", ["Black", "White"])]
    perft = json.loads(arena(site, "perft", "reversi", "--depth", "4", "--json").stdout)
    assert perft["nodes"] == 244
    games = ["--games", "2", "--tc", "depth:1", "--out", str(tmp_path / "out"), "--quiet", "--sandbox", "none"]
    done = arena(site, "play", "sample:random", "sample:greedy", "--family", "othello", *games, "--max-plies", "12")
    assert done.returncode == 0, done.stderr
    done = arena(site, "rules", "conformance", "othello", "--positions", "3", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["broken"], len(report["laws"])) == (0, 0, len(INVARIANTS) + len(RECORD_INVARIANTS))
    assert len(report["laws"]) >= 12


def test_family_package_is_part_of_the_rules_fingerprint(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = source.digest()
    install(site, "mine", "mine", "RULES = None\n")
    assert "mine" in families()
    assert folder("mine") == site / "mine"
    assert source.parts()["mine"] != source.parts()["referee"]
    with_it = source.digest()
    (site / "mine" / "__init__.py").write_text("RULES = 1\n")
    _forget()
    assert len({before, with_it, source.digest()}) == 3


@pytest.mark.parametrize(
    ("family", "text", "told"),
    [
        ("loa", "", "brings a family 'loa', which the arena itself has as well; uninstall one"),
        ("Mine", "", "a name has lower-case letters and digits"),
        ("mine", "RULES = 7\n", 'mine.RULES is not the family "mine"'),
        ("mine", "import nothing_of_the_kind\n", "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("mine", "", "AttributeError"),
    ],
)
def test_invalid_family_package_is_reported(
    family: str, text: str, told: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(site, "mine", family, text)
    with pytest.raises(FamilyPackageError, match="uninstall"):
        load("mine")
    assert main(["rules", "list"]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said


def test_two_packages_with_the_same_family_are_rejected(site: Path) -> None:
    install(site, "one", "mine", "")
    install(site, "two", "mine", "")
    with pytest.raises(FamilyPackageError, match=r"(one|two) brings a family 'mine', which (one|two) has as well"):
        homes()


@pytest.mark.parametrize(
    ("name", "is_one"), [("othello", True), ("a4", True), ("4a", False), ("a", False), ("Go", False), ("a-b", False)]
)
def test_names(name: str, is_one: bool) -> None:
    assert is_name(name) is is_one


def test_new_family_plays_and_keeps_the_invariants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "arena-mine"
    assert main(["rules", "new", "mine", str(target)]) == 0
    files = [path for path in target.rglob("*") if path.is_file()]
    assert not [path for path in files if "emplate" in path.name + path.read_text()]
    info = target / "arena_mine-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: arena-mine\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[arena.families]\nmine = arena_mine\n")
    environment = {**os.environ, **INTERPRETED, "PYTHONPATH": f"{target}:{ROOT}"}
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(target / "tests")]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=target, timeout=500, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "26 passed" in done.stdout
    for words, told in (
        (["mine", str(target)], "already exists"),
        (["loa", str(tmp_path / "x")], 'the family "loa" already exists'),
        (["template", str(tmp_path / "x")], "invalid family name"),
    ):
        assert main(["rules", "new", *words]) == 2
        assert told in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_broken_invariant_is_reported_with_its_position(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from referee.family_template.family import RULES

    kernel = RULES.kernel
    assert not [law for law in check_conformance(RULES, 10, 1) if law.problem]
    monkeypatch.setattr(kernel, "count", lambda state, config: 0)
    broken = {law.invariant: law for law in check_conformance(RULES, 10, 1) if law.problem}
    assert set(broken) == {"count is number of moves"}
    (fault,) = broken.values()
    assert re.fullmatch(r"template standard.*: \S+/\S+/\S+ [wb]: legal lists \d, count returns 0", fault.problem)
    assert main(["rules", "conformance", "referee.family_template.family", "--positions", "5"]) == 1
    said = capsys.readouterr().out
    assert "BROKEN  count is number of moves" in said
    assert said.endswith("template: 1 of 24 invariants are broken\n")


def test_conformance_positions_depend_on_the_seed_alone() -> None:
    import random

    from referee.verify.conformance import _place

    rules = load("loa")
    first, same, other = ([_place(rules, rng)[1] for _ in range(5)] for rng in map(random.Random, (1, 1, 2)))
    assert all(np.array_equal(a, b) for a, b in zip(first, same, strict=True))
    assert not all(a.shape == b.shape and np.array_equal(a, b) for a, b in zip(first, other, strict=True))
