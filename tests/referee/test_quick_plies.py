"""Ordinary plies in compiled calls: the same game as ply by ply, and everybody is told the same."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from referee.play import play
from referee.record import GameRecord, Ply
from referee.roster import Roster
from referee.rules import families, load
from referee.rules.cache import IS_COMPILED
from referee.rules.calling import addresses_of
from referee.rules.core import Termination
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.sandbox import Sandbox
from referee.spec import Adjudication, GameSpec, PlannedGame, TimeControl
from tests.referee.conftest import FAST, scripted

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="optional: quick plies are compiled")
PLIES = 40


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many plies each compiled call played."""
    from referee.exchange import loop

    played: list[int] = []
    really = loop.play_on

    def play_on(game: Any, *others: Any) -> tuple[int, int, int, int, int]:
        before = int(game[loop.PLIES])
        ended = really(game, *others)
        played.append(int(game[loop.PLIES]) - before)
        return ended  # type: ignore[no-any-return]

    monkeypatch.setattr(loop, "play_on", play_on)
    return played


def cycle(position: Position) -> list[int]:
    """Four moves that lead back to the position; none where there are none among the first."""
    for one in position.moves[:3]:
        first = position.play(one)
        for two in first.moves[:3]:
            second = first.play(two)
            for three in second.moves:
                third = second.play(three)
                for four in third.moves:
                    if third.play(four).key == position.key:
                        return [one, two, three, four]
    return []


def some_game(family: str) -> list[str]:
    """A game that begins with a repetition, where the family knows that, and goes on at random."""
    position, rng = Position.start(load(family).settle()), random.Random(3)
    moves = cycle(position)
    position = position.play_all(moves)
    while len(moves) < PLIES and position.outcome is None:
        moves.append(rng.choice(position.moves))
        position = position.play(moves[-1])
    return [position.ruleset.rules.notation.write_move(move) for move in moves]


def replayed(family: str, moves: list[str], heard: Path | None = None, **changes: Any) -> PlannedGame:
    """A game in which two bots replay these moves; what each hears is kept in `0` and `1` of a folder."""
    words = [["--hear", str(heard / str(side))] if heard else [] for side in (0, 1)]
    one, two = (scripted(f"bot{side}", *words[side], *moves[side::2]) for side in (0, 1))
    adjudication = Adjudication(max_plies=len(moves))
    spec = GameSpec(family, load(family).variants[0].name, one, two, limits=FAST, adjudication=adjudication)
    return PlannedGame.of(replace(spec, **changes))


def essence(record: GameRecord) -> object:
    """What does not depend on how fast it was."""
    return record.moves, record.winner, record.termination, record.detail, record.final_position, len(record.plies)


