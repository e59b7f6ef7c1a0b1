"""Invalid and hostile input: always a 4xx problem, never a 5xx or a traceback, and the server keeps running."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_network

import pytest

from arena.api.handle import MAX_BODY_BYTES
from arena.http.problem import PREFIX
from tests.arena.api.filled import Arena
from tests.arena.api.server import Reply


@pytest.fixture(autouse=True)
def _alive(arena: Arena) -> Iterator[None]:
    yield
    assert arena.server.get("/healthz").status == 200


def is_problem(reply: Reply, *statuses: int) -> bool:
    """Return whether the response is a complete problem document with one of these statuses, without internals."""
    assert reply.status in statuses, (reply.status, reply.body[:500])
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert reply.headers["Cache-Control"] == "no-store"
    problem = reply.json
    assert problem["status"] == reply.status
    assert problem["title"]
    assert problem["detail"]
    assert problem["docs"].startswith("/api/v1/docs#problem-")
    assert b"Traceback" not in reply.body
    assert b".py" not in reply.body
    return True


@pytest.mark.parametrize(
    "path",
    [
        "/games?limit=0",
        "/games?limit=201",
        "/games?limit=-1",
        "/games?limit=1e3",
        "/games?limit=١",
        "/games?limit=" + "9" * 300,
        "/games?limit=1&limit=2",
        "/games?after=%00",
        "/games?after=AAAA",
        "/games?after=" + "A" * 401,
        "/games?limt=5",
        "/games?termination_class=void%20",
        "/games?tournament=99999999999999999999",
        "/games?tournament=1;drop%20table",
        "/bots?retired=yes",
        "/bots?family=%27%20or%201=1",
        "/bots?owner=%F0%9F%92%A9",
        "/bots/greedy/versions/1/changes",
        "/bots/greedy/versions/1/changes?pool=%00",
        "/tournaments?state=nope",
        "/leaderboards/loa?pool=a%20b",
        "/families?x=1",
    ],
)
def test_queries(arena: Arena, path: str) -> None:
    from urllib.parse import quote

    reply = arena.server.get(PREFIX + quote(path, safe="/?&=%;'"))
    assert is_problem(reply, 400, 404, 422)


def test_a_misspelt_parameter_is_named_with_the_right_one(arena: Arena) -> None:
    found = arena.server.get(f"{PREFIX}/games?limt=5").json
    assert found["field"] == "limt"
    assert found["near"] == ["limit"]


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/bots/../users",
        "/bots/%2e%2e/%2e%2e/etc/passwd",
        "/bots/..%2f..%2fetc%2fpasswd",
        "/bots/%00",
        "/bots/%FF%FE",
        "/bots/%ED%A0%80",
        "/bots/" + "a" * 5000,
        "/bots/Zeta",
        "/bots/greedy%0d%0aSet-Cookie:%20a=b",
        "/tournaments/0",
        "/tournaments/-1",
        "/tournaments/1e9",
        "/tournaments/2147483648",
        "/tournaments/99999999999999999999999",
        "/tournaments/１",
        "/games/../../etc/passwd",
        "/games/ABCDEF0123456789",
        "/games/0/stream",
        "/families/__init__",
        "/families/loa%2f..",
        "/submissions/1%20or%201",
        "//bots",
        "/docs/../../x",
    ],
)
def test_paths(arena: Arena, path: str) -> None:
    from urllib.parse import quote

    assert is_problem(arena.server.get(PREFIX + quote(path, safe="/%")), 404)


def test_near_names(arena: Arena) -> None:
    found = arena.server.get(f"{PREFIX}/bots/greedi").json
    assert found["near"] == ["greedy"]
    assert arena.server.get(f"{PREFIX}/families/lao").json["near"] == ["loa"]
    assert arena.server.get(f"{PREFIX}/leaderboards/loa?pool=lao").json["near"] == ["loa"]


def test_an_endless_address(arena: Arena) -> None:
    assert is_problem(arena.server.get(f"{PREFIX}/bots?after=" + "A" * 9000), 414)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS", "TRACE"])
def test_methods(arena: Arena, method: str) -> None:
    reply = arena.server.ask(method, f"{PREFIX}/families")
    assert is_problem(reply, 405)
    assert set(reply.headers["Allow"].split(",")) == {"GET", "HEAD"}


BODIES = [
    b"",
    b"null",
    b"[]",
    b'"x"',
    b"{",
    b"{}",
    b'{"name": 5, "scopes": ["read"]}',
    b'{"name": "x", "scopes": "read"}',
    b'{"name": "x", "scopes": ["root"]}',
    b'{"name": "x", "scopes": []}',
    b'{"name": "", "scopes": ["read"]}',
    b'{"name": "a\\u0000b", "scopes": ["read"]}',
    b'{"name": "\\ud800", "scopes": ["read"]}',
    b'{"name": "x\\ny", "scopes": ["read"]}',
    b'{"name": "x", "scopes": ["read"], "admin": true}',
    b'{"name": "x", "scopes": ["read"], "days": 1e99}',
    b'{"name": "x", "scopes": ["read"], "days": -1}',
    b'{"name": "x", "scopes": ["read"], "days": true}',
    b'{"name": "x", "scopes": ["read"], "days": NaN}',
    b"\xff\xfe{\x00}\x00",
    b'{"name":' * 20_000,
    b"[" * 200_000,
]


@pytest.mark.parametrize("content", BODIES, ids=range(len(BODIES)))
def test_bodies(arena: Arena, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    path = f"{PREFIX}/account/tokens"
    reply = arena.server.post(path, token=arena.tokens["author"], data=content, headers=headers)
    assert is_problem(reply, 400, 422)


@pytest.mark.parametrize(
    "document",
    [
        {"name": "x", "family": "nope"},
        {"name": "x", "family": "loa"},
        {"name": "x", "family": "loa", "entries": {"bots": ["nobody", "greedy"]}},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "variant": "nope"},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "time_control": "fast"},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "options": {"a": "b"}},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "games": 10**30},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "start_time": "tomorrow"},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "openings": "/etc/passwd"},
        {"name": "x", "family": "loa", "entries": {"bots": ["greedy", "random"]}, "schedule": {"cron": "* * * * *"}},
        {"name": "\u0000", "family": "loa", "entries": {"bots": ["greedy", "random"]}},
    ],
)
def test_settings_documents(arena: Arena, document: object) -> None:
    reply = arena.server.post(f"{PREFIX}/tournaments", token=arena.tokens["organiser"], body=document)
    assert is_problem(reply, 422)
    assert reply.json.get("field"), reply.body


@pytest.mark.parametrize("cron", ["", "* * *", "99 * * * *", "0 0 31 2 *", "* * * * * * * *", "é"])
def test_cron_expressions(arena: Arena, cron: str) -> None:
    document = {"name": "x", "family": "loa", "entries": {"all": True}, "schedule": {"cron": cron}}
    assert is_problem(arena.server.post(f"{PREFIX}/schedules", token=arena.tokens["organiser"], body=document), 422)


def test_a_huge_body_is_cut_off(arena: Arena) -> None:
    headers = {"Content-Type": "application/json"}
    content = b'{"name": "' + b"x" * (MAX_BODY_BYTES + 1000) + b'"}'
    reply = arena.server.post(f"{PREFIX}/account/tokens", token=arena.tokens["author"], data=content, headers=headers)
    assert is_problem(reply, 413)
    assert reply.json["limit"] == MAX_BODY_BYTES


def test_a_bomb_is_counted_unpacked(arena: Arena) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    bomb = gzip.compress(b" " * 50_000_000)
    reply = arena.server.post(f"{PREFIX}/account/tokens", token=arena.tokens["author"], data=bomb, headers=headers)
    assert is_problem(reply, 413)


def test_another_kind_of_body(arena: Arena) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data", ""):
        reply = arena.server.post(
            f"{PREFIX}/account/tokens",
            token=arena.tokens["author"],
            data=b'{"name": "x", "scopes": ["read"]}',
            headers={"Content-Type": kind},
        )
        assert is_problem(reply, 415)


HEADERS = [
    {"Accept": "image/png"},
    {"Accept": "," * 5000},
    {"Host": "evil.example"},
    {"Host": ""},
    {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "evil.example", "Forwarded": "for=127.0.0.1"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"If-None-Match": '"' + "x" * 7000},
    {"Range": "bytes=0-1,5-9999999999999999999999"},
    {"Cookie": "arena=" + "x" * 4000},
    {"Cookie": "arena=\x01; =;;; a"},
    {"Accept-Encoding": "gzip;q=nan, br;q=9"},
    {"Origin": "null"},
    {"Expect": "nonsense"},
    {"Upgrade": "websocket", "Connection": "Upgrade"},
    {"Content-Length": "5"},
]


@pytest.mark.parametrize("headers", HEADERS, ids=range(len(HEADERS)))
def test_headers(arena: Arena, headers: dict[str, str]) -> None:
    reply = arena.server.get(f"{PREFIX}/families", headers=headers)
    assert reply.status in (200, 400, 404, 406, 417), reply.body
    assert b"evil" not in reply.body
    assert b"Traceback" not in reply.body


RAW = [
    b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x00\x01\x02\r\n\r\n",
    b"GET /api/v1/families HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    b"GET /api/v1/families HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 40_000 + b"\r\n\r\n",
    b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/v1/login HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET http://evil.example/api/v1/families HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /api/v1/families\r\n HTTP/1.1\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
]


@pytest.mark.parametrize("raw", RAW, ids=range(len(RAW)))
def test_malformed_http_gets_no_server_error(arena: Arena, raw: bytes) -> None:
    with socket.create_connection(("127.0.0.1", arena.server.port), timeout=60) as connection:
        answer = b""
        with suppress(OSError):  # a server that will not read on may cut the connection
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                answer += chunk
    assert not answer.startswith(b"HTTP/1.1 5")
    assert b"Traceback" not in answer
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"aiohttp" not in answer
    assert b"Python" not in answer
    if answer.startswith(b"HTTP/1.1 400"):
        for line in (b"Server: arena", b"Content-Type: application/problem+json", b"X-Content-Type-Options: nosniff"):
            assert line in head
        assert json.loads(body)["status"] == 400


def test_a_body_cut_short(arena: Arena) -> None:
    head = (
        f"POST {PREFIX}/account/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {arena.tokens['author']}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    )
    before = arena.server.get(f"{PREFIX}/account/tokens", token=arena.tokens["author"]).json
    with socket.create_connection(("127.0.0.1", arena.server.port), timeout=60) as connection:
        connection.sendall(head.encode())
    assert arena.server.get(f"{PREFIX}/account/tokens", token=arena.tokens["author"]).json["items"] == before["items"]


def test_a_fault_of_the_server_is_told_without_its_trace(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr(arena.store.ratings, "pools", fail)
    reply = arena.server.get(f"{PREFIX}/leaderboards")
    assert is_problem(reply, 500)
    assert b"secret" not in reply.body
    assert reply.json["request"] == reply.headers["X-Request-Id"]


def test_a_database_that_does_not_answer(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.errors import StoreUnavailableError

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailableError("password=hunter2 at db.internal")

    with monkeypatch.context() as patch:
        patch.setattr(arena.store.ratings, "pools", fail)
        patch.setattr(arena.store.leases, "get", fail)
        reply = arena.server.get(f"{PREFIX}/leaderboards")
        assert is_problem(reply, 503)
        assert int(reply.headers["Retry-After"]) > 0
        assert b"hunter2" not in reply.body
        ready = arena.server.get("/readyz")
        assert ready.status == 503
        assert ready.json["parts"]["database"] == "unavailable"
        patch.setattr(arena.server.context, "scrapers", (ip_network("127.0.0.0/8"),))
        assert arena.server.get("/metrics").status == 200
    assert arena.server.get(f"{PREFIX}/leaderboards").status == 200
    assert arena.server.get("/readyz").status == 200


def test_a_full_disk(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import tempfile

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    path = f"{PREFIX}/bots/fresh/versions?family=loa"
    reply = arena.server.post(path, token=arena.tokens["author"], data=b"#!/bin/sh\n")
    assert is_problem(reply, 507)


def test_rates(arena: Arena) -> None:
    from arena.http.rate_limit import Rate, RateLimiter

    limiters = arena.server.context.limiters
    known = dict(limiters)
    try:
        limiters["read"] = RateLimiter(Rate(60, 2), clock=lambda: 0.0)
        replies = [arena.server.get(f"{PREFIX}/families") for _ in range(3)]
        assert [reply.status for reply in replies] == [200, 200, 429]
        assert is_problem(replies[-1], 429)
        assert replies[-1].headers["Retry-After"] == "1"
        # Somebody with a token is counted apart, whatever the address.
        assert arena.server.get(f"{PREFIX}/families", token=arena.tokens["author"]).status == 200
    finally:
        limiters.update(known)


def test_guessing_tokens_gets_slow(arena: Arena) -> None:
    from arena.http.rate_limit import Rate, RateLimiter

    limiters = arena.server.context.limiters
    known = dict(limiters)
    try:
        limiters["wrong-token"] = RateLimiter(Rate(6, 2), clock=lambda: 0.0)
        bad = {"Authorization": "Bearer arena_" + "A" * 43}
        statuses = [arena.server.get(f"{PREFIX}/account", headers=bad).status for _ in range(4)]
        assert statuses == [401, 401, 429, 429]
        assert arena.server.get(f"{PREFIX}/account", token=arena.tokens["author"]).status == 200
        wish = {"user": "nobodyatall", "password": "x", "name": "x", "scopes": ["read"]}
        assert arena.server.post(f"{PREFIX}/login", body=wish).status == 401, "passwords are counted apart"
    finally:
        limiters.update(known)


def test_forwarded_addresses_count_only_from_trusted_proxies(arena: Arena) -> None:

    from arena.http.rate_limit import Rate, RateLimiter

    context = arena.server.context
    known = dict(context.limiters)

    def ask(forwarded: str) -> int:
        return arena.server.get(f"{PREFIX}/families", headers={"X-Forwarded-For": forwarded}).status

    try:
        context.limiters["read"] = RateLimiter(Rate(60, 1), clock=lambda: 0.0)
        assert [ask("1.1.1.1"), ask("2.2.2.2")] == [200, 429]
        context.trusted = (ip_network("127.0.0.0/8"),)
        assert [ask("1.1.1.1"), ask("2.2.2.2"), ask("9.9.9.9, 2.2.2.2")] == [200, 200, 429]
    finally:
        context.trusted = ()
        context.limiters.update(known)


def test_problems_are_json_in_any_language(arena: Arena) -> None:
    reply = arena.server.get(f"{PREFIX}/bots/%C3%A9t%C3%A9")
    assert json.loads(reply.body)["detail"] == 'no bot "été"'
