"""What the coordinator remembers while it acts: the jobs that are out, and what is still to be done about them.

All of it can be lost: the database is the truth, and whoever acts next takes the games back.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, fields
from datetime import datetime

from arena.store.queue import PendingGame
from referee.record import GameRecord
from referee.spec import PlannedGame


@dataclass(slots=True, eq=False)
class Job:
    """Games given to one slot: what is left of a pair."""

    tournament_id: int
    waiting: list[PendingGame]
    playing: str = ""
    """The game that was begun last."""
    brought: set[str] = field(default_factory=set)
    """The games whose results have come."""
    is_called_off: bool = False
    executor: Executor | None = None
    """Who was given it."""

    @property
    def is_over(self) -> bool:
        """Whether all of its results have come; its slot is about to say so."""
        return len(self.brought) == len(self.waiting)

    @property
    def games(self) -> list[PlannedGame]:
        """The games to be played, in order."""
        return [one.game for one in self.waiting]


@dataclass(slots=True)
class Memory:
    """Shared by the parts of one coordinator, all in one thread."""

    jobs: dict[Future[list[str]], Job] = field(default_factory=dict)
    """By their futures, which bring the attempts that came to nothing."""
    by_game: dict[str, Job] = field(default_factory=dict)
    unrecorded: deque[tuple[GameRecord, int]] = field(default_factory=deque)
    """Results that the database has not taken yet, each with its tournament."""
    given_back: set[str] = field(default_factory=set)
    """Games without a result that are to wait again."""
    begun: list[str] = field(default_factory=list)
    """Games that began and are not marked as running yet."""
    failed: deque[tuple[int, str]] = field(default_factory=deque)
    """Bots that did not get ready for a game, each with its tournament."""
    changed: set[int] = field(default_factory=set)
    """Tournaments to carry on."""
    dry: set[int] = field(default_factory=set)
    """Running tournaments without a planned game left."""
    resting: dict[str, datetime] = field(default_factory=dict)
    """Games that came to nothing more than once, and until when they are not handed out again."""

    def is_out(self, tournament_id: int) -> bool:
        """Whether games of a tournament are with a slot."""
        return any(job.tournament_id == tournament_id and not job.is_over for job in self.jobs.values())

    def forget(self) -> None:
        """Begin anew: what was known concerns this process no more."""
        for part in fields(self):
            getattr(self, part.name).clear()