@pytest.mark.parametrize("family", families())
def test_a_game_is_the_same_as_ply_by_ply(
    family: str, quickly: list[int], roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = replayed(family, some_game(family))
    play(planned, roster)
    del quickly[:]
    found = essence(play(planned, roster))
    assert sum(quickly) > 10
    monkeypatch.setattr("referee.play.IS_COMPILED", False)
    assert essence(play(planned, roster)) == found


@pytest.mark.parametrize("family", ["loa", "abalone", "tablut"])
def test_a_kernel_that_judges_repetition_is_told_of_it(family: str, quickly: list[int], roster: Roster) -> None:
    start = Position.start(load(family).settle())
    moves = [start.ruleset.rules.notation.write_move(move) for move in cycle(start) * 2]
    assert start.play_all(moves[:7]).outcome is None
    ended = start.play_all(moves).outcome
    assert ended is not None
    planned = replayed(family, moves)
    play(planned, roster)
    del quickly[:]
    record = play(planned, roster)
    assert (record.termination, record.winner, list(record.moves)) == (ended.reason, ended.winner, moves)
    assert sum(quickly) > 2


def test_both_bots_hear_the_same_as_ply_by_ply(
    quickly: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves, heard = some_game("loa"), []
    for way in ("learns", "quickly", "ply by ply"):
        if way == "ply by ply":
            monkeypatch.setattr("referee.play.IS_COMPILED", False)
        del quickly[:]
        (tmp_path / way).mkdir()
        with Roster(Sandbox("none")) as roster:
            play(replayed("loa", moves, tmp_path / way, time=TimeControl("depth", limit=3)), roster)
        heard.append([(tmp_path / way / side).read_text() for side in "01"])
        assert (sum(quickly) > 10) == (way == "quickly") or way == "learns"
    assert heard[1] == heard[2]
    assert "position startpos\ngo depth 3\n" in heard[1][0]
    assert f"position startpos moves {moves[0]}\ngo depth 3\n" in heard[1][1]
    assert f"position startpos moves {' '.join(moves[:-1])}\ngo depth 3\n" in heard[1][1]


def test_clocks_run_and_bots_are_told_of_them(quickly: list[int], tmp_path: Path) -> None:
    time = TimeControl("clock", 10_000, 70)
    planned = replayed("loa", some_game("loa"), tmp_path, time=time)
    with Roster(Sandbox("none")) as roster:
        play(planned, roster)
        del quickly[:]
        record = play(planned, roster)
    assert sum(quickly) > 10
    told: list[list[str]] = []
    for side in "01":
        lines = (tmp_path / side).read_text().splitlines()
        told.append([line for line in lines if line.startswith("go")][PLIES // 2 :])
    left = [10_000.0, 10_000.0]
    for number, ply in enumerate(record.plies):
        words = told[number % 2][number // 2].split()
        assert words[1::2] == ["p1time", "p2time", "p1inc", "p2inc"]
        assert [float(word) for word in words[2:6:2]] == pytest.approx(left, abs=1.1)
        assert words[6::2] == ["70", "70"]
        assert ply.charged_ms == pytest.approx(ply.ms - ply.lag_ms, abs=0.002)
        left[number % 2] += 70 - ply.charged_ms


def test_whoever_watches_is_told_of_every_ply(quickly: list[int], roster: Roster) -> None:
    moves = some_game("loa")
    planned = replayed("loa", moves)
    play(planned, roster)
    told: list[tuple[int, str, Ply]] = []
    record = play(planned, roster, lambda *ply: told.append(ply))
    assert sum(quickly) > 10
    assert [(number, move) for number, move, _ in told] == list(enumerate(moves, 1))
    assert [ply.ms for _, _, ply in told] == [ply.ms for ply in record.plies]


def test_nobody_is_asked_once_all_is_called_off(quickly: list[int]) -> None:
    reading, writing = os.pipe()
    planned = replayed("loa", some_game("loa"))
    with Roster(Sandbox("none"), stop_fd=reading) as roster:
        play(planned, roster)
        del quickly[:]
        roster.begin = lambda *_: os.write(writing, b"!")  # type: ignore[method-assign, assignment]
        assert play(planned, roster).termination is Termination.STOPPED
    assert quickly == [0]
    os.close(reading)
    os.close(writing)


def test_bots_that_say_more_than_their_move_are_asked_ply_by_ply(
    game: Callable[..., PlannedGame], quickly: list[int], roster: Roster
) -> None:
    moves = some_game("loa")
    one, two = (["--say", "info score cp 12", *moves[side::2]] for side in (0, 1))
    planned = game(one, two, adjudication=Adjudication(max_plies=len(moves)))
    play(planned, roster)
    del quickly[:]
    record = play(planned, roster)
    assert [ply.score for ply in record.plies] == [12] * len(moves)
    assert sum(quickly) == 0
    assert len(quickly) < len(moves)


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
def test_what_is_said_between_ordinary_plies_is_heard(
    word: str, text: str, termination: Termination, quickly: list[int], roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = some_game("loa")
    play(replayed("loa", moves), roster)
    one, two = (scripted(f"bot{side}", *moves[side::2]) for side in (0, 1))
    two = replace(two, command=(*two.command, word, "8", text))
    planned = replayed("loa", moves, first=one, second=two)
    del quickly[:]
    record = play(planned, roster)
    assert sum(quickly) > 5, record.detail
    assert record.termination is termination
    if termination is Termination.PROTOCOL_ERROR:
        assert record.winner == "first"
    monkeypatch.setattr("referee.play.IS_COMPILED", False)
    again = play(planned, roster)
    assert essence(again) == essence(record)
    assert again.anomalies == record.anomalies
    assert again.logs.keys() == record.logs.keys()


def test_who_takes_longer_than_a_moment_is_waited_for(quickly: list[int], roster: Roster) -> None:
    moves = some_game("loa")
    play(replayed("loa", moves), roster)
    one, two = (scripted(f"bot{side}", "--think", "8", "20", *moves[side::2]) for side in (0, 1))
    del quickly[:]
    record = play(replayed("loa", moves, first=one, second=two), roster)
    assert sum(quickly) > 5
    assert (record.termination, list(record.moves)) == (Termination.MAX_PLIES, moves)
    assert max(ply.ms for ply in record.plies[14:16]) > 2


def test_a_copy_of_a_process_makes_a_timer_of_its_own() -> None:
    from referee import quick_plies

    one = quick_plies._ticker()
    assert quick_plies._ticker() is one
    one.thread = 0  # as that of the process of which this one is a copy
    assert quick_plies._ticker() is not one


@pytest.mark.parametrize("family", families())
def test_kernels_can_be_called_by_their_addresses(family: str) -> None:
    found = addresses_of(load(family).settle())
    assert found is not None
    assert found.legal
    assert found.play
    assert found.result


@pytest.mark.parametrize("family", families())
def test_a_line_that_takes_plies_over_goes_on_as_if_it_had_played_them(family: str) -> None:
    ruleset, texts = load(family).settle(), some_game(family)
    line, other = LineOfPlay(ruleset), LineOfPlay(ruleset)
    states, codes = [], []
    for text in texts[:7]:
        codes.append(ruleset.rules.notation.read_move(text, line.state, ruleset.config))
        line.push(codes[-1])
        states.append(line.state.copy())
    import numpy as np

    other.push(codes[0])
    other.push_all(codes[1:4], np.array(states[1:4]), 0)
    other.push_all(codes[4:], np.array(states[4:]), 0)
    assert (other.plies, other.outcome, bytes(other.state)) == (line.plies, line.outcome, bytes(line.state))
    for text in texts[7:12]:
        code = ruleset.rules.notation.read_move(text, line.state, ruleset.config)
        assert other.is_legal(code) == line.is_legal(code)
        line.push(code)
        other.push(code)
        assert (other.outcome, bytes(other.state)) == (line.outcome, bytes(line.state))


def test_texts_that_look_alike_are_told_apart() -> None:
    import numpy as np

    from referee.exchange import loop

    texts = np.zeros((loop.TEXTS, 3), np.uint64)
    known = [b"a", b"aa", b"a\0", b"\0a", b"b1b3", b"b3b1", b"a1b2c3d4", b"a1b2c3d4e", b"a1b2c3d4e5f6g7h"]
    for code, text in enumerate(known):
        assert loop.look_up(texts, np.array([*text], np.uint8), 0, len(text), -1) == -1
        loop.look_up(texts, np.array([*text], np.uint8), 0, len(text), code)
    for code, text in enumerate(known):
        assert loop.look_up(texts, np.array([*b"xx", *text], np.uint8), 2, len(text), -1) == code
    assert all(one != two for one, two in pairwise(known))
