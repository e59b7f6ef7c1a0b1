"""Checks of the services that the settings name: database, broker, scheduler. They change nothing there."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from arena.cli.server.machine_checks import Diagnosis
from arena.cli.source.database import open_store, options_of
from arena.config import Settings
from arena.data_folder import disk_state, exposed
from arena.feature import ALL, COORDINATOR, VARIABLE, WEB, enabled, installed


def sqlite(settings: Settings) -> Diagnosis:
    """Check the version of SQLite, and its write-ahead log in the data folder."""
    version = sqlite3.sqlite_version
    folder = settings.data if settings.data.is_dir() else None
    try:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            connection = sqlite3.connect(Path(place, "try.sqlite3"))
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            connection.close()
    except OSError as error:
        return Diagnosis("sqlite", "broken", f"{version}: {error.strerror}", f"make {folder} writable")
    except sqlite3.Error as error:
        return Diagnosis("sqlite", "broken", f"{version}: {error}", "put the data folder on a local disk")
    if sqlite3.sqlite_version_info < (3, 35):
        return Diagnosis("sqlite", "broken", f"{version} is too old", "use a Python with SQLite 3.35 or newer")
    if mode != "wal":
        return Diagnosis(
            "sqlite", "weak", f"{version}, no write-ahead log there", "put the data folder on a local disk"
        )
    from arena.store.base.health import mark_of

    file = Path(settings.database_url.removeprefix("sqlite:///"))
    if mark_of(file).exists():
        problem = mark_of(file).read_text(encoding="utf-8").strip()
        return Diagnosis(
            "sqlite",
            "broken",
            f"{file} is damaged: {problem}",
            f"stop the arena, then `arena db restore{options_of(settings)}`",
        )
    return Diagnosis("sqlite", "ok", f"{version}, write-ahead log works in {folder or 'a temporary folder'}")


def features(settings: Settings) -> Iterator[Diagnosis]:
    """Check that every installed feature can be loaded, whether it is on or off, and that its tables are there."""
    disabled, without_tables = settings.disabled_features, _without_tables(settings)
    enabled(disabled, *WEB, *COORDINATOR)
    for feature in installed():
        state = feature.state(disabled)
        detail = f"{state}, from {feature.package} {feature.version}"
        if state == "failed":
            advice = f"repair or uninstall {feature.package}, or set {VARIABLE}"
            yield Diagnosis(feature.name, "broken", f"{detail}: {feature.problem}", advice)
        elif feature.name in without_tables:
            advice = f"`arena db upgrade{options_of(settings)}`"
            yield Diagnosis(feature.name, "broken", f"{detail}: the database lacks its tables", advice)
        else:
            yield Diagnosis(feature.name, "ok", detail)
    for name in sorted(set(disabled) - {ALL, *(feature.name for feature in installed())}):
        yield Diagnosis(name, "weak", "disabled_features names it, but it is not installed", "correct the setting")


def _without_tables(settings: Settings) -> tuple[str, ...]:
    """Return the features whose tables an arena lacks; nothing where there is no arena, or none that can be read."""
    from arena.cli.terminal.exit import CommandError
    from arena.errors import StoreError
    from arena.store.base import schema

    try:
        with closing(open_store(settings, any_schema=True)) as store:
            return () if schema.is_fresh(store.engine) else schema.waiting(store.engine)
    except (CommandError, StoreError):
        return ()


def results(settings: Settings) -> Diagnosis:
    """Check that no results have been waiting too long for the database; if some have, say what they wait for."""
    from arena.cluster.spool import Spool

    backlog = Spool(settings.spool_folder).backlog()
    if not backlog.since:
        return Diagnosis("results", "ok", "none waits for the database")
    if not backlog.is_late:
        return Diagnosis("results", "ok", f"{backlog.count} wait for the next commit, none for long")
    waiting = (
        f"{backlog.count} wait for the database in {settings.spool_folder}, the oldest since {backlog.since:%F %T} UTC"
    )
    cause, fix = _obstacle(settings)
    return Diagnosis("results", "weak", f"{waiting}: {cause}", fix)


def _obstacle(settings: Settings) -> tuple[str, str]:
    """Return why results wait for the database, and what to do."""
    from arena.cli.terminal.exit import CommandError
    from arena.errors import SchemaError, StorageError, StoreError

    try:
        with closing(open_store(settings)) as store:
            lease = store.leases.get("referee")
            store.require_writable()
    except (CommandError, SchemaError) as error:
        cause, _, fix = str(error).partition("; ")
        return cause, fix
    except StorageError as error:
        return str(error), "make the database writable; a running referee then commits them"
    except StoreError as error:
        return str(error), "make the database accessible; a running referee then commits them"
    if lease is None or not lease.is_alive:
        options = options_of(settings)
        return "no referee runs", f"start `arena serve{options}` or `arena referee{options}`: it commits them"
    return f"{lease.owner} runs and has not committed them", "its log has the reason"


def data_folder(settings: Settings) -> Diagnosis:
    """Check that the arena can write its data, and that other users of this machine cannot read them."""
    if settings.data.exists() and not settings.data.is_dir():
        return Diagnosis("data folder", "broken", f"{settings.data} is no folder", "name another one with --data")
    if not settings.data.is_dir():
        return Diagnosis("data folder", "ok", f"{settings.data} is not there yet")
    try:
        open_paths = list(exposed(settings.data))
    except OSError as error:
        return Diagnosis("data folder", "broken", f"{settings.data}: {error.strerror}", "run this as the arena's user")
    if (state := disk_state(settings.data)) != "ok":
        detail = f"{settings.data}: the disk is {'full' if state == 'full' else 'not writable'}"
        fix = "free space" if state == "full" else "mount the disk for writing, as the arena's user"
        return Diagnosis("data folder", "broken", f"{detail}; results wait in the memory of a running referee", fix)
    if open_paths:
        names = " ".join(map(str, open_paths))
        return Diagnosis("data folder", "weak", f"other users may read {names}", f"chmod o= {names}")
    return Diagnosis("data folder", "ok", f"{settings.data}, for its owner alone")


def broker(settings: Settings) -> Diagnosis:
    if not settings.mqtt:
        return Diagnosis("broker", "ok", "none: events stay in one process")
    from arena.events.bus import BusError
    from arena.events.mqtt.connection import probe
    from arena.events.mqtt.url import BrokerUrl

    try:
        asyncio.run(probe(settings))
    except BusError as error:
        return Diagnosis("broker", "broken", error.problem, error.fix)
    url = BrokerUrl.read(settings.mqtt)
    if url.is_embedded:
        return Diagnosis("broker", "ok", f"amqtt can be started at {url}, for development")
    return Diagnosis("broker", "ok", f"{url} lets us in")


def cluster(settings: Settings) -> Diagnosis:
    """Count the workers of the scheduler."""
    fix = "start `arena scheduler` there, or change the setting 'executor'"
    try:
        from arena.cluster.connection import look
        from arena.cluster.wire_config import ClusterError, address_of, reason, security_of

        address = address_of(settings.executor)
        state = look(address, security_of(settings, address), 8)
    except ModuleNotFoundError as error:
        return Diagnosis("executor", "broken", f"{error.name} is not installed", "pip install 'bot-arena[cluster]'")
    except (ClusterError, ValueError) as error:
        return Diagnosis("executor", "broken", str(error), "change the setting 'executor'")
    except (OSError, TimeoutError) as error:
        return Diagnosis("executor", "broken", f"no scheduler answers at {settings.executor}: {reason(error)}", fix)
    strangers = "".join(f"; {worker.name} gets no games: {worker.problem}" for worker in state.refused)
    if not state.slots:
        start = f"arena worker --scheduler {settings.executor}"
        return Diagnosis(
            "executor", "weak", f"the scheduler answers; no worker, so games wait{strangers}", f"start `{start}`"
        )
    fit = len(state.workers) - len(state.refused)
    detail = f"{fit} workers with {state.slots} slots, {state.busy} of them busy{strangers}"
    return Diagnosis(
        "executor", "weak" if strangers else "ok", detail, "install the arena's version there" if strangers else ""
    )


def database(url: str) -> Diagnosis:
    """Check whether the database server at a URL answers; without one, the database is a file."""
    parts = urlsplit(url)
    if not parts.hostname:
        return Diagnosis("database", "ok", "SQLite in the data folder")
    port = parts.port or 5432
    place = f"{parts.hostname}:{port}"
    try:
        socket.create_connection((parts.hostname, port), 2).close()
    except OSError as error:
        fix = "start it, or change the setting 'database'"
        return Diagnosis("database", "broken", f"no answer at {place}: {error.strerror or error}", fix)
    return Diagnosis("database", "ok", f"{parts.scheme} at {place} answers")
