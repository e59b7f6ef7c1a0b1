"""Feeds games to an executor, hands each record over exactly once, and plays void games again, within bounds.

The executor is any `concurrent.futures.Executor` whose workers are game slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from itertools import groupby

from referee.pool import WorkerLostError
from referee.record import GameRecord, now
from referee.rules.core import Kind, Termination
from referee.slot import play_games
from referee.spec import PlannedGame

ATTEMPTS = 3
"""How often a game is tried before it stays void."""


class Dispatcher:
    """Runs games; `stop()` (from a signal handler or another thread) lets running ones finish and starts no more."""

    def __init__(self, executor: Executor, in_flight: int, on_record: Callable[[GameRecord], None]) -> None:
        self._executor = executor
        self._in_flight = in_flight
        self._on_record = on_record
        self._stopping = False
        self._aborting = False
        self._voids: dict[str, int] = {}

    def stop(self) -> None:
        """Start no more games."""
        self._stopping = True

    def abort(self) -> None:
        """Start no more games, and do not play again what is called off."""
        self._stopping = self._aborting = True

    def run(self, games: Iterable[PlannedGame], is_enough: Callable[[], bool] = lambda: False) -> list[GameRecord]:
        """Play all games; the two of a pair run in one slot, one after the other, with the same processes.

        `on_record` gets every record that stands, in the order of completion. Returns the games that stayed void.
        """
        waiting: Iterator[list[PlannedGame]] = iter(
            [list(pair) for _, pair in groupby(games, key=lambda game: (game.spec.event, game.spec.pair))]
        )
        again: list[list[PlannedGame]] = []
        running: dict[Future[list[GameRecord]], list[PlannedGame]] = {}
        given_up: list[GameRecord] = []
        while True:
            while len(running) < self._in_flight and not self._stopping and not is_enough():
                job = again.pop() if again else next(waiting, None)
                if job is None:
                    break
                running[self._executor.submit(play_games, job)] = job
            if not running:
                return given_up
            done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            if self._stopping:
                for future in running:
                    future.cancel()  # a no-op for those that have begun
            for future in done:
                job = running.pop(future)
                left = self._take(future, job, given_up)
                if left:
                    again.append(left)

    def _take(
        self, future: Future[list[GameRecord]], job: list[PlannedGame], given_up: list[GameRecord]
    ) -> list[PlannedGame]:
        """Hand over what the job brought; the games to be played again."""
        try:
            records = future.result()
        except CancelledError:
            return []
        except WorkerLostError as error:
            records = [void_record(job[0], Termination.WORKER_LOST, str(error))]
        left = []
        for game, record in zip(job, records, strict=False):
            if record.kind is not Kind.VOID:
                self._on_record(record)
                continue
            tries = self._voids[game.id] = self._voids.get(game.id, 0) + 1
            if self._aborting or tries >= ATTEMPTS:
                given_up.append(record)
            else:
                left.append(game)
        return left if self._aborting else left + job[len(records) :]


def void_record(game: PlannedGame, termination: Termination, detail: str) -> GameRecord:
    """The record of a game that came to nothing before it began, or whose worker took its record with it."""
    spec = game.spec
    return GameRecord(
        id=game.id,
        family=spec.family,
        variant=spec.variant,
        options=spec.options,
        position=spec.position or "",
        first=spec.first.name,
        second=spec.second.name,
        winner=None,
        termination=termination,
        kind=Kind.VOID,
        moves=(),
        plies=(),
        started=now(),
        finished=now(),
        event=spec.event,
        sequence=spec.sequence,
        round=spec.round,
        pair=spec.pair,
        detail=detail,
    )


def left_to_play(games: Iterable[PlannedGame], finished: Iterable[GameRecord]) -> list[PlannedGame]:
    """The games whose record is not there yet."""
    known = {record.id for record in finished}
    return [game for game in games if game.id not in known]


__all__ = ["ATTEMPTS", "Dispatcher", "left_to_play", "void_record"]
