"""What waits to be told: plies in batches, snapshots when due, bounded, and again when the broker was away."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from arena.events.messages import (
    BrokerConnected,
    Event,
    GameEnded,
    GameGone,
    GameStarted,
    News,
    RefereeChanged,
    SlotStarted,
    TournamentChanged,
    TournamentPlanned,
)
from arena.events.mqtt import outbox
from arena.events.mqtt.outbox import Outbox, Outgoing
from arena.events.mqtt.payload import read, topic_of, write
from arena.events.mqtt.retained import ROOM, SPARE, RetainedTopics
from tests.arena.events.mqtt.samples import ENDED, GAME, OTHER, ended, ply


class Desk:
    """An outbox, what it dropped, and what it said by kind."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.outbox = Outbox("me", lambda reason: self.dropped.update([reason]))

    def begin(self, plies: int = 0, attempt: int = 1) -> None:
        self.outbox.take(GameStarted(game=GAME, tournament=3, attempt=attempt))
        self.play(range(1, plies + 1))

    def play(self, numbers: range) -> None:
        for number in numbers:
            self.outbox.take(ply(number))

    def drain(self, at: float) -> list[tuple[str, Any]]:
        return [said(message) for message in self.outbox.drain(at)]


def said(message: Outgoing) -> tuple[str, Any]:
    """The last level of the topic, and the payload; of plies only which and how many."""
    name = message.topic.rpartition("/")[2]
    body = json.loads(message.payload) if message.payload else None
    if body and name == "snapshot":
        return name, len(body["plies"])
    if body and name == "plies":
        return name, (body["first"], len(body["plies"]))
    return name, body and body.get("state")


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_game_is_told_as_a_whole_first_then_in_batches(desk: Desk) -> None:
    desk.begin(3)
    assert desk.drain(100) == [("snapshot", 3)]
    assert desk.drain(100.2) == []
    desk.play(range(4, 7))
    assert desk.drain(100.5) == [("plies", (4, 3))]
    desk.play(range(7, 8))
    assert desk.drain(102.5) == [("plies", (7, 1)), ("snapshot", 7)]
    assert desk.drain(110) == [], "nothing has changed"
    assert desk.drain(123) == [("snapshot", 7)], "somebody may have missed it"


def test_the_end_brings_the_last_plies_the_result_and_clears_the_snapshot(desk: Desk) -> None:
    desk.begin(2)
    desk.drain(100)
    desk.play(range(3, 5))
    desk.outbox.take(ended())
    assert desk.drain(100.1) == [("plies", (3, 2)), ("result", "finished"), ("snapshot", None)]
    assert desk.drain(200) == []


def test_a_game_too_short_for_a_snapshot_is_told_all_the_same(desk: Desk) -> None:
    desk.begin(2)
    desk.outbox.take(ended())
    assert desk.drain(100)[:2] == [("plies", (1, 2)), ("result", "finished")]


def test_a_game_that_was_called_off_or_begins_again(desk: Desk) -> None:
    desk.begin(2)
    desk.drain(100)
    desk.outbox.take(GameGone(game=GAME))
    assert desk.drain(101) == [("snapshot", None)]
    desk.begin(1, attempt=2)
    (message,) = desk.outbox.drain(102)
    assert (json.loads(message.payload)["attempt"], said(message)) == (2, ("snapshot", 1))


def test_long_games_are_told_in_several_batches_and_less_often_as_a_whole(desk: Desk) -> None:
    desk.begin(0)
    desk.drain(100)
    desk.play(range(1, 1201))
    assert desk.drain(103) == [("plies", (1, 500)), ("plies", (501, 500)), ("plies", (1001, 200))]
    desk.play(range(1201, 1202))
    assert desk.drain(107) == [("plies", (1201, 1)), ("snapshot", 1201)]


def test_only_the_newest_state_waits(desk: Desk) -> None:
    for state in ("running", "paused", "running", "finished"):
        desk.outbox.take(TournamentChanged(tournament=3, state=state))
    assert desk.drain(0) == [("state", "finished")]


def test_after_the_broker_was_away_states_and_games_are_told_again(desk: Desk) -> None:
    desk.begin(2)
    desk.outbox.take(TournamentChanged(tournament=3, state="running"))
    desk.outbox.take(RefereeChanged(state="acting", lease_owner="x"))
    desk.drain(100)
    desk.play(range(3, 5))
    desk.outbox.renew()
    assert sorted(desk.drain(101)) == [("snapshot", 4), ("state", "running"), ("status", "acting")]


def test_what_could_not_be_sent_waits_again_unless_it_is_old(desk: Desk) -> None:
    desk.outbox.take(TournamentChanged(tournament=3, state="running"))
    desk.outbox.take(TournamentChanged(tournament=4, state="running"))
    desk.outbox.take(ENDED)
    messages = desk.outbox.drain(0)
    desk.outbox.take(TournamentChanged(tournament=4, state="paused"))
    desk.outbox.put_back(messages)
    assert desk.drain(1) == [("state", "running"), ("state", "paused")]
    assert desk.dropped == {"offline": 1}


def test_what_waits_is_bounded_and_results_wait_longest(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "QUEUE", 100)
    for number in range(50):
        desk.outbox.take(ended(f"{number:016x}"))
        desk.outbox.take(ENDED)
        desk.outbox.take(TournamentPlanned(tournament=3, planned=1))
    assert desk.dropped == {"queue": 50}
    names = Counter(name for name, _ in desk.drain(0))
    assert names["result"] == 50
    for number in range(130):
        desk.outbox.take(ended(f"{number:016x}"))
    assert len(desk.drain(1)) == 100


def test_an_event_that_is_no_news_is_dropped_not_sent(desk: Desk) -> None:
    assert desk.outbox.take(TournamentChanged(tournament=3, state="x" * 41))
    assert desk.drain(0) == []
    assert desk.dropped == {"schema": 1}


@pytest.mark.parametrize("event", [SlotStarted(game=GAME), BrokerConnected()])
def test_what_is_nobody_elses_business_stays_here(desk: Desk, event: Event) -> None:
    assert not desk.outbox.take(event)
    assert desk.drain(0) == []


def test_who_is_not_the_referee_any_more_plays_nothing(desk: Desk) -> None:
    desk.begin(2)
    desk.drain(100)
    desk.outbox.take(RefereeChanged(state="standing by", lease_owner="x"))
    assert desk.drain(101) == [("status", "standing by"), ("snapshot", None)]


def note(kept: RetainedTopics, news: News, sender: str = "x") -> None:
    kept.note(read(topic_of(news, sender), write(news, sender)))


def test_the_broker_keeps_the_newest_results() -> None:
    kept, room = RetainedTopics(), ROOM[GameEnded]
    for number in range(room + SPARE):
        note(kept, ended(f"{number:016x}", committed=room + SPARE - number))
    assert kept.excess() == []
    note(kept, ended(OTHER, state="void", winner=None, committed=None))
    cleared = kept.excess()
    assert cleared == [GameEnded.TOPIC.of(f"{number:016x}") for number in range(room + SPARE - 1, room - 2, -1)]
    assert kept.excess() == []


def test_the_broker_forgets_referees_that_are_long_gone() -> None:
    kept = RetainedTopics()
    for number in range(40):
        note(kept, RefereeChanged(state="offline"), f"r{number}")
    note(kept, RefereeChanged(state="acting"), "r39")
    cleared = kept.excess()
    assert RefereeChanged.TOPIC.of("r0") in cleared
    assert RefereeChanged.TOPIC.of("r39") not in cleared
    assert len(cleared) == 39 - ROOM[RefereeChanged]
