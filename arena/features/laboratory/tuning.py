"""A tuning run: SPSA (simultaneous perturbation stochastic approximation, Spall 1998) on the results of pairs of games.

A trial changes each value up or down by a step at random. A bot with these values plays a pair of games against one
with the opposite changes, and the values then approach those of the winner. A trial starts from the values after an
earlier one, `WINDOW` places before it, so that many trials may be played at once. Results count in the order of the
trials, not of time, so a run does not depend on the number of slots or on interruptions.

A line of `pairs.ndjson` is one finished trial, in the order of completion; an incomplete line does not count. These
lines and the options of the run determine all further trials.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from arena.features.laboratory.parameter import LaboratoryError, Parameter
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.machine.pool import WorkerLostError
from referee.play.slot import play_games
from referee.rules.core import Kind

WINDOW = 16
LEARNING_RATE = 0.02
"""How far values move, in steps, for one point above an even score, in the last trial."""
STABILITY = 0.1
"""Spall's stability constant, as a share of all trials: without it the first trials would decide too much."""
ALPHA, GAMMA = 0.602, 0.101
"""Exponents by which gains and steps shrink, as Spall recommends."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A pair of games to play: the values of the two bots, in the order of the parameters."""

    number: int
    plus: tuple[int, ...]
    minus: tuple[int, ...]


class Spsa:
    """A run of `pairs` trials with an ask-and-tell interface: `ask` for the next trial, `tell` its result, in any
    order.
    """

    def __init__(self, parameters: Sequence[Parameter], pairs: int, *, seed: int, rate: float = LEARNING_RATE) -> None:
        self._parameters, self.pairs, self._seed, self._rate = tuple(parameters), pairs, seed, rate
        self._minimum = np.array([parameter.minimum for parameter in parameters], dtype=np.float64)
        self._maximum = np.array([parameter.maximum for parameter in parameters], dtype=np.float64)
        self._step = np.array([parameter.step for parameter in parameters], dtype=np.float64)
        self.trajectory: npt.NDArray[np.float64] = np.zeros((pairs + 1, len(parameters)))
        """Values after 0, 1 … `applied` trials."""
        self.trajectory[0] = [parameter.start for parameter in parameters]
        self.applied = 0
        self._results: dict[int, float | None] = {}
        self._asked: set[int] = set()
        self._next = 0
        self.pentanomial = [0, 0, 0, 0, 0]
        """Number of pairs in which the values moved up scored 0, ½, 1, 1½ and 2 points."""

    @property
    def result_count(self) -> int:
        return len(self._results)

    @property
    def is_done(self) -> bool:
        """True if every trial has a result."""
        return self.applied == self.pairs

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The estimate: the mean of the second half of `trajectory` so far; it varies less than the latest values."""
        found: npt.NDArray[np.float64] = self.trajectory[(self.applied + 1) // 2 : self.applied + 1].mean(axis=0)
        return found

    def ask(self) -> Trial | None:
        """Return the next trial to play; None if all are played or others must have results first."""
        while self._next in self._results or self._next in self._asked:
            self._next += 1
        number = self._next
        if number >= self.pairs or number - WINDOW + 1 > self.applied:
            return None
        self._asked.add(number)
        return self._trial(number)

    def requeue(self, number: int) -> None:
        """Make a trial that was not played available to `ask` again."""
        self._asked.discard(number)
        self._next = min(self._next, number)

    def tell(self, number: int, points: float | None) -> None:
        """Record the points of `Trial.plus` in both games, 0 to 2; None for a pair without a result, which changes
        nothing.

        Raises ValueError for a trial that is not part of the run or already has a result.
        """
        if not 0 <= number < self.pairs or number in self._results or points not in (None, 0, 0.5, 1, 1.5, 2):
            raise ValueError(f"trial {number} with {points} points: already recorded, or not part of this run")
        self._asked.discard(number)
        self._results[number] = points
        if points is not None:
            self.pentanomial[round(2 * points)] += 1
        while self.applied in self._results:
            self._apply(self.applied)

    def _apply(self, number: int) -> None:
        points, values = self._results[number], self.trajectory[number]
        if points is not None:
            gain = self._rate * self._gain(number) * self._perturbation(number) * self._directions(number)[0]
            values = values + gain * (2 * points - 2)
        self.trajectory[number + 1] = np.clip(values, self._minimum, self._maximum)
        self.applied = number + 1

    def _trial(self, number: int) -> Trial:
        flips, lots = self._directions(number)
        middle = self.trajectory[max(0, number - WINDOW + 1)]
        reach = self._perturbation(number) * flips
        plus, minus = (self._whole(middle + sign * reach, lots) for sign in (1, -1))
        return Trial(number, plus, minus)

    def _whole(self, values: npt.NDArray[np.float64], lots: npt.NDArray[np.float64]) -> tuple[int, ...]:
        """Round values to integers at random without changing their mean, so that changes below 1 count on average."""
        kept = np.clip(values, self._minimum, self._maximum)
        return tuple(math.floor(value + lot) for value, lot in zip(kept.tolist(), lots.tolist(), strict=True))

    def _directions(self, number: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Draw, for each parameter, the direction of the change (up or down) and the random number for rounding."""
        rng = random.Random(f"spsa {self._seed} {number}")
        flips = [rng.choice((-1.0, 1.0)) for _ in self._parameters]
        return np.array(flips), np.array([rng.random() for _ in self._parameters])

    def _perturbation(self, number: int) -> npt.NDArray[np.float64]:
        """Return the perturbation of a trial: larger than the step at first, equal to it in the last trial."""
        reach: npt.NDArray[np.float64] = self._step * (self.pairs / (number + 1)) ** GAMMA
        return reach

    def _gain(self, number: int) -> float:
        """Return the gain of a trial relative to that of the run's final trial."""
        early = STABILITY * self.pairs
        return float(
            ((early + self.pairs) / (early + number + 1)) ** ALPHA * ((number + 1) / self.pairs) ** (2 * GAMMA)
        )


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
                result = json.loads(line)
                spsa.tell(result["pair"], result["points"])
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
