"""The drill of remote bots: two authors' machines behind a slow network that is cut now and then.

Pages and referee are processes of their own; both bots play all their games over `arena connect`, through a proxy that
delays whatever passes and cuts a connection at a share of the answers. Meanwhile pages and referee are killed and
started again. Every game must have one result, and none that the network brought about.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.client import ApiClient
from arena.documents.game import GameQuery
from arena.documents.query import PageQuery
from arena.store import Store, url_in
from tests.e2e.drill.contest import ROOT, DrillError, command
from tests.e2e.drill.machine import Timeout
from tests.e2e.drill.service import Service, Supervisor
from tests.e2e.drill.stage import READY_S
from tests.port import free_port

BOTS = ("ada", "bob")
PLIES = 8
"""A game is drawn after so many."""
BY_NETWORK = ("time", "stalled", "crashed", "disconnected", "handshake-failed", "protocol-error")
"""How a game would end that the network has lost; these bots do none of it by themselves."""


class Proxy:
    """Passes bytes on late, to `port`; one end of a connection in a thread of its own loop.

    `delay_ms` one way, give or take `jitter_ms`; `cuts`: the share of a bot's answers at which its connection is cut.
    From one cut to the next there are twice as many answers as on average at most: however they arrive, some are cut.
    """

    def __init__(self, port: int, *, delay_ms: float, jitter_ms: float, cuts: float, seed: int) -> None:
        self.port = free_port()
        self.cut = 0
        self._target, self._delay_s, self._jitter_s, self._cuts = port, delay_ms / 1000, jitter_ms / 1000, cuts
        self._dice, self._cut_dice = random.Random(seed), random.Random(f"{seed} cuts")
        self._left = self._gap()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", self.port), self._loop).result()

    def close(self) -> None:
        """Pass nothing on any more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _gap(self) -> float:
        """How many answers until the next cut."""
        return self._cut_dice.uniform(0, 2 / self._cuts) if self._cuts else math.inf

    def _is_cut(self) -> bool:
        self._left -= 1
        if self._left > 0:
            return False
        self._left = self._gap()
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        ways = [
            asyncio.ensure_future(self._pass(reader, there_writer, may_cut=True)),
            asyncio.ensure_future(self._pass(there_reader, writer, may_cut=False)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for end in (writer, there_writer):
            end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, may_cut: bool) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                at, data = await waiting.get()
                await asyncio.sleep(max(0.0, at - self._loop.time()))
                writer.write(data)
                await writer.drain()

        delivering, due = asyncio.ensure_future(deliver()), 0.0
        try:
            while data := await reader.read(65_536):
                if may_cut and self._is_cut():
                    self.cut += 1
                    return
                due = max(due, self._loop.time() + self._delay_s + self._dice.uniform(-self._jitter_s, self._jitter_s))
                waiting.put_nowait((due, data))
        finally:
            delivering.cancel()


@dataclass
class RemoteReport:
    """What became of the games; `allowed_ms` and `paused_ms` are of all games together."""

    planned: int
    seconds: float = 0.0
    terminations: dict[str, int] = field(default_factory=dict)
    results: int = 0
    twice: int = 0
    cuts: int = 0
    losses: int = 0
    """How often a seat lost its connection, and the game went on."""
    games_with_losses: int = 0
    voids: dict[str, int] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    latency_ms: float = 0.0
    allowed_ms: float = 0.0
    longest_pause_ms: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def blamed(self) -> int:
        """Games lost by what the network did."""
        return sum(self.terminations.get(word, 0) for word in BY_NETWORK)

    @property
    def has_passed(self) -> bool:
        """Every game has one result, none of them by the network's doing."""
        return self.results == self.planned and not (self.blamed or self.twice or self.problems)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"topology": "remote", "passed": self.has_passed, "blamed": self.blamed, **vars(self)}

    def lines(self) -> list[str]:
        """A table for people."""
        rows = (
            ("games planned, with a result, twice", f"{self.planned}, {self.results}, {self.twice}"),
            ("lost by the network's doing", str(self.blamed)),
            ("ends", ", ".join(f"{word} {count}" for word, count in sorted(self.terminations.items()))),
            ("connections cut", str(self.cuts)),
            ("seats cut off, games with one", f"{self.losses}, {self.games_with_losses}"),
            ("attempts played again", ", ".join(f"{word} {count}" for word, count in self.voids.items()) or "none"),
            ("killed and started again", ", ".join(f"{name} {count}" for name, count in self.restarts.items())),
            ("latency there and back, allowed in all", f"{self.latency_ms:.0f} ms, {self.allowed_ms / 1000:.0f} s"),
            ("longest pause of a game, of 30 s", f"{self.longest_pause_ms / 1000:.1f} s"),
            ("took", f"{self.seconds:.0f} s"),
        )
        verdict = "passed" if self.has_passed else "FAILED"
        return [f"remote bots: {verdict}", *(f"  {name:<42} {text}" for name, text in rows), *self.problems]


