"""Outgoing messages: snapshots, batches, order, bounds, and repetition after a reconnect."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from arena.events.live import WATCH_S
from arena.events.messages import (
    BrokerConnected,
    CoordinatorChanged,
    Event,
    GameAborted,
    GameStarted,
    GameWatched,
    SlotStarted,
    TournamentChanged,
)
from arena.events.mqtt import outbox
from arena.events.mqtt.outbox import MqttOutbox, Outgoing
from tests.arena.events.mqtt.samples import ENDED, GAME, OTHER, ended, ply


class Desk:
    """An outbox at the time `now`, whose game somebody watches, and the reasons of its dropped messages."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.now = 0.0
        self.outbox = MqttOutbox("me", lambda reason: self.dropped.update([reason]), lambda: self.now)
        self.outbox.watch(GameWatched(game=GAME))

    def begin(self, plies: int = 0, attempt: int = 1) -> None:
        self.outbox.put(GameStarted(game=GAME, tournament=3, attempt=attempt))
        self.play(range(1, plies + 1))

    def play(self, numbers: range) -> None:
        for number in numbers:
            self.outbox.put(ply(number))

    def sent(self) -> list[tuple[str, Any]]:
        self.outbox.fill()
        return [said(message) for message in iter(self.outbox.take, None)]


def said(message: Outgoing) -> tuple[str, Any]:
    """Return the last level of the topic and the payload; for plies only their numbers."""
    name = message.topic.rpartition("/")[2]
    body = json.loads(message.payload)
    if name == "snapshot":
        return name, (body["attempt"], len(body["plies"]))
    if name == "plies":
        return name, (body["first"], len(body["plies"]))
    return name, body.get("state")


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_game_is_sent_as_a_snapshot_then_in_batches(desk: Desk) -> None:
    desk.begin(3)
    assert desk.sent() == [("snapshot", (1, 3))]
    assert desk.sent() == []
    desk.play(range(4, 7))
    assert desk.sent() == [("plies", (4, 3))]
    desk.outbox.renew()
    desk.play(range(7, 8))
    assert desk.sent() == [("snapshot", (1, 7))], "a listener has requested it"
    assert desk.sent() == []


def test_a_game_that_nobody_watches_is_not_sent_but_its_result_is(desk: Desk) -> None:
    assert not desk.outbox.put(GameStarted(game=OTHER, tournament=3))
    assert not desk.outbox.put(ply(1, OTHER)), "nothing is to be sent"
    assert desk.outbox.put(GameStarted(game=GAME, tournament=3))
    assert desk.outbox.put(ply(1))
    assert desk.sent() == [("snapshot", (1, 1))]
    desk.outbox.put(ended(OTHER))
    assert desk.sent() == [("games", "finished")], "one message: the copy is for those who watch the game"


def test_a_watcher_in_the_middle_of_a_game_gets_it_from_the_first_ply_on(desk: Desk) -> None:
    desk.outbox.put(GameStarted(game=OTHER, tournament=3))
    for number in range(1, 8):
        desk.outbox.put(ply(number, OTHER))
    assert desk.sent() == []
    desk.outbox.watch(GameWatched(game=OTHER))
    assert desk.sent() == [("snapshot", (1, 7))]
    desk.outbox.put(ply(8, OTHER))
    desk.outbox.watch(GameWatched(game=OTHER, is_new=False))
    assert desk.sent() == [("plies", (8, 1))], "a renewed request needs no snapshot"
    desk.outbox.watch(GameWatched(game=OTHER))
    assert desk.sent() == [("snapshot", (1, 8))], "a second watcher does"


def test_a_request_expires_unless_it_is_renewed(desk: Desk) -> None:
    desk.begin(1)
    desk.sent()
    desk.now = 0.9 * WATCH_S
    desk.outbox.watch(GameWatched(game=GAME, is_new=False))
    desk.now = 1.8 * WATCH_S
    desk.play(range(2, 3))
    assert desk.sent() == [("plies", (2, 1))]
    desk.now = 2 * WATCH_S
    desk.play(range(3, 5))
    assert desk.sent() == []
    desk.outbox.watch(GameWatched(game=GAME, is_new=False))
    assert desk.sent() == [("plies", (3, 2))], "a late renewal leaves no gap"


