"""Streams: the state, then every event once, then `final`; a client can resume after any `seq`."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from arena import services, tournaments
from arena.clock import now
from arena.events.messages import (
    Event,
    GameAborted,
    GameEnded,
    GameMoved,
    GameStarted,
    TournamentChanged,
)
from arena.http import broadcast
from arena.http.problem import PREFIX
from referee.game.record import Ply
from referee.game.spec import PlannedGame
from tests.arena.api.filled import Arena, planned, play, record_of


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "MIN_QUERY_INTERVAL_S", 0.0)


class Reader:
    """A client of a stream."""

    def __init__(self, arena: Arena, path: str, **headers: str) -> None:
        self._connection, self.response = arena.server.open(PREFIX + path, **headers)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.response.close()
        self._connection.close()

    def line(self) -> bytes:
        return self.response.readline()

    def next(self) -> dict[str, Any]:
        while not (line := self.line()).strip():
            assert line, "the stream has ended"
        found: dict[str, Any] = json.loads(line)
        return found

    def rest(self) -> Iterator[dict[str, Any]]:
        for line in self.response:
            if line.strip():
                yield json.loads(line)


def publish(arena: Arena, event: Event) -> None:
    arena.server.context.arena.bus.publish(event)


def ply(game: str, number: int, move: str, ms: float = 0, score: int | None = None) -> GameMoved:
    return GameMoved(game=game, first=number, plies=(Ply(ms, score=score, move=move),))


def ended(game: str) -> GameEnded:
    return GameEnded(
        game=game,
        tournament=1,
        winner="first",
        termination="resign",
        termination_class="rules",
        commit_number=1,
        state="finished",
    )


@pytest.fixture
def game(arena: Arena) -> str:
    """A running game."""
    row = tournaments.create(
        arena.store,
        {"name": "Live", "family": "loa", "entries": {"bots": ["greedy", "random"]}},
        arena.store.users.find("organiser").id or 0,
        now(),
    )
    tournaments.plan(arena.store, row.id or 0)
    game = planned(arena.store, row.id or 0)[0]
    arena.store.queue.hand_out([game.id], "test")
    arena.store.queue.start(game.id)
    return game.id


def test_stream_of_a_finished_game_ends_at_once(arena: Arena) -> None:
    reply = arena.server.get(f"{PREFIX}/games/{arena.games[0]}/stream")
    assert reply.headers["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert reply.headers["Cache-Control"] == "no-store"
    state, final = reply.lines
    assert (state["event"], state["seq"], len(state["plies"])) == ("state", 6, 6)
    assert (final["event"], final["seq"]) == ("final", 7)
    assert final["game"]["winner"] == state["game"]["winner"]


@pytest.mark.parametrize("after", range(8))
def test_stream_resumes_after_any_seq(arena: Arena, after: int) -> None:
    path = f"{PREFIX}/games/{arena.games[0]}/stream"
    lines = arena.server.get(f"{path}?after={after}").lines
    assert [line["seq"] for line in lines[:-1]] == list(range(after + 1, 7))
    assert lines[-1]["event"] == "final"
    events = arena.server.get(path, headers={"Last-Event-ID": str(after), "Accept": "text/event-stream"})
    assert events.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    blocks = [block for block in events.body.decode().split("\n\n") if block]
    assert [block.split("\n")[0] for block in blocks] == [f"id: {line['seq']}" for line in lines]
    assert [json.loads(block.split("data: ")[1]) for block in blocks] == lines


def test_stream_with_unknown_seq_restarts(arena: Arena) -> None:
    for after in (99, 1_000_003):
        lines = arena.server.get(f"{PREFIX}/games/{arena.games[0]}/stream?after={after}").lines
        assert lines[0]["event"] == "state"


@pytest.mark.parametrize("value", ["x", "-1", "1e3", "9" * 30, "٣"])
def test_a_strange_last_event_id(arena: Arena, value: str) -> None:
    header = {"Last-Event-ID": value.encode().decode("latin-1")}
    assert arena.server.get(f"{PREFIX}/games/{arena.games[0]}/stream", headers=header).status == 422
    assert arena.server.get(f"{PREFIX}/games/{arena.games[0]}/stream?after=x").status == 422
    assert arena.server.get(f"{PREFIX}/games/{'f' * 16}/stream").status == 404


def test_stream_follows_a_running_game(arena: Arena, game: str) -> None:
    publish(arena, GameStarted(game=game, tournament=1, attempt=1))
    publish(arena, ply(game, 1, "a1a2", 3.0))
    settled(arena, lambda: len(arena.server.context.live.games[game].plies) == 1)
    with Reader(arena, f"/games/{game}/stream") as reader:
        state = reader.next()
        assert (state["event"], state["seq"], state["game"]["state"]) == ("state", 1, "running")
        assert state["plies"] == [{"ply": 1, "move": "a1a2", "ms": 3.0, "score": None}]
        publish(arena, ply(game, 2, "b1b2", 4.0, 12))
        assert reader.next() == {"event": "ply", "seq": 2, "ply": 2, "move": "b1b2", "ms": 4.0, "score": 12}
        # Whoever was cut off behind ply 1 gets ply 2 and nothing twice.
        with Reader(arena, f"/games/{game}/stream?after=1") as other:
            assert other.next()["seq"] == 2
        record = record_of(PlannedGame(game, arena.store.games.spec(game)))
        arena.store.results.commit(record, "test")
        publish(arena, ended(game))
        rest = list(reader.rest())
    assert [line["seq"] for line in rest] == [3, 4, 5, 6, 7], "what the bus lost comes from the record"
    assert rest[-1]["event"] == "final"


def test_late_listeners_share_one_query_of_the_state(arena: Arena, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    queries: list[str] = []
    spec_of = services.game.spec_of
    monkeypatch.setattr(services.game, "spec_of", lambda *args: queries.append("state") or spec_of(*args))
    monkeypatch.setattr(broadcast, "STATE_TTL_S", 1000.0)
    publish(arena, GameStarted(game=game, tournament=1, attempt=1))
    publish(arena, ply(game, 1, "a1a2"))
    settled(arena, lambda: len(arena.server.context.live.games[game].plies) == 1)
    with Reader(arena, f"/games/{game}/stream") as first, Reader(arena, f"/games/{game}/stream") as second:
        assert first.next() == second.next()
        publish(arena, ply(game, 2, "b1b2"))
        assert first.next() == second.next()
        with Reader(arena, f"/games/{game}/stream") as third:
            # The kept state, then what has been played since.
            assert [third.next()["seq"] for _ in range(2)] == [1, 2]
            publish(arena, ply(game, 3, "c1c2"))
            assert [reader.next()["seq"] for reader in (first, second, third)] == [3, 3, 3]
    assert len(queries) == 2, "the first listener begins the broadcast, the second keeps its state"


def test_stream_of_a_restarted_game_restarts(arena: Arena, game: str) -> None:
    publish(arena, GameStarted(game=game, tournament=1, attempt=1))
    publish(arena, ply(game, 1, "a1a2"))
    settled(arena, lambda: bool(arena.server.context.live.games[game].plies))
    with Reader(arena, f"/games/{game}/stream") as reader:
        assert reader.next()["seq"] == 1
        publish(arena, GameAborted(game=game))
        publish(arena, GameStarted(game=game, tournament=1, attempt=2))
        publish(arena, ply(game, 1, "c1c2"))
        while (line := reader.next())["event"] == "state" and line["seq"] < 1_000_000:
            pass
        assert line["seq"] in (1_000_000, 1_000_001)
        if line["seq"] == 1_000_000:
            line = reader.next()
            assert (line["event"], line["seq"], line["move"]) == ("ply", 1_000_001, "c1c2")


def settled(arena: Arena, check: Any) -> None:
    """Wait until the server's loop has processed the published events."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(KeyError):
            if check():
                return
        time.sleep(0.001)
    raise AssertionError("nothing was heard")


