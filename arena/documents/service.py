"""The service: its coordinator, and void games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.documents import words
from arena.documents.page import PageQuery
from arena.documents.query import described, documented, hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Referee:
    """The coordinator, which schedules, plays and records games. `lease_owner` is null when none is active.

    The lease expires at `until`, which is in `left_s` seconds by the clock of the database. `results_waiting` counts
    finished games in the spool of this server that the database has not accepted yet, the oldest one since
    `results_waiting_since`.
    """

    lease_owner: str | None = documented("name of its process, or an anonymous mark of it")
    until: datetime | None = documented("null without a lease")
    left_s: float | None = documented("negative: expired; null without a lease")
    is_alive: bool = documented("true until the lease expires")
    games: Mapping[str, int] = documented(
        "numbers of `planned`, `queued` and `running` games; states without games are left out"
    )
    results_waiting: int
    results_waiting_since: datetime | None = documented("null: none waits")


@dataclass(frozen=True, slots=True)
class VoidItem:
    """A void attempt at a game: it failed through no fault of a bot, and was repeated or given up."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str = documented("full name of the version that moves first")
    second: str = documented("full name of the other version")
    attempt: int = documented("number of the attempt, from 1")
    termination: str
    detail: str = documented("details in words, may be empty")
    voided_at: datetime
    lease_owner: str = hidden()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery(PageQuery):
    """Filters of the audit log."""

    subject: str | None = described("the subject of the actions, such as bot:zeta")
    user: str | None = described("the user who acted", words.NAME)
