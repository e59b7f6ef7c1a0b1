"""The service: its coordinator, and void games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from arena.documents import words
from arena.documents.query import PageQuery, described
from referee.meaning import HIDDEN, meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Referee:
    """The coordinator, which schedules, plays and records games. `lease_owner` is null when none is active.

    The lease expires at `until`, which is in `left_s` seconds by the clock of the database. `results_waiting` counts
    finished games in the spool of this server that the database has not accepted yet, the oldest one since
    `results_waiting_since`.
    """

    lease_owner: str | None = field(metadata=meaning("name of its process, or an anonymous mark of it"))
    until: datetime | None = field(metadata=meaning("null without a lease"))
    left_s: float | None = field(metadata=meaning("negative: expired; null without a lease"))
    is_alive: bool = field(metadata=meaning("true until the lease expires"))
    games: Mapping[str, int] = field(
        metadata=meaning("numbers of `planned`, `queued` and `running` games; states without games are left out")
    )
    results_waiting: int
    results_waiting_since: datetime | None = field(metadata=meaning("null: none waits"))


@dataclass(frozen=True, slots=True)
class VoidItem:
    """A void attempt at a game: it failed through no fault of a bot, and was repeated or given up."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str = field(metadata=meaning("full name of the version that moves first"))
    second: str = field(metadata=meaning("full name of the other version"))
    attempt: int = field(metadata=meaning("number of the attempt, from 1"))
    termination: str
    detail: str = field(metadata=meaning("details in words, may be empty"))
    voided_at: datetime
    lease_owner: str = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery(PageQuery):
    """Filters of the audit log."""

    subject: str | None = described("the subject of the actions, such as bot:zeta")
    user: str | None = described("the user who acted", words.NAME)
