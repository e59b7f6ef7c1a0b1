"""A PostgreSQL of its own for a test session: a temporary cluster on a free port, without fsync, gone afterwards."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import SQLModel

from arena.store import Store
from tests.bare import is_bare
from tests.guard import mark
from tests.port import free_port


@dataclass(frozen=True)
class Cluster:
    """A running cluster, with a database `arena` that has the arena's tables."""

    port: int

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://arena@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(f"postgresql://arena@127.0.0.1:{self.port}/postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def empty(self) -> None:
        """Bring the database `arena` back to how an upgrade leaves it."""
        import psycopg

        with psycopg.connect(self.url("arena").replace("+psycopg", ""), autocommit=True) as connection:
            # Row by row: few are there, and TRUNCATE makes a hundred files anew, which takes a fifth of a second.
            connection.execute("SET session_replication_role = replica")  # no foreign key is in the way
            for name in SQLModel.metadata.tables:
                connection.execute(f'DELETE FROM "{name}"'.encode())
            connection.execute("SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'")
            connection.execute("INSERT INTO counters (name, value) VALUES ('commit', 0)")

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a fresh database."""
        name = f"test_{uuid.uuid4().hex}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield self.url(name)
        self.run(f"DROP DATABASE {name} WITH (FORCE)")


def programs() -> Path | None:
    """The folder of the newest PostgreSQL of this machine; None without it or without its driver."""
    if is_bare() or importlib.util.find_spec("psycopg") is None:
        return None
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if found:
        return found[-1]
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start one and stop it. As root it runs as the user postgres, since it refuses root."""
    bin_folder = programs()
    assert bin_folder is not None
    user = "postgres" if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="arena-pg-") as folder:
        os.chmod(folder, 0o755)
        data = Path(folder) / "data"
        data.mkdir()
        if user:
            shutil.chown(data, user)

        def run(program: str, *words: str) -> None:
            subprocess.run(
                [str(bin_folder / program), "-D", str(data), *words],
                check=True,
                user=user,
                cwd=data,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", **mark()},
            )

        run("initdb", "-U", "arena", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
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
            "max_connections": 60,
        }
        with open(data / "postgresql.auto.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        run("pg_ctl", "-w", "-l", str(data / "log"), "start")
        try:
            found = Cluster(port)
            found.run("CREATE DATABASE arena")
            store = Store(found.url("arena"))
            store.upgrade()
            store.close()
            yield found
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
