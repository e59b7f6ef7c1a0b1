"""Daily tasks: backups, the dump of games, cleanup of bundles and expired rows, missing findings of tournaments; those
of features follow.

The database stores the day of the last run of each task, so that another process does not repeat it on that day. Every
task is idempotent and may be interrupted. Only the active coordinator runs the tasks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from arena.clock import now
from arena.collections.dumps import DumpInterrupted, Dumps
from arena.log import logger
from arena.store import Store
from arena.store.operations.sqlite_backup import SqliteBackups
from arena.tournaments import standing

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.submission.bundle_store import BundleStore

PROGRESS_INTERVAL_S = 10.0
"""Pause between two log lines of a long backup."""
RETRY_INTERVAL_S = 3600.0
"""Pause before a failed task is tried again."""

MustStop = Callable[[], bool]


@dataclass(slots=True)
class Task:
    """A daily task, due from `hour` (UTC) on.

    `work` gets a function that returns whether to stop, and returns a count for the log. A task with `of_process` runs
    in every process that becomes the active coordinator: first when it becomes one, then daily.
    """

    name: str
    hour: int
    work: Callable[[MustStop], int]
    of_process: bool = False
    next_look: int = 0
    """The day on which the task is checked next, so that the database is not queried every turn."""
    not_before: float = 0.0


@dataclass(slots=True)
class Maintenance:
    """The daily tasks of a server."""

    store: Store
    tasks: list[Task]
    on_done: Callable[[str, datetime], None] = lambda name, at: None

    @classmethod
    def of(cls, settings: Settings, store: Store, bundles: Callable[[], BundleStore]) -> Maintenance:
        """Build the tasks that the settings enable."""
        maintenance = cls(store, [])
        if store.health.file is not None:
            maintenance.tasks += _of_file(settings, store, store.health.file)
        if settings.dumps:
            dumps = Dumps.of(settings)
            update = Task("dumps", settings.dump_hour_utc, lambda must_stop: dumps.update(store, must_stop=must_stop))
            maintenance.tasks.append(update)
        maintenance.tasks.append(Task("bundles", 4, lambda _: bundles().sweep(store.versions.bundles)))
        maintenance.tasks.append(Task("forget", 4, lambda _: store.daily_tasks.forget()))
        maintenance.tasks.append(
            Task("findings", 0, lambda must_stop: standing.keep_missing_findings(store, must_stop))
        )
        return maintenance

    def run_due(self, at: datetime, must_stop: MustStop) -> None:
        log = logger("maintenance")
        day = at.toordinal()
        for task in self.tasks:
            if must_stop():
                return
            if not (at.toordinal() >= task.next_look and at.hour >= task.hour and time.monotonic() >= task.not_before):
                continue
            try:
                if task.of_process or self.store.daily_tasks.last_done(task.name) < day:
                    count = task.work(must_stop)
                    if not task.of_process:
                        self.store.daily_tasks.note_done(task.name, day)
                    log.info("task", task=task.name, count=count)
                    self.on_done(task.name, at)
                task.next_look = day + 1
            except DumpInterrupted:
                return
            except Exception as error:  # does not affect other tasks
                task.not_before = time.monotonic() + RETRY_INTERVAL_S
                log.error("task failed", task=task.name, error=f"{type(error).__name__}: {error}")


def _log_progress() -> Callable[[float], None]:
    """Return a function that logs the share of a backup that is done, every ten seconds."""
    log, logged = logger("maintenance"), time.monotonic()

    def tell(share: float) -> None:
        nonlocal logged
        if time.monotonic() - logged >= PROGRESS_INTERVAL_S:
            logged = time.monotonic()
            log.info("backup", percent=int(100 * share))

    return tell


def _of_file(settings: Settings, store: Store, file: Path) -> list[Task]:
    """Return the tasks for a database that is a file: an integrity check, and backups if enabled."""

    def check(_: MustStop) -> int:
        store.health.check()
        store.health.require_sound()
        return 1

    def backup(_: MustStop) -> int:
        SqliteBackups(settings.backups_folder, settings.backup_days).make(file, now(), _log_progress())
        return 1

    tasks = [Task("check", 0, check, of_process=True)]
    if settings.backup_days:
        tasks.append(Task("backup", 2, backup))
    return tasks
