"""A sixth family is one folder: everything generic works on the toy family under `toy/`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import referee.rules
from arena.__main__ import main
from arena.pages.filters import meaning
from arena.tournaments.entry import check_eligibility
from bots.sdk.game_state import GameState
from protocol.capabilities import Capabilities
from protocol.errors import BadOption
from referee.game.record import read_record
from referee.game.spec import GameSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import families, load, terminations
from referee.rules.core import Kind, Outcome, Termination
from referee.rules.position import Position
from referee.rules.text_board import draw
from referee.sandbox import Sandbox
from referee.verify.verification import verify
from tests.referee.conftest import PATIENT, PATIENT_TIME, scripted
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
    """Return the exit code and the JSON document of a command."""
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
    assert [variant["name"] for variant in toy["variants"]] == ["standard", "wide", "patient", "towers"]


def test_rules_moves(capsys):
    code, data = run(capsys, "rules", "moves", FAMILY, "--moves", "a1a2 b3xa2")
    assert code == 0
    assert data == {
        "position": "b1b/b2/1ww w",
        "side": "first",
        "legal_moves": ["b1a2", "b1b2", "c1c2"],
        "schema": 1,
        "result": None,
    }


def test_rules_vectors(capsys):
    code, data = run(capsys, "rules", "vectors", str(TOY / FAMILY / "vectors.json"))
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


def test_stacks_are_drawn_and_played():
    position = Position.start(load(FAMILY).settle("towers")).play_all(["b1b2", "c3c2", "b1b2"])
    assert str(position) == "bB1/1Wb/w1w b"
    assert str(position.play("a3b2")) == "1B1/1bb/w1w w"
    towers = Position.start(load(FAMILY).settle("towers"))
    assert draw(towers.board, load(FAMILY).pieces).splitlines()[0].split() == ["3", "b", "bb", "b"]
    assert towers.board.marks == {"b1": ("stack",), "b3": ("stack",)}


def test_toy_terminations_are_found_everywhere():
    outcome = Position.start(load(FAMILY).settle()).play_all(["a1a2", "c3c2", "a2b3"]).outcome
    assert outcome is not None
    assert (outcome.reason, Termination("breakthrough")) == ("breakthrough", outcome.reason)
    assert meaning("breakthrough") == "a pawn reached the far rank"
    assert "standstill" in terminations()


KNOWS = ("--option", "option name GiftPhase type check default false")


@pytest.mark.parametrize(
    ("first_moves", "second_moves", "moves", "first_heard", "second_heard"),
    [
        ([*KNOWS, "-a1"], [*KNOWS, "-b3"], ("-a1", "-b3"), ["", "-a1 -b3"], ["-a1"]),
        ([*KNOWS, "-a1"], [], ("-a1", "pass"), ["", "-a1 pass"], []),
        ([], [*KNOWS, "-b3"], ("pass", "-b3"), ["position fen b1b/3/www w"], ["pass"]),
        ([], [], ("pass", "pass"), ["position fen bbb/3/www w"], []),
    ],
)
def test_referee_plays_the_phase_of_the_toy(first_moves, second_moves, moves, first_heard, second_heard):
    first, second = (
        scripted("one", "--echo", *first_moves, "resign"),
        scripted("two", "--echo", *second_moves, "resign"),
    )
    spec = GameSpec(FAMILY, "standard", first, second, options={"gift": True}, time=PATIENT_TIME, limits=PATIENT)
    with Roster(Sandbox("none")) as roster:
        record = play(PlannedGame.of(spec), roster)
    assert (record.winner, record.termination, record.moves) == ("second", "resigned", moves)
    for side, expected in (("first", first_heard), ("second", second_heard)):
        heard = [line for line in record.logs.get(side, "").splitlines() if line.startswith("position")]
        start = "position startpos"
        assert heard == [line if "fen" in line else f"{start} moves {line}" if line else start for line in expected]


def test_toy_game_ends_by_its_own_rules_and_is_read_again():
    first, second = scripted("one", "a1a2", "a2b3"), scripted("two", "c3c2")
    with Roster(Sandbox("none")) as roster:
        record = play(
            PlannedGame.of(GameSpec(FAMILY, "standard", first, second, time=PATIENT_TIME, limits=PATIENT)), roster
        )
    assert (record.winner, record.termination, record.kind) == ("first", "breakthrough", Kind.RULES)
    assert read_record(record.line()) == record
    assert verify(record).outcome == Outcome("first", record.termination)


def test_sample_bots_take_part_in_the_phase_of_the_toy():
    table = GameState(FAMILY)
    assert "GiftPhase" in [option.name for option in table.declarations()]
    table.set_option("GiftPhase", "true")
    assert str(table.follow(None, [])) == "bbb/3/www w gift"
    assert table.follow(None, ["-a1"]).texts == ["-a3", "-b3", "-c3", "pass"]
    with pytest.raises(BadOption):
        table.set_option("SwapPhase", "true")


def test_a_bot_that_does_not_know_the_phase_is_eligible():
    ruleset = load(FAMILY).settle(None, {"gift": True})
    found = Capabilities.default().as_json()
    verdict = check_eligibility({FAMILY: found}, {FAMILY: ["standard"]}, ruleset)
    assert verdict.may_play
    assert "the referee passes for it in the gift phase" in verdict.reason


def test_every_generic_test_discovers_the_toy():
    """Invariants, vectors, parsers and playthrough run on it without code of their own."""
    files = [
        f"tests/rules/test_{name}.py"
        for name in ("invariants", "vectors", "parsers", "playthrough", "template", "terminations")
    ]
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
        timeout=500,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    passed = int(done.stdout.rsplit(" passed", 1)[0].rsplit(None, 1)[-1].lstrip("\n"))
    assert passed > 30, done.stdout[-500:]
