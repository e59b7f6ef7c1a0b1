"""Tournaments and their entries.

Pairings are planned by the formats in `referee.tournament.formats`, and stored through `arena.store.tournaments.queue`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.clock import now
from arena.documents.query import PageResponse
from arena.documents.tournament import (
    NEXT_STATES,
    OVER,
    EntryItem,
    TournamentItem,
    TournamentQuery,
    TournamentState,
)
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import bounded, cut, read_cursor
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game
from arena.store.base.tables.tournaments import Entry, Tournament


@dataclass(frozen=True, slots=True)
class LiveTournament:
    """The fields of an unfinished tournament that the coordinator polls."""

    id: int
    state: TournamentState
    format: str
    start_time: datetime
    later_games: int
    priority: int


_LIVE = (
    select(
        *(col(getattr(Tournament, name)) for name in ("id", "state", "format", "start_time", "later_games")),
        func.coalesce(col(Tournament.settings)["priority"].as_integer(), 0),
    )
    .where(col(Tournament.state).in_(("scheduled", "running", "draining")))
    .order_by(col(Tournament.start_time), col(Tournament.id))
)
_ENTRY = (
    *(col(Entry.seat), col(Version.name), col(BotIdentity.name).label("bot"), col(Version.number).label("version")),
    *(col(one) for one in (Entry.eligibility, Entry.withdrawn, Entry.suspended, Entry.version_id)),
    col(BotIdentity.owner_id),
)
"""The columns of an `EntryItem`, in its order."""
_CHOSEN = ("name", "family", "variant", "options", "format", "settings", "pool", "is_rated", "problem", "start_time")
"""Columns set by a tournament's document."""
_ALL = TournamentQuery()


