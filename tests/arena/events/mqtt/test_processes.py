"""`arena referee` and `arena serve --no-referee` on one database and one broker: games are live on the other's pages.

The server is killed in mid-game, then the broker; a tournament of sample bots continues nevertheless.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from arena.clock import now
from arena.credentials import digest_of, new_token
from arena.store import Store
from arena.tournaments import create
from referee.bot.argument import SAMPLES
from referee.verify.verification import verify
from tests.arena.coordinator.stage import Stage
from tests.arena.events.mqtt.broker import Mosquitto
from tests.conftest import INTERPRETED

TIMEOUT_S = 300
STATUS = "arena/v1/referees/+/status"
PATIENT = Path(__file__).with_name("patient.py")
WAITS = {"start_ms": 30_000, "ready_ms": 30_000, "move_ms": 10_000}


class Arena:
    """A database with slow bots and samples, and the processes that use it."""

    def __init__(self, store: Store, folder: Path, broker: Mosquitto) -> None:
        self.store, self.folder, self.broker = store, folder, broker
        self.gate = folder / "gate"
        self.stage = Stage(store, folder / "data", ())
        for name in ("ann", "bea"):
            self.stage.ids[name] = self.stage.bot(name, command=[sys.executable, str(PATIENT), str(self.gate)])
        store.samples.ensure(SAMPLES, {"loa": []})
        self.token = new_token()
        store.users.add_token(self.stage.user_id, "test", digest_of(self.token), "read submit organise")

    @contextmanager
    def process(self, command: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        line = [sys.executable, "-m", "arena", command, *words]
        line += ["--data", str(self.folder / "data"), "--mqtt", self.broker.url]
        line += ["--database", self.store.url]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        environment |= {"ARENA_SANDBOX": "none", "ARENA_ALLOW_WEAK_SANDBOX": "true", "ARENA_LEASE_TTL_SECONDS": "5"}
        environment |= {"ARENA_METRICS_FROM": '["127.0.0.1"]', **INTERPRETED}
        with open(self.folder / f"{command}.log", "ab") as log:
            process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=log, env=environment)
            try:
                yield process
            finally:
                process.kill()
                process.wait()
                assert process.stdout is not None
                process.stdout.close()

    @contextmanager
    def server(self) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
        """Start `arena serve --no-referee`; yield the process and its address."""
        with self.process("serve", "--no-referee", "--port", "0") as process:
            assert process.stdout is not None
            yield process, process.stdout.readline().decode().strip()

    def order(self, url: str, **document: Any) -> int:
        """Create a tournament over the JSON interface."""
        body = {"family": "loa", "openings": "none", "limits": WAITS, **document}
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/api/v1/tournaments", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return int(json.load(answer)["id"])

    def running(self) -> str:
        """Return the running game."""
        until(lambda: self.store.games.in_state("running"))
        return self.store.games.in_state("running")[0].id

    def is_finished(self, number: int) -> bool:
        return self.store.tournaments.get(number).state == "finished"


def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


@pytest.fixture
def arena(sqlite_store: Store, tmp_path: Path, mosquitto: Mosquitto) -> Arena:
    return Arena(sqlite_store, tmp_path, mosquitto)


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        return bytes(answer.read())


@contextmanager
def hearing(broker: Mosquitto, *words: str) -> Iterator[Iterator[str]]:
    """Yield the lines of `mosquitto_sub -v` with `words` (topic and message), once its subscription is active.

    The retained status of the coordinator shows that; it is left out.
    """
    line = broker.client("mosquitto_sub", "-v", *words, "-t", STATUS, "-W", str(TIMEOUT_S))
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as listener:
        assert listener.stdout is not None
        try:
            assert "/status " in listener.stdout.readline()
            yield (text for text in listener.stdout if "/status " not in text)
        finally:
            listener.kill()


class Stream:
    """The stream of a game, read line by line; `moves` are those received so far."""

    def __init__(self, url: str, game: str) -> None:
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=TIMEOUT_S)
        self._connection.request("GET", f"/api/v1/games/{game}/stream")
        self._response = self._connection.getresponse()
        assert self._response.status == 200, self._response.read()
        self.moves: list[str] = []
        self.is_final = False

    def read(self, plies: int) -> None:
        """Read until this number of plies is known, or the game is over."""
        while len(self.moves) < plies and not self.is_final:
            line = self._response.readline()
            assert line, "the stream has ended"
            if not line.strip():
                continue
            event = json.loads(line)
            if event["event"] == "state":
                self.moves = [ply["move"] for ply in event["plies"]]
            elif event["event"] == "ply":
                assert event["ply"] == len(self.moves) + 1
                self.moves.append(event["move"])
            self.is_final = event["event"] == "final"

    def close(self) -> None:
        self._response.close()
        self._connection.close()


@pytest.mark.long
def test_a_game_is_live_in_another_process_whichever_process_dies(arena: Arena) -> None:
    with arena.process("referee", "--executor", "local:1") as referee:
        with arena.server() as (server, url):
            number = arena.order(
                url, name="patience", games=1, entries={"bots": ["ann", "bea"]}, time_control="1000+10"
            )
            game = arena.running()
            first = Stream(url, game)
            first.read(4)
            server.kill()
            first.close()
        with arena.server() as (server, url):
            second = Stream(url, game)
            second.read(len(first.moves) + 4)
            assert second.moves[: len(first.moves)] == first.moves, "the whole game, after a restart in the middle"
            arena.broker.kill()
            assert urllib.request.urlopen(f"{url}/readyz", timeout=TIMEOUT_S).status == 200
            samples = arena.order(url, name="samples", games=1, entries={"bots": ["random", "greedy"]})
            until(lambda: arena.store.tournaments.get(samples).state == "running")
            arena.broker.start()
            known = len(second.moves)
            second.read(known + 8)
            arena.gate.touch()
            second.read(10**6)
            until(lambda: arena.is_finished(number) and arena.is_finished(samples))
            second.close()
            until(lambda: b"arena_bus_connected 1.0" in read(f"{url}/metrics"))
            server.terminate()
            assert server.wait(TIMEOUT_S) == 0
        record = arena.store.games.record(game)
        assert verify(record)
        assert list(record.moves)[: len(second.moves)] == second.moves
        referee.terminate()
        assert referee.wait(TIMEOUT_S) == 0
    arena.stage.check_exactly_once(number, 1)
    for name in ("serve", "referee"):
        text = (arena.folder / f"{name}.log").read_text()
        assert "Traceback" not in text, text


@pytest.mark.long
def test_spectators_need_only_an_mqtt_client(arena: Arena) -> None:
    """The commands of docs/reference/events.md, over an arena with the coordinator in the server."""
    with suppress(FileExistsError):
        arena.gate.touch()
    by = arena.stage.user_id
    with arena.process("serve", "--port", "0", "--executor", "local:1") as process:
        assert process.stdout is not None
        process.stdout.readline()
        with hearing(arena.broker, "-t", "arena/v1/tournaments/+/games") as lines:
            document = {"name": "seen", "family": "loa", "openings": "none", "games": 1, "limits": WAITS}
            create(arena.store, {**document, "entries": {"bots": ["random", "greedy"]}}, by, now())
            topic, _, text = next(lines).partition(" ")
    assert topic.startswith("arena/v1/tournaments/")
    assert json.loads(text)["state"] == "finished"
