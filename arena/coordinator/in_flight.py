"""In-flight jobs: the state of an active coordinator, in memory only.

Losing it loses no result: the next coordinator requeues the games.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, fields
from datetime import datetime

from arena.store.tournaments.queue import PendingGame
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame


@dataclass(slots=True, eq=False)
class Job:
    """Games given to one slot: those of one opening that are still to be played."""

    tournament_id: int
    waiting: list[PendingGame]
    playing: str = ""
    """The game that started last."""
    delivered: set[str] = field(default_factory=set)
    """The games whose results have arrived."""
    is_called_off: bool = False
    executor: Executor | None = None
    """The executor that runs the job."""

    @property
    def is_over(self) -> bool:
        """True once all results have arrived; the future of the job is done soon after."""
        return len(self.delivered) == len(self.waiting)

    @property
    def games(self) -> list[PlannedGame]:
        """The games to be played, in order."""
        return [one.game for one in self.waiting]


@dataclass(slots=True)
class InFlightJobs:
    """The jobs in flight and further state that the parts of one coordinator share. Used in one thread."""

    jobs: dict[Future[list[str]], Job] = field(default_factory=dict)
    """Jobs by their futures, whose result is the list of void attempts."""
    by_game: dict[str, Job] = field(default_factory=dict)
    unrecorded: deque[tuple[GameRecord, int]] = field(default_factory=deque)
    """Results to be committed, each with its tournament."""
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

    def forget(self) -> None:
        """Discard all state, after the loss of the lease."""
        for part in fields(self):
            getattr(self, part.name).clear()
