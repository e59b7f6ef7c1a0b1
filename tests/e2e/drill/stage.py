"""An arena under drill: its services by their part, its database, its disks."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.documents.game import GameItem
from arena.documents.tournament import PlanQuery
from arena.errors import StoreError
from arena.store import Store
from tests.e2e.drill.contest import ROOT, Contest, DrillError, command
from tests.e2e.drill.machine import Disk, Timeout
from tests.e2e.drill.service import Service, Supervisor
from tests.port import free_port

READY_S = 90.0
"""How long everything may take to be up the first time."""


class Stage(ABC):
    """What faults need to know of a topology."""

    name: str

    def __init__(self, folder: Path, *, can_mount: bool, lease_s: float, cut_s: float = 0.0) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.supervisor = Supervisor()
        self.disks: dict[str, Disk] = {}
        self.can_mount, self.lease_s, self.cut_s = can_mount, lease_s, cut_s
        self.remarks: list[str] = []
        """Substitutes that were used, for the report."""
        self.surprises: list[str] = []
        self.store: Store
        self.contest: Contest
        self._counts: Counter[str] = Counter()
        self._tokens: dict[str, str] = {}
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self.environment = {**clean, "ARENA_LOG_FORMAT": "json", "ARENA_LEASE_TTL_SECONDS": str(lease_s)}
        # Its games alone are rated, so that their numbers are known.
        self.environment["ARENA_LADDER_TIME_CONTROL"] = ""
        # An arena that rests analyses a game, to be hit at that too; more would leave no processor for what is drilled.
        games = os.environ.get("ARENA_ANALYSIS_GAMES_PER_DAY", "1")
        self.environment |= {"ARENA_ANALYSIS_GAMES_PER_DAY": games, "ARENA_ANALYSIS_NODES_PER_POSITION": "100"}

    # -- parts ---------------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def pages(self) -> str:
        """The service that answers HTTP."""

    @property
    @abstractmethod
    def referee(self) -> str:
        """The service that schedules and records."""

    @property
    @abstractmethod
    def players(self) -> Sequence[str]:
        """The services below which games are played; each has a disk."""

    @property
    @abstractmethod
    def database(self) -> Sequence[str]:
        """The words that name the database to a command."""

    @abstractmethod
    def second(self) -> tuple[str, ...]:
        """The command of a referee too many, on the same database."""

    @abstractmethod
    @contextlib.contextmanager
    def blocked(self) -> Iterator[None]:
        """Nobody can write to the database."""

    @abstractmethod
    @contextlib.contextmanager
    def without_database(self) -> Iterator[None]:
        """The database is away."""

    @abstractmethod
    def _start(self) -> None:
        """Start the services."""

    # -- life ----------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Stage:
        try:
            self._start()
            self._await_ready()
        except BaseException:
            self.close()
            raise
        self.contest = Contest(f"http://127.0.0.1:{self.port}", self._tokens["admin"], self.folder / "user")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that still runs."""
        self.supervisor.close()
        if hasattr(self, "store"):
            self.store.close()
        for disk in self.disks.values():
            disk.close()

    def init(self) -> None:
        """Make the arena, and open its database for ourselves."""
        made = json.loads(command("init", *self.database, "--json", environment=self.environment))
        self._tokens["admin"] = made["admin"]["token"]
        (self.folder / "user").mkdir()
        self.store = Store(self.database_url)

    @property
    def database_url(self) -> str:
        """The URL of the database."""
        return f"sqlite:///{self.data / 'arena.sqlite3'}"

    def service(self, name: str, *words: str, prefix: Sequence[str] = (), **environment: str) -> Service:
        """Have an arena command looked after."""
        line = (*prefix, sys.executable, "-m", "arena", *words)
        return self.program(name, line, **environment)

    def program(self, name: str, line: Sequence[str], **environment: str) -> Service:
        """Have any program looked after."""
        log = self.folder / "logs" / f"{name}.log"
        return self.supervisor.add(Service(name, line, log, {**self.environment, **environment}))

    def disk(self, name: str, folder: Path) -> None:
        """Give a service a disk of its own for the bots it unpacks."""
        self.disks[name] = found = Disk(folder, can_mount=self.can_mount)
        if not found.is_real:
            self.remarks.append(f"the disk of {name} was made unwritable instead of full: no right to mount")

    def _await_ready(self) -> None:
        timeout = Timeout(READY_S)
        while not self.is_ready():
            if timeout.is_over():
                raise DrillError(f"the arena is not up after {READY_S:g} s; see {self.folder / 'logs'}")
            time.sleep(0.1)

    def is_ready(self) -> bool:
        """Whether pages are served."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def part(self, name: str) -> str:
        """What the pages say of a part of the arena; empty while they say nothing."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read()
        except OSError:
            return ""
        return str(json.loads(text)["parts"][name])

    def spooled(self) -> dict[str, str]:
        """The results that wait for the database as files: when each game began, by its id."""
        found = {}
        for path in (self.data / "spool").glob("*.json"):
            with contextlib.suppress(OSError):  # recorded by now
                record = json.loads(path.read_bytes())
                found[str(record["id"])] = str(record["started"])
        return found

    def recorded(self, games: Iterable[str]) -> dict[str, str]:
        """Of these games the ones with a result: when each began."""
        found = {}
        for game in games:
            with contextlib.suppress(StoreError):
                if record := self.store.games.record(game):
                    found[game] = record.started
        return found

    def own_pids(self) -> set[int]:
        """Processes of the topology that no supervisor looks after."""
        return set()

    def shut(self) -> None:
        """End what no supervisor looks after."""
        return

    # -- the tournament ------------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Games by state; the last answer while the database cannot be used."""
        with contextlib.suppress(StoreError):
            self._counts = sum((Counter(self.store.games.counts(one)) for one in self.contest.numbers), Counter())
        return self._counts

    def games(self) -> list[GameItem]:
        """Every game there is."""
        games, after = [], None
        for number in self.contest.numbers:
            while True:
                page = self.store.games.of_tournament(number, PlanQuery(limit=500, after=after))
                games += page.items
                after = page.next
                if after is None:
                    break
        return games

    def is_finished(self) -> bool:
        """Whether all tournaments are declared finished; no while the database cannot be used."""
        try:
            return all(self.store.tournaments.get(one).state == "finished" for one in self.contest.numbers)
        except StoreError:
            return False

    def arena(self, *words: str) -> Any:
        """The JSON of a command on the database, also when it reports a failure."""
        return json.loads(command(*words, *self.database, "--json", environment=self.environment, codes=(0, 1)))

    def log(self, name: str) -> str:
        """What a service has logged."""
        path = self.folder / "logs" / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


class Embedded(Stage):
    """The default: one process with everything, SQLite, and slots of its own."""

    name = "embedded"
    pages = referee = "arena"
    players = ("arena",)

    @property
    def database(self) -> Sequence[str]:
        return ("--data", str(self.data))

    def second(self) -> tuple[str, ...]:
        return ("serve", "--data", str(self.data), "--port", "0", "--executor", "local:2")

    @contextlib.contextmanager
    def blocked(self) -> Iterator[None]:
        import sqlite3

        with contextlib.closing(sqlite3.connect(self.data / "arena.sqlite3", timeout=30)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def without_database(self) -> Iterator[None]:
        with self.blocked():
            yield

    def _start(self) -> None:
        self.init()
        self.disk("arena", self.data / "unpacked")
        self.service("arena", "serve", "--data", str(self.data), "--port", str(self.port), "--executor", "local:2")


__all__ = ["ROOT", "Embedded", "Stage"]
