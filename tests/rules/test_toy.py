"""A sixth family is one folder and nothing else: everything generic works on the toy family under `toy/`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import referee.rules
from arena.__main__ import main
from referee.rules import families, load
from referee.rules.draw import draw
from referee.rules.position import Position
from tests.rules.sixth import TOY, forget, install

ROOT = Path(__file__).parent.parent.parent
FAMILY = "hexapawn"


@pytest.fixture(autouse=True)
def _toy_family():
    before, path = set(sys.modules), list(referee.rules.__path__)
    install()
    yield
    referee.rules.__path__[:] = path
    forget()
    if len(path) == 1:  # else the plugin has installed it for good
        for name in set(sys.modules) - before:
            if name.startswith(f"referee.rules.{FAMILY}"):
                del sys.modules[name]


def run(capsys, *words: str):
    """The exit code and the JSON document of a command."""
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_discovery():
    assert FAMILY in families()
    assert load(FAMILY).title == "Hexapawn"


def test_rules_list(capsys):
    code, data = run(capsys, "rules", "list")
    assert code == 0
    assert [entry["family"] for entry in data["families"]] == list(families())
    toy = next(entry for entry in data["families"] if entry["family"] == FAMILY)
    assert toy["sides"] == ["White", "Black"]
    assert [variant["name"] for variant in toy["variants"]] == ["standard", "wide", "patient"]


def test_rules_moves(capsys):
    code, data = run(capsys, "rules", "moves", FAMILY, "--moves", "a1a2 b3xa2")
    assert code == 0
    assert data == {
        "position": "b1b/b2/1ww w",
        "side": "first",
        "legal_moves": ["b1a2", "b1b2", "c1c2"],
        "result": None,
    }


def test_rules_check(capsys):
    code, data = run(capsys, "rules", "check", str(TOY / FAMILY / "vectors.json"))
    assert code == 0
    assert data["files"][0]["checked"] > 50
    assert data["files"][0]["failed"] == data["files"][0]["skipped"] == 0


def test_perft_and_playouts(capsys):
    code, data = run(capsys, "perft", FAMILY, "--depth", "2", "--divide")
    assert code == 0
    assert data["nodes"] == sum(data["divide"].values()) == 10
    code, data = run(capsys, "playouts", FAMILY, "--games", "50", "--variant", "wide")
    assert code == 0
    assert sum(data["results"].values()) == 50


def test_draw():
    position = Position.start(load(FAMILY).settle("wide")).play("a1a2")
    assert draw(position.board, load(FAMILY).pieces) == "\n".join(
        ["3  b b b b", "2  w . . .", "1  + w w w", "   a b c d", "+ goal"]
    )


def test_every_generic_test_finds_it():
    """The laws, the vectors, the parsers and the playthrough run on it without a line of their own."""
    files = [f"tests/rules/test_{name}.py" for name in ("laws", "vectors", "parsers", "playthrough")]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tests.rules.sixth",
            "-p",
            "no:cacheprovider",
            "-k",
            FAMILY,
            *files,
        ],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    passed = int(done.stdout.rsplit(" passed", 1)[0].rsplit(None, 1)[-1].lstrip("\n"))
    assert passed > 90, done.stdout[-500:]
