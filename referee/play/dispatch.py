"""Submits games to an executor, delivers each record exactly once, and plays void games again a few times.

The executor is any `concurrent.futures.Executor` whose workers are game slots.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from itertools import groupby

from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.game.unplayed import Suspension, void_record
from referee.machine.pool import WorkerLostError
from referee.play.slot import play_games
from referee.rules.core import Kind, Termination

ATTEMPTS = 3
"""Number of times that a game is played before it stays void."""


class Dispatcher:
    """Runs games. `stop` and `abort` may be called from a signal handler or another thread.

    `suspension` tracks the suspended bots; `on_suspend` is called with the name of each, `on_void` with the record of
    each game that stays void.
    """

    def __init__(
        self,
        executor: Executor,
        in_flight: int,
        on_record: Callable[[GameRecord], None],
        *,
        suspension: Suspension | None = None,
        on_suspend: Callable[[str], None] = lambda name: None,
        on_void: Callable[[GameRecord], None] = lambda record: None,
    ) -> None:
        self._executor = executor
        self._in_flight = in_flight
        self._on_record = on_record
        self._suspension = suspension or Suspension(0)
        self._on_suspend = on_suspend
        self._on_void = on_void
        self._running: dict[Future[list[GameRecord]], list[PlannedGame]] = {}
        self._recalled: set[Future[list[GameRecord]]] = set()
        """Jobs called off because a bot was suspended: their remaining games are forfeited."""
        self._stopping = False
        self._aborting = False
        self._is_over = False
        """True when further games decide nothing: running ones are called off and not played again."""
        self._voids: dict[str, int] = {}

    def stop(self) -> None:
        """Start no more games, but let running ones finish."""
        self._stopping = True

    def abort(self) -> None:
        """Start no more games, and do not replay games that the caller calls off."""
        self._stopping = self._aborting = True

    @property
    def is_stopped(self) -> bool:
        """True once `stop` or `abort` was called."""
        return self._stopping

    def run(
        self,
        games: Iterable[PlannedGame],
        more: Callable[[], Sequence[PlannedGame]] = lambda: (),
        is_enough: Callable[[], bool] = lambda: False,
    ) -> list[GameRecord]:
        """Play all games. The two games of a pair run in one slot, one after the other, with the same processes.

        `more` is asked for further games whenever a slot is free and none wait. `on_record` gets every final record, in
        order of completion. As soon as `is_enough` returns True, running games are called off. Returns the games that
        stayed void.
        """
        waiting = deque(_pairs(games))
        again: list[list[PlannedGame]] = []
        running = self._running
        given_up: list[GameRecord] = []
        self._is_over = False
        while True:
            while len(running) < self._in_flight and not self._stopping and not is_enough():
                if not again and not waiting:
                    waiting.extend(_pairs(more()))
                if not again and not waiting:
                    break
                if job := self._left_of(again.pop() if again else waiting.popleft()):
                    running[self._executor.submit(play_games, job)] = job
            if not running:
                return given_up
            # `stop` only sets a flag, so the loop must look at it although no game ends.
            done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            if self._stopping:
                for future in running:
                    future.cancel()  # a no-op for those that have begun
            for future in done:
                job = running.pop(future)
                again += _pairs(self._take(future, job, given_up))
            if not self._is_over and is_enough():
                self._is_over = True
                for future in running:
                    self._call_off(future)

    def _left_of(self, job: list[PlannedGame]) -> list[PlannedGame]:
        """Return the games of a job that must be played; the others, of suspended bots, are recorded as lost."""
        left = []
        for game in job:
            if record := self._suspension.forfeit(game):
                self._keep(record)
            else:
                self._suspension.begin(game)
                left.append(game)
        return left

    def _keep(self, record: GameRecord) -> None:
        """Deliver a record; if it suspends a bot, call off the games that bot is playing."""
        self._on_record(record)
        name = self._suspension.add(record)
        if name is None:
            return
        self._on_suspend(name)
        for future, job in self._running.items():
            if any(name in (game.spec.first.name, game.spec.second.name) for game in job):
                self._recalled.add(future)
                self._call_off(future)

    def _call_off(self, future: Future[list[GameRecord]]) -> None:
        if hasattr(self._executor, "call_off"):
            self._executor.call_off(future)
        else:
            future.cancel()

    def _take(
        self, future: Future[list[GameRecord]], job: list[PlannedGame], given_up: list[GameRecord]
    ) -> list[PlannedGame]:
        """Deliver the records of a finished job and return the games to be played again."""
        try:
            records = future.result()
        except CancelledError:
            return job if future in self._recalled else []
        except WorkerLostError as error:
            # The records of the job died with the slot. Its first game counts as tried, so that a deadly game cannot
            # repeat for ever.
            records = [void_record(job[0], Termination.WORKER_LOST, str(error))]
        left = []
        for game, record in zip(job, records, strict=False):
            if record.kind is not Kind.VOID:
                self._keep(record)
                continue
            if record.termination is Termination.STOPPED and (self._aborting or self._is_over):
                continue  # neither stored nor given up: it counts as never begun
            if record.termination is Termination.STOPPED and future in self._recalled:
                left.append(game)  # no try: it comes again only to be recorded as lost
                continue
            tries = self._voids[game.id] = self._voids.get(game.id, 0) + 1
            if self._aborting or tries >= ATTEMPTS:
                given_up.append(record)
                if not self._aborting:
                    self._on_void(record)
            else:
                left.append(game)
        # After a game that was called off, the slot returns without having begun the others.
        return left if self._aborting else left + job[len(records) :]


def _pairs(games: Iterable[PlannedGame]) -> list[list[PlannedGame]]:
    return [list(pair) for _, pair in groupby(games, key=lambda game: (game.spec.event, game.spec.pair))]


def left_to_play(games: Iterable[PlannedGame], finished: Iterable[GameRecord]) -> list[PlannedGame]:
    """Return the games that have no record among `finished`."""
    known = {record.id for record in finished}
    return [game for game in games if game.id not in known]
