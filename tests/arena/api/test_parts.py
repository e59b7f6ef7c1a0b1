"""Parts that need no server: content negotiation, paging, problems, caching, client addresses."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from arena.api.handle import read_model
from arena.api.registry import Routes
from arena.events.bus import Bus
from arena.events.live import RENEW_S, WATCH_S, Live
from arena.events.messages import (
    BrokerConnected,
    Event,
    GameAborted,
    GameEnded,
    GameMoved,
    GamePlies,
    GameSnapshot,
    GameStarted,
    GameWatched,
    Subject,
)
from arena.http.broadcast import NDJSON, SSE, StreamLine, encode_line
from arena.http.problem import Problem, not_found, quoted
from arena.http.response_cache import negotiate
from referee.errors import KINDS, near
from referee.game.record import Ply


@pytest.mark.parametrize(
    ("accept", "best"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/plain", "text/plain"),
        ("text/*;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("application/json;q=0, */*;q=0.1", "application/x-ndjson"),
        ("text/plain;q=nan, application/json;q=0.2", "application/json"),
        ("TEXT/Plain; q=1", "text/plain"),
    ],
)
def test_negotiation(accept: str, best: str) -> None:
    assert negotiate(accept, ("application/json", "application/x-ndjson", "text/plain")) == best


@pytest.mark.parametrize("accept", ["image/png", "application/json;q=0", ";;;", "a/b;q=zzz"])
def test_nothing_acceptable(accept: str) -> None:
    with pytest.raises(Problem, match="Accept") as caught:
        negotiate(accept, ("application/json",))
    assert caught.value.status == 406


def test_every_kind_of_problem_has_its_own_status() -> None:
    assert len({kind.status for kind in KINDS.values()}) == len(KINDS)


def test_a_problem_document() -> None:
    problem = not_found("bot", "greedi", ["greedy", "random"])
    found = problem.document()
    assert found["status"] == 404
    assert found["near"] == ["greedy"]
    assert found["hint"] == "did you mean greedy?"
    assert found["type"] == found["docs"] == "/api/v1/docs#problem-not-found"
    assert json.loads(problem.response().body or b"") == found  # type: ignore[arg-type]


def test_problem_escapes_client_input() -> None:
    assert quoted("a\x1b[31mb\n") == '"a�[31mb�"'
    assert len(quoted("x" * 10_000)) < 70
    assert near("x" * 10_000, ["xx"]) == []


def test_lines_of_streams() -> None:
    line = StreamLine("ply", 3, {"move": "a1a2"})
    assert encode_line(line, NDJSON) == b'{"event":"ply","seq":3,"move":"a1a2"}\n'
    assert encode_line(line, SSE) == b'id: 3\nevent: ply\ndata: {"event":"ply","seq":3,"move":"a1a2"}\n\n'


def test_bodies_are_strict() -> None:
    class Model(BaseModel):
        count: int

    assert read_model(Model, b'{"count": 1}') == Model(count=1)
    for content in (b'{"count": "1"}', b"{}", b"[]", b"", b"nope", b'{"count": 1e400}', b"[" * 100_000, b'"\\ud800"'):
        with pytest.raises(Problem):
            read_model(Model, content)


def test_the_table_knows_the_answer_behind_a_union() -> None:
    routes = Routes()

    @routes.get("/x/{number}", tag="x", summary="x")
    async def show(call: object, number: int) -> Model | str:
        """Return a model."""
        return ""

    (route,) = routes.table
    assert route.answer is Model
    assert set(route.path_types) == {"number"}


class Model(BaseModel):
    """For `test_the_table_knows_the_answer_behind_a_union`."""


# -- live games --------------------------------------------------------------------------------------------------------


def ply(number: int, move: str) -> GameMoved:
    return GameMoved(game="ab", first=number, plies=(Ply(move=move),))


def ended() -> GameEnded:
    return GameEnded(
        game="ab",
        tournament=1,
        winner="first",
        termination="resign",
        termination_class="rules",
        commit_number=1,
        state="finished",
    )


def test_live_games_keep_their_plies_until_they_end() -> None:
    live = Live(Bus())
    live.take(GameStarted(game="ab", attempt=2))
    live.take(ply(1, "a1a2"))
    live.take(ply(2, "b1b2"))
    assert live.games["ab"].attempt == 2
    assert [ply.move for ply in live.games["ab"].plies] == ["a1a2", "b1b2"]
    live.take(ended())
    assert "ab" not in live.games


def test_nothing_is_added_to_a_live_game_behind_a_gap() -> None:
    live = Live(Bus())
    live.take(ply(5, "a1a2"))
    assert "ab" not in live.games
    live.take(GameStarted(game="ab", attempt=1))
    live.take(ply(2, "a1a2"))
    assert live.games["ab"].plies == []


def test_plies_that_overtake_the_start_of_their_game_count() -> None:
    live = Live(Bus())
    live.take(ply(1, "a1a2"))
    live.take(ply(2, "b1b2"))
    assert "ab" not in live.games
    live.take(GameStarted(game="ab", attempt=1))
    live.take(ply(3, "a2a3"))
    assert [ply.move for ply in live.games["ab"].plies] == ["a1a2", "b1b2", "a2a3"]
    live.take(ply(1, "c1c2"))
    live.take(GameStarted(game="ab", attempt=2))
    assert [ply.move for ply in live.games["ab"].plies] == ["c1c2"], "it was called off, and began again"


def test_a_snapshot_fills_a_live_game() -> None:
    live = Live(Bus())
    plies = (Ply(move="a1a2"), Ply(move="b1b2"))
    live.take(GameSnapshot(game="ab", tournament=1, attempt=2, plies=plies))
    assert live.games["ab"].plies == [*plies]
    live.take(GameSnapshot(game="ab", tournament=1, attempt=2, plies=plies[:1]))
    live.take(GameSnapshot(game="ab", tournament=1, attempt=1, plies=(*plies, *plies)))
    assert live.games["ab"].plies == [*plies], "it is older"
    live.take(GameAborted(game="ab"))
    assert "ab" not in live.games


def test_a_batch_adds_what_is_new_of_its_attempt() -> None:
    live = Live(Bus())
    first, second, third = (Ply(move=move) for move in ("a1a2", "b1b2", "c1c2"))
    live.take(GamePlies(game="ab", attempt=1, first=1, plies=(first,)))
    assert "ab" not in live.games, "nobody has said that it runs"
    live.take(GameSnapshot(game="ab", tournament=1, attempt=2, plies=(first,)))
    live.take(GamePlies(game="ab", attempt=1, first=2, plies=(third,)))
    live.take(GamePlies(game="ab", attempt=2, first=3, plies=(third,)))
    assert live.games["ab"].plies == [first], "of another attempt, and after a gap"
    live.take(GamePlies(game="ab", attempt=2, first=1, plies=(first, second)))
    live.take(GamePlies(game="ab", attempt=2, first=2, plies=(second, third)))
    assert live.games["ab"].plies == [first, second, third]


@pytest.mark.parametrize(
    ("state", "attempt", "is_shown"),
    [("queued", 2, True), ("running", 2, True), ("running", 1, True), ("running", 3, False), ("planned", 2, False)],
)
def test_a_live_game_whose_end_was_missed_is_not_shown(state: str, attempt: int, is_shown: bool) -> None:
    live = Live(Bus())
    live.take(GameStarted(game="ab", attempt=2))
    assert (live.of(Line("ab", state, attempt)) is not None) == is_shown
    assert live.of(Line("other", state, attempt)) is None


class Notebook(Bus):
    """A bus that remembers what was published."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[Event] = []

    def publish(self, event: Event) -> None:
        self.published.append(event)


