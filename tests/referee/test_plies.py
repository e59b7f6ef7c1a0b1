"""Plies one after the other: what bots hear, what their clocks are charged, and who is told of it."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.game.record import Ply
from referee.game.spec import Adjudication, GameSpec, PlannedGame, TimeControl
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.core import Termination
from referee.rules.position import Position
from referee.sandbox import Sandbox
from tests.referee.conftest import PATIENT, PATIENT_TIME, scripted

PLIES = 40


def cycle(position: Position) -> list[int]:
    """Four moves that lead back to the position."""
    for move in position.moves[:3]:
        first = position.play(move)
        for reply in first.moves[:3]:
            second = first.play(reply)
            for retreat in second.moves:
                third = second.play(retreat)
                for return_move in third.moves:
                    if third.play(return_move).key == position.key:
                        return [move, reply, retreat, return_move]
    raise AssertionError("no way back")


def some_moves(count: int = PLIES) -> list[str]:
    """A random game of Lines of Action."""
    position, dice, moves = Position.start(load("loa").settle()), random.Random(3), list[str]()
    while len(moves) < count:
        move = dice.choice(position.moves)
        moves.append(position.ruleset.rules.notation.write_move(move))
        position = position.play(move)
    return moves


def replayed(family: str, moves: list[str], heard: Path | None = None, **changes: Any) -> PlannedGame:
    """A game in which two bots replay these moves; what each hears is kept in `0` and `1` of a folder."""
    words = [["--hear", str(heard / str(side))] if heard else [] for side in (0, 1)]
    bots = [scripted(f"bot{side}", *words[side], *moves[side::2]) for side in (0, 1)]
    adjudication = Adjudication(max_plies=len(moves))
    spec = GameSpec(
        family, load(family).variants[0].name, *bots, time=PATIENT_TIME, limits=PATIENT, adjudication=adjudication
    )
    return PlannedGame.of(replace(spec, **changes))


def test_a_repetition_ends_the_game_as_the_rules_say(roster: Roster) -> None:
    start = Position.start(load("loa").settle())
    moves = [start.ruleset.rules.notation.write_move(move) for move in cycle(start) * 2]
    ended = start.play_all(moves).outcome
    assert ended is not None
    record = play(replayed("loa", moves), roster)
    assert (record.termination, record.winner, list(record.moves)) == (ended.reason, ended.winner, moves)


def test_bots_hear_every_move_so_far(tmp_path: Path) -> None:
    moves = some_moves()
    with Roster(Sandbox("none")) as roster:  # its bots write down what they heard when they end
        play(replayed("loa", moves, tmp_path, time=TimeControl("depth", limit=3)), roster)
    first, second = ((tmp_path / side).read_text() for side in "01")
    assert "position startpos\ngo depth 3\n" in first
    assert f"position startpos moves {moves[0]}\ngo depth 3\n" in second
    assert f"position startpos moves {' '.join(moves[:-1])}\ngo depth 3\n" in second


def test_each_clock_runs_with_its_own_increment_and_both_bots_are_told(tmp_path: Path) -> None:
    planned = replayed("loa", some_moves(), tmp_path, time=TimeControl("clock", 10_000, 70))
    second = replace(planned.spec.second, time=TimeControl("clock", 20_000, 30))
    with Roster(Sandbox("none")) as roster:
        record = play(PlannedGame.of(replace(planned.spec, second=second)), roster)
    told = [[line for line in (tmp_path / side).read_text().splitlines() if line.startswith("go")] for side in "01"]
    left, increments = [10_000.0, 20_000.0], (70, 30)
    for number, ply in enumerate(record.plies):
        words = told[number % 2][number // 2].split()
        assert words[1::2] == ["p1time", "p2time", "p1inc", "p2inc"]
        assert [float(word) for word in words[2:6:2]] == pytest.approx(left, abs=1.1)
        assert words[6::2] == ["70", "30"]
        assert ply.charged_ms == pytest.approx(ply.ms - ply.lag_ms, abs=0.002)
        left[number % 2] += increments[number % 2] - ply.charged_ms


def test_whoever_watches_is_told_of_every_ply(roster: Roster) -> None:
    moves, told = some_moves(), list[tuple[int, str, Ply]]()
    record = play(replayed("loa", moves), roster, lambda *ply: told.append(ply))
    assert [(number, move) for number, move, _ in told] == list(enumerate(moves, 1))
    assert [ply for _, _, ply in told] == list(record.plies)


def test_nobody_is_asked_once_all_is_called_off() -> None:
    reading, writing = os.pipe()
    with Roster(Sandbox("none"), stop_fd=reading) as roster:
        roster.begin = lambda *_: os.write(writing, b"!")  # type: ignore[method-assign, assignment]
        record = play(replayed("loa", some_moves()), roster)
    assert (record.termination, record.moves) == (Termination.STOPPED, ())
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    ("word", "text", "termination"),
    [
        ("--after", "info depth 1", Termination.MAX_PLIES),
        ("--after", "hello", Termination.MAX_PLIES),
        ("--at-once", "bestmove b1b3", Termination.PROTOCOL_ERROR),  # later it would be taken for the next answer
        ("--complain", "what a move", Termination.MAX_PLIES),
        ("--complain", "x" * 100_000, Termination.MAX_PLIES),
    ],
)
def test_what_is_said_between_two_answers_is_heard(
    word: str, text: str, termination: Termination, roster: Roster
) -> None:
    moves = some_moves()
    quiet, talker = (scripted(f"bot{side}", *moves[side::2]) for side in (0, 1))
    talker = replace(talker, command=(*talker.command, word, "8", text))
    record = play(replayed("loa", moves, first=quiet, second=talker), roster)
    assert record.termination is termination, record.detail
    if termination is Termination.PROTOCOL_ERROR:
        assert record.winner == "first"
    assert ("second" in record.logs) == (word == "--complain")


def test_who_takes_longer_than_a_moment_is_waited_for(roster: Roster) -> None:
    moves = some_moves()
    one, two = (scripted(f"bot{side}", "--think", "8", "20", *moves[side::2]) for side in (0, 1))
    record = play(replayed("loa", moves, first=one, second=two), roster)
    assert (record.termination, list(record.moves)) == (Termination.MAX_PLIES, moves)
    assert all(ply.ms > 2 for ply in record.plies[14:16])
