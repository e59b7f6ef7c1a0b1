"""Tournaments and their entries, and the table of allowed state changes.

Formats decide the pairings elsewhere and store them through `arena.store.tournaments.queue`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.clock import now
from arena.documents.page import PageResponse
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Sessions, fetch
from arena.store.base.models import BotIdentity, Entry, Tournament, Version
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor

NEXT_STATES: Mapping[str, frozenset[str]] = {
    "scheduled": frozenset({"running", "paused", "cancelled"}),
    "running": frozenset({"paused", "draining", "finished", "cancelled"}),
    "draining": frozenset({"running", "paused", "finished", "cancelled"}),
    "paused": frozenset({"scheduled", "running", "finished", "cancelled"}),
    "finished": frozenset({"running"}),
    "cancelled": frozenset(),
    "open": frozenset(),
}
"""Allowed next states; a `finished` tournament resumes when it is extended. `open` is for games of people."""


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry with the names of its version; `seat` is its number in the tables, from 0."""

    seat: int
    version_id: int
    name: str
    bot: str
    version: int
    eligibility: str
    withdrawn: datetime | None
    suspended: str


@dataclass(frozen=True, slots=True)
class LiveTournament:
    """The fields of an unfinished tournament that the coordinator polls."""

    id: int
    state: str
    format: str
    start_time: datetime
    priority: int


_LIVE = (
    *(col(getattr(Tournament, name)) for name in ("id", "state", "format", "start_time")),
    func.coalesce(col(Tournament.settings)["priority"].as_integer(), 0),
)


