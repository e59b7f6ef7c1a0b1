"""The spool: finished results that are not in the database yet, each a file in the data folder.

Every result passes through the spool. The process that plays a game writes the file; if it runs on another machine, or
the write fails, the process that dispatched the game stores the record it receives. All events about finished games are
hints to read the spool.

The owner of the lease on this data folder commits all results in the spool, whichever process wrote them. The state of
the game in the database decides what happens to a result:

    planned, queued, running   commit it, whichever process has the game now: the first result counts
    finished, void, cancelled  drop it: the game is over
    unknown, or of other bots  drop it: it was played for another database

Only the owner of the lease may commit, in a transaction that checks this state. A void attempt is not a result: it is
not stored here, and its game is played again.
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
class Backlog:
    """The results that wait in a spool: their number, and when the oldest arrived (None if there is none)."""

    count: int = 0
    since: datetime | None = None

    @property
    def age_s(self) -> float:
        """Time for which the oldest result has waited."""
        return max(0.0, time.time() - self.since.timestamp()) if self.since else 0.0


class Spool:
    """The results in `folder`, by the id of their game. Thread-safe.

    Results that cannot be written stay in memory until a write succeeds.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._in_memory: dict[str, tuple[GameRecord, float]] = {}
        """Results that could not be written, with the time of their arrival."""
        self._stuck: set[str] = set()
        """Results whose file could not be removed."""
        self._log = logger("coordinator")

    def __len__(self) -> int:
        return len(self.ids())

    def ids(self) -> list[str]:
        """Return the ids of the games with a waiting result, sorted."""
        with self._lock:
            found = set(self._in_memory)
        with contextlib.suppress(OSError):  # no folder yet; `keep` logs errors of writing
            found.update(entry.name[: -len(_SUFFIX)] for entry in os.scandir(self.folder) if _is_result(entry.name))
        return sorted(found - self._stuck)

    def backlog(self) -> Backlog:
        """Return how many results wait, and since when."""
        with self._lock:
            arrivals = {game_id: at for game_id, (_, at) in self._in_memory.items()}
        for game_id in self.ids():
            with contextlib.suppress(OSError):  # committed meanwhile
                arrivals.setdefault(game_id, (self.folder / f"{game_id}{_SUFFIX}").stat().st_mtime)
        since = datetime.fromtimestamp(min(arrivals.values()), UTC) if arrivals else None
        return Backlog(len(arrivals), since)

    def take(self, line: str, game_id: str, worker: str) -> None:
        """Store a result that another process has serialised. Raises RecordError if it is not a valid result of this
        game.
        """
        record = read_record(line)
        if record.id != game_id or record.kind is Kind.VOID:
            raise RecordError(f"not a result of the game {game_id}")
        self.keep(replace(record, worker=worker))

    def keep(self, record: GameRecord) -> None:
        """Store a finished result, in memory if it cannot be written."""
        try:
            self.write(record)
        except (OSError, ValueError) as error:
            with self._lock:
                is_first = not self._in_memory
                self._in_memory[record.id] = record, time.time()
            if is_first:
                self._log.warning("result not on disk", game=record.id, error=str(error), folder=str(self.folder))

    def sync(self) -> None:
        """Flush all waiting results to the disk, including those in memory."""
        with self._lock:
            in_memory = list(self._in_memory.values())
        try:
            for record, arrived_at in in_memory:
                self.write(record)
                os.utime(self.folder / f"{record.id}{_SUFFIX}", (arrived_at, arrived_at))
                with self._lock:
                    self._in_memory.pop(record.id, None)
            for name in self.ids():
                _sync(self.folder / f"{name}{_SUFFIX}")
            _sync(self.folder)
        except (OSError, ValueError) as error:
            self._log.debug("results not on disk", error=str(error))

    def read(self, game_id: str) -> GameRecord | None:
        """Return a waiting result, or None if it is missing or invalid; an invalid file is renamed."""
        with self._lock:
            if found := self._in_memory.get(game_id):
                return found[0]
        path = self.folder / f"{game_id}{_SUFFIX}"
        try:
            record = read_record(path.read_bytes())
            if record.id != game_id:
                raise RecordError(f"the record is of the game {record.id}")
        except FileNotFoundError:
            return None
        except (OSError, RecordError) as error:  # truncated by a power failure
            self._log.error("result unreadable", file=str(path), error=str(error))
            with contextlib.suppress(OSError):
                path.rename(path.with_suffix(".unreadable"))
            return None
        return record

    def forget(self, game_id: str) -> None:
        """Remove a result that is committed or will never be committed."""
        with self._lock:
            self._in_memory.pop(game_id, None)
        try:
            (self.folder / f"{game_id}{_SUFFIX}").unlink(missing_ok=True)
        except OSError as error:
            self._stuck.add(game_id)
            self._log.warning("result not removed", game=game_id, error=str(error), folder=str(self.folder))

    def write(self, record: GameRecord) -> None:
        """Write a finished result to a file, which survives a crash of this process, and after `sync` a power failure.

        Raises OSError, ValueError.
        """
        path, data = self.folder / f"{record.id}{_SUFFIX}", record.line().encode()
        fresh = self.folder / f"{record.id}.new-{os.getpid()}"
        make_folder(self.folder)
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
            fresh.rename(path)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise


def _is_result(name: str) -> bool:
    return name.endswith(_SUFFIX)


def _sync(path: Path) -> None:
    """Flush a file or a folder to the disk; a missing one is ignored."""
    with contextlib.suppress(FileNotFoundError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
