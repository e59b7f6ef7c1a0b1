"""Engines with the habits of those that exist are examined, written down, and play whole games unmodified."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.bot.argument import refuse_doubles
from referee.bot.bot import LocalBot
from referee.bot.file import read_capabilities, read_local_bot
from referee.bot.file_writer import bot_file_of, write_bot_file
from referee.bot.seat import Thought
from referee.check import ability
from referee.check.check import check
from referee.check.examinee import BotUnderTest
from referee.check.probe import Candidate, GameConditions, IneligibleError, probe
from referee.check.report import CheckReport
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl, read_time_control
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.position import Position
from referee.sandbox import Sandbox
from referee.sandbox.reaper import become_subreaper, children, sweep
from tests.conftest import INTERPRETED
from tests.engines import board as own_board
from tests.program import arena

HERE = Path(__file__).parent
ENGINES = ("natsel_rs", "natsel_cpp", "cmalo")
LIMITS = replace(BotLimits(), start_ms=60_000, ready_ms=60_000, quit_ms=300, grace_ms=150, margin_ms=20_000)
"""With a margin that a busy machine does not use up."""
NONE = Sandbox("none")
RULES = load("pijersi").settle()


def engine(name: str) -> BotSpec:
    return BotSpec(name, (sys.executable, "-S", "-E", str(HERE / f"{name}.py")))


def introduced(spec: BotSpec, control: str, limits: BotLimits = LIMITS) -> BotSpec:
    return probe(Candidate(spec), GameConditions.of(RULES, limits, read_time_control(control)), NONE)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """Workers that outlive their engine become children of this process, and are found."""
    become_subreaper()
    before = children()
    yield
    sweep(before)


class Reports(dict[str, CheckReport]):
    """What `check` finds of each engine, with less patience than usual; each is examined once, when asked for."""

    def __missing__(self, name: str) -> CheckReport:
        become_subreaper()
        before = children()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ability, "_can", _can)
            patch.setattr(ability, "QUERY_TIMEOUT_MS", 60_000)
            self[name] = check(engine(name), [RULES], NONE, LIMITS)
        sweep(before)
        return self[name]


def _can(examinee: BotUnderTest, capability: str, words: str, allowance_ms: float) -> str:
    """None of them answers `go nodes`, but each `go depth`."""
    return _really_can(examinee, capability, words, 60_000 if capability == "depth" else 2000)


_really_can = ability._can


@pytest.fixture(scope="module")
def reports() -> Reports:
    """Every engine's."""
    return Reports()


def examined(name: str, reports: Reports) -> BotSpec:
    return replace(engine(name), capabilities=read_capabilities(reports[name].capabilities.as_json(), name))


EXPECTED: dict[str, dict[str, Any]] = {
    "natsel_rs": {"setoption": "bare", "query": "response", "repeated_isready": False},
    "natsel_cpp": {"setoption": "standard", "query": "response", "repeated_isready": True},
    "cmalo": {"setoption": "standard", "query": "bare", "repeated_isready": True},
}


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_survives_its_examination_and_is_known_afterwards(name: str, reports: Reports) -> None:
    report = reports[name]
    assert report.is_fit, [(step.name, step.detail) for step in report.steps]
    found = report.capabilities.as_json()
    wanted = EXPECTED[name] | {"clocks": False, "stop": False, "nodes": False, "depth": True, "newgame": True}
    assert {key: found[key] for key in wanted} == wanted
    assert found["overshoot_ms"] > 0 or name != "natsel_rs"


def test_what_was_found_is_written_down_and_read_again(reports: Reports, tmp_path: Path) -> None:
    spec = replace(examined("natsel_rs", reports), options=(("verbose", "false"),), folder=str(tmp_path))
    file = tmp_path / "engine.toml"
    write_bot_file(replace(bot_file_of(spec, "pijersi"), capabilities=spec.capabilities), file)
    assert read_local_bot(file) == spec