def test_a_finished_tournament(arena: Arena) -> None:
    path = f"{PREFIX}/tournaments/{arena.finished}/stream"
    state, final = arena.server.get(path).lines
    assert (state["event"], final["event"]) == ("state", "final")
    assert state["standings"] == final["standings"]
    everything = arena.server.get(f"{path}?after=0").lines
    assert [line["event"] for line in everything] == ["game"] * 12 + ["final"]
    numbers = [line["seq"] for line in everything[:-1]]
    assert numbers == sorted(set(numbers))
    for cut in (1, 5, 12):
        rest = arena.server.get(f"{path}?after={numbers[cut - 1]}").lines
        assert [line["seq"] for line in rest[:-1]] == numbers[cut:]


def test_stream_follows_a_running_tournament(arena: Arena) -> None:
    row = tournaments.create(
        arena.store,
        {"name": "Live", "family": "loa", "entries": {"bots": ["greedy", "random"]}},
        arena.store.users.find("organiser").id or 0,
        now(),
    )
    number = row.id or 0
    tournaments.plan(arena.store, number)
    first_game, second_game = planned(arena.store, number)
    with Reader(arena, f"/tournaments/{number}/stream", Accept="application/x-ndjson") as reader:
        state = reader.next()
        assert (state["event"], state["seq"], state["tournament"]["state"]) == ("state", 0, "running")
        play(arena.store, first_game)
        publish(
            arena,
            GameEnded(
                game=first_game.id,
                tournament=number,
                winner="first",
                termination="resign",
                termination_class="rules",
                commit_number=1,
                state="finished",
            ),
        )
        first = reader.next()
        assert (first["event"], first["game"]["id"]) == ("game", first_game.id)
        arena.store.tournaments.move(number, "paused")
        publish(arena, TournamentChanged(tournament=number, state="paused"))
        paused = reader.next()
        assert (paused["event"], paused["seq"], paused["tournament"]["state"]) == ("tournament", first["seq"], "paused")
        arena.store.tournaments.move(number, "running")
        play(arena.store, second_game)
        arena.store.tournaments.move(number, "finished")
        publish(arena, TournamentChanged(tournament=number, state="finished"))
        rest = list(reader.rest())
    assert [line["event"] for line in rest] == ["game", "final"]
    assert rest[0]["game"]["id"] == second_game.id


