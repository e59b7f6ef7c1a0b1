"""The scaled topology: PostgreSQL, Mosquitto, a Dask scheduler, two workers, a referee and the pages, all processes.

The second worker lives in a network of its own where we may make one, so that it can be cut off.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.arena import postgres
from tests.arena.cluster import liar
from tests.conftest import INTERPRETED
from tests.e2e.drill.contest import DrillError, command
from tests.e2e.drill.machine import Network, Timeout
from tests.e2e.drill.service import Service
from tests.e2e.drill.stage import READY_S, Stage
from tests.port import free_port

_TABLES = ("counters", "games", "leases")
"""What is locked so that nobody can write."""


def missing() -> str:
    """What this machine lacks for it; empty when nothing."""
    if postgres.programs() is None:
        return "no PostgreSQL in /usr/lib/postgresql, or no psycopg; install postgresql and the extra `postgres`"
    if not _mosquitto():
        return "no mosquitto; install mosquitto"
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError:
        return "no distributed; install the extra `cluster`"
    return ""


def _mosquitto() -> str | None:
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


class Scaled(Stage):
    """Everything a process of its own."""

    name = "scaled"
    pages = "pages"
    referee = "referee"
    players: Sequence[str] = ("worker-1", "worker-2")
    network: Network | None = None

    @property
    def database(self) -> Sequence[str]:
        return ("--data", str(self.data))

    @property
    def database_url(self) -> str:
        return f"postgresql+psycopg://arena@127.0.0.1:{self._database_port}/arena"

    def second(self) -> tuple[str, ...]:
        return ("referee", "--data", str(self.data))

    @contextlib.contextmanager
    def blocked(self) -> Iterator[None]:
        import psycopg

        with psycopg.connect(self.database_url.replace("+psycopg", ""), connect_timeout=20) as connection:
            connection.execute(f"LOCK TABLE {', '.join(_TABLES)} IN ACCESS EXCLUSIVE MODE".encode())
            yield
            connection.rollback()

    @contextlib.contextmanager
    def without_database(self) -> Iterator[None]:
        service = self.supervisor.services["database"]
        count = len(service.starts)
        service.is_held = True
        service.signal(signal.SIGKILL)
        try:
            yield
        finally:
            service.is_held = False
            self.supervisor.await_start(service, count + 1)
            self._until_answers("PostgreSQL", self._ask_database)

    def _ask_database(self) -> None:
        import psycopg

        psycopg.connect(self.database_url.replace("+psycopg", ""), connect_timeout=5).close()

    def _start(self) -> None:
        if reason := missing():
            raise DrillError(f"the scaled topology cannot be drilled here: {reason}")
        self._database_port, broker_port, scheduler_port = free_port(), free_port(), free_port()
        self.network = Network() if self.can_mount else None
        near = self.network.near if self.network else "127.0.0.1"
        if self.network is None:
            self.remarks.append("a worker that was to be cut off was stopped instead: no right to make networks")
        self._start_database()
        self._start_broker(broker_port)
        self.data.mkdir()
        (self.data / "arena.toml").write_text(
            f"""database = "{self.database_url}"
mqtt = "mqtt://127.0.0.1:{broker_port}"
executor = "dask://127.0.0.1:{scheduler_port}"
worker_bundles = "http://{near}:{self.port}/api/v1/bundles"
public_url = "http://{near}:{self.port}"
bind = "{"0.0.0.0" if self.network else "127.0.0.1"}"
port = {self.port}
""",
            encoding="utf-8",
        )
        self.init()
        self._token = command(
            "user", "token", "admin", "--scopes", "worker", *self.database, environment=self.environment
        ).strip()
        bind = "0.0.0.0" if self.network else "127.0.0.1"
        self._scheduler_port = scheduler_port
        self.service("scheduler", "scheduler", "--bind", bind, "--port", str(scheduler_port))
        self.service("pages", "serve", "--no-referee", "--data", str(self.data))
        for name in self.players:
            is_far = self.network is not None and name == self.players[-1]
            prefix = self.network.far_prefix if self.network and is_far else ()
            folder = self.folder / name
            self.disk(name, folder)
            self._start_worker(name, folder, host=near if is_far else "127.0.0.1", prefix=prefix)
        self.service("referee", "referee", "--data", str(self.data))

    def _start_worker(
        self, name: str, folder: Path, *, host: str, prefix: Sequence[str] = (), **environment: str
    ) -> Service:
        words = ("--scheduler", f"dask://{host}:{self._scheduler_port}", "--slots", "1", "--data", str(folder))
        environment["ARENA_WORKER_TOKEN"] = self._token
        return self.service(name, "worker", *words, "--name", name, prefix=prefix, **environment)

    def start_liar(self, name: str) -> Service:
        """Start a worker of other rules, whose draws are won by the first side. It is not started again.

        Nothing is compiled: it is to be there while there are games.
        """
        elsewhere = liar.changed(
            self.folder / f"{name}-sources", "outcome.winner", "outcome.winner.replace('draw', 'first')"
        )
        (self.folder / name).mkdir()
        service = self._start_worker(name, self.folder / name, host="127.0.0.1", **INTERPRETED, **elsewhere)
        service.is_held = service.is_ordered = True
        return service

    def _start_database(self) -> None:
        bin_folder = postgres.programs()
        assert bin_folder is not None
        data = self.folder / "postgres"
        data.mkdir()
        prefix: tuple[str, ...] = ()
        if os.geteuid() == 0:
            shutil.chown(data, "postgres", "postgres")
            prefix = ("setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--")
        words = ("-U", "arena", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        subprocess.run(
            [*prefix, str(bin_folder / "initdb"), "-D", str(data), *words], check=True, capture_output=True, cwd="/"
        )
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "port": ""}
        settings["port"] = str(self._database_port)
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        service = self.program("database", (*prefix, str(bin_folder / "postgres"), "-D", str(data), *options))
        service.stop_signal, service.is_tree = signal.SIGINT, True
        self._until_answers("PostgreSQL", self._create_database)

    def _create_database(self) -> None:
        import psycopg

        url = f"postgresql://arena@127.0.0.1:{self._database_port}/postgres"
        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            connection.execute(b"CREATE DATABASE arena")

    def _start_broker(self, port: int) -> None:
        program = _mosquitto()
        assert program is not None
        user = "user root\n" if os.geteuid() == 0 else ""
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n{user}", encoding="utf-8")
        self.program("broker", (program, "-c", str(configuration)))

    @staticmethod
    def _until_answers(name: str, ask: object) -> None:
        timeout = Timeout(READY_S)
        while True:
            try:
                ask()  # type: ignore[operator]
                return
            except Exception as error:  # whatever the driver raises while nobody listens
                if timeout.is_over():
                    raise DrillError(f"{name} does not answer: {error}") from None
                time.sleep(0.1)

    @contextlib.contextmanager
    def cut(self, name: str) -> Iterator[None]:
        """The worker's network is down; without one of its own it is stopped."""
        if self.network and name == self.players[-1]:
            with self.network.cut():
                yield
            return
        service = self.supervisor.services[name]
        service.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            service.signal(signal.SIGCONT)

    def own_pids(self) -> set[int]:
        return {self.network.owner.pid} if self.network else set()

    def shut(self) -> None:
        if self.network:
            self.network.close()

    def close(self) -> None:
        super().close()
        self.shut()
