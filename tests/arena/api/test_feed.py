"""Many subscribers of one game: each gets every event once; a subscriber that does not read is dropped."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from arena import tournaments
from arena.clock import now
from arena.events.messages import GameMoved, GameStarted, Subject
from arena.http import broadcast
from arena.http.problem import PREFIX
from referee.game.record import Ply
from referee.game.spec import PlannedGame
from tests.arena.api.filled import Arena, planned, play
from tests.arena.api.test_streams import Reader, ended, publish

PLIES = 12


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "MIN_QUERY_INTERVAL_S", 0.0)


@pytest.fixture
def game(arena: Arena) -> str:
    """A running game."""
    entries = {"bots": ["greedy", "random"]}
    by = arena.store.users.find("organiser").id or 0
    row = tournaments.create(arena.store, {"name": "Live", "family": "loa", "entries": entries}, by, now())
    tournaments.plan(arena.store, row.id or 0)
    game = planned(arena.store, row.id or 0)[0]
    arena.store.queue.hand_out([game.id], "test")
    arena.store.queue.start(game.id)
    publish(arena, GameStarted(game=game.id))
    return game.id


@pytest.fixture
def roomy(arena: Arena) -> Iterator[None]:
    gate = arena.server.context.streams
    each, gate.each = gate.each, 1000
    yield
    gate.each = each


def ply(arena: Arena, game: str, number: int, move: str = "") -> None:
    publish(arena, GameMoved(game=game, first=number, plies=(Ply(1.0, move=move or f"a1a{number}"),)))


def end(arena: Arena, game: str) -> None:
    arena.store.queue.give_back(ids=[game])
    play(arena.store, PlannedGame(game, arena.store.games.spec(game)))
    publish(arena, ended(game))


def heard(reader: Reader, after: int) -> list[int]:
    """Return the plies sent to a subscriber after `after`, including those in the state, up to the final line."""
    plies: list[int] = []
    for line in reader.rest():
        if line["event"] == "state":
            plies = list(range(after + 1, min(line["seq"], PLIES) + 1))  # those of a second attempt begin at a million
        elif line["event"] == "ply":
            plies.append(line["seq"])
    return plies


@pytest.mark.usefixtures("roomy")
def test_every_subscriber_gets_every_ply_once(arena: Arena, game: str) -> None:
    forms = ("application/x-ndjson", "application/x-ndjson")
    with ExitStack() as stack:
        readers: list[tuple[Reader, int]] = []
        for number in range(1, PLIES + 1):
            for form in forms:
                reader = stack.enter_context(Reader(arena, f"/games/{game}/stream", Accept=form))
                readers.append((reader, 0))
            if number > 5:
                later = stack.enter_context(Reader(arena, f"/games/{game}/stream?after={number - 3}"))
                readers.append((later, number - 3))
            ply(arena, game, number)
        end(arena, game)
        for reader, after in readers:
            told = heard(reader, after)
            assert told == sorted(set(told)), "twice, or out of order"
            # The record of the made-up game is shorter than what was told live: the end tells no ply again.
            assert told[: PLIES - after] == list(range(after + 1, after + 1 + len(told[: PLIES - after])))
    assert Subject("game", game) not in arena.server.context.broadcasts


@pytest.mark.usefixtures("roomy")
def test_one_feed_for_all(arena: Arena, game: str) -> None:
    with ExitStack() as stack:
        readers = [stack.enter_context(Reader(arena, f"/games/{game}/stream")) for _ in range(8)]
        for reader in readers:
            assert reader.next()["event"] == "state"
        for number in (1, 2, 3):
            ply(arena, game, number)
            assert {json.dumps(reader.next()) for reader in readers} != set()
        wait(lambda: len(arena.server.context.broadcasts[Subject("game", game)]) == len(readers))
        publish(arena, ended(game))


def test_both_forms_of_one_feed(arena: Arena, game: str) -> None:
    with (
        Reader(arena, f"/games/{game}/stream") as lines,
        Reader(arena, f"/games/{game}/stream", Accept="text/event-stream") as events,
    ):
        assert lines.next()["event"] == "state"
        assert events.line() == b"id: 0\n"
        ply(arena, game, 1, "a1a1")
        told = lines.next()
        assert (told["event"], told["seq"], told["move"]) == ("ply", 1, "a1a1")
        while events.line() != b"id: 1\n":
            pass
        assert events.line() == b"event: ply\n"
        assert json.loads(events.line().removeprefix(b"data: ")) == told


def test_source_with_lost_events_sends_the_state_again(arena: Arena, game: str) -> None:
    """After lost events all subscribers get the present state."""
    feeds = arena.server.context.broadcasts
    with Reader(arena, f"/games/{game}/stream") as reader:
        assert reader.next()["event"] == "state"
        for number in (1, 2, 3):
            ply(arena, game, number)
            assert reader.next()["seq"] == number
        del arena.server.context.live.games[game]
        with Reader(arena, f"/games/{game}/stream") as later:
            told = later.next()
            assert (told["event"], told["seq"]) == ("state", 0)
            told = reader.next()
            assert (told["event"], told["seq"]) == ("state", 0)
            wait(lambda: len(feeds[Subject("game", game)]) == 2)


def test_subscriber_that_does_not_read_is_dropped(arena: Arena, game: str) -> None:
    """Plies continue until the buffers are full. Then the subscriber is dropped, and others have missed nothing."""
    with socket.socket() as deaf, Reader(arena, f"/games/{game}/stream") as reader:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", arena.server.port))
        deaf.sendall(f"GET {PREFIX}/games/{game}/stream HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert reader.next()["event"] == "state"
        feeds = arena.server.context.broadcasts
        wait(lambda: Subject("game", game) in feeds and len(feeds[Subject("game", game)]) == 2)
        number = 0
        while len(feeds[Subject("game", game)]) == 2:
            number += 1
            assert number < 2000, "nobody was dropped"
            ply(arena, game, number, "x" * 1000)
            assert reader.next()["seq"] == number
        ply(arena, game, number + 1)
        assert reader.next()["seq"] == number + 1


def test_subscriber_that_disconnects_is_removed(arena: Arena, game: str) -> None:
    feeds = arena.server.context.broadcasts
    with Reader(arena, f"/games/{game}/stream") as reader:
        with Reader(arena, f"/games/{game}/stream") as gone:
            assert gone.next()["event"] == reader.next()["event"] == "state"
            wait(lambda: Subject("game", game) in feeds and len(feeds[Subject("game", game)]) == 2)
        ply(arena, game, 1)
        assert reader.next()["seq"] == 1
        for number in range(2, 50):
            ply(arena, game, number)
            assert reader.next()["seq"] == number
        wait(lambda: len(feeds[Subject("game", game)]) == 1)
    assert arena.server.context.live.games[game].plies


def wait(condition: object) -> None:
    deadline = time.monotonic() + 60
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)