def built(folder: Path) -> Path:
    """The sample bot in C, which begins at once. Raises DrillError without a compiler."""
    source = folder / "source"
    shutil.copytree(ROOT / "bots" / "examples" / "loa", source, ignore=shutil.ignore_patterns("bin"))
    try:
        subprocess.run(["make", "-s", "-C", str(source)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise DrillError(f"the bot in C cannot be built: {error}; install gcc and make") from None
    return source / "bin" / "loa_bot"


class RemoteDrill:
    """Pages, referee and two authors; `scale` of the latency, `cuts` of the answers."""

    def __init__(self, folder: Path, *, games: int, at_once: int, scale: float, cuts: float, seed: int) -> None:
        self.data, self.games, self.at_once = folder / "data", games + games % 2, at_once
        self.folder = folder
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self.environment = {**clean, "ARENA_LEASE_TTL_SECONDS": "2"}
        self.supervisor = Supervisor()
        self.port, self.door = free_port(), free_port()
        self.proxy = Proxy(self.port, delay_ms=100 * scale, jitter_ms=50 * scale, cuts=cuts, seed=seed)

    def close(self) -> None:
        """End everything."""
        self.supervisor.close()
        self.proxy.close()

    def start(self) -> ApiClient:
        """Start everything; a client of it."""
        bot = built(self.folder)
        made = command("init", "--data", str(self.data), "--json", environment=self.environment)
        token = str(json.loads(made)["admin"]["token"])
        shared = {**self.environment, "ARENA_DATA": str(self.data), "ARENA_WRITES_PER_MINUTE": "100000"}
        referee = {
            **shared,
            "ARENA_EXECUTOR": f"local:{self.at_once}",
            "ARENA_SANDBOX": "none",
            "ARENA_ALLOW_WEAK_SANDBOX": "true",
            "ARENA_REMOTE_BIND": str(self.door),
        }
        web = {**shared, "ARENA_REMOTE_REFEREE": f"http://127.0.0.1:{self.door}", "ARENA_PORT": str(self.port)}
        self._service("referee", "referee", environment=referee)
        self._service("pages", "serve", "--no-referee", environment=web)
        client = ApiClient(f"http://127.0.0.1:{self.port}", token)
        self._await(lambda: client.get("/account"))
        for name in BOTS:
            words = ("connect", str(bot), "--url", f"http://127.0.0.1:{self.proxy.port}", "--token", token)
            more = ("--name", name, "--family", "loa", "--games", str(self.at_once))
            self._service(name, *words, *more, environment=self.environment)
        for name in BOTS:
            self._await(lambda name=name: client.get(f"/bots/{name}")["presence"]["is_connected"] or 1 / 0)
        return client

    def _service(self, name: str, *words: str, environment: dict[str, str]) -> None:
        line = [sys.executable, "-m", "arena", *words]
        self.supervisor.add(Service(name, line, self.folder / "logs" / name, environment, is_tree=name == "referee"))

    def _await(self, ask: Any) -> None:
        timeout = Timeout(READY_S)
        while True:
            try:
                ask()
            except Exception as error:
                if timeout.is_over():
                    raise DrillError(f"not up within {READY_S:g} s: {error}") from None
                time.sleep(0.1)
            else:
                return

    def run(self, restarts: int, time_control: str, timeout_s: float) -> RemoteReport:
        """Have them play; pages and referee are killed so often each. Raises DrillError when it takes too long."""
        client, begin, timeout = self.start(), time.monotonic(), Timeout(timeout_s)
        document = {
            "name": "Far away",
            "family": "loa",
            "games": min(1000, self.games),
            "time_control": time_control,
            "pool": "remote",
            "adjudication": {"max_plies": PLIES},
            "entries": {"bots": list(BOTS)},
        }
        number = int(client.ask("POST", "/tournaments", body=document).data["id"])
        store = Store(url_in(self.data))
        hits = [
            (self.games * (2 * turn + 1 + place) // (2 * restarts + 1), name)
            for turn in range(restarts)
            for place, name in enumerate(("pages", "referee"))
        ]
        report = RemoteReport(self.games, restarts={"pages": 0, "referee": 0})
        try:
            while (row := store.tournaments.get(number)).state != "finished":
                if hits and row.finished_games >= hits[0][0]:
                    name = hits.pop(0)[1]
                    report.restarts[name] += 1
                    self.supervisor.services[name].signal(signal.SIGKILL)
                if timeout.is_over():
                    raise DrillError(f"{row.finished_games} of {self.games} games in {timeout_s:g} s: {row.state}")
                time.sleep(0.1)
            report.seconds = time.monotonic() - begin
            self._count(store, number, report)
        finally:
            store.close()
        report.cuts = self.proxy.cut
        report.problems += [surprise for service in self.supervisor.services.values() for surprise in service.surprises]
        return report

    def _count(self, store: Store, number: int, report: RemoteReport) -> None:
        ids, ends, usual = Counter[str](), Counter[str](), []
        for _, data in store.results.records(GameQuery(tournament=number)):
            record = json.loads(data)
            ids[record["id"]] += 1
            ends[record["termination"]] += 1
            sides = list(record.get("network", {}).values())
            lost = sum(int(side["losses"]) for side in sides)
            report.losses += lost
            report.games_with_losses += lost > 0
            report.allowed_ms += sum(side["allowed_ms"] for side in sides)
            report.longest_pause_ms = max([report.longest_pause_ms, *(side["paused_ms"] for side in sides)])
            usual += [side["latency_ms"] for side in sides]
        report.results, report.twice = len(ids), ids.total() - len(ids)
        report.terminations = dict(ends)
        report.latency_ms = sorted(usual)[len(usual) // 2] if usual else 0.0
        after = None
        while True:
            page = store.voids.page(PageQuery(limit=100, after=after))
            for void in page.items:
                report.voids[void.termination] = report.voids.get(void.termination, 0) + 1
            if (after := page.next) is None:
                return


def remote_drill(
    *,
    games: int = 1000,
    at_once: int = 8,
    scale: float = 1.0,
    cuts: float = 0.001,
    restarts: int = 2,
    time_control: str = "10+0.1",
    seed: int = 1,
    timeout_s: float = 3600,
    keep: Path | None = None,
) -> RemoteReport:
    """The whole drill in a folder of its own. Raises DrillError."""
    folder = Path(tempfile.mkdtemp(prefix="arena-remote-"))
    drill = RemoteDrill(folder, games=games, at_once=at_once, scale=scale, cuts=cuts, seed=seed)
    try:
        return drill.run(restarts, time_control, timeout_s)
    finally:
        drill.close()
        if keep and (folder / "logs").exists():
            shutil.copytree(folder / "logs", keep / "remote", dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
