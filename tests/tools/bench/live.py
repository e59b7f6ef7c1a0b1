"""A thousand listeners on one running game, beside a bare aiohttp broadcast to as many in the same process."""

from __future__ import annotations

import selectors
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.tools.bench.figure import Figure
from tests.tools.bench.league import League, open_league
from tests.tools.bench.server import PLIES_PER_S, Server

BARE = "bare aiohttp broadcast"


@contextmanager
def listening(port: int, path: str, count: int) -> Iterator[list[int]]:
    """That many connections, read by a thread: the bytes that have come, and how many have heard of a ply."""
    chooser = selectors.DefaultSelector()
    total, stop = [0, 0], threading.Event()
    waiting: set[object] = set()
    sockets = []
    ask = f"GET {path} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n".encode()

    def read() -> None:
        while not stop.is_set():
            for key, _ in chooser.select(0.2):
                data = key.fileobj.recv(1 << 16)  # type: ignore[union-attr]
                total[0] += len(data)
                if key.fileobj in waiting and b"event: ply" in data:
                    waiting.discard(key.fileobj)
                    total[1] += 1
                if not data:
                    chooser.unregister(key.fileobj)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            connection.sendall(ask)
            connection.setblocking(False)
            sockets.append(connection)
            waiting.add(connection)
            chooser.register(connection, selectors.EVENT_READ)
        yield total
    finally:
        stop.set()
        thread.join()
        for connection in sockets:
            connection.close()


def run(quick: bool) -> Iterator[Figure]:
    """What listeners cost the server, in CPU seconds a second."""
    league = open_league(10 if quick else 100)
    count, seconds = 1000, 3 if quick else 10
    with _running(league) as game, Server(league.url) as server:
        bare = _cost(server, server.bare, "/stream", "bare", count, seconds)
        mine = _cost(server, server.port, f"/api/v1/games/{game}/stream", f"live {game}", count, seconds)
    name = f"{count} listeners at {PLIES_PER_S} plies/s"
    yield Figure("live", name, mine[0], "cores", BARE, bare[0], "< 1")
    yield Figure("live", "bytes to each listener and second", mine[1] / count, "bytes", BARE, bare[1] / count)


def _cost(server: Server, port: int, path: str, word: str, count: int, seconds: float) -> tuple[float, float]:
    """CPU seconds of the server and bytes it sent, both per second."""
    begun = word.startswith("live")
    if begun:
        server.tell(word)
    with listening(port, path, count) as total:
        if not begun:
            server.tell(word)
        deadline = time.monotonic() + 60
        while total[1] < count and time.monotonic() < deadline:
            time.sleep(0.1)  # everybody has joined
        cpu, size, begin = server.tell("cpu"), total[0], time.monotonic()
        time.sleep(seconds)
        gone = time.monotonic() - begin
        per_second = (server.tell("cpu") - cpu) / gone, (total[0] - size) / gone
        server.tell("quiet")
    return per_second


@contextmanager
def _running(league: League) -> Iterator[str]:
    """The first game of the league, which is being played until the end: other sections use the same database."""
    with closing(sqlite3.connect(league.path)) as base:
        (game,) = base.execute("SELECT id FROM games WHERE commit_number = 1 OR state = 'running'").fetchone()
        state = "UPDATE games SET state = ?, commit_number = ? WHERE id = ?"
        base.execute(state, ("running", None, game))
        base.commit()
        try:
            yield str(game)
        finally:
            base.execute(state, ("finished", 1, game))
            base.commit()