def test_whole_games_on_clocks(reports: Reports) -> None:
    left, right = examined("natsel_rs", reports), examined("cmalo", reports)
    with Roster(NONE, is_reaper=True) as roster:
        for sequence, (white, black) in enumerate(((left, right), (right, left))):
            time = TimeControl("clock", 100_000, 100)  # they think for some milliseconds at most
            record = play(
                PlannedGame.of(
                    GameSpec("pijersi", "standard", white, black, time=time, limits=LIMITS, sequence=sequence)
                ),
                roster,
            )
            assert record.kind == "rules", record.detail
            assert record.anomalies == (0, 0)
            assert len(record.moves) >= 5


def test_a_match_without_an_examination_is_preceded_by_a_short_one(reports: Reports) -> None:
    for name in ENGINES:
        spec = introduced(engine(name), "2+0")
        assert spec.capabilities["clocks"] is False
        assert spec.capabilities.get("repeated_isready", True) is (name != "natsel_rs")


def test_options_are_set_in_the_style_the_engine_takes(reports: Reports) -> None:
    spec = replace(engine("natsel_rs"), options=(("verbose", "false"),))
    found = introduced(spec, "2+0")
    assert found.capabilities["setoption"] == "bare"
    lines = transcript(found)
    assert "> setoption verbose false" in lines
    assert not [line for line in lines if "error" in line]


def transcript(spec: BotSpec) -> list[str]:
    """The lines up to the first move."""
    bot = LocalBot(spec, LIMITS, NONE)
    bot.wire.transcript = []
    try:
        bot.start()
        bot.handshake()
        from referee.play.player import prepare

        prepare(bot, RULES)
        bot.ready()
        bot.think(b"position startpos\ngo movetime 100\n", 5000)
    finally:
        bot.close()
    return bot.wire.transcript


def test_an_engine_without_nodes_is_not_entered_where_nodes_count(reports: Reports) -> None:
    for name in ENGINES:
        with pytest.raises(IneligibleError, match="go nodes"):
            introduced(examined(name, reports), "nodes:100")
        assert introduced(examined(name, reports), "depth:2").name == name


def test_a_movetime_leaves_room_for_the_overshoot(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, list[int]] = {"natsel_rs": [], "cmalo": []}
    think = LocalBot.think

    def noted(bot: LocalBot, question: bytes, *rest: Any) -> Thought:
        told[bot.spec.name].append(int(question.split()[-1]))
        return think(bot, question, *rest)

    white, black = examined("natsel_rs", reports), examined("cmalo", reports)
    monkeypatch.setattr(LocalBot, "think", noted)
    assert white.capabilities["overshoot_ms"]
    with Roster(NONE, is_reaper=True) as roster:
        time = TimeControl("movetime", 400, 0)
        record = play(PlannedGame.of(GameSpec("pijersi", "standard", white, black, time=time, limits=LIMITS)), roster)
    assert record.kind == "rules", record.detail
    assert told["natsel_rs"][0] <= 400 - white.capabilities["overshoot_ms"]
    assert 200 <= min(told["natsel_rs"]) <= max(told["natsel_rs"]) < 400


@pytest.mark.parametrize("name", ENGINES)
def test_nothing_is_left_of_an_engine_that_is_killed(name: str) -> None:
    """Floods and busy loops at the end of the input, and workers that live on, end with the roster."""
    before = children()
    spec = engine(name)
    with Roster(NONE, is_reaper=True) as roster:
        (bot,) = roster.seat([spec], LIMITS)
        bot.start()
        bot.handshake()
        bot.process.is_sound = False  # it is not asked to quit: its input just ends
        roster.release([bot])
    assert children() <= before


