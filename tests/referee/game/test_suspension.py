"""Bots that never get ready: counted, suspended, their other games lost unplayed; also in a match on this machine."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import pytest

from referee.game.record import GameRecord
from referee.game.spec import BotLimits, GameSpec, PlannedGame, TimeControl
from referee.game.unplayed import Suspension
from referee.play.dispatch import ATTEMPTS, Dispatcher
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules.core import Kind, Termination
from referee.verify.verification import verify
from tests.referee.conftest import BRIEF, PATIENT, PATIENT_TIME, a_record, scripted

Build = Callable[..., PlannedGame]
MUTE, FINE, OTHER = (scripted(name) for name in ("mute", "fine", "other"))


def between(first: Any, second: Any, number: int = 1) -> PlannedGame:
    """A game of two bots."""
    return PlannedGame.of(GameSpec("loa", "standard", first, second, sequence=number, pair=(number + 1) // 2))


def lost(game: PlannedGame, *, at_start: bool = True) -> GameRecord:
    """The record of a game that `mute` loses, as does whoever else plays without it as first."""
    spec = game.spec
    is_second = spec.second.name == "mute"
    return a_record(
        id=game.id,
        first=spec.first.name,
        second=spec.second.name,
        winner="first" if is_second else "second",
        termination=Termination.STALLED,
        kind=Kind.FORFEIT,
        sequence=spec.sequence,
        pair=spec.pair,
        at_start=at_start,
    )


def failed(number: int) -> GameRecord:
    """The record of a game that `mute` lost at the start."""
    return lost(between(MUTE, FINE, number))


def test_so_many_games_in_a_row_suspend() -> None:
    found = Suspension(3)
    assert [found.add(failed(number)) for number in range(1, 6)] == [None, None, "mute", None, None]
    assert found.names == {"mute": 1}
    assert Suspension(3, [failed(1), failed(2)]).add(lost(between(FINE, MUTE, 3))) == "mute"


def test_a_game_that_began_starts_the_count_anew() -> None:
    began = lost(between(MUTE, FINE, 3), at_start=False)
    found = Suspension(3, [failed(1), failed(2), began, failed(4), failed(5)])
    assert found.names == {}
    assert found.add(failed(6)) == "mute"


def test_what_the_opponent_lost_at_the_start_says_nothing() -> None:
    theirs = replace(lost(between(OTHER, FINE, 2)), second="mute")
    assert Suspension(2, [failed(1), theirs, failed(3)]).names == {"mute": 1}


def test_failures_count_in_the_order_of_planning_not_of_arrival() -> None:
    """A bot that seldom fails to start plays many games at once: its failures are known at once, the others late."""
    running = [between(MUTE, FINE, number) for number in range(1, 10)]
    early = [failed(number) for number in (1, 4, 6, 9)]
    assert Suspension(3, early, running).names == {}
    late = [lost(between(MUTE, FINE, number), at_start=False) for number in (2, 3, 5, 7, 8)]
    assert Suspension(3, [*early, *late], running).names == {}
    suspension = Suspension(3, early, running)
    assert [suspension.add(failed(number)) for number in (2, 5)] == [None, "mute"], "4, 5 and 6"


def test_a_bot_is_not_suspended_more_often_with_more_slots() -> None:
    def suspended(slots: int, seed: int) -> bool:
        """Play 200 games of which every tenth fails at once; the others last."""
        rng, suspension, ends = random.Random(f"{slots} {seed}"), Suspension(3), list[tuple[float, int, bool]]()
        now, number = 0.0, 0
        while number < 200:
            while len(ends) < slots:
                number += 1
                fails = rng.random() < 0.1
                suspension.begin(between(MUTE, FINE, number))
                heapq.heappush(ends, (now + (0.0 if fails else rng.uniform(1, 2)), number, fails))
            now, ended, fails = heapq.heappop(ends)
            suspension.add(lost(between(MUTE, FINE, ended), at_start=fails))
        return bool(suspension.names)

    shares = [sum(suspended(slots, seed) for seed in range(30)) / 30 for slots in (1, 16, 64)]
    assert max(shares) - min(shares) < 0.25, shares


def test_nobody_is_suspended_where_the_limit_is_0() -> None:
    assert Suspension(0, [failed(number) for number in range(1, 21)]).names == {}


def test_the_games_of_a_suspended_bot_are_lost_and_say_why() -> None:
    suspension = Suspension(1, [lost(between(MUTE, FINE))])
    assert suspension.forfeit(between(FINE, OTHER)) is None
    for game, winner, side in ((between(MUTE, FINE), "second", "first"), (between(FINE, MUTE), "first", "second")):
        record = suspension.forfeit(game)
        assert record is not None
        assert (record.id, record.winner, record.kind) == (game.id, winner, "forfeit")
        assert record.termination is Termination.SUSPENDED
        assert record.detail == f"{side} (mute) was suspended: it did not get ready 1 times in a row"
        verify(record, game.spec)


@pytest.mark.parametrize(
    ("words", "termination", "at_start", "limits", "time"),
    [
        (["--ignore", "ugi"], "handshake-failed", True, replace(PATIENT, start_ms=300), PATIENT_TIME),
        (["--ignore", "isready"], "stalled", True, replace(PATIENT, ready_ms=300), PATIENT_TIME),
        ([], "stalled", False, BRIEF, TimeControl("clock", 300, 0)),
        (["resign"], "resigned", False, PATIENT, PATIENT_TIME),
    ],
    ids=["handshake", "ready", "silent", "resigns"],
)
def test_a_record_says_whether_play_had_begun(
    words: list[str],
    termination: str,
    at_start: bool,
    limits: BotLimits,
    time: TimeControl,
    game: Build,
    roster: Roster,
) -> None:
    """Nobody waits for the second bot: these limits are those of the first."""
    record = play(game(words, ["resign"], limits=limits, time=time), roster)
    assert (record.winner, record.termination, record.at_start) == ("second", termination, at_start)
    assert record.as_json().get("at_start", False) is at_start


class Slots(Executor):
    """Answers jobs one after the other, when the next one is asked for; `mute` fails in all of its own."""

    def __init__(self) -> None:
        self.jobs: list[Sequence[PlannedGame]] = []
        self.called_off: list[Future[Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        job = args[0]
        future: Future[Any] = Future()
        self.jobs.append(job)
        is_held = len(self.jobs) == 2
        future.set_running_or_notify_cancel()
        if not is_held:
            future.set_result([self.reply(game) for game in job])
        return future

    def reply(self, game: PlannedGame) -> GameRecord:
        return lost(game, at_start="mute" in (game.spec.first.name, game.spec.second.name))

    def call_off(self, future: Future[Any]) -> None:
        self.called_off.append(future)
        if not future.done():
            game = self.jobs[1][0]
            void = replace(lost(game), winner=None, termination=Termination.STOPPED, kind=Kind.VOID, at_start=False)
            future.set_result([void])


@pytest.mark.parametrize("tries", [0, ATTEMPTS - 1])
def test_a_match_on_this_machine_forfeits_what_is_left_at_once(tries: int) -> None:
    games = []
    for number in range(1, 41, 4):
        games += [between(MUTE, FINE, number), between(FINE, MUTE, number + 1)]
        games += [between(FINE, OTHER, number + 2), between(OTHER, FINE, number + 3)]
    games.sort(key=lambda game: ("mute" not in (game.spec.first.name, game.spec.second.name), game.spec.sequence))
    slots, kept, told = Slots(), list[GameRecord](), list[str]()
    dispatcher = Dispatcher(slots, 2, kept.append, suspension=Suspension(4), on_suspend=told.append)
    dispatcher._voids = {game.id: tries for game in games}  # void so often before: being called off is no try
    assert dispatcher.run(games) == []
    assert told == ["mute"]
    assert sorted(record.sequence for record in kept) == list(range(1, 41))
    played = [game for job in slots.jobs for game in job if game.spec.first.name == "mute"]
    assert len(played) <= 4
    assert len(slots.called_off) == 1, "what it was playing"
    forfeits = [record for record in kept if record.termination is Termination.SUSPENDED]
    assert len(forfeits) >= 12
    assert all(record.loser == ("first" if record.first == "mute" else "second") for record in forfeits)
    assert sum("mute" not in (record.first, record.second) for record in kept) == 20
