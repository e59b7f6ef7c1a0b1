"""The response cache: as fresh as the database, shared by anonymous clients, and never for private responses."""

from __future__ import annotations

import asyncio
import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from arena.clock import now
from arena.http import response_cache as module
from arena.http.problem import PREFIX
from arena.http.response_cache import ResponseCache
from arena.services.arena import Arena as Services
from arena.store import Store
from arena.store.base.engine import Changes
from tests.arena.api.filled import Arena, planned, play
from tests.arena.field import Field

COOKIE = "arena"


class Marks:
    """A fake database revision that the test changes."""

    def __init__(self) -> None:
        self.number = 0

    def mark(self) -> int:
        return self.number

    look = mark


class Maker:
    """Builds responses and counts them."""

    def __init__(self, **words: Any) -> None:
        self.made = 0
        self.words = words

    async def __call__(self) -> web.StreamResponse:
        self.made += 1
        await asyncio.sleep(0)
        words = {"status": 200, **self.words}
        words["headers"] = {"Cache-Control": "no-cache", **words.get("headers", {})}
        return web.Response(body=f"{self.made}".encode(), **words)


def ask(cache: ResponseCache, maker: Any, path: str = "/loa", *, extra: Any = None, **headers: str) -> web.Response:
    request = make_mocked_request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    found = asyncio.run(cache.answer(request, COOKIE, maker, extra))
    assert isinstance(found, web.Response)
    return found


@pytest.fixture
def marks() -> Marks:
    return Marks()


@pytest.fixture
def cache(marks: Marks) -> ResponseCache:
    """A cache with a stopped clock: no response expires during a test."""
    return ResponseCache(marks, clock=lambda: 0.0)  # type: ignore[arg-type]


def test_made_once_until_something_changes(cache: ResponseCache, marks: Marks) -> None:
    maker = Maker()
    assert [ask(cache, maker).body for _ in range(3)] == [b"1", b"1", b"1"]
    marks.number += 1
    assert [ask(cache, maker).body for _ in range(2)] == [b"2", b"2"]
    assert ask(cache, maker, extra="ply 3").body == b"3"


def test_not_for_longer_than_times_may_be_old(marks: Marks) -> None:
    at = 0.0
    cache, maker = ResponseCache(marks, clock=lambda: at), Maker()  # type: ignore[arg-type]
    ask(cache, maker)
    at = module.TTL_S - 0.1
    assert ask(cache, maker).body == b"1"
    at = module.TTL_S
    assert ask(cache, maker).body == b"2"


def test_addresses_are_apart(cache: ResponseCache) -> None:
    maker = Maker()
    asked: list[dict[str, str]] = [{"path": "/a"}, {"path": "/a?x=1"}, {"path": "/b"}]
    assert len({ask(cache, maker, **words).body for words in asked}) == 3


def test_headers_that_strangers_vary_do_not_bypass_the_cache(cache: ResponseCache) -> None:
    maker = Maker()
    asked: list[dict[str, str]] = [{}, {"Accept": "b/c"}, {"Accept": "text/html;x=1"}, {"Accept-Language": "fr"}]
    assert {ask(cache, maker, **words).body for words in asked} == {b"1"}


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer x"}, {"Cookie": f"{COOKIE}=secret"}])
def test_who_is_known_passes_by(cache: ResponseCache, headers: dict[str, str]) -> None:
    maker = Maker()
    ask(cache, maker)
    assert ask(cache, maker, **headers).body == b"2"
    assert ask(cache, maker, **headers).body == b"3"
    assert ask(cache, maker).body == b"1"


def cookied() -> Maker:
    maker = Maker()

    class Cookied(Maker):
        async def __call__(self) -> web.StreamResponse:
            response = await maker()
            self.made = maker.made
            response.set_cookie("a", "b")
            return response

    return Cookied()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Maker(headers={"Cache-Control": "private, no-cache"}),
        lambda: Maker(status=404),
        lambda: Maker(headers={"Set-Cookie": "a=b"}),
        cookied,
    ],
    ids=["private", "missing", "cookie by hand", "cookie"],
)
def test_what_is_not_for_everybody_is_not_kept(cache: ResponseCache, make: Callable[[], Maker]) -> None:
    maker = make()
    ask(cache, maker)
    ask(cache, maker)
    assert (maker.made, len(cache)) == (2, 0)


def test_a_fault_is_not_kept_and_hurts_nobody_else(cache: ResponseCache) -> None:
    async def fail() -> web.StreamResponse:
        raise LookupError

    with pytest.raises(LookupError):
        ask(cache, fail)
    assert ask(cache, Maker()).body == b"1"


def test_all_who_ask_at_once_get_one_answer(cache: ResponseCache) -> None:
    maker = Maker()

    async def crowd() -> list[web.StreamResponse]:
        request = make_mocked_request("GET", "/loa")
        return await asyncio.gather(*(cache.answer(request, COOKIE, maker) for _ in range(20)))

    assert {one.body for one in asyncio.run(crowd())} == {b"1"}  # type: ignore[attr-defined]


