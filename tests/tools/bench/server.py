"""The arena's web application over a database, and beside it, in the same process, the least that aiohttp can do.

    python -m tests.tools.bench.server DATABASE-URL

Prints the two ports as JSON, then serves until its standard input ends; a line `cpu` on it is answered with the CPU
seconds used so far, `live GAME` starts the plies of a game, `bare` the baseline of that (see `tests.tools.bench.live`),
`cold` forgets all that was kept, `stale` what a commit elsewhere makes stale.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from aiohttp import web

from arena import log
from arena.app import build, context_of, prepare
from arena.config_file import read_settings
from arena.events.bus import Bus
from arena.events.messages import GameMoved, GameStarted
from arena.http.rate_limit import ConcurrencyLimiter, Rate, RateLimiter
from arena.http.response_cache import ResponseCache
from arena.http.server import Runner
from arena.services.standings_cache import StandingsCache
from arena.store import Store
from referee.game.record import Ply

PLIES_PER_S = 20
PLY = {"move": "c1c3", "ms": 12.34, "score": 25}
BARE: web.AppKey[set[web.StreamResponse]] = web.AppKey("bare", set)


async def _empty(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _bare_stream(request: web.Request) -> web.StreamResponse:
    """A listener of the bare broadcast: whatever is broadcast is written to it in turn."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    request.app[BARE].add(response)
    try:
        await asyncio.Event().wait()
    finally:
        request.app[BARE].discard(response)
    return response


async def _open(runner: web.AppRunner) -> int:
    await runner.setup()
    if isinstance(runner, Runner):
        await runner.listen("127.0.0.1", 0)
    else:
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=2048).start()
    return int(runner.addresses[0][1])


async def _plies(bus: Bus, game: str) -> None:
    bus.publish(GameStarted(game=game))
    number = 0
    async for _ in _beats():
        number += 1
        bus.publish(GameMoved(game=game, first=number, plies=(Ply(12.34, score=25, move="c1c3"),)))


async def _broadcast(listeners: set[web.StreamResponse]) -> None:
    number = 0
    async for _ in _beats():
        number += 1
        text = json.dumps({"event": "ply", "seq": number, "ply": number, **PLY})
        data = f"id: {number}\nevent: ply\ndata: {text}\n\n".encode()
        for listener in list(listeners):
            with contextlib.suppress(ConnectionError):
                await listener.write(data)


async def _beats() -> AsyncIterator[None]:
    at = time.monotonic()
    while True:
        at += 1 / PLIES_PER_S
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        yield


async def _serve(url: str) -> None:
    bus = Bus()
    with tempfile.TemporaryDirectory() as name:
        settings = read_settings(None, data=Path(name), connections_per_address=100_000)
        store = Store(url)
        context = context_of(store, settings, bus)
        context.streams = ConcurrencyLimiter(100_000, 100_000)
        for kind in context.limiters:
            context.limiters[kind] = RateLimiter(Rate(1e9, 10**9))
        app = build(context)
        prepare(app)  # as `arena serve` does
        runner = Runner(app, shutdown_timeout=0.1)
        port = await _open(runner)
        bare = web.Application()
        bare[BARE] = set()
        bare.router.add_get("/", _empty)
        bare.router.add_get("/stream", _bare_stream)
        bare_runner = web.AppRunner(bare, access_log=None, shutdown_timeout=0.1)
        bare_port = await _open(bare_runner)
        print(json.dumps({"port": port, "bare": bare_port}), flush=True)
        task: asyncio.Task[None] | None = None
        while line := await asyncio.to_thread(sys.stdin.readline):
            word, _, rest = line.strip().partition(" ")
            if task is not None and word in ("live", "bare", "quiet"):
                task.cancel()
            if word == "live":
                task = asyncio.create_task(_plies(bus, rest))
            elif word in ("cold", "stale"):
                context.responses = ResponseCache(store.changes)
                if word == "cold":
                    context.arena.standings = StandingsCache()
            elif word == "bare":
                task = asyncio.create_task(_broadcast(bare[BARE]))
            print(json.dumps(time.process_time()), flush=True)
        await runner.cleanup()
        await bare_runner.cleanup()
        store.close()


class Server:
    """That process, for a `with`."""

    def __init__(self, url: str) -> None:
        self._process = Popen(
            [sys.executable, "-m", "tests.tools.bench.server", url],
            stdin=PIPE,
            stdout=PIPE,
            stderr=_nowhere(),
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        ports = self._read()
        self.port, self.bare = ports["port"], ports["bare"]

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except Exception:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def tell(self, line: str) -> float:
        """Say something to the process; the CPU seconds it has used."""
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return float(self._read())

    @property
    def memory_mb(self) -> float:
        """What the process has in memory."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _read(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())


def _nowhere() -> int | None:
    """Log lines are written, as in service, but to nobody."""
    return None if os.environ.get("BENCH_LOGS") else os.open(os.devnull, os.O_WRONLY)


class Client:
    """One connection kept open, as simple as can be: what is measured is the server."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=600)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held = b""

    def get(self, path: str, etag: str = "") -> tuple[int, dict[str, str], bytes]:
        """Status, headers with lower-case names, and body as it came."""
        known = f"If-None-Match: {etag}\r\n" if etag else ""
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n{known}\r\n".encode())
        while (end := self._held.find(b"\r\n\r\n")) < 0:
            self._fill()
        first, *lines = self._held[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split()[1])
        length = end + 4 + int(headers.get("content-length", 0))
        if "chunked" in headers.get("transfer-encoding", ""):
            while b"\r\n0\r\n\r\n" not in self._held:
                self._fill()
            length = len(self._held)
        while len(self._held) < length:
            self._fill()
        body, self._held = self._held[end + 4 : length], self._held[length:]
        return status, headers, body

    def _fill(self) -> None:
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server has hung up")
        self._held += data

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def connected(*ports: int) -> Iterator[list[Client]]:
    """One client per port."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Client(port)) for port in ports]


if __name__ == "__main__":
    log.configure("json")
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    asyncio.run(_serve(sys.argv[1]))
