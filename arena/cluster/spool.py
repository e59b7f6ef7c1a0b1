"""The spool: results and void attempts that are not in the database yet, each a file in the data folder.

Every record passes through the spool. The process that plays a game writes the file; if it runs on another machine, or
the write fails, the process that dispatched the game stores the record it receives. All events about finished games are
hints to read the spool, and so are the ends of jobs. A result has the name of its game; a void attempt has that of its
game and its number.

The owner of the lease on this data folder commits all records in the spool, whichever process wrote them. The state of
the game in the database decides what happens to a record:

    planned, queued, running   commit it, whichever process has the game now: the first result counts, each void attempt
                               counts once
    finished, void, cancelled  drop it: the game is over
    unknown, or of other bots  drop it: it was played for another database

Only the owner of the lease may commit, in a transaction that checks this state. A void attempt that was stopped by the
arena itself does not count: its game is played again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from arena.data_folder import make_folder
from arena.log import logger
from referee.game.record import GameRecord, RecordError, read_record
from referee.rules.core import Kind

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record of the spool; `attempt` is the number of a void attempt, 0 for a result."""

    record: GameRecord
    attempt: int = 0

    @property
    def name(self) -> str:
        return name_of(self.record.id, self.attempt)


def name_of(game_id: str, attempt: int = 0) -> str:
    """Return the name in the spool of a game's result, or of its void attempt with this number."""
    return f"{game_id}.{attempt}" if attempt else game_id


LATE_S = 10.0
"""How long a result waits for its commit in a service that works."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """The records that wait in a spool: their number, and when the oldest arrived (None if there is none)."""

    count: int = 0
    since: datetime | None = None

    @property
    def age_s(self) -> float:
        """Time for which the oldest result has waited."""
        return max(0.0, time.time() - self.since.timestamp()) if self.since else 0.0

    @property
    def is_late(self) -> bool:
        """True if the oldest result has waited longer than a working referee needs to commit it."""
        return self.age_s > LATE_S


class Spool:
    """The records in `folder`, by their names. Thread-safe.

    Records that cannot be written stay in memory until a write succeeds.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._in_memory: dict[str, tuple[Arrival, float]] = {}
        """Records that could not be written, with the time of their arrival."""
        self._stuck: set[str] = set()
        """Records whose file could not be removed."""
        self._log = logger("coordinator")

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> list[str]:
        """Return the names of the waiting records, sorted."""
        with self._lock:
            names = set(self._in_memory)
        with contextlib.suppress(OSError):  # no folder yet; `keep` logs errors of writing
            files = (entry.name for entry in os.scandir(self.folder))
            # A record that is being written has another ending: `.new-PID`.
            names.update(file.removesuffix(_SUFFIX) for file in files if file.endswith(_SUFFIX))
        return sorted(names - self._stuck)

    def backlog(self) -> Backlog:
        """Return how many records wait, and since when."""
        with self._lock:
            arrivals = {name: at for name, (_, at) in self._in_memory.items()}
        for name in self.names():
            with contextlib.suppress(OSError):  # committed meanwhile
                arrivals.setdefault(name, self._path(name).stat().st_mtime)
        since = datetime.fromtimestamp(min(arrivals.values()), UTC) if arrivals else None
        return Backlog(len(arrivals), since)

    def take(self, line: str, game_id: str, worker: str, attempt: int) -> None:
        """Store a record of this attempt at a game that another process has serialised. Raises RecordError if it is not
        a valid record of this game.
        """
        record = read_record(line)
        if record.id != game_id:
            raise RecordError(f"not a record of the game {game_id}")
        self.keep(replace(record, worker=worker), attempt)

    def keep(self, record: GameRecord, attempt: int = 1) -> None:
        """Store the record of an attempt at a game, in memory if it cannot be written."""
        try:
            self.write(record, attempt)
        except (OSError, ValueError) as error:
            arrival = _arrival(record, attempt)
            with self._lock:
                is_first = not self._in_memory
                self._in_memory[arrival.name] = arrival, time.time()
            # One warning for a full disk, not one for each result.
            if is_first:
                self._log.warning("result not on disk", game=record.id, error=str(error), folder=str(self.folder))

    def sync(self) -> None:
        """Flush all waiting records to the disk, including those in memory."""
        with self._lock:
            in_memory = list(self._in_memory.values())
        try:
            # Without the lock: a disk that hangs must not block `keep` in other threads.
            for arrival, arrived_at in in_memory:
                self.write(arrival.record, arrival.attempt)
                # The backlog counts from the arrival of a result, not from the end of the full disk.
                os.utime(self._path(arrival.name), (arrived_at, arrived_at))
                with self._lock:
                    self._in_memory.pop(arrival.name, None)
            for name in self.names():
                _sync(self._path(name))
            # The name of a new file is in its folder: fsync of the file alone does not keep it (see fsync(2)).
            _sync(self.folder)
        except (OSError, ValueError) as error:
            self._log.debug("results not on disk", error=str(error))

    def read(self, name: str) -> Arrival | None:
        """Return a waiting record, or None if it is missing or invalid; an invalid file is renamed."""
        with self._lock:
            if in_memory := self._in_memory.get(name):
                return in_memory[0]
        path, (_, _, number) = self._path(name), name.partition(".")
        try:
            arrival = _arrival(read_record(path.read_bytes()), int(number or 0))
            # A file that was copied or renamed by hand would end the wrong game.
            if arrival.name != name:
                raise RecordError(f"the record is of the game {arrival.record.id}")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # truncated by a power failure
            self._log.error("result unreadable", file=str(path), error=str(error))
            with contextlib.suppress(OSError):
                # Under its old name every turn would try it again; an operator may still look at it.
                path.rename(path.with_suffix(".unreadable"))
            return None
        return arrival

    def forget(self, name: str) -> None:
        """Remove a record that is committed or will never be committed."""
        with self._lock:
            self._in_memory.pop(name, None)
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            # Otherwise every turn would read the record again, and drop it with a warning, until the file can be
            # removed.
            self._stuck.add(name)
            self._log.warning("result not removed", record=name, error=str(error), folder=str(self.folder))

    def write(self, record: GameRecord, attempt: int = 1) -> None:
        """Write the record of an attempt to a file, which survives a crash of this process, and after `sync` a power
        failure. Raises OSError, ValueError.
        """
        # Encode first: a record that cannot be encoded must not leave a file that was begun.
        name, data = _arrival(record, attempt).name, record.line().encode()
        # Two attempts at a game may end at once, in processes of their own: each writes to a file of its own first.
        path, fresh = self._path(name), self.folder / f"{name}.new-{os.getpid()}"
        make_folder(self.folder)
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
            # A rename is atomic: who lists the folder sees the whole record or none.
            fresh.rename(path)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"


def _arrival(record: GameRecord, attempt: int) -> Arrival:
    """Return the entry of a record: only void attempts have their numbers."""
    return Arrival(record, attempt if record.kind is Kind.VOID else 0)


def _sync(path: Path) -> None:
    """Flush a file or a folder to the disk; a missing one is ignored."""
    with contextlib.suppress(FileNotFoundError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