def test_the_end_sends_the_last_plies_then_the_result(desk: Desk) -> None:
    desk.begin(2)
    desk.sent()
    desk.play(range(3, 5))
    desk.outbox.put(ended())
    assert desk.sent() == [("plies", (3, 2)), ("result", "finished"), ("games", "finished")]
    assert desk.sent() == []


def test_a_game_too_short_for_a_snapshot_is_sent_too(desk: Desk) -> None:
    desk.begin(2)
    desk.outbox.put(ended())
    assert desk.sent() == [("plies", (1, 2)), ("result", "finished"), ("games", "finished")]


def test_an_aborted_or_restarted_game_is_sent_again(desk: Desk) -> None:
    desk.begin(2)
    desk.sent()
    desk.outbox.put(GameAborted(game=GAME))
    assert desk.sent() == [("gone", None)]
    desk.begin(1, attempt=2)
    assert desk.sent() == [("snapshot", (2, 1))]
    desk.begin(1, attempt=3)
    assert desk.sent() == [("snapshot", (3, 1))], "its end was not sent"


def test_long_games_are_sent_in_several_batches(desk: Desk) -> None:
    desk.begin(0)
    desk.sent()
    desk.play(range(1, 1201))
    assert desk.sent() == [("plies", (1, 500)), ("plies", (501, 500)), ("plies", (1001, 200))]


def test_messages_are_sent_in_order(desk: Desk) -> None:
    for state in ("running", "paused", "running", "finished"):
        desk.outbox.put(TournamentChanged(tournament=3, state=state))
    desk.outbox.put(ENDED)
    names = ["running", "paused", "running", "finished"]
    assert desk.sent() == [*(("state", name) for name in names), ("result", "finished"), ("games", "finished")]


def test_a_reconnect_sends_only_status_and_games_again(desk: Desk) -> None:
    desk.outbox.put(CoordinatorChanged(state="starting"))
    desk.outbox.put(CoordinatorChanged(state="acting", lease_owner="x"))
    desk.begin(2)
    desk.outbox.put(TournamentChanged(tournament=3, state="running"))
    desk.sent()
    desk.play(range(3, 5))
    desk.outbox.reconnect()
    assert desk.sent() == [("status", "acting"), ("snapshot", (1, 4))]


def test_a_full_queue_drops_the_oldest_messages(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MAX_QUEUED", 3)
    for state in ("one", "two", "three", "four", "five"):
        desk.outbox.put(TournamentChanged(tournament=3, state=state))
    assert desk.dropped == {"queue": 2}
    assert desk.sent() == [("state", "three"), ("state", "four"), ("state", "five")]


def test_an_invalid_event_is_dropped(desk: Desk) -> None:
    assert desk.outbox.put(TournamentChanged(tournament=3, state="x" * 41))
    assert desk.sent() == []
    assert desk.dropped == {"schema": 1}


@pytest.mark.parametrize("event", [SlotStarted(game=GAME), BrokerConnected()])
def test_local_events_are_not_sent(desk: Desk, event: Event) -> None:
    assert not desk.outbox.put(event)
    assert desk.sent() == []


@pytest.mark.parametrize("state", ["standing by", "stopped"])
def test_an_inactive_coordinator_has_no_running_games(desk: Desk, state: Any) -> None:
    desk.begin(2)
    desk.sent()
    desk.outbox.put(CoordinatorChanged(state=state, lease_owner="x"))
    desk.play(range(3, 5))
    assert desk.sent() == [("status", state)]


def test_a_void_attempt_is_no_result_of_its_game(desk: Desk) -> None:
    desk.outbox.put(ended(state="planned", winner=None, commit_number=None))
    assert desk.sent() == [("games", "planned")]
