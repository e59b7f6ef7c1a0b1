"""A person plays a bot over the interface: start, state, moves, draw offers, take-backs, resignation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.events.messages import HumanActed
from arena.http.problem import PREFIX
from arena.store import Store
from tests.arena.api.server import Server, settings_in
from tests.arena.coordinator.humans import Hall


@pytest.fixture
def hall(sqlite_store: Store, tmp_path: Path) -> Hall:
    return Hall(sqlite_store, tmp_path)


@pytest.fixture
def server(hall: Hall, tmp_path: Path) -> Iterator[Server]:
    opened = Server(hall.store, settings_in(tmp_path / "web"))
    opened.unlimited()
    bus = opened.context.arena.bus
    publish = bus.publish

    def tell(event: Any) -> None:
        publish(event)
        if isinstance(event, HumanActed):
            hall.told.publish(event)

    bus.publish = tell  # type: ignore[method-assign]
    yield opened
    opened.close()


def test_a_whole_game_by_the_interface(hall: Hall, server: Server) -> None:
    ann, zoe = server.person("ann"), server.person("zoe")
    offered = server.get(f"{PREFIX}/opponents?family=loa").json["items"]
    assert offered == [{"bot": "first", "version": "first v1", "rating": None, "level": None}]
    wish = {"family": "loa", "bot": "first", "side": "first", "time": "600+5"}
    assert server.post(f"{PREFIX}/play", body=wish).status == 401
    refused = server.post(f"{PREFIX}/play", token=ann, body={**wish, "bot": "deep"})
    assert (refused.status, refused.json["hint"]) == (422, "choose from first")
    with hall.open():
        begun = server.post(f"{PREFIX}/play", token=ann, body=wish)
        assert begun.status == 201
        place, game = begun.headers["Location"], begun.json["id"]
        assert (begun.json["side"], begun.json["to_move"], begun.json["is_rated"]) == ("first", "first", True)
        assert [listed["id"] for listed in server.get(f"{PREFIX}/play", token=ann).json["items"]] == [game]
        assert server.get(f"{PREFIX}/play", token=zoe).json["items"] == []
        assert server.get(place, token=zoe).status == 403
        assert server.post(f"{place}/decisions", token=zoe, body={"do": "resign"}).status == 403

        def decide(**wish: Any) -> tuple[int, Any]:
            answer = server.post(f"{place}/decisions", token=ann, body=wish)
            return answer.status, answer.json

        status, problem = decide(move="b1b2")
        assert (status, problem["field"]) == (422, "moves")
        assert decide(move="b1-b3", ply=4)[0] == 409
        assert decide(move="b1-b3", draw=True)[0] == 202
        hall.told.until(lambda: len(hall.line(game).plies) == 2)
        seen = server.get(place, token=ann).json
        assert (seen["moves"][0], len(seen["moves"]), seen["to_move"]) == ("b1b3", 2, "first")
        assert seen["draw"] == {"state": "declined", "why": "the bot reports no scores"}
        assert decide(do="back", ply=2)[0] == 202
        hall.told.until(lambda: hall.line(game).attempt == 2)
        assert decide(do="back", ply=2)[1]["detail"] == "the position has changed; look at the board again"
        seen = server.get(place, token=ann).json
        assert (seen["moves"], seen["is_rated"], seen["draw"]) == ([], False, None)
        assert decide(move="c1c3")[0] == 202
        hall.told.until(lambda: len(hall.line(game).plies) == 2)
        assert decide(do="resign")[0] == 202
        hall.over(game)
        over = server.get(place, token=ann).json
        assert (over["state"], over["to_move"]) == ("finished", None)
        assert over["outcome"] == {"winner": "second", "termination": "resigned"}
        assert decide(do="resign")[0] == 409


def test_a_person_finds_the_rating_that_a_game_gave(hall: Hall, server: Server) -> None:
    hall.establish()
    ann = server.person("ann")
    assert b"as a player" not in server.get("/users/ann").body
    with hall.open():
        wish = {"family": "loa", "bot": "first", "side": "first"}
        place = server.post(f"{PREFIX}/play", token=ann, body=wish).headers["Location"]
        server.post(f"{place}/decisions", token=ann, body={"move": "b1b3"})
        game = place.rsplit("/", 1)[1]
        hall.told.until(lambda: len(hall.line(game).plies) == 2)
        server.post(f"{place}/decisions", token=ann, body={"do": "resign"})
        hall.over(game)
    assert 'href="/bots/%40ann"' in server.get("/users/ann").body.decode()
    assert "loa/people" in server.get("/bots/@ann").body.decode()
    assert "@ann" in server.get("/loa/leaderboard?pool=loa/people").body.decode()
