"""Functions, classes and course agents as bots."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from bots.bridges.baroque_course import CODES, CourseState, board_of, parse
from bots.bridges.failure import BridgeError, BridgeExit
from bots.bridges.python_agent import build, main
from bots.sdk.clock import Clock
from protocol.messages import Go
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.position import Position
from tests.bots.bridges.table import HERE, bridge, honest, meet

AGENTS, COURSE = str(HERE / "agents.py"), str(HERE / "course_agent.py")


def agent(what: str, *words: str, family: str = "loa") -> tuple[str, ...]:
    return (f"{AGENTS}:{what}", "--family", family, *words)


def against(words: tuple[str, ...], *moves: str, family: str = "loa") -> GameRecord:
    return meet(bridge("python_agent", *words), honest(*moves), family)


def test_a_function_plays_a_class() -> None:
    one = bridge("python_agent", *agent("first"))
    two = bridge("python_agent", *agent("Counter", "--name", "counts"))
    record = meet(one, two, "loa", options=[("max_plies", 12)])
    assert (record.termination, len(record.moves)) == ("max-plies", 12), record.detail
    assert record.second_version in ("", "counts")


def test_a_function_of_texts() -> None:
    record = against(agent("by_text", "--api", "text"), "h4f2", "resign")
    assert record.winner == "first", (record.detail, record.logs)


START = Position.start(load("loa").settle())


def second() -> Clock:
    return Clock(Go(movetime=1000), 0)


@pytest.mark.parametrize(
    ("what", "code", "evidence"),
    [
        ("illegal", BridgeExit.ANSWER, "the agent chose 'b1b2'"),
        ("nothing", BridgeExit.ANSWER, "the agent chose 'None'"),
        ("raises", BridgeExit.BROKEN, "the agent raised RuntimeError: out of ideas"),
    ],
)
def test_an_agent_that_misbehaves_is_named(what: str, code: BridgeExit, evidence: str) -> None:
    with pytest.raises(BridgeError) as error:
        build(f"{AGENTS}:{what}", "position", False, "").choose(START, second())
    assert error.value.code is code
    assert evidence in str(error.value)


def test_illegal_choices_can_be_filtered() -> None:
    record = against(agent("illegal", "--filter"), "h4f2", "resign")
    assert record.winner == "first", record.detail
    assert record.moves[0].startswith("b1")
    assert "replaced by" in record.logs["first"]


@pytest.mark.parametrize(
    ("what", "api", "evidence"),
    [
        (f"{AGENTS}:missing", "position", "no 'missing' in"),
        ("no_such_module:f", "position", "no module 'no_such_module'"),
        ("/no/such/file.py:f", "position", "no such file"),
        (AGENTS, "position", "neither a function nor a class"),
        (AGENTS, "course", "has no makeMove"),
    ],
)
def test_what_is_not_there_is_named(what: str, api: str, evidence: str) -> None:
    with pytest.raises(BridgeError) as error:
        build(what, api, False, "")
    assert error.value.code is BridgeExit.MISSING
    assert evidence in str(error.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file.py"
    file.write_text("def choose(position, clock):\n    return position.moves[0]\n")

    def refuse(path: Path, *_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything
    with pytest.raises(BridgeError, match=f"{file} cannot be read .Permission denied.: user {os.geteuid()}") as error:
        build(f"{file}:choose", "position", False, "")
    assert error.value.code is BridgeExit.MISSING


def test_an_agent_that_is_not_there_does_not_shake_hands() -> None:
    record = against(agent("missing"))
    assert record.termination == "handshake-failed"
    assert "exit code 66" in record.detail
    assert "no 'missing' in" in record.logs["first"]


def test_the_family_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([f"{AGENTS}:first"], [AGENTS, "--api", "course", "--family", "loa"]):
        with pytest.raises(SystemExit):
            main(words)
        assert "family" in capsys.readouterr().err


def test_an_agent_of_the_course_plays_itself() -> None:
    spec = bridge("python_agent", COURSE, "--api", "course")
    record = meet(spec, spec, "baroque", options=[("max_plies", 10)])
    assert (record.termination, len(record.moves)) == ("max-plies", 10), (record.detail, record.logs)


def test_illegal_choices_of_the_course_can_be_filtered_too() -> None:
    start, wild = Position.start(load("baroque").settle()), f"{COURSE}:wild"
    with pytest.raises(BridgeError, match="'e1e8'"):
        build(wild, "course", False, "").choose(start, second())
    assert build(wild, "course", True, "").choose(start, second()) in start.moves


def test_boards_of_the_course() -> None:
    start = Position.start(load("baroque").settle())
    assert board_of(start) == CourseState().board
    assert board_of(start)[0] == [CODES[letter] for letter in "cliwkilf"]
    board = parse("\n".join(["- - - - - - - -"] * 7 + ["- - - - K - - f"]))
    assert str(CourseState(board, 0)).endswith("- - - - K - - f\nBLACK's move\n")