def test_room_is_bounded(marks: Marks) -> None:
    cache = ResponseCache(marks, max_bytes=10_000, clock=lambda: 0.0)  # type: ignore[arg-type]
    maker = Maker()
    for number in range(50):
        ask(cache, maker, f"/{number}")
    assert 0 < len(cache) < 10
    assert cache.size_bytes <= 10_000
    ask(cache, maker, "/" + "x" * 5000)
    assert ask(cache, maker, "/" + "x" * 5000).body == b"52", "an endless address is not kept"


# -- over the whole application ----------------------------------------------------------------------------------------


def test_tags_and_gzip(arena: Arena) -> None:
    path = "/loa/leaderboard"
    whole = arena.server.get(path)
    packed = arena.server.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == whole.body
    assert arena.server.get(path, headers={"Accept-Encoding": "gzip;q=0"}).body == whole.body
    assert "Accept-Encoding" in whole.headers["Vary"]
    again = arena.server.get(path, headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["X-Request-Id"] != whole.headers["X-Request-Id"]
    assert "Content-Security-Policy" in again.headers


def test_who_asks_with_a_tag_first_fills_the_cache_too(arena: Arena) -> None:
    path = f"{PREFIX}/games/{arena.games[0]}"
    tag = arena.server.get(path).headers["ETag"]
    arena.store.audit.note("x", "y")
    assert arena.server.get(path, headers={"If-None-Match": tag}).status == 304
    assert arena.server.get(path).status == 200


def test_every_write_is_seen_at_once(arena: Arena) -> None:
    owner = arena.store.users.find("author").id or 0
    for number in range(5):
        name = f"seen{number}"
        assert name not in arena.server.get("/bots").body.decode()
        assert name not in {item["name"] for item in arena.server.get(f"{PREFIX}/bots").json["items"]}
        arena.store.bots.add(name, owner)
        assert name in arena.server.get("/bots").body.decode()
        assert name in {item["name"] for item in arena.server.get(f"{PREFIX}/bots").json["items"]}


def test_a_result_is_seen_at_once(arena: Arena) -> None:
    game = planned(arena.store, arena.running)[0]
    page, document = f"/games/{game.id}", f"{PREFIX}/games/{game.id}"
    assert arena.server.get(document).json["state"] == "planned"
    assert "waiting to be played" in arena.server.get(page).body.decode()
    play(arena.store, game)
    assert arena.server.get(document).json["state"] == "finished"
    assert "waiting to be played" not in arena.server.get(page).body.decode()


def test_writes_of_other_processes_are_seen(arena: Arena) -> None:
    path = str(arena.store.engine.url.database)
    page, document = "/bots/zeta", f"{PREFIX}/bots/zeta"
    assert "elsewhere" not in arena.server.get(page).body.decode() + arena.server.get(document).body.decode()
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE bots SET description = 'said elsewhere' WHERE name = 'zeta'")
        other.commit()
    assert arena.server.get(document).json["description"] == "said elsewhere"
    assert "said elsewhere" in arena.server.get(page).body.decode()


def test_a_page_of_somebody_is_nobody_elses(arena: Arena) -> None:
    """The user name in the page frame and owners' details are never cached, in whatever order clients ask."""
    from datetime import timedelta

    from arena.credentials import digest_of, new_secret

    secret = new_secret()
    author = arena.store.users.find("author")
    arena.store.users.add_login(author.id or 0, digest_of(secret), "form-token", now() + timedelta(hours=1))
    mine = {"Cookie": f"{COOKIE}={secret}"}
    for path in ("/", "/loa/leaderboard", f"/tournaments/{arena.finished}", "/games", "/bots/zeta"):
        for _ in range(2):
            known = arena.server.get(path, headers=mine)
            unknown = arena.server.get(path)
            assert b"form-token" in known.body or b"/account" in known.body, path
            assert b"form-token" not in unknown.body, path
            assert known.body != unknown.body, path


# -- marks -------------------------------------------------------------------------------------------------------------


def test_marks_of_both_databases(store: Store) -> None:
    field = Field(store)
    elsewhere = Store(store.url)
    changes = Changes(store.sessions, clock=lambda: 0.0)
    try:
        first = changes.look()
        assert changes.look() == first
        assert changes.mark() == first
        store.audit.note("x", "y", field.user_id)
        assert changes.mark() != first, "a commit of this process counts at once"
        second = changes.look()
        elsewhere.audit.note("x", "y", field.user_id)
        assert changes.look() != second
        with pytest.raises(RuntimeError), store.writing():
            raise RuntimeError
    finally:
        changes.close()
        elsewhere.close()


def test_what_stands_around_a_page_is_looked_for_when_it_is_made(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def is_damaged(_: object) -> bool:
        looked.append(1)
        return False

    monkeypatch.setattr(Services, "is_damaged", is_damaged)
    for _ in range(3):  # an address that no other test has asked for
        assert arena.server.get("/loa/leaderboard?at=2998-12-31").status == 200
    assert len(looked) == 1
    assert arena.server.get("/api/v1/families").status == 200
    assert len(looked) == 1, "no page"
