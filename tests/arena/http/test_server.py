"""Connections that send nothing, too little or too slowly, and too many connections."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import struct
from collections.abc import Iterator
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path

import pytest
import structlog

from arena import log
from arena.api import handle
from arena.http import server as module
from arena.http.problem import PREFIX
from arena.store import Store
from tests.arena.api.server import Server, settings_in

FULL = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def server(sqlite_store: Store, tmp_path: Path) -> Iterator[Server]:
    """A server that allows three connections per address."""
    found = Server(sqlite_store, settings_in(tmp_path, connections_per_address=3))
    yield found
    found.close()


def test_server_raises_the_limit_on_open_files_for_its_connections(sqlite_store: Store, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (900, hard))
    try:
        server = Server(sqlite_store, settings_in(tmp_path, max_connections=50))
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
        server.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert allowed == (min(1050, hard) if hard != resource.RLIM_INFINITY else 1050, hard)


def opened(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def asked(server: Server, data: bytes) -> socket.socket:
    """Open a connection and send a request, unless the server closes it first."""
    connection = opened(server)
    with suppress(ConnectionError):
        connection.sendall(data)
    return connection


def rest(connection: socket.socket) -> bytes:
    """Read until the server closes the connection; time out if it does not."""
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    connection.close()
    return received


@pytest.mark.parametrize("beginning", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_what_never_becomes_a_request_is_closed(
    sqlite_store: Store, tmp_path: Path, beginning: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDLE_TIMEOUT_S", 0.2)
    server = Server(sqlite_store, settings_in(tmp_path))
    assert rest(asked(server, beginning)) == b""
    server.close()


@pytest.mark.parametrize("more", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_what_is_silent_after_an_answer_is_closed(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: bytes
) -> None:
    monkeypatch.setattr(module, "IDLE_TIMEOUT_S", 0.2)
    server = Server(sqlite_store, settings_in(tmp_path))
    while not (answer := rest(asked(server, FULL + more))):
        pass  # closed before it had asked: this process was not as fast as that
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1
    server.close()


@pytest.mark.parametrize("before", [b"", FULL])
def test_headers_that_trickle_are_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    monkeypatch.setattr(module, "HEADER_TIMEOUT_S", 0.3)
    connection = opened(server)
    connection.sendall(before)
    while before and not connection.recv(65536).endswith(b"}"):
        pass
    connection.settimeout(0.05)  # between two bytes
    answer, sent = None, 0
    with suppress(ConnectionError):
        while answer is None and sent < 400:
            connection.sendall(b"GET / HTTP/1.1\r\nX: "[sent : sent + 1] or b"x")
            sent += 1
            with suppress(TimeoutError):
                answer = connection.recv(65536)
    assert answer in (b"", None)
    assert sent < 400, "the server closed the connection"
    connection.close()


def test_response_that_takes_longer_than_headers_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that trickles, and a second request behind it, are not taken for slow headers."""
    monkeypatch.setattr(module, "HEADER_TIMEOUT_S", 0.1)
    monkeypatch.setattr(handle, "BODY_TIMEOUT_S", 0.6)
    connection = opened(server)
    head = f"POST {PREFIX}/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    connection.sendall(head.encode())
    connection.settimeout(0.05)
    answer = b""
    for _ in range(90):
        with suppress(TimeoutError):
            answer = connection.recv(65536)
            break
        connection.sendall(b"x")
    assert answer.startswith(b"HTTP/1.1 400 ")
    connection.close()


def test_a_body_that_does_not_come_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "BODY_TIMEOUT_S", 0.2)
    connection = opened(server)
    head = f"POST {PREFIX}/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    connection.sendall(head.encode())
    answer = b""
    while b"did not arrive within 0.2 s" not in answer:
        more = connection.recv(65536)
        assert more, answer
        answer += more
    assert answer.startswith(b"HTTP/1.1 400 ")
    connection.close()


def test_connections_of_one_address_are_counted(server: Server) -> None:
    three = [opened(server) for _ in range(3)]
    three[2].sendall(FULL)
    assert three[2].recv(65536).startswith(b"HTTP/1.1 200 ")
    fourth = opened(server)
    assert rest(fourth) == b"", "one too many"
    for connection in three:
        connection.close()
    while not (answer := rest(asked(server, FULL.replace(b"Host", b"Connection: close\r\nHost")))):
        pass  # the server has not seen yet that they are closed
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_proxies_that_are_trusted_may_have_any_number(sqlite_store: Store, tmp_path: Path) -> None:
    server = Server(sqlite_store, settings_in(tmp_path, connections_per_address=1, trusted_proxies=["127.0.0.0/8"]))
    several = [opened(server) for _ in range(3)]
    for connection in several:
        connection.sendall(FULL)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.close()
    server.close()


def test_peers_that_read_nothing_are_the_systems_business(server: Server) -> None:
    connection = opened(server)
    connection.sendall(FULL)
    assert connection.recv(65536)
    (handler,) = server.runner.server.connections  # type: ignore[union-attr]
    own = handler.transport.get_extra_info("socket")  # type: ignore[union-attr]
    assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == module.UNREAD_TIMEOUT_S * 1000
    connection.close()


FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
BODIES = {
    "half a form": f"{FORM}Content-Length: 99\r\n\r\nuser=a",
    "half a chunk": f"{FORM}Transfer-Encoding: chunked\r\n\r\n5\r\nab",
    "half of JSON": 'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"user":',
    "no gzip": f"{FORM}Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\nabcdef",
}


@pytest.mark.parametrize("path", ["/login", "/play", f"{PREFIX}/login"])
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_clients_that_hang_up_are_no_faults_of_the_server(server: Server, path: str, body: str) -> None:
    log.configure("json")
    try:
        with redirect_stderr(StringIO()) as logged:
            for is_reset in (False, True):
                connection = asked(server, f"POST {path} HTTP/1.1\r\nHost: x\r\n{body}".encode())
                if is_reset:  # closing sends a reset
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            while logged.getvalue().count('"event": "request"') < 2:
                server.call(asyncio.sleep(0.01))
            server.call(asyncio.sleep(0.1))  # what aiohttp logs itself follows at once
    finally:
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert [line for line in lines if line["level"] not in ("info", "debug")] == []
    assert {line["status"] for line in lines if line["event"] == "request"} <= {400, 403, 415}
