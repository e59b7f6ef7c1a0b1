"""Finished results that are not in the database yet, each a file in the data folder: written before anything else.

This is the one way in which a result comes. Whoever has played the game writes the file; where that is another machine,
or the disk refuses, whoever gave out the game keeps what it is sent. All else that is said of a finished game is a hint
to look here.

Whoever owns the lease on this data folder commits what it finds, whichever process left it. The law, for a result that
waited, by what the database says of its game by then:

    planned, queued, running   it is committed, whoever has the game now: the first result that comes stands
    finished, void, cancelled  it is dropped: the game is over, a second result changes nothing
    unknown, or of other bots  it is dropped: the database is not the one it was played for

Only the owner of the lease may commit, and only inside a transaction that finds it so. An attempt that came to nothing
is no result: it does not wait here, its game is played again. Refuses to know the database.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import replace
from pathlib import Path

from arena.data_folder import make_folder
from arena.log import logger
from referee.record import GameRecord, RecordError, read_record
from referee.rules.core import Kind

_SUFFIX = ".json"


class Spool:
    """The results in `folder`, by the id of their game. May be used from any thread.

    What the disk cannot take stays in memory until it can.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._homeless: dict[str, GameRecord] = {}
        """What the disk could not take."""
        self._stuck: set[str] = set()
        """What the disk would not give up."""
        self._log = logger("coordinator")

    def __len__(self) -> int:
        return len(self.ids())

    def ids(self) -> list[str]:
        """The games whose results wait, in no order that means anything."""
        with self._lock:
            found = set(self._homeless)
        with contextlib.suppress(OSError):  # none yet; what hinders writing is told there
            found.update(entry.name[: -len(_SUFFIX)] for entry in os.scandir(self.folder) if _is_result(entry.name))
        return sorted(found - self._stuck)

    def take(self, line: str, game_id: str, worker: str) -> None:
        """Keep the result of a game as another process has written it. Raises RecordError for anything else."""
        record = read_record(line)
        if record.id != game_id or record.kind is Kind.VOID:
            raise RecordError(f"not a result of the game {game_id}")
        self.keep(replace(record, worker=worker))

    def keep(self, record: GameRecord) -> None:
        """Let a finished result wait, in memory where the disk does not take it."""
        try:
            self.write(record)
        except (OSError, ValueError) as error:
            with self._lock:
                is_first = not self._homeless
                self._homeless[record.id] = record
            if is_first:
                self._log.warning("result not on disk", game=record.id, error=str(error), folder=str(self.folder))

    def sync(self) -> None:
        """Have the disk take what it has not taken: results that wait for longer than a moment."""
        with self._lock:
            homeless = list(self._homeless.values())
        try:
            for record in homeless:
                self.write(record)
                with self._lock:
                    self._homeless.pop(record.id, None)
            for name in self.ids():
                _sync(self.folder / f"{name}{_SUFFIX}")
            _sync(self.folder)
        except (OSError, ValueError) as error:
            self._log.debug("results not on disk", error=str(error))

    def read(self, game_id: str) -> GameRecord | None:
        """A result that waits; None for one that is not there any more, or cannot be read and is set aside."""
        with self._lock:
            if found := self._homeless.get(game_id):
                return found
        path = self.folder / f"{game_id}{_SUFFIX}"
        try:
            record = read_record(path.read_bytes())
            if record.id != game_id:
                raise RecordError(f"the record is of {record.id}")
        except FileNotFoundError:
            return None
        except (OSError, RecordError) as error:  # cut short when the machine lost its power
            self._log.error("result unreadable", file=str(path), error=str(error))
            with contextlib.suppress(OSError):
                path.rename(path.with_suffix(".unreadable"))
            return None
        return record

    def forget(self, game_id: str) -> None:
        """A result is in the database, or will never be."""
        with self._lock:
            self._homeless.pop(game_id, None)
        try:
            (self.folder / f"{game_id}{_SUFFIX}").unlink(missing_ok=True)
        except OSError as error:
            self._stuck.add(game_id)
            self._log.warning("result not removed", game=game_id, error=str(error), folder=str(self.folder))

    def write(self, record: GameRecord) -> None:
        """Write a finished result: it outlives this process from now on, and after `sync` the machine.

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
    """Have the disk take a file, or the names of a folder; one that is gone needs nothing."""
    with contextlib.suppress(FileNotFoundError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
