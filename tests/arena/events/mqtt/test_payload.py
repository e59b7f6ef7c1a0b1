"""Payloads: encoded events can be decoded, and invalid messages are rejected with a reason."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.events.live import RunningGame
from arena.events.messages import KINDS, BroadcastEvent, CoordinatorChanged, GamePlies, GameSnapshot, RatingsChanged
from arena.events.mqtt.outbox import MAX_BYTES, PayloadError, read_payload, topics_of, write_payload
from arena.events.payload import MAX_TEXT
from referee.game.record import Ply
from tests.arena.events.mqtt import samples
from tests.arena.events.mqtt.samples import GAME, PROCESS, SAMPLES


@pytest.mark.parametrize("kind", KINDS)
def test_encoded_events_decode_to_themselves(kind: type[BroadcastEvent]) -> None:
    news = SAMPLES[kind]
    heard = read_payload(topics_of(news, PROCESS)[-1], write_payload(news, PROCESS))
    assert (heard.kind, heard.subject, heard.sender) == (kind, samples.subject_of(kind), PROCESS)
    assert heard.event == news
    assert type(heard.event) is kind


OUTCOME = {
    "game": GAME,
    "tournament": 3,
    "winner": "first",
    "termination": "resign",
    "termination_class": "rules",
    "detail": "",
    "commit_number": 7,
    "state": "finished",
}
PLY = {"move": "a1a2", "ms": 1.5, "score": None}
REASON = "it did not get ready 5 times in a row"
WORKER = {"name": "one", "slots": 2, "busy": 1, "version": "", "sandbox": "", "is_fit": True, "problem": "", "speed": 0}


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        (f"games/{GAME}/plies", {"attempt": 1, "first": 1, "plies": [PLY]}),
        (f"games/{GAME}/snapshot", {"tournament": 3, "attempt": 1, "plies": [PLY, PLY]}),
        (f"games/{GAME}/result", OUTCOME),
        (f"games/{GAME}/gone", {}),
        ("tournaments/3/state", {"state": "running", "problem": "because"}),
        ("tournaments/3/games", OUTCOME),
        ("tournaments/3/rounds", {"planned": 10}),
        ("tournaments/3/suspended", {"version": 5, "name": "mute v1", "reason": REASON}),
        ("ratings/tablut%2Fbell%2Bking_max_step%3D4", {"game": GAME, "commit_number": 7}),
        ("versions/5/state", {"state": "checking"}),
        ("versions/5/step", {"line": "loa: handshake: ok"}),
        (f"referees/{PROCESS}/status", {"state": "acting", "lease_owner": "host:1:abc"}),
        (
            f"referees/{PROCESS}/workers",
            {"lease_owner": "host:1:abc", "workers": [WORKER], "cores": 2, "load": None, "disk": "ok"},
        ),
        ("coordinator/wakeup", {"tournament": 3}),
        ("coordinator/snapshots", {}),
    ],
)
def test_payloads_on_the_wire(topic: str, payload: dict[str, Any]) -> None:
    """Topic and JSON of every event, as programs of other versions read them."""
    (news,) = [one for one in SAMPLES.values() if f"arena/v1/{topic}" in topics_of(one, PROCESS)]
    assert list(json.loads(write_payload(news, PROCESS)).items()) == [("v", 1), ("from", PROCESS), *payload.items()]


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_fields_are_ignored(kind: type[BroadcastEvent]) -> None:
    body = json.loads(write_payload(SAMPLES[kind], PROCESS))
    assert read_payload(samples.topic_of(kind), json.dumps({**body, "colour": "red"}).encode()).event == SAMPLES[kind]


def test_search_data_of_a_bot_is_sent() -> None:
    ply = Ply(1.5, score=20, depth=7, nodes=900, pv="a1a2 b8b7", move="a1a2")
    news = GamePlies(game=GAME, attempt=1, first=1, plies=(ply,))
    assert read_payload(GamePlies.TOPIC.of(GAME), write_payload(news, PROCESS)).event == news
    running = RunningGame(plies=[ply], tournament=3)
    assert running.snapshot(GAME).plies == (replace(ply, pv=""),)


def test_only_the_status_of_the_coordinator_is_retained() -> None:
    assert [kind for kind in KINDS if kind.TOPIC.is_retained] == [CoordinatorChanged]


PLIES = {"v": 1, "from": "x", "attempt": 1, "first": 1, "plies": [{"move": "a1a2", "ms": 1}]}


@pytest.mark.parametrize(
    ("topic", "payload", "reason"),
    [
        ("arena/v1/games/x/plies", PLIES, "topic"),
        (f"arena/v2/games/{GAME}/plies", PLIES, "topic"),
        (f"arena/v1/games/{GAME}/plies/x", PLIES, "topic"),
        (f"arena/v1/games/{GAME}/moves", PLIES, "topic"),
        (f"arena/v1/games/{GAME}\n/plies", PLIES, "topic"),
        ("arena/v1/tournaments/-1/state", {}, "topic"),
        (f"arena/v1/games/{GAME}/plies", b"\xff\xfe", "schema"),
        (f"arena/v1/games/{GAME}/plies", b"[" * 100_000, "schema"),
        (f"arena/v1/games/{GAME}/plies", b"null", "schema"),
        (f"arena/v1/games/{GAME}/plies", b"", "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "v": 2}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "v": "1"}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "from": 7}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "first": 0}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "attempt": 10**9}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": ""}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a" * 101}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "ms": float("nan")}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "ms": -1}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "ms": 1, "lag_ms": -1}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "score": 2**40}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [PLIES["plies"][0]] * 501}, "schema"),  # type: ignore[index]
        (f"arena/v1/games/{GAME}/plies", b" " * (MAX_BYTES + 1), "size"),
    ],
)
def test_invalid_messages_are_refused_with_a_reason(topic: str, payload: Any, reason: str) -> None:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with pytest.raises(PayloadError) as caught:
        read_payload(topic, body)
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 600


WORDS = st.text() | st.sampled_from(["v", "from", "plies", "state"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
).map(lambda value: json.dumps(value).encode())


@given(st.sampled_from(KINDS), st.binary(max_size=200) | JSON)
def test_random_payloads_raise_only_payload_errors(kind: type[BroadcastEvent], payload: bytes) -> None:
    with contextlib.suppress(PayloadError):
        read_payload(samples.topic_of(kind), payload)


def test_texts_of_bots_are_truncated_and_escaped() -> None:
    body = write_payload(samples.ended(detail="\x1b[31m\x9b\u202e" + "x" * 10_000), "me")
    assert body.isascii()
    assert body.decode().isprintable()
    assert len(json.loads(body)["detail"]) == MAX_TEXT


def test_pools_are_one_level_of_a_topic() -> None:
    topic = samples.topic_of(RatingsChanged)
    assert topic == "arena/v1/ratings/tablut%2Fbell%2Bking_max_step%3D4"
    assert read_payload(topic, write_payload(SAMPLES[RatingsChanged], "me")).subject == "tablut/bell+king_max_step=4"


def test_oversized_events_are_not_sent() -> None:
    plies = (Ply(1.0, score=1, move="a" * 100),) * 15_000
    with pytest.raises(PayloadError) as caught:
        write_payload(GameSnapshot(game=GAME, tournament=1, attempt=1, plies=plies), "me")
    assert caught.value.reason == "size"
