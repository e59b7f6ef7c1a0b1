"""A thousand remote bots of one process: until all are connected, and what the server takes a ply while some play."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp

from arena.client import ApiClient, ClientError
from arena.store import Store, url_in
from tests.e2e.drill.contest import command as arena
from tests.e2e.drill.service import Service, Supervisor
from tests.port import free_port
from tests.tools.bench.cluster import cpu_s
from tests.tools.bench.figure import Figure

COUNT, PLAYING = 1000, 40
TIMEOUT_S = 600.0
REST_S = 5.0
CONTEST = {
    "name": "Far away",
    "family": "loa",
    "format": "swiss",
    "games": 2,
    "time_control": "100+1",
    "pool": "remote",
    "adjudication": {"max_plies": 40},
}
LIMITS = [
    f"ARENA_{name}"
    for name in ("CONNECTIONS_PER_ADDRESS", "STREAMS_PER_CLIENT", "WRITES_PER_MINUTE", "QUOTA_BOTS", "QUOTA_VERSIONS")
]
"""Settings that are raised, since all bots are of one user at one address."""


def run(quick: bool) -> Iterator[Figure]:
    """Figures of one user's bots, each on a connection of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder, port, supervisor = Path(name), free_port(), Supervisor()
        data = folder / "data"
        environment = {
            **{word: value for word, value in os.environ.items() if not word.startswith("ARENA_")},
            **dict.fromkeys(LIMITS, "100000"),
            "ARENA_DATA": str(data),
            "ARENA_PORT": str(port),
            "ARENA_EXECUTOR": f"local:{PLAYING // 2}",
            "ARENA_SANDBOX": "none",
            "ARENA_ALLOW_WEAK_SANDBOX": "true",
            "ARENA_LADDER_TIME_CONTROL": "",
            "ARENA_ANALYSIS_GAMES_PER_DAY": "0",
        }
        made = json.loads(arena("init", "--data", str(data), "--json", environment=environment))
        line = (sys.executable, "-m", "arena", "serve")
        server = supervisor.add(Service("arena", line, folder / "log", environment))
        crowd = Crowd(f"http://127.0.0.1:{port}", made["admin"]["token"])
        try:
            yield from asyncio.run(_measured(crowd, server, data, 2 if quick else 10))
        finally:
            supervisor.close()


async def _measured(crowd: Crowd, server: Service, data: Path, rounds: int) -> list[Figure]:
    client = ApiClient(crowd.url, crowd.token)
    await _until(lambda: _is_up(client))
    store = Store(url_in(data))
    try:
        begin, cpu = time.monotonic(), cpu_s([server.pid])
        await crowd.join(COUNT)
        seconds, joining_s = time.monotonic() - begin, cpu_s([server.pid]) - cpu
        await asyncio.sleep(REST_S)
        begin, cpu = time.monotonic(), cpu_s([server.pid])
        await asyncio.sleep(REST_S)
        at_rest = (cpu_s([server.pid]) - cpu) / (time.monotonic() - begin)
        names = [f"bot{number}" for number in range(PLAYING)]
        contest = {**CONTEST, "entries": {"bots": names}, "rounds": rounds}
        await asyncio.to_thread(client.ask, "POST", "/tournaments", body=contest)
        await _until(lambda: store.results.last_commit() >= PLAYING // 2)  # slots begin with the first games
        first, begin, cpu = crowd.moves, time.monotonic(), cpu_s([server.pid])
        await _until(lambda: store.results.last_commit() >= rounds * PLAYING)
        plies, taken_s = crowd.moves - first, time.monotonic() - begin
        playing_s = cpu_s([server.pid]) - cpu - at_rest * taken_s
    finally:
        store.close()
        await crowd.leave()
    name = f"{COUNT} remote bots"
    return [
        Figure("remote", f"{name}: all connected after", seconds, "s", goal="< 60"),
        Figure("remote", f"{name}: connections lost or refused", crowd.lost, "", goal="0"),
        Figure("remote", f"{name}: CPU of the server for a connection", 1e3 * joining_s / COUNT, "ms"),
        Figure("remote", f"{name}: CPU of the server at rest", 1e3 * at_rest, "ms/s"),
        Figure("remote", f"{PLAYING} of them play: pace", plies / taken_s, "plies/s"),
        Figure("remote", f"{PLAYING} of them play: CPU of the server", 1e3 * playing_s / plies, "ms/ply", goal="< 1"),
    ]


def _is_up(client: ApiClient) -> bool:
    with contextlib.suppress(ClientError):
        return bool(client.get("/account"))
    return False


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not await asyncio.to_thread(is_so):
            await asyncio.sleep(0.1)


class Crowd:
    """The bots: they play the first of the legal moves they are sent, and count what is lost."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.lost = self.moves = 0
        self._legal: dict[int, str] = {}
        """A legal move of each game at its turn."""
        self._session: aiohttp.ClientSession
        self._tasks: list[asyncio.Task[None]] = []
        self._joined: set[str] = set()

    async def join(self, count: int) -> None:
        """Connect so many bots at once, and again until each is connected."""
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self.token}"},
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(TIMEOUT_S, sock_connect=TIMEOUT_S),
        )
        self._tasks = [asyncio.create_task(self._stay(f"bot{number}")) for number in range(count)]
        async with asyncio.timeout(TIMEOUT_S):
            while len(self._joined) < count:
                await asyncio.sleep(0.05)

    async def leave(self) -> None:
        """Disconnect all."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._session.close()

    async def _stay(self, name: str) -> None:
        address = f"{self.url}/api/v1/connect?{urlencode({'bot': name, 'family': 'loa'})}"
        while True:
            problem = "closed without a reason"
            try:
                async with self._session.ws_connect(address) as socket:
                    async for message in socket:
                        said = json.loads(message.data)
                        problem = said.get("problem", problem)
                        await self._hear(said, name, socket)
            except (aiohttp.ClientError, OSError) as error:
                problem = str(error)
            self._joined.discard(name)
            self.lost += 1
            print(f"remote    {name}: {problem}", flush=True)
            await asyncio.sleep(1)

    async def _hear(self, said: dict[str, Any], name: str, socket: aiohttp.ClientWebSocketResponse) -> None:
        if "run" in said:
            self._joined.add(name)
        for line in said.get("say", "").split("\n"):
            word, _, rest = line.partition(" ")
            if word == "ugi":
                for answer in (f"id name {name}", "option name UGI_LegalMoves type check default true", "ugiok"):
                    await socket.send_json({"game": said["game"], "line": answer})
            elif word == "isready":
                await socket.send_json({"game": said["game"], "line": "readyok"})
            elif word == "legal":
                self._legal[said["game"]] = rest.partition(" ")[0]
            elif word == "go":
                self.moves += 1
                await socket.send_json({"game": said["game"], "line": f"bestmove {self._legal.pop(said['game'])}"})
