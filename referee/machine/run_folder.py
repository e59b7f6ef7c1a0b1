"""A tournament run on disk: its settings (`run.json`), what was planned (`planned.ndjson`), every finished game
(`games.ndjson`), and a lock (`run.lock`).

A run survives SIGKILL at any moment. A line counts when it is on disk whole, newline included; an incomplete last line
is dropped, and its games are planned or played again. Any other invalid content raises FolderError and is not
overwritten.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import IO, Any, Self

from referee.game.record import GameRecord, RecordError, read_record
from referee.game.spec import PlannedGame
from referee.tournament.match import PlannedMatch


class FolderError(ValueError):
    """A folder that is not a run or has invalid content; the message names the file and the line."""


class UnkeptRun:
    """A run that is not stored, with the interface of `RunFolder`."""

    def __init__(self) -> None:
        self.records: list[GameRecord] = []

    def open(self) -> Mapping[str, Any] | None:
        """Return no settings: the run is new."""
        return None

    def begin(self, header: Mapping[str, Any]) -> None:
        """Begin the run; nothing is stored."""

    def planned(self) -> Iterator[tuple[list[PlannedMatch], list[str]]]:
        """Yield nothing: nothing was planned before."""
        yield from ()

    def plan(self, matches: Sequence[PlannedMatch], games: Sequence[PlannedGame]) -> None:
        """Plan games; nothing is stored."""

    def resume(self, games: Sequence[PlannedGame]) -> list[GameRecord]:
        """Return the records: there are none yet."""
        return self.records

    def append(self, record: GameRecord) -> None:
        """Keep the record of a finished game in memory."""
        self.records.append(record)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class RunFolder:
    """The folder of one run, locked while it is open; a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[GameRecord] = []
        self._games: IO[bytes] | None = None
        self._plan: IO[bytes] | None = None
        self._lock: IO[bytes] | None = None

    @property
    def header_path(self) -> Path:
        return self.path / "run.json"

    @property
    def plan_path(self) -> Path:
        """The file with the matches of one step of the plan per line, and the ids of their games."""
        return self.path / "planned.ndjson"

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
            # The kernel releases this lock when the process ends, however it ends: no stale lock can remain.
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderError(
                f"{self.path}: another process uses this folder; wait, or choose another folder"
            ) from None
        if not self.header_path.exists():
            # A run that was killed while it began leaves only these two files.
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
        # A rename is atomic: `run.json` is complete or absent. Unsynchronised, it could be empty after a crash of the
        # machine.
        os.replace(fresh, self.header_path)

    def planned(self) -> Iterator[tuple[list[PlannedMatch], list[str]]]:
        """Yield the matches of each step of the plan, with the ids of their games. Raises FolderError."""
        for number, line in enumerate(_whole_lines(self.plan_path), 1):
            try:
                step = json.loads(line)
                yield [PlannedMatch(*match) for match in step["matches"]], list(map(str, step["games"]))
            except (ValueError, TypeError, KeyError):
                place = f"{self.plan_path}, line {number}"
                raise FolderError(f"{place}: not a step of a plan; the run is left as it is") from None

    def plan(self, matches: Sequence[PlannedMatch], games: Sequence[PlannedGame]) -> None:
        """Append one step of the plan, and wait until it is on disk: its games may be played then."""
        self._plan = self._plan or _open_whole(self.plan_path)
        step = {"matches": [astuple(match) for match in matches], "games": [game.id for game in games]}
        _append(self._plan, json.dumps(step, separators=(",", ":")))

    def resume(self, games: Sequence[PlannedGame]) -> list[GameRecord]:
        """Read the finished games, drop an incomplete last line, and prepare to append. Raises FolderError."""
        by_id = {game.id: game for game in games}
        seen: set[str] = set()
        for number, line in enumerate(_whole_lines(self.games_path), 1):
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
        self._games = _open_whole(self.games_path)
        return self.records

    def append(self, record: GameRecord) -> None:
        """Append the record of one finished game and wait until it is on disk."""
        assert self._games is not None, "resume() first"
        _append(self._games, record.line())
        self.records.append(record)

    def write(self, name: str, text: str) -> None:
        """Write a file that is derived from the records, replacing its previous version."""
        fresh = self.path / f"{name}.new"
        # Not flushed to the disk: after a crash it is derived from the records again.
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, self.path / name)

    def close(self) -> None:
        """Release the lock."""
        for file in (self._plan, self._games, self._lock):
            if file:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file that end with a newline; none if there is no file."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()


def _open_whole(path: Path) -> IO[bytes]:
    """Open a file to append lines, without an incomplete last line."""
    data = path.read_bytes() if path.exists() else b""
    file = open(path, "ab")  # noqa: SIM115 - open as long as the run
    # A later line must not continue the incomplete one.
    file.truncate(data.rfind(b"\n") + 1)
    return file


def _append(file: IO[bytes], line: str) -> None:
    file.write(line.encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