class Tournaments(Repository):
    """Tournaments with their entries, and the changes of their states."""

    def add(
        self,
        tournament: Tournament,
        entries: Sequence[tuple[int, str]],
        refused: Sequence[tuple[int, str]] = (),
    ) -> TournamentItem:
        """Store a tournament with its entries in seat order, given as (version id, reason why it may play).

        The `refused` versions follow, each with the reason. Raises ConflictError if the tournament's schedule has
        already created a tournament for this time.
        """
        try:
            with self._sessions.writing() as session:
                session.add(tournament)
                session.flush()
                _seat(session, tournament.id, entries, refused)
                return tournament_item(tournament)
        except IntegrityError as error:
            raise ConflictError(f"cannot store tournament {tournament.name!r}: {error.orig}") from None

    def get(self, tournament_id: int) -> TournamentItem:
        """Return a tournament by id. Raises NotFoundError."""
        with self._sessions.reading() as session:
            tournament = session.get(Tournament, tournament_id)
        if tournament is None:
            raise NotFoundError("tournament", tournament_id)
        return tournament_item(tournament)

    def page(self, query: TournamentQuery = _ALL, *, created_by: int | None = None) -> PageResponse[TournamentItem]:
        """Return tournaments, latest start first: all, or those of one organiser.

        Games of people are omitted unless the state is `open`.
        """
        limit = bounded(query.limit)
        keys = (col(Tournament.start_time), col(Tournament.id))
        rows = select(Tournament).order_by(*(key.desc() for key in keys)).limit(limit + 1)
        wanted = {"family": query.family, "schedule_id": query.schedule, "created_by": created_by}
        if query.state is None:
            rows = rows.where(col(Tournament.state) != "open")
        for name, value in {"state": query.state, **wanted}.items():
            if value is not None:
                rows = rows.where(col(getattr(Tournament, name)) == value)
        if last := read_cursor(query.after, datetime, int):
            rows = rows.where(tuple_(*keys) < tuple_(*last))
        with self._sessions.reading() as session:
            tournaments = [tournament_item(row) for row in session.scalars(rows)]
        return cut(tournaments, limit, lambda tournament: (tournament.start_time, tournament.id))

    def in_states(self, *states: TournamentState) -> list[TournamentItem]:
        """Return all tournaments in these states, oldest start first."""
        query = select(Tournament).where(col(Tournament.state).in_(states))
        with self._sessions.reading() as session:
            rows = session.scalars(query.order_by(col(Tournament.start_time), col(Tournament.id)))
            return [tournament_item(row) for row in rows]

    def live(self) -> list[LiveTournament]:
        """Return the tournaments that are or will be played, earliest first. The coordinator polls this list."""
        with self._sessions.reading() as session:
            return [LiveTournament(*row) for row in fetch(session, _LIVE)]

    def count_challenges(self, user_id: int) -> int:
        """Count the challenges of a user that are not over; games of people are not among them."""
        query = select(func.count()).where(
            col(Tournament.created_by) == user_id,
            col(Tournament.is_challenge),
            col(Tournament.state).not_in((*OVER, "open")),
        )
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def counts(self) -> dict[str, int]:
        query = select(col(Tournament.state), func.count()).group_by(col(Tournament.state))
        with self._sessions.reading() as session:
            return dict(fetch(session, query))

    def entries(self, tournament_id: int) -> list[EntryItem]:
        """Return the entries of a tournament in seat order."""
        query = (
            select(*_ENTRY)
            .join(Version, col(Version.id) == col(Entry.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(Entry.tournament_id) == tournament_id)
            .order_by(col(Entry.seat))
        )
        with self._sessions.reading() as session:
            return [EntryItem(*row) for row in fetch(session, query)]

    def seat(
        self,
        tournament_id: int,
        entries: Sequence[tuple[int, str]],
        refused: Sequence[tuple[int, str]] = (),
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Replace all entries of a tournament that has not started: `entries` in seat order, then `refused`.

        Raises NotFoundError, and ConflictError once the tournament has started.
        """
        with self._sessions.writing() as session:
            tournament = _not_begun(session, tournament_id)
            if settings is not None:
                tournament.settings = dict(settings)
            _seat(session, tournament_id, entries, refused)

    def replace(
        self,
        tournament_id: int,
        like: Tournament,
        entries: Sequence[tuple[int, str]],
        refused: Sequence[tuple[int, str]],
    ) -> TournamentItem:
        """Replace the settings and entries of a tournament that has not started; `like` has the new settings.

        Raises NotFoundError, and ConflictError once the tournament has started.
        """
        with self._sessions.writing() as session:
            tournament = _not_begun(session, tournament_id)
            for name in _CHOSEN:
                setattr(tournament, name, getattr(like, name))
            _seat(session, tournament_id, entries, refused)
            return tournament_item(tournament)

    def enter(
        self,
        tournament_id: int,
        version_id: int,
        why: str,
        change: Callable[[Mapping[str, object], int], Mapping[str, object]] | None = None,
    ) -> int:
        """Enter another version and return its seat. Raises NotFoundError, ConflictError if it is entered already.

        `change` returns the new settings document, from the stored one and the number of planned rounds. The caller
        checks that the format of the tournament accepts later entries.
        """
        try:
            with self._sessions.writing() as session:
                # Locked: two that enter at once would take the same seat, and a round could be planned meanwhile.
                tournament = _locked(session, tournament_id)
                if change is not None:
                    rounds = select(func.max(col(Game.round))).where(col(Game.tournament_id) == tournament_id)
                    tournament.settings = dict(change(tournament.settings, session.scalar(rounds) or 0))
                mine = select(func.max(col(Entry.seat))).where(col(Entry.tournament_id) == tournament_id)
                last = session.scalar(mine)
                seat = 0 if last is None else last + 1
                session.add(Entry(tournament_id=tournament_id, version_id=version_id, seat=seat, eligibility=why))
        except IntegrityError:
            raise ConflictError(f"version {version_id} is already entered in tournament {tournament_id}") from None
        return seat

    def withdraw(self, tournament_id: int, version_id: int, suspended: str = "") -> None:
        """Withdraw an entry, so that it is not paired any more. Withdrawing twice is harmless.

        `suspended` is the reason if the coordinator withdraws the entry.
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

    def move(
        self,
        tournament_id: int,
        state: TournamentState,
        *,
        only_from: Sequence[TournamentState] = (),
        problem: str = "",
    ) -> TournamentItem:
        """Change the state of a tournament. Raises NotFoundError, and ConflictError naming its present state.

        `only_from` limits the present states that `NEXT_STATES` allows. `started_at` and `finished_at` are set too.
        """
        with self._sessions.writing() as session:
            tournament = _locked(session, tournament_id)
            present = tournament.state
            following = NEXT_STATES[present]
            if state not in following or (only_from and present not in only_from):
                raise ConflictError(f"tournament {tournament_id} is {present}; it cannot become {state}", present)
            tournament.state = state
            tournament.problem = problem
            if state == "running":
                tournament.started_at = tournament.started_at or now()
                tournament.finished_at = None
            elif state in OVER:
                tournament.finished_at = now()
            return tournament_item(tournament)

    def reschedule(self, tournament_id: int, start_time: datetime) -> TournamentItem:
        """Set another start time for a scheduled tournament. Raises NotFoundError, ConflictError."""
        with self._sessions.writing() as session:
            tournament = _locked(session, tournament_id)
            if tournament.state != "scheduled":
                raise ConflictError(
                    f"tournament {tournament_id} is {tournament.state}, not scheduled", tournament.state
                )
            tournament.start_time = start_time
            return tournament_item(tournament)

    def keep_findings(self, tournament_id: int, findings: Mapping[str, object]) -> None:
        with self._sessions.writing() as session:
            chosen = update(Tournament).where(col(Tournament.id) == tournament_id)
            session.execute(chosen.values(findings=dict(findings)))

    def without_findings(self) -> list[int]:
        """Return the ids of finished tournaments without findings."""
        query = select(col(Tournament.id)).where(
            col(Tournament.state) == "finished", col(Tournament.findings).is_(None)
        )
        with self._sessions.reading() as session:
            return list(session.scalars(query.order_by(col(Tournament.id))))

    def replace_settings(self, tournament_id: int, known: Mapping[str, object], settings: Mapping[str, object]) -> bool:
        """Store a longer document instead of the `known` one; return False if that has been changed meanwhile.

        Raises NotFoundError.
        """
        with self._sessions.writing() as session:
            tournament = _locked(session, tournament_id)
            is_known = tournament.settings == known
            if is_known:
                tournament.settings = dict(settings)
            return is_known

    def prioritise(self, tournament_id: int, priority: int) -> TournamentItem:
        """Set the priority of an unfinished tournament. Raises NotFoundError, ConflictError."""
        with self._sessions.writing() as session:
            tournament = _locked(session, tournament_id)
            if tournament.state in OVER:
                raise ConflictError(
                    f"tournament {tournament_id} is {tournament.state}: it has no more games", tournament.state
                )
            if tournament.state == "open":
                problem = f"tournament {tournament_id} has no priority: players start its games"
                raise ConflictError(problem, tournament.state)
            tournament.settings = {**tournament.settings, "priority": priority}
            return tournament_item(tournament)


def tournament_item(row: Tournament) -> TournamentItem:
    """Return a stored tournament as a document."""
    return TournamentItem(
        id=row.id,
        name=row.name,
        family=row.family,
        variant=row.variant,
        format=row.format,
        pool=row.pool,
        is_rated=row.is_rated,
        state=row.state,
        problem=row.problem,
        priority=row.priority,
        start_time=row.start_time,
        started_at=row.started_at,
        finished_at=row.finished_at,
        planned_games=row.planned_games,
        later_games=row.later_games,
        finished_games=row.finished_games,
        schedule_id=row.schedule_id,
        options=row.options,
        settings=row.settings,
        findings=row.findings,
        fire_time=row.fire_time,
        created_by=row.created_by,
        created_at=row.created_at,
    )


def _locked(session: Session, tournament_id: int) -> Tournament:
    tournament = session.get(Tournament, tournament_id, with_for_update=True)
    if tournament is None:
        raise NotFoundError("tournament", tournament_id)
    return tournament


def _not_begun(session: Session, tournament_id: int) -> Tournament:
    tournament = _locked(session, tournament_id)
    if tournament.started_at is not None or tournament.state not in ("scheduled", "paused"):
        raise ConflictError(f"tournament {tournament_id} has started: it is {tournament.state}", tournament.state)
    return tournament


def _seat(
    session: Session, tournament_id: int, entries: Sequence[tuple[int, str]], refused: Sequence[tuple[int, str]]
) -> None:
    """Replace all entries of a tournament; refused versions become withdrawn entries."""
    at = now()
    session.execute(delete(Entry).where(col(Entry.tournament_id) == tournament_id))
    for seat, (version_id, why) in enumerate([*entries, *refused]):
        withdrawn = at if seat >= len(entries) else None
        session.add(
            Entry(tournament_id=tournament_id, version_id=version_id, seat=seat, eligibility=why, withdrawn=withdrawn)
        )