def test_a_game_is_requested_while_it_is_read_and_renewed_now_and_then() -> None:
    bus, times = Notebook(), [0.0]
    live = Live(bus, lambda: times[0])
    line = Line("ab", "running", 1)
    for times[0] in (0.0, RENEW_S / 2, RENEW_S, 1.5 * RENEW_S):
        live.of(line)
    first, again = GameWatched(game="ab"), GameWatched(game="ab", is_new=False)
    assert bus.published == [first, again]
    before = live.news_mark
    times[0] += WATCH_S
    assert live.news_mark != before, "nobody watches it any more: views of it are to be made again"
    live.of(line)
    assert bus.published == [first, again, first], "plies were missed meanwhile"


def test_only_games_with_plies_to_come_are_requested() -> None:
    bus = Notebook()
    live = Live(bus)
    for state in ("finished", "void", "cancelled"):
        live.of(Line("ab", state, 1))
    live.mark("ab")
    assert bus.published == []
    live.take(GameStarted(game="ab"))
    live.mark("ab")
    assert bus.published == [GameWatched(game="ab")], "a cached page of it is read"
    live.of(Line("cd", "planned", 0))
    assert bus.published[1:] == [GameWatched(game="cd")], "its start is awaited"


def test_a_watched_game_is_requested_anew_after_the_broker_was_away() -> None:
    bus = Notebook()
    live = Live(bus)
    live.watch("ab")
    live.take(BrokerConnected())
    live.watch("ab")
    assert bus.published.count(GameWatched(game="ab")) == 2


@dataclass(frozen=True)
class Line:
    """A stand-in for a game row."""

    id: str
    state: str
    attempt: int


def test_subscriptions_wake_for_their_subject_only() -> None:
    async def main() -> None:
        live = Live(Bus())
        with live.changes(Subject("tournament", 1)) as first, live.changes(Subject("tournament", 2)) as second:
            live.take(ended())
            assert first.is_set()
            assert not second.is_set()
        assert not live._listeners

    asyncio.run(main())


def test_live_listener_receives_bus_events() -> None:
    async def main() -> None:
        bus = Bus()
        live = Live(bus)
        task = asyncio.create_task(live.run())
        await asyncio.sleep(0)
        with live.changes(Subject("game", "ab")) as bell:
            bus.publish(GameStarted(game="ab"))
            await asyncio.wait_for(bell.wait(), 60)
        assert "ab" in live.games
        task.cancel()

    asyncio.run(main())
