"""Objects that the parts of one coordinator share: services, its jobs in flight, and the way to wake it.

Jobs in flight are in memory only. Losing them loses no result: the next coordinator requeues the games.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING

from arena.clock import now
from arena.cluster.spool import Arrival, Spool
from arena.events.bus import EventBus
from arena.metrics import CoordinatorMetrics
from arena.store import Store
from arena.store.tournaments.queue import PendingGame
from referee.game.spec import PlannedGame

if TYPE_CHECKING:
    from arena.config import Settings


@dataclass(slots=True, eq=False)
class Job:
    """Games given to one slot: those of one opening that are still to be played."""

    tournament_id: int
    waiting: list[PendingGame]
    playing: str = ""
    """The game that started last."""
    delivered: set[str] = field(default_factory=set)
    """The games whose results or void attempts have arrived."""
    has_void: bool = False
    """Whether a game was void: then its slot may have left out the games after it."""
    is_called_off: bool = False
    executor: Executor | None = None
    """The executor that runs the job."""

    @property
    def is_over(self) -> bool:
        """True once all records have arrived; the future of the job is done soon after."""
        return len(self.delivered) == len(self.waiting)

    @property
    def games(self) -> list[PlannedGame]:
        """The games to be played, in order."""
        return [pending.game for pending in self.waiting]

    def attempt(self, game_id: str) -> int:
        """Return the number of the attempt at one of the games."""
        return next(game.attempt for game in self.games if game.id == game_id)


@dataclass(slots=True)
class InFlightJobs:
    """The jobs in flight and further state that the parts of one coordinator share. Used in one thread."""

    jobs: dict[Future[None], Job] = field(default_factory=dict)
    """Jobs by their futures."""
    by_game: dict[str, Job] = field(default_factory=dict)
    unrecorded: deque[tuple[Arrival, int]] = field(default_factory=deque)
    """Records to be committed, each with its tournament."""
    to_requeue: set[str] = field(default_factory=set)
    """Games without a result that are to be queued again."""
    started: list[str] = field(default_factory=list)
    """Games that have started and are not yet marked as running."""
    failed_starts: deque[tuple[int, str]] = field(default_factory=deque)
    """Bots that failed to get ready for a game, each with its tournament."""
    suspended: deque[tuple[int, str]] = field(default_factory=deque)
    """Suspended bots whose planned games are to be forfeited, each with its tournament."""
    changed: set[int] = field(default_factory=set)
    """Tournaments to advance."""
    exhausted: set[int] = field(default_factory=set)
    """Running tournaments without a planned game left."""
    backing_off: dict[str, datetime] = field(default_factory=dict)
    """Games with several void attempts, and when each may be dispatched again."""

    def is_out(self, tournament_id: int) -> bool:
        """Return whether any game of a tournament is in flight."""
        return any(job.tournament_id == tournament_id and not job.is_over for job in self.jobs.values())

    def requeue(self, game_ids: set[str], tournament_id: int) -> None:
        """Queue games of a tournament without a record again, in this turn."""
        if game_ids:
            self.to_requeue |= game_ids
            self.exhausted.discard(tournament_id)

    def forget(self) -> None:
        """Discard all state, after the loss of the lease."""
        for part in fields(self):
            getattr(self, part.name).clear()


BATCH_WINDOW_S = 0.5
"""How long a result or a start of a game waits for others: a turn costs the same for one of them and for many."""


class Wakeup:
    """Ends the pause between two turns. `now` and `soon` are thread-safe; the rest is used in the event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event = asyncio.Event()
        self._batch: asyncio.TimerHandle | None = None
        """The timer that ends the pause when the batch window ends."""

    def attach(self) -> None:
        """Use the running event loop; before that nothing is woken."""
        self._loop = asyncio.get_running_loop()

    def now(self) -> None:
        """End the pause at once."""
        self._call(self._event.set)

    def soon(self) -> None:
        """End the pause after a short time in which more may arrive."""
        self._call(self._begin_batch)

    async def wait(self, seconds: float) -> None:
        """Pause until woken, or for this many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)

    async def when(self, event: asyncio.Event) -> None:
        """End the pause when an event is set."""
        await event.wait()
        self._event.set()

    def clear(self) -> None:
        """Forget the wake-up and its timer: the turn that begins handles everything that has arrived."""
        self._event.clear()
        if self._batch is not None:
            self._batch.cancel()
            self._batch = None

    def _call(self, function: Callable[[], None]) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(function)

    def _begin_batch(self) -> None:
        if self._batch is None and self._loop is not None:
            self._batch = self._loop.call_later(BATCH_WINDOW_S, self._event.set)


@dataclass(frozen=True, slots=True)
class CoordinatorContext:
    """The surroundings of one coordinator. `owner` is its name as a candidate for the lease."""

    settings: Settings
    store: Store
    bus: EventBus
    executor: Executor
    spool: Spool
    owner: str
    metrics: CoordinatorMetrics
    clock: Callable[[], datetime] = now
    in_flight: InFlightJobs = field(default_factory=InFlightJobs)
    wakeup: Wakeup = field(default_factory=Wakeup)
