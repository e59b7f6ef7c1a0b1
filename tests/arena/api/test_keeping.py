"""HTTP caching, CORS, compression, HEAD, and paging with cursors."""

from __future__ import annotations

import gzip
import json

import pytest

from arena.http.problem import PREFIX
from tests.arena.api.filled import Arena, planned, play


@pytest.mark.parametrize(
    "path", ["", "/families", "/families/loa", "/leaderboards/loa", "/bots", "/games", "/tournaments", "/openapi.json"]
)
def test_the_second_request_is_304(arena: Arena, path: str) -> None:
    first = arena.server.get(PREFIX + path)
    etag = first.headers["ETag"]
    assert etag.startswith('W/"')
    for known in (etag, etag.removeprefix("W/"), f'"other", {etag}', "*"):
        second = arena.server.get(PREFIX + path, headers={"If-None-Match": known})
        assert (second.status, second.body) == (304, b"")
        assert second.headers["ETag"] == etag
        assert second.headers["Cache-Control"] == first.headers["Cache-Control"]
    assert arena.server.get(PREFIX + path, headers={"If-None-Match": '"other"'}).body == first.body


def test_a_new_result_changes_the_etag(arena: Arena) -> None:
    before = {path: arena.server.get(PREFIX + path).headers["ETag"] for path in ("/games", "/leaderboards/loa")}
    play(arena.store, planned(arena.store, arena.running)[0])
    for path, etag in before.items():
        assert arena.server.get(PREFIX + path, headers={"If-None-Match": etag}).status == 200


def test_finished_games_are_immutable_and_live_ones_uncached(arena: Arena) -> None:
    def keep(path: str) -> str:
        return arena.server.get(PREFIX + path).headers["Cache-Control"]

    assert keep(f"/games/{arena.games[0]}") == "public, max-age=31536000, immutable"
    assert keep(f"/games/{arena.games[0]}/record") == "public, max-age=31536000, immutable"
    assert keep(f"/tournaments/{arena.finished}") == "public, max-age=300, immutable"
    assert keep(f"/tournaments/{arena.finished}/standings") == "public, max-age=300, immutable"
    assert keep(f"/tournaments/{arena.running}") == "no-store"
    assert keep(f"/games/{arena.waiting[-1]}") == "no-store"
    assert keep("/referee") == "no-store"


def test_private_responses_are_not_cached_by_proxies(arena: Arena) -> None:
    reply = arena.server.get(f"{PREFIX}/users", token=arena.tokens["admin"])
    assert "private" in reply.headers["Cache-Control"]
    assert "Authorization" in reply.headers["Vary"]
    assert arena.server.get(f"{PREFIX}/account", token=arena.tokens["admin"]).headers["Cache-Control"] == "no-store"


def test_compression(arena: Arena) -> None:
    path = f"{PREFIX}/families/loa"
    plain = arena.server.get(path)
    packed = arena.server.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["ETag"] == plain.headers["ETag"]
    assert "Accept-Encoding" in packed.headers["Vary"]


def test_head_is_get_without_the_body(arena: Arena) -> None:
    for path in ("/families/loa", "/bots/nope", f"/games/{arena.games[0]}"):
        get = arena.server.get(PREFIX + path)
        head = arena.server.ask("HEAD", PREFIX + path)
        assert (head.status, head.body) == (get.status, b"")
        assert head.headers.get("ETag") == get.headers.get("ETag")


def test_cors_on_reads_only(arena: Arena) -> None:
    origin = {"Origin": "https://elsewhere.example"}
    read = arena.server.get(f"{PREFIX}/families", headers=origin)
    assert read.headers["Access-Control-Allow-Origin"] == "*"
    assert "ETag" in read.headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in read.headers
    assert arena.server.get(f"{PREFIX}/bots/nope", headers=origin).headers["Access-Control-Allow-Origin"] == "*"
    ask = {**origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    preflight = arena.server.ask("OPTIONS", f"{PREFIX}/families", headers=ask)
    assert preflight.status == 204
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    write = arena.server.post(f"{PREFIX}/login", body={}, headers=origin)
    assert "Access-Control-Allow-Origin" not in write.headers
    assert "Access-Control-Allow-Origin" not in arena.server.get("/login", headers=origin).headers


def test_security_headers_are_on_everything(arena: Arena) -> None:
    for path in (
        "/",
        "/login",
        "/nope",
        PREFIX,
        f"{PREFIX}/nope",
        "/healthz",
        f"{PREFIX}/games/{arena.games[0]}/stream",
    ):
        headers = arena.server.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], path
        assert headers["Referrer-Policy"] == "same-origin", path
        assert headers["Server"] == "arena", path
        assert headers["X-Request-Id"], path


# -- pages of lists ----------------------------------------------------------------------------------------------------


def walk(arena: Arena, path: str, limit: int, between: object = None) -> list[str]:
    """Return the items of all pages by following the Link header; `between` is called after the first page."""
    items: list[str] = []
    address: str | None = f"{PREFIX}{path}{'&' if '?' in path else '?'}limit={limit}"
    while address:
        reply = arena.server.get(address)
        assert reply.status == 200
        assert len(reply.json["items"]) <= limit
        items += [json.dumps(item, sort_keys=True) for item in reply.json["items"]]
        link = reply.headers.get("Link")
        assert (link is None) == (reply.json["next"] is None)
        if link:
            target, _, relation = link.partition(">; ")
            assert relation == 'rel="next"'
            address = target.removeprefix("<")
            assert address.startswith(PREFIX)
            assert f"after={reply.json['next']}" in address
        else:
            address = None
        if callable(between):
            between()
            between = None
    return items


@pytest.mark.parametrize(
    "path",
    [
        "/bots?retired=true",
        "/tournaments",
        "/games",
        "/games?family=loa",
        "/games?bot=greedy",
        "/games?termination_class=forfeit",
        "/tournaments/1/games",
        "/leaderboards/loa",
        "/bots/greedy/games",
        "/bots/greedy/versions/1/changes?pool=loa",
    ],
)
def test_pages_make_up_the_list(arena: Arena, path: str) -> None:
    whole = walk(arena, path, 200)
    assert whole
    for limit in (1, 2, 5):
        assert walk(arena, path, limit) == whole


def test_pages_stay_complete_while_rows_are_added(arena: Arena) -> None:
    before = walk(arena, "/games", 200)
    game = planned(arena.store, arena.running)[0]
    during = walk(arena, "/games", 3, lambda: play(arena.store, game))
    assert during == before
    assert walk(arena, "/games", 200)[1:] == before


def test_a_cursor_of_another_list(arena: Arena) -> None:
    cursor = arena.server.get(f"{PREFIX}/bots?limit=1").json["next"]
    reply = arena.server.get(f"{PREFIX}/games?after={cursor}")
    assert reply.status == 422