def test_keep_alive_and_news_that_were_lost(arena: Arena, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "KEEP_ALIVE_INTERVAL_S", 0.02)
    with Reader(arena, f"/games/{game}/stream") as reader:
        assert json.loads(reader.line())["event"] == "state"
        assert reader.line() == b"\n"
        # Nobody tells the bus: the next look at the database finds it all the same.
        arena.store.results.commit(record_of(PlannedGame(game, arena.store.games.spec(game))), "test")
        assert [line["event"] for line in reader.rest()][-1] == "final"
    with Reader(arena, f"/games/{arena.waiting[-1]}/stream", Accept="text/event-stream") as reader:
        block = [reader.line() for _ in range(6)]
        assert block[4:] == [b": keep-alive\n", b"\n"]


def test_streams_are_counted(arena: Arena) -> None:
    gate = arena.server.context.streams
    limit, gate.each = gate.each, 1
    try:
        path = f"/games/{arena.waiting[-1]}/stream"
        # Those of nobody in particular may be open still, of other tests.
        token = arena.tokens["organiser"]
        with Reader(arena, path, Authorization=f"Bearer {token}") as reader:
            assert reader.next()["event"] == "state"
            full = arena.server.get(PREFIX + path, token=token)
            assert full.status == 429
            assert full.json["limit"] == 1
            # Somebody else's streams are counted apart.
            with Reader(arena, path, Authorization=f"Bearer {arena.tokens['author']}") as other:
                assert other.next()["event"] == "state"
    finally:
        gate.each = limit


def test_the_end_of_the_server_ends_streams(arena: Arena) -> None:
    context = arena.server.context
    with Reader(arena, f"/games/{arena.waiting[-1]}/stream") as reader:
        reader.next()
        arena.server.soon(context.closing.set)
        assert list(reader.rest()) == []
    assert arena.server.get("/readyz").status == 503
    arena.server.soon(context.closing.clear)


def test_stream_of_a_disconnected_client_ends(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "KEEP_ALIVE_INTERVAL_S", 0.01)
    gate = arena.server.context.streams
    with Reader(arena, f"/games/{arena.waiting[-1]}/stream") as reader:
        reader.next()
        assert gate.count >= 1
    settled(arena, lambda: gate.count == 0)
    assert isinstance(reader.response, http.client.HTTPResponse)
