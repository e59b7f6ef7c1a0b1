"""A PostgreSQL for a test session: a temporary cluster on a free port, without fsync, gone afterwards.

The workers of pytest-xdist share it, each with a database of its own: the first that needs it starts it, the last that
ends stops it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import SQLModel

from arena.store import Store
from tests.bare import is_bare
from tests.guard import mark
from tests.port import free_port

TEMPLATE = "template_arena"
"""A database with the arena's tables, to which nobody connects."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster; `name` is the database of this worker, with the arena's tables."""

    port: int
    name: str

    def url(self, database: str = "") -> str:
        """The URL of a database, by default of this worker's own."""
        return f"postgresql+psycopg://arena@127.0.0.1:{self.port}/{database or self.name}"

    def run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(f"postgresql://arena@127.0.0.1:{self.port}/postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def empty(self) -> None:
        """Bring this worker's database back to how an upgrade leaves it."""
        import psycopg

        statements = [
            "SET session_replication_role = replica",  # no foreign key is in the way
            # Row by row: few are there, and TRUNCATE makes a hundred files anew, which takes a fifth of a second.
            *(f'DELETE FROM "{name}"' for name in SQLModel.metadata.tables),
            "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'",
            "INSERT INTO counters (name, value) VALUES ('commit', 0)",
        ]
        with psycopg.connect(self.url().replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute("; ".join(statements).encode())

    @contextmanager
    def database(self, template: str = TEMPLATE) -> Iterator[str]:
        """The URL of a fresh database: with the arena's tables, or empty like `template1`."""
        name = f"test_{uuid.uuid4().hex}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield self.url(name)
        self.run(f"DROP DATABASE {name} WITH (FORCE)")


def programs() -> Path | None:
    """The folder of the newest PostgreSQL of this machine; None without it or without its driver."""
    if is_bare() or importlib.util.find_spec("psycopg") is None:
        return None
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if folders:
        return folders[-1]
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Use the cluster of the workers that share a folder, with a database of its own."""
    name = f"arena_{uuid.uuid4().hex}"
    with _users(folder) as state:
        if not state:
            state["folder"], state["port"] = _start()
        state["users"] = state.get("users", 0) + 1
        shared = Cluster(state["port"], name)
        shared.run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    try:
        yield shared
    finally:
        with _users(folder) as state:
            state["users"] -= 1
            if not state["users"]:
                _run(Path(state["folder"]), "pg_ctl", "-w", "-m", "immediate", "stop")
                shutil.rmtree(state["folder"])
                state.clear()


@contextmanager
def _users(folder: Path) -> Iterator[dict[str, Any]]:
    """What the workers know of their cluster, to read and to change while no other does."""
    with open(folder / "postgres.json", "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        state: dict[str, Any] = json.loads(file.read() or "{}")
        yield state
        file.truncate(0)
        file.write(json.dumps(state))


def _start() -> tuple[str, int]:
    """Start a cluster with `TEMPLATE`; its folder and port."""
    folder = Path(tempfile.mkdtemp(prefix="arena-pg-"))
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir()
    if user := _user():
        shutil.chown(data, user)
    _run(folder, "initdb", "-U", "arena", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    port = free_port()
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "autovacuum": "off",
        "shared_buffers": "32MB",
        "max_connections": 240,
    }
    with open(data / "postgresql.auto.conf", "a", encoding="utf-8") as file:
        file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
    _run(folder, "pg_ctl", "-w", "-l", str(data / "log"), "start")
    made = Cluster(port, TEMPLATE)
    made.run(f"CREATE DATABASE {TEMPLATE}")
    with closing(Store(made.url())) as store:
        store.upgrade()
    return str(folder), port


def _user() -> str | None:
    """Who runs it: as root the user postgres, since it refuses root."""
    return "postgres" if os.getuid() == 0 else None


def _run(folder: Path, program: str, *words: str) -> None:
    """Run one of its programs to its end."""
    bin_folder, data = programs(), folder / "data"
    assert bin_folder is not None
    subprocess.run(
        [str(bin_folder / program), "-D", str(data), *words],
        check=True,
        user=_user(),
        cwd=data,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", **mark()},
    )
