"""The service: its coordinator, and void games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.documents import words
from arena.documents.page import PageQuery
from arena.documents.query import described, hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Referee:
    """The coordinator, which schedules, plays and records games. `lease_owner` is null when none is active.

    The lease expires at `until`, which is in `left_s` seconds by the clock of the database. `results_waiting` counts
    finished games in the spool of this server that the database has not accepted yet, the oldest one since
    `results_waiting_since`.
    """

    lease_owner: str | None
    until: datetime | None
    left_s: float | None
    is_alive: bool
    games: Mapping[str, int]
    results_waiting: int
    results_waiting_since: datetime | None


@dataclass(frozen=True, slots=True)
class VoidItem:
    """A void attempt at a game: it failed through no fault of a bot."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str
    second: str
    attempt: int
    termination: str
    detail: str
    voided_at: datetime
    lease_owner: str = hidden()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery(PageQuery):
    """Filters of the audit log."""

    subject: str | None = described("the subject of the actions, such as bot:zeta")
    user: str | None = described("the user who acted", words.NAME)
