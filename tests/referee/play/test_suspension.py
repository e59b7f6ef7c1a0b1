"""Bots that never get ready: counted, suspended, their other games lost unplayed; also in a match on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import pytest

from referee.game.record import GameRecord
from referee.game.spec import GameSpec, PlannedGame, TimeControl
from referee.play.dispatch import Dispatcher
from referee.play.play import play
from referee.play.roster import Roster
from referee.play.suspension import Suspension
from referee.rules.core import Kind, Termination
from referee.verify.verification import verify
from tests.referee.conftest import FAST, a_record, scripted

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


def test_so_many_games_in_a_row_suspend() -> None:
    found = Suspension(3)
    assert [found.add(lost(between(MUTE, FINE))) for _ in range(5)] == [None, None, "mute", None, None]
    assert found.names == {"mute"}
    assert Suspension(3, [lost(between(MUTE, FINE))] * 2).add(lost(between(FINE, MUTE))) == "mute"


def test_a_game_that_began_starts_the_count_anew() -> None:
    failed, began = lost(between(MUTE, FINE)), lost(between(MUTE, FINE), at_start=False)
    found = Suspension(3, [failed, failed, began, failed, failed])
    assert found.names == set()
    assert found.add(failed) == "mute"


def test_what_the_opponent_lost_at_the_start_says_nothing() -> None:
    failed, theirs = lost(between(MUTE, FINE)), lost(between(OTHER, FINE))
    assert Suspension(2, [failed, replace(theirs, second="mute"), failed]).names == {"mute"}


def test_nobody_is_suspended_where_the_limit_is_0() -> None:
    assert Suspension(0, [lost(between(MUTE, FINE))] * 20).names == set()


def test_the_games_of_a_suspended_bot_are_lost_and_say_why() -> None:
    found = Suspension(1, [lost(between(MUTE, FINE))])
    assert found.forfeit(between(FINE, OTHER)) is None
    for game, winner, side in ((between(MUTE, FINE), "second", "first"), (between(FINE, MUTE), "first", "second")):
        record = found.forfeit(game)
        assert record is not None
        assert (record.id, record.winner, record.kind) == (game.id, winner, "forfeit")
        assert record.termination is Termination.SUSPENDED
        assert record.detail == f"{side} (mute) was suspended: it did not get ready 1 times in a row"
        verify(record, game.spec)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["--ignore", "isready"], ["resign"], ("second", "stalled", True)),
        (["resign"], ["--ignore", "ugi"], ("first", "handshake-failed", True)),
        ([], ["resign"], ("second", "stalled", False)),
        (["resign"], [], ("second", "resigned", False)),
    ],
)
def test_a_record_says_whether_play_had_begun(
    first: list[str], second: list[str], expected: tuple[str, str, bool], game: Build, roster: Roster
) -> None:
    limits = replace(FAST, start_ms=2000, ready_ms=1000)  # the other has to keep them too
    record = play(game(first, second, limits=limits, time=TimeControl("clock", 1000, 0)), roster)
    assert (record.winner, record.termination, record.at_start) == expected
    assert record.as_json().get("at_start", False) is expected[2]


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


def test_a_match_on_this_machine_forfeits_what_is_left_at_once() -> None:
    games = []
    for number in range(1, 41, 4):
        games += [between(MUTE, FINE, number), between(FINE, MUTE, number + 1)]
        games += [between(FINE, OTHER, number + 2), between(OTHER, FINE, number + 3)]
    games.sort(key=lambda game: ("mute" not in (game.spec.first.name, game.spec.second.name), game.spec.sequence))
    slots, kept, told = Slots(), list[GameRecord](), list[str]()
    dispatcher = Dispatcher(slots, 2, kept.append, suspension=Suspension(4), on_suspend=told.append)
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