HABITS = [
    ("natsel_rs", "\n", "info error"),
    ("natsel_rs", "setoption name verbose value false\n", "info error"),
    ("natsel_rs", "go infinite\n", "info error"),
    ("natsel_rs", "position startpos moves a1a1\n", "info error"),
    ("natsel_rs", "query gameover\n", "response false"),
    ("natsel_rs", "position fen 6/7/6/7/6/7/6 w 0 1\ngo depth 1\n", "bestmove ------"),
    ("natsel_cpp", "\nhello\nquery gameover\n", "response false"),
    ("natsel_cpp", "position fen 6/7/6/7/6/7/6 w 0 1\ngo depth 1\n", "wtf"),
    ("natsel_cpp", "position startpos\ngo depth 1\nquery p1turn\n", "response false"),
    ("natsel_cpp", "position startpos moves a1g1\nquery p1turn\n", "response false"),
    ("cmalo", "uginewgame\nposition startpos\nquery p1turn\n", "True"),
    ("cmalo", "\n", "exit 1"),
    ("cmalo", "stop\n", "exit 1"),
    ("cmalo", "position startpos\n", "exit 1"),
    ("cmalo", "uginewgame\nposition startpos\ngo p1time 1000 p2time 1000\n", "exit 1"),
]


@pytest.mark.parametrize(("name", "heard", "said"), HABITS)
def test_the_doubles_have_the_habits_of_the_originals(name: str, heard: str, said: str) -> None:
    spec = engine(name)
    heard += "quit\n"
    done = subprocess.run(spec.command, input=heard, capture_output=True, text=True, timeout=500, check=False)
    assert said in (f"{done.stdout}exit {done.returncode}")


@pytest.mark.parametrize("plies", [6])
def test_their_board_is_a_board_of_pijersi(plies: int) -> None:
    position, board = Position.start(RULES), own_board.Board()
    for ply in range(plies):
        assert board.turns() == position.texts
        turn = position.texts[(37 * ply) % len(position.texts)]
        position = position.play(turn)
        board.play(turn)
        assert str(board) == str(position)


def test_a_tournament_by_the_command_line(reports: Reports, tmp_path: Path) -> None:
    """One engine is written down beforehand, the other is asked at the start; the run is continued without asking."""
    file = tmp_path / "natsel.toml"
    spec = examined("natsel_cpp", reports)
    write_bot_file(replace(bot_file_of(spec, "pijersi"), capabilities=spec.capabilities), file)
    command = f"{sys.executable} -S -E {HERE / 'cmalo.py'}"
    words = ["play", str(file), command, "--family", "pijersi", "--games", "2"]
    words += ["--tc", "100+0.1", "--out", str(tmp_path / "run"), "--json"]
    for _ in range(2):
        done = arena(words, INTERPRETED)
        assert done.returncode == 0, done.stderr
        games = json.loads(done.stdout)["games"]
        assert [game["kind"] for game in games] == ["rules"] * 2, [game["detail"] for game in games]
        assert {game["first"] for game in games} == {"natsel_cpp", "cmalo 2.3.1"}


def test_capabilities_may_be_the_report_of_a_check(reports: Reports, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(reports["cmalo"].as_json()))
    (tmp_path / "cmalo").touch()
    (tmp_path / "bot.toml").write_text('command = "./cmalo --fast"\ncapabilities = "report.json"\n')
    bot = read_local_bot(tmp_path)
    assert bot.command == ("./cmalo", "--fast")
    assert bot.capabilities == examined("cmalo", reports).capabilities
    assert {"clocks": False, "query": "bare"}.items() <= bot.capabilities.items()


def test_an_engine_that_needs_more_memory_is_told_how_to_get_it() -> None:
    spec = replace(engine("natsel_rs"), command=(*engine("natsel_rs").command, "300"))
    limits = replace(LIMITS, memory_bytes=100 * 2**20)
    report = check(spec, [RULES], NONE, limits)
    step = next(step for step in report.steps if not step.passed)
    assert "memory-limit" in step.detail
    assert "--memory MB" in step.advice
    bot = introduced(spec, "2+0", replace(limits, memory_bytes=2**30))
    assert bot.capabilities["repeated_isready"] is False


def test_two_bots_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="bots 1 and 3 are both named 'a'"):
        refuse_doubles([replace(engine("cmalo"), name=name) for name in ("a", "b", "a")])
    refuse_doubles([replace(engine("cmalo"), name="") for _ in range(3)])