class Tournaments:
    """Tournaments and entries."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def add(
        self,
        tournament: Tournament,
        entries: Sequence[tuple[int, str]],
        refused: Sequence[tuple[int, str]] = (),
    ) -> Tournament:
        """Store a tournament with its entries as (version, why it may play) in seat order.

        The refused versions follow, with reasons. Raises ConflictError if its schedule has already fired for that time.
        """
        try:
            with self._sessions.writing() as session:
                session.add(tournament)
                session.flush()
                assert tournament.id is not None
                session.add_all(_entries(tournament.id, entries, refused))
        except IntegrityError as error:
            raise ConflictError(f"cannot store tournament {tournament.name!r}: {error.orig}") from None
        return tournament

    def get(self, tournament_id: int) -> Tournament:
        """Return a tournament by id. Raises NotFoundError."""
        with self._sessions.reading() as session:
            tournament = session.get(Tournament, tournament_id)
        if tournament is None:
            raise NotFoundError("tournament", tournament_id)
        return tournament

    def page(
        self,
        *,
        state: str | None = None,
        family: str | None = None,
        schedule_id: int | None = None,
        created_by: int | None = None,
        limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> PageResponse[Tournament]:
        """Return tournaments, latest start first, filtered by state, family, schedule or organiser.

        Games of people are omitted unless `state` is `open`.
        """
        limit = bounded(limit)
        keys = (col(Tournament.start_time), col(Tournament.id))
        query = select(Tournament).order_by(*(key.desc() for key in keys)).limit(limit + 1)
        wanted = {"state": state, "family": family, "schedule_id": schedule_id, "created_by": created_by}
        if state is None:
            query = query.where(col(Tournament.state) != "open")
        for name, value in wanted.items():
            if value is not None:
                query = query.where(col(getattr(Tournament, name)) == value)
        if last := read_cursor(after, datetime, int):
            query = query.where(tuple_(*keys) < tuple_(*last))
        with self._sessions.reading() as session:
            return cut(session.scalars(query).all(), limit, lambda found: (found.start_time, found.id))

    def in_states(self, *states: str) -> list[Tournament]:
        """Return all tournaments in these states, oldest start first."""
        query = select(Tournament).where(col(Tournament.state).in_(states))
        with self._sessions.reading() as session:
            return sorted(session.scalars(query), key=lambda found: (found.start_time, found.id or 0))

    def due(self, at: datetime) -> list[Tournament]:
        """Return the scheduled tournaments whose start time has come, earliest first."""
        query = select(Tournament).where(col(Tournament.state) == "scheduled", col(Tournament.start_time) <= at)
        with self._sessions.reading() as session:
            return list(session.scalars(query.order_by(col(Tournament.start_time), col(Tournament.id))))

    def live(self) -> list[LiveTournament]:
        """Return the tournaments that are or will be played, earliest first; the coordinator polls this."""
        query = select(*_LIVE).where(col(Tournament.state).in_(("scheduled", "running", "draining")))
        with self._sessions.reading() as session:
            return [
                LiveTournament(*row)
                for row in fetch(session, query.order_by(col(Tournament.start_time), col(Tournament.id)))
            ]

    def counts(self) -> dict[str, int]:
        """Count the tournaments in each state."""
        query = select(col(Tournament.state), func.count()).group_by(col(Tournament.state))
        with self._sessions.reading() as session:
            return dict(fetch(session, query))

    def entries(self, tournament_id: int) -> list[EntryLine]:
        """Return the entries in seat order."""
        query = (
            select(
                col(Entry.seat),
                col(Entry.version_id),
                col(Version.name),
                col(BotIdentity.name),
                col(Version.number),
                col(Entry.eligibility),
                col(Entry.withdrawn),
                col(Entry.suspended),
            )
            .join(Version, col(Version.id) == col(Entry.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(Entry.tournament_id) == tournament_id)
            .order_by(col(Entry.seat))
        )
        with self._sessions.reading() as session:
            return [EntryLine(*row) for row in fetch(session, query)]

    def seat(
        self,
        tournament_id: int,
        entries: Sequence[tuple[int, str]],
        refused: Sequence[tuple[int, str]] = (),
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Replace all entries of a tournament that has not started, in seat order, then the refused ones with reasons.

        Raises NotFoundError, and ConflictError once it has started.
        """
        with self._sessions.writing() as session:
            tournament = _not_begun(session, tournament_id)
            if settings is not None:
                tournament.settings = dict(settings)
            session.execute(delete(Entry).where(col(Entry.tournament_id) == tournament_id))
            session.add_all(_entries(tournament_id, entries, refused))

    def replace(
        self,
        tournament_id: int,
        like: Tournament,
        entries: Sequence[tuple[int, str]],
        refused: Sequence[tuple[int, str]],
    ) -> Tournament:
        """Copy the settings of another tournament to one that has not started, with these entries.

        Raises NotFoundError, ConflictError.
        """
        with self._sessions.writing() as session:
            tournament = _not_begun(session, tournament_id)
            for name in _CHOSEN:
                setattr(tournament, name, getattr(like, name))
            session.execute(delete(Entry).where(col(Entry.tournament_id) == tournament_id))
            session.add_all(_entries(tournament_id, entries, refused))
        return tournament

    def enter(self, tournament_id: int, version_id: int, why: str) -> int:
        """Enter one more version, for formats that allow it; return its seat. Raises ConflictError if it is entered."""
        try:
            with self._sessions.writing() as session:
                mine = select(func.max(col(Entry.seat))).where(col(Entry.tournament_id) == tournament_id)
                last = session.scalar(mine)
                seat = 0 if last is None else last + 1
                session.add(Entry(tournament_id=tournament_id, version_id=version_id, seat=seat, eligibility=why))
        except IntegrityError:
            raise ConflictError(f"version {version_id} is already entered in tournament {tournament_id}") from None
        return seat

    def withdraw(self, tournament_id: int, version_id: int, suspended: str = "") -> None:
        """Withdraw an entry, which is not paired any more. Withdrawing twice is harmless.

        `suspended` is the reason if the referee withdraws it.
        """
        with self._sessions.writing() as session:
            session.execute(
                update(Entry)
                .where(
                    col(Entry.tournament_id) == tournament_id,
                    col(Entry.version_id) == version_id,
                    col(Entry.withdrawn).is_(None),
                )
                .values(withdrawn=now(), suspended=suspended)
            )

    def move(self, tournament_id: int, state: str, *, only_from: Sequence[str] = (), problem: str = "") -> Tournament:
        """Change the state of a tournament. Raises NotFoundError, and ConflictError naming its present state.

        `only_from` restricts what `NEXT_STATES` allows. Sets `started` and `finished` accordingly.
        """
        with self._sessions.writing() as session:
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            present = tournament.state
            if state not in NEXT_STATES[present] or (only_from and present not in only_from):
                raise ConflictError(f"tournament {tournament_id} is {present}; it cannot become {state}", present)
            tournament.state = state
            tournament.problem = problem
            if state == "running":
                tournament.started_at = tournament.started_at or now()
                tournament.finished_at = None
            elif state in ("finished", "cancelled"):
                tournament.finished_at = now()
        return tournament

    def reschedule(self, tournament_id: int, start_time: datetime) -> Tournament:
        """Set another start time for a scheduled tournament. Raises NotFoundError, ConflictError."""
        with self._sessions.writing() as session:
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            if tournament.state != "scheduled":
                raise ConflictError(
                    f"tournament {tournament_id} is {tournament.state}, not scheduled", tournament.state
                )
            tournament.start_time = start_time
        return tournament

    def keep_findings(self, tournament_id: int, findings: Mapping[str, object]) -> None:
        """Store the statistical findings of a tournament."""
        with self._sessions.writing() as session:
            session.execute(
                update(Tournament).where(col(Tournament.id) == tournament_id).values(findings=dict(findings))
            )

    def without_findings(self) -> list[int]:
        """Return the ids of finished tournaments without findings."""
        query = select(col(Tournament.id)).where(
            col(Tournament.state) == "finished", col(Tournament.findings).is_(None)
        )
        with self._sessions.reading() as session:
            return [key for key in session.scalars(query.order_by(col(Tournament.id))) if key is not None]

    def extend(self, tournament_id: int, settings: Mapping[str, object]) -> None:
        """Replace the settings document, for formats that can be extended."""
        with self._sessions.writing() as session:
            session.execute(
                update(Tournament).where(col(Tournament.id) == tournament_id).values(settings=dict(settings))
            )

    def prioritise(self, tournament_id: int, priority: int) -> Tournament:
        """Set the priority of an unfinished tournament. Raises NotFoundError, ConflictError."""
        with self._sessions.writing() as session:
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            if not NEXT_STATES[tournament.state] or tournament.state == "finished":
                raise ConflictError(
                    f"tournament {tournament_id} is {tournament.state}: it has no more games", tournament.state
                )
            tournament.settings = {**tournament.settings, "priority": priority}
        return tournament


_CHOSEN = ("name", "family", "variant", "options", "format", "settings", "pool", "is_rated", "problem", "start_time")
"""Columns set by a tournament's document."""


def _not_begun(session: Session, tournament_id: int) -> Tournament:
    tournament = session.get(Tournament, tournament_id, with_for_update=True)
    if tournament is None:
        raise NotFoundError("tournament", tournament_id)
    if tournament.started_at is not None or tournament.state not in ("scheduled", "paused"):
        raise ConflictError(f"tournament {tournament_id} has started: it is {tournament.state}", tournament.state)
    return tournament


def _entries(tournament_id: int, entries: Sequence[tuple[int, str]], refused: Sequence[tuple[int, str]]) -> list[Entry]:
    at = now()
    return [
        Entry(
            tournament_id=tournament_id,
            version_id=version_id,
            seat=seat,
            eligibility=why,
            withdrawn=at if seat >= len(entries) else None,
        )
        for seat, (version_id, why) in enumerate([*entries, *refused])
    ]
