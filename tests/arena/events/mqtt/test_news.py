"""News over the wire: what is said can be read, what does not follow is refused with its reason."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.events import messages
from arena.events.messages import KINDS, NewsError, read, write
from tests.arena.events.mqtt.samples import GAME, SAMPLES, SUBJECTS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_written_is_read(kind: messages.Kind) -> None:
    payload = SAMPLES[kind.name]
    heard = read(kind.topic(SUBJECTS[kind.name]), write(kind, "me", payload))
    assert (heard.kind, heard.subject) == (kind, SUBJECTS[kind.name])
    assert heard.news is not None
    assert heard.news.sender == "me"
    assert payload.items() <= heard.news.model_dump().items()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_fields_of_later_versions_are_passed_over(kind: messages.Kind) -> None:
    body = json.loads(write(kind, "me", SAMPLES[kind.name]))
    assert read(kind.topic(SUBJECTS[kind.name]), json.dumps({**body, "colour": "red"}).encode()).news is not None


def test_retained_news_can_be_cleared_and_other_news_not() -> None:
    assert read(messages.SNAPSHOT.topic(GAME), b"").news is None
    with pytest.raises(NewsError):
        read(messages.PLIES.topic(GAME), b"")


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
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "v": 2}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "v": "1"}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "from": 7}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "first": 0}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "attempt": 10**9}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": ""}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a" * 101}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "ms": float("nan")}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "ms": -1}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [{"move": "a", "score": 2**40}]}, "schema"),
        (f"arena/v1/games/{GAME}/plies", {**PLIES, "plies": [PLIES["plies"][0]] * 501}, "schema"),  # type: ignore[index]
        (f"arena/v1/games/{GAME}/plies", b" " * (messages.MAX_BYTES + 1), "size"),
    ],
)
def test_what_does_not_follow_is_refused(topic: str, payload: Any, reason: str) -> None:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with pytest.raises(NewsError) as caught:
        read(topic, body)
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 600


WORDS = st.text() | st.sampled_from(["v", "from", "plies", "state"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
).map(lambda value: json.dumps(value).encode())


@given(st.sampled_from(KINDS), st.binary(max_size=200) | JSON)
def test_nothing_but_a_refusal_comes_of_nonsense(kind: messages.Kind, payload: bytes) -> None:
    with contextlib.suppress(NewsError):
        read(kind.topic(SUBJECTS[kind.name]), payload)


def test_lines_of_bots_are_cut_and_harmless_in_a_terminal() -> None:
    body = write(messages.RESULT, "me", {**SAMPLES["result"], "detail": "\x1b[31m\x9b\u202e" + "x" * 10_000})
    assert body.isascii()
    assert body.decode().isprintable()
    assert len(json.loads(body)["detail"]) == messages.TEXT


def test_pools_are_one_level_of_a_topic() -> None:
    topic = messages.RATING.topic("tablut/bell+king_max_step=4")
    assert topic == "arena/v1/ratings/tablut%2Fbell%2Bking_max_step%3D4"
    assert read(topic, write(messages.RATING, "me", SAMPLES["rating"])).subject == "tablut/bell+king_max_step=4"


def test_too_much_is_not_said() -> None:
    plies = [{"move": "a" * 100, "ms": 1.0, "score": 1}] * 15_000
    with pytest.raises(NewsError) as caught:
        write(messages.SNAPSHOT, "me", {"tournament": 1, "attempt": 1, "plies": plies})
    assert caught.value.reason == "size"
