"""A tournament run on disk: its settings (`run.json`), every finished game (`games.ndjson`), and a lock (`run.lock`).

A run survives SIGKILL at any moment. A record counts when its whole line, newline included, is on disk; an incomplete
last line is dropped and its game played again. Any other invalid content raises FolderError and is not overwritten.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from referee.game.record import GameRecord, RecordError, read_record
from referee.game.spec import PlannedGame


class FolderError(ValueError):
    """A folder that is not a run or has invalid content; the message names the file and the line."""


class RunFolder:
    """The folder of one run, locked while it is open; a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[GameRecord] = []
        self._games: IO[bytes] | None = None
        self._lock: IO[bytes] | None = None

    @property
    def header_path(self) -> Path:
        """The file with the settings of the run."""
        return self.path / "run.json"

    @property
    def games_path(self) -> Path:
        """The file with one record per line, in order of completion."""
        return self.path / "games.ndjson"

    def open(self) -> Mapping[str, Any] | None:
        """Lock the folder, creating it if necessary; return the settings in its `run.json`; None if there is none yet.

        Raises FolderError if the folder has other content, is in use, or cannot be read.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.path / "run.lock", "ab")  # noqa: SIM115 - open as long as the run
        except OSError as error:
            raise FolderError(f"{self.path}: cannot be used as a run folder: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderError(
                f"{self.path}: another process uses this folder; wait, or choose another folder"
            ) from None
        if not self.header_path.exists():
            strangers = sorted(
                item.name for item in self.path.iterdir() if item.name not in ("run.lock", "run.json.new")
            )
            if strangers:
                raise FolderError(f"{self.path}: not empty and not a run ({strangers[0]}); choose another folder")
            return None
        try:
            header = json.loads(self.header_path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.header_path}: cannot be read: {error}") from None
        if not isinstance(header, dict):
            raise FolderError(f"{self.header_path}: not a run's header")
        return header

    def begin(self, header: Mapping[str, Any]) -> None:
        """Store the settings of a new run in `run.json`."""
        fresh = self.path / "run.json.new"
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump(header, file, indent=1, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.header_path)

    def resume(self, games: Sequence[PlannedGame]) -> list[GameRecord]:
        """Read the finished games, drop an incomplete last line, and prepare to append. Raises FolderError."""
        by_id = {game.id: game for game in games}
        data = self.games_path.read_bytes() if self.games_path.exists() else b""
        whole = data.rfind(b"\n") + 1
        seen: set[str] = set()
        for number, line in enumerate(data[:whole].splitlines(), 1):
            place = f"{self.games_path}, line {number}"
            try:
                record = read_record(line)
            except RecordError as error:
                raise FolderError(f"{place}: {error}; the run is left as it is") from None
            if record.id not in by_id or by_id[record.id].spec.sequence != record.sequence:
                raise FolderError(f"{place}: game {record.id} is not part of this run; the run is left as it is")
            if record.id in seen:
                raise FolderError(f"{place}: game {record.id} occurs twice; the run is left as it is")
            seen.add(record.id)
            self.records.append(record)
        self._games = open(self.games_path, "ab")  # noqa: SIM115
        if whole < len(data):
            self._games.truncate(whole)
        return self.records

    def append(self, record: GameRecord) -> None:
        """Append the record of one finished game and wait until it is on disk."""
        assert self._games is not None, "resume() first"
        self._games.write(record.line().encode() + b"\n")
        self._games.flush()
        os.fsync(self._games.fileno())
        self.records.append(record)

    def write(self, name: str, text: str) -> None:
        """Write a file that is derived from the records, replacing its previous version."""
        fresh = self.path / f"{name}.new"
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, self.path / name)

    def close(self) -> None:
        """Release the lock."""
        for file in (self._games, self._lock):
            if file:
                file.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
