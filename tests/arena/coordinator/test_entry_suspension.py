"""Suspension of a bot that never gets ready: its games are forfeited, and its owner is notified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from arena.documents.service import AuditQuery
from arena.errors import StoreUnavailableError
from arena.events.messages import EntrySuspended, Event
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.rules.core import Termination
from referee.tournament.formats import round_robin
from tests.arena.coordinator.stage import Dice, Stage, on_sqlite, record_of

MUTE = "ada v1"
REASON = "it did not get ready 5 times in a row; its other games are forfeited"


def stalling(*names: str) -> Callable[[PlannedGame], GameRecord]:
    """Return a reply in which these bots never get ready."""

    def reply(game: PlannedGame) -> GameRecord:
        spec = game.spec
        for winner, name in (("second", spec.first.name), ("first", spec.second.name)):
            if name in names:
                lost = record_of(game, winner=winner, termination=Termination.STALLED)
                return replace(lost, moves=(), plies=(), at_start=True)
        return record_of(game)

    return reply


def asked(dice: Dice, stage: Stage, name: str = MUTE) -> int:
    """Return how many games of a bot were given to a slot."""
    lines = [stage.store.games.get(game) for game in dice.played]
    return sum(name in (line.first, line.second) for line in lines)


def check_forfeits(stage: Stage, number: int, games: int) -> None:
    """Check that every game counts once, and that the bot has lost all of its own."""
    stage.check_exactly_once(number, games)
    results = stage.store.results.in_planned_order(number)
    mine = [one for one in results if MUTE in (one.first, one.second)]
    assert all(one.winner == ("second" if one.first == MUTE else "first") for one in mine)
    assert Termination.SUSPENDED in {one.termination for one in mine}
    assert not [one for one in results if MUTE not in (one.first, one.second) and one.termination == "suspended"]


def test_five_consecutive_failures_forfeit_the_rest_and_publish_an_event(stage: Stage) -> None:
    heard: list[Event] = []
    stage.bus.publish = heard.append  # type: ignore[method-assign]
    number = stage.create(games=20)
    dice = stage.play(number, Dice(stalling(MUTE)))
    check_forfeits(stage, number, 120)
    assert 5 <= asked(dice, stage) < 12
    (entry,) = [line for line in stage.store.tournaments.entries(number) if line.suspended]
    assert (entry.name, entry.suspended, entry.withdrawn is not None) == (MUTE, REASON, True)
    (news,) = [event for event in heard if isinstance(event, EntrySuspended)]
    assert (news.tournament, news.name, news.reason) == (number, MUTE, REASON)
    notices = stage.store.notices.of(stage.user_id)
    assert [(notice.name, notice.key, notice.detail) for notice in notices if notice.kind == "suspension"] == [
        (MUTE, str(number), REASON)
    ]
    assert not [notice for notice in notices if notice.what == "suspended" and notice.kind == "fault"]
    (note,) = [
        line for line in stage.store.audit.page(AuditQuery(limit=500)).items if line.action == "tournament.suspend"
    ]
    assert note.detail == {"version": MUTE, "reason": REASON}


@pytest.mark.parametrize(("format", "games"), [("round-robin", 120), ("gauntlet", 60)])
@on_sqlite
def test_a_suspended_bot_forfeits_also_the_games_that_are_stored_later(
    stage: Stage, format: str, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_robin, "WINDOW", 12)
    number = stage.create(format=format, games=20, entries={"bots": ["ada"], "all": True})
    dice = stage.play(number, Dice(stalling(MUTE)))
    check_forfeits(stage, number, games)
    assert asked(dice, stage) < 12


@pytest.mark.parametrize(("limit", "most"), [(2, 8), (0, 10**6)])
@on_sqlite
def test_the_tournament_sets_the_limit(stage: Stage, limit: int, most: int) -> None:
    number = stage.create(games=10, adjudication={"suspend_after": limit})
    dice = stage.play(number, Dice(stalling(MUTE)))
    assert asked(dice, stage) == 30 if not limit else asked(dice, stage) <= most
    stage.check_exactly_once(number, 60)


@on_sqlite
def test_a_bot_that_sometimes_gets_ready_is_not_suspended(stage: Stage) -> None:
    number = stage.create(games=10)
    count = 0

    def reply(game: PlannedGame) -> GameRecord:
        nonlocal count
        is_mine = MUTE in (game.spec.first.name, game.spec.second.name)
        count += is_mine
        return stalling(MUTE)(game) if is_mine and count % 5 else record_of(game)

    stage.play(number, Dice(reply))
    assert count == 30
    assert not [line for line in stage.store.tournaments.entries(number) if line.suspended]


@on_sqlite
def test_two_failing_bots_are_both_suspended(stage: Stage) -> None:
    number = stage.create(games=20)
    dice = stage.play(number, Dice(stalling(MUTE, "bob v1")))
    stage.check_exactly_once(number, 120)
    suspended = {one.name for one in stage.store.tournaments.entries(number) if one.suspended}
    assert suspended == {MUTE, "bob v1"}
    assert len(dice.played) < 60


@on_sqlite
def test_games_in_flight_are_cancelled_and_late_results_ignored(stage: Stage) -> None:
    number = stage.create(games=20, adjudication={"suspend_after": 1})
    dice = Dice(stalling(MUTE), is_held=True)
    dice.size = 8
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    mine = [games for _, games in dice.held if MUTE in (games[0].spec.first.name, games[0].spec.second.name)]
    assert len(mine) > 1
    first = next(index for index, (_, games) in enumerate(dice.held) if games is mine[0])
    dice.held.insert(0, dice.held.pop(first))
    dice.release(1)
    coordinator.turn()
    assert len(dice.called_off) == len(mine) - 1
    for _ in range(100):
        dice.release()
        coordinator.turn()
    check_forfeits(stage, number, 120)
    assert asked(dice, stage) == 2


@pytest.mark.parametrize("format", ["swiss", "knockout", "ladder", "sprt", "gauntlet"])
@on_sqlite
def test_every_format_continues_without_a_suspended_bot(stage: Stage, format: str) -> None:
    document: dict[str, Any] = {
        "swiss": {"rounds": 3, "games": 6},
        "knockout": {"games": 6},
        "ladder": {"ladder": {"games": 60, "max_games_per_bot": 0}},
        "sprt": {"entries": {"bots": ["ada", "bob"]}, "sprt": {"games": 400, "elo0": 0, "elo1": 1}},
        "gauntlet": {"games": 20, "entries": {"bots": ["ada"], "all": True}},
    }[format]
    number = stage.create(format=format, adjudication={"suspend_after": 3}, **document)
    dice = stage.play(number, Dice(stalling(MUTE)))
    stage.check_exactly_once(number)
    assert [line.name for line in stage.store.tournaments.entries(number) if line.suspended] == [MUTE]
    assert asked(dice, stage) <= 12


@on_sqlite
def test_an_outage_only_delays_the_suspension(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    number = stage.create(games=20)
    coordinator = stage.coordinator(Dice(stalling(MUTE)))
    commit, count = stage.store.results.commit, 0

    def fragile(*arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count % 7 == 0:
            raise StoreUnavailableError("locked")
        return commit(*arguments, **options)

    monkeypatch.setattr(stage.store.results, "commit", fragile)
    for _ in range(200):
        try:
            coordinator.turn()
        except StoreUnavailableError:
            continue
        if stage.tournament(number).state == "finished":
            break
    check_forfeits(stage, number, 120)
