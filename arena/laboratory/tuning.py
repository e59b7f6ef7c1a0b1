"""A tuning run: trials played in game slots, their results in a file that survives a kill at any moment.

A line of `pairs.ndjson` is one finished trial, in the order of completion; an incomplete line does not count. These
lines and the options of the run determine all further trials.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from pathlib import Path
from typing import IO

from arena.laboratory.parameter import LaboratoryError
from arena.laboratory.spsa import Spsa, Trial
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.machine.pool import WorkerLostError
from referee.play.slot import play_games
from referee.rules.core import Kind

PAIRS = "pairs.ndjson"
ATTEMPTS = 3
"""A trial whose games are void is played this often before it counts as one without a result."""


class PairFile:
    """Results of a run's trials, on disk. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def read(self, spsa: Spsa) -> None:
        """Replay the stored results into a run, drop a torn last line, and open the file for appending. Raises
        LaboratoryError.
        """
        data = self._path.read_bytes() if self._path.exists() else b""
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                found = json.loads(line)
                spsa.tell(found["pair"], found["points"])
            except (ValueError, KeyError, TypeError) as error:
                raise LaboratoryError(
                    f"{self._path}, line {number}: {error}", hint="delete the line, or choose another folder"
                ) from None
        self._file = open(self._path, "ab")  # noqa: SIM115 - open as long as the run
        if whole < len(data):
            self._file.truncate(whole)

    def append(self, trial: Trial, points: float | None) -> None:
        """Store a result durably."""
        assert self._file is not None, "call read() first"
        found = {"pair": trial.number, "points": points, "plus": trial.plus, "minus": trial.minus}
        self._file.write(json.dumps(found, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> PairFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()


class Tuner:
    """Plays the trials of a run; `stop()` (from another thread) lets running games finish and starts no more.

    `games_of` plans the two games of a trial, `tell` is called after each finished trial.
    """

    def __init__(
        self,
        spsa: Spsa,
        file: PairFile,
        games_of: Callable[[Trial], list[PlannedGame]],
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        self._spsa, self._file, self._games_of, self._tell = spsa, file, games_of, tell
        self._tries: dict[int, int] = {}
        self.is_stopped = False

    def stop(self) -> None:
        """Start no more games."""
        self.is_stopped = True

    def run(self, executor: Executor, at_once: Callable[[], int]) -> None:
        """Play the remaining trials, at most `at_once` at a time. Raises LaboratoryError for a bot that does not get
        ready.
        """
        running: dict[Future[list[GameRecord]], Trial] = {}
        try:
            while True:
                while len(running) < at_once() and not self.is_stopped and (trial := self._spsa.ask()):
                    running[executor.submit(play_games, self._games_of(trial))] = trial
                if not running:
                    return
                done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda future: running[future].number):  # a set has no order
                    self._take(running.pop(future), future)
        finally:
            for future in running:
                future.cancel()

    def _take(self, trial: Trial, future: Future[list[GameRecord]]) -> None:
        try:
            records = future.result()
        except (WorkerLostError, CancelledError):
            records = []
        for record in records:
            raise_if_unready(record)
        points = points_of(records)
        tries = self._tries[trial.number] = self._tries.get(trial.number, 0) + 1
        if points is None and (self.is_stopped or tries < ATTEMPTS):
            self._spsa.requeue(trial.number)
            return
        self._file.append(trial, points)
        self._spsa.tell(trial.number, points)
        self._tell()


def raise_if_unready(record: GameRecord) -> None:
    """Raise LaboratoryError for a game that a bot lost before its start: all other games would fail likewise."""
    if record.at_start:
        raise LaboratoryError(
            f"the bot did not get ready for a game: {record.detail or record.termination}",
            hint="`arena check --transcript` shows every line exchanged; then run the same command again",
        )


def points_of(records: Sequence[GameRecord]) -> float | None:
    """Return the total points of the bot that moved first in the first game; None unless both games have a result."""
    if len(records) != 2 or any(record.kind is Kind.VOID for record in records):
        return None
    return records[0].points[0] + records[1].points[1]
