"""Connections that say nothing, too little or too slowly, and too many of them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.api import handle
from arena.http import server as module
from arena.http.api_paths import PREFIX
from arena.store import Store
from tests.arena.api.server import Server, settings_in

FULL = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def server(sqlite_store: Store, tmp_path: Path) -> Iterator[Server]:
    """A server for three connections of an address."""
    found = Server(sqlite_store, settings_in(tmp_path, connections_per_address=3))
    yield found
    found.close()


def opened(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def asked(server: Server, data: bytes) -> socket.socket:
    """A connection on which that was sent, unless it was closed before."""
    connection = opened(server)
    with suppress(ConnectionError):
        connection.sendall(data)
    return connection


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server closes; a time-out if it does not."""
    found = b""
    try:
        while chunk := connection.recv(65536):
            found += chunk
    except ConnectionResetError:
        pass
    connection.close()
    return found


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


def test_a_body_that_does_not_come_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "BODY_TIMEOUT_S", 0.2)
    connection = opened(server)
    head = f"POST {PREFIX}/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    connection.sendall(head.encode())
    answer = b""
    while b"did not come within 0.2 s" not in answer:
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
