"""Games without a result: planned, dispatched, requeued. The coordinator dispatches games from here.

Lists of games for pages and the API are in `arena.store.games.games`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Repository, batched, fetch, table_of
from arena.store.base.tables.games import Game
from arena.store.base.tables.tournaments import Tournament
from arena.store.tournaments.meetings import number_meetings
from referee.game.spec import PlannedGame, spec_from_json
from referee.ratings.trueskill import pool_of
from referee.rules import load
from referee.tournament.match import State, TournamentGame

_OPEN = ("planned", "queued", "running")
_UNFINISHED = ("running", "paused", "draining")
_GAMES = table_of(Game)
_THESE = _GAMES.c.id.in_(bindparam("ids", expanding=True))
_WAITING = (
    select(_GAMES.c.id, _GAMES.c.spec, _GAMES.c.attempt)
    .where(_GAMES.c.tournament_id == bindparam("tournament"), _GAMES.c.state == "planned")
    .order_by(_GAMES.c.sequence)
    .limit(bindparam("count"))
)
_HAND_OUT = (
    update(_GAMES)
    .where(_THESE, _GAMES.c.state == "planned")
    .values(state="queued", lease_owner=bindparam("to"), attempt=_GAMES.c.attempt + 1)
    .returning(_GAMES.c.id)
)
_START = (
    update(_GAMES)
    .where(_THESE, _GAMES.c.state == "queued")
    .values(state="running", started_at=bindparam("at", type_=_GAMES.c.started_at.type))
)


@dataclass(frozen=True, slots=True)
class PendingGame:
    """A planned game ready for dispatch, with the number of its next attempt."""

    game: PlannedGame
    tournament_id: int


_COLUMNS = ("sequence", "round", "pair", "first_id", "second_id", "state", "winner", "commit_number")
_GAME = select(*(_GAMES.c[name] for name in _COLUMNS))  # table columns are twice as fast as model attributes


class Queue(Repository):
    """The plan of every tournament and the dispatch of its games."""

    def plan(
        self,
        tournament_id: int,
        games: Sequence[PlannedGame],
        versions: Mapping[str, int],
        *,
        later: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> int:
        """Store games of a tournament in one transaction and return how many were new. Stored games stay unchanged.

        `versions` maps the bot names in the specs to version ids. Sequence numbers must be new in the tournament.
        `later` is the number of further games in the plan that are stored later. If `settings` are given and no longer
        those of the tournament, nothing is stored: they changed while the games were planned. Raises NotFoundError, and
        ConflictError if another process has planned different games or has cancelled the tournament.
        """
        try:
            return self._plan(tournament_id, games, versions, later, settings)
        except IntegrityError as error:
            raise ConflictError(
                f"another process has planned the games of tournament {tournament_id}: {error.orig}"
            ) from None

    def _plan(
        self,
        tournament_id: int,
        games: Sequence[PlannedGame],
        versions: Mapping[str, int],
        later: int,
        settings: Mapping[str, Any] | None,
    ) -> int:
        pools: dict[str, str] = {}
        with self._sessions.writing() as session:
            # Locked: a cancellation in the same moment waits, and then sees the games that are stored here.
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            if tournament.state == "cancelled":
                raise ConflictError(f"tournament {tournament_id} is cancelled", tournament.state)
            if settings is not None and settings != tournament.settings:
                return 0
            known: set[str] = set()
            for part in batched([game.id for game in games]):
                known.update(session.scalars(select(col(Game.id)).where(col(Game.id).in_(part))))
            rows = [row_of_game(tournament, game, versions, pools) for game in games if game.id not in known]
            if tournament.is_challenge:
                number_meetings(session, rows)
            for new in batched(rows):
                session.execute(insert(Game), new)
            # Later games were counted when they were announced: those stored now are no longer among them.
            tournament.planned_games += len(rows) + later - tournament.later_games
            tournament.later_games = later
        return len(rows)

    def set_later(self, tournament_id: int, count: int) -> None:
        """Set the number of games of a tournament's plan that are not stored yet."""
        change = {"planned_games": col(Tournament.planned_games) + count - col(Tournament.later_games)}
        with self._sessions.writing() as session:
            session.execute(
                update(Tournament).where(col(Tournament.id) == tournament_id).values(later_games=count, **change)
            )

    def frontier(self, tournament_id: int, seats: Mapping[int, int]) -> list[TournamentGame]:
        """Return the planned, queued and running games of a tournament and its last stored game, in planned order.

        `seats` maps version ids to seats.
        """
        mine = _GAME.where(_GAMES.c.tournament_id == tournament_id)
        with self._sessions.reading() as session:
            rows = fetch(session, mine.where(_GAMES.c.state.in_(_OPEN)))
            last = fetch(session, mine.order_by(_GAMES.c.sequence.desc()).limit(1))
        # A set, as the last game may be one of the open ones.
        return _tournament_games(sorted({*rows, *last}), seats)

    def games(self, tournament_id: int, seats: Mapping[int, int]) -> list[TournamentGame]:
        """Return every game of a tournament in planned order, in any state. `seats` maps version ids to seats."""
        query = _GAME.where(_GAMES.c.tournament_id == tournament_id).order_by(_GAMES.c.sequence)
        with self._sessions.reading() as session:
            return _tournament_games(fetch(session, query), seats)

    def starts(self, tournament_id: int) -> list[datetime]:
        """Return when the first game of each round of a tournament started, for the rounds that have begun."""
        query = (
            select(func.min(col(Game.started_at)))
            .where(col(Game.tournament_id) == tournament_id, col(Game.started_at).is_not(None))
            .group_by(col(Game.round))
        )
        with self._sessions.reading() as session:
            return list(session.scalars(query))

    def waiting(self, tournament_id: int, limit: int, without: Collection[str] = ()) -> list[PendingGame]:
        """Return the next planned games of a tournament in planned order, except those of the versions in `without`."""
        query = _WAITING
        if without:
            query = query.where(_GAMES.c.first.not_in(without), _GAMES.c.second.not_in(without))
        with self._sessions.reading() as session:
            rows = session.execute(query, {"tournament": tournament_id, "count": limit}).all()
        return [
            PendingGame(PlannedGame(game_id, spec_from_json(spec), attempt + 1), tournament_id)
            for game_id, spec, attempt in rows
        ]

    def of_version(self, tournament_id: int, version_id: int) -> list[PlannedGame]:
        """Return the unfinished games of a version in a tournament, in planned order."""
        query = (
            select(col(Game.id), col(Game.spec))
            .where(
                col(Game.tournament_id) == tournament_id,
                col(Game.state).in_(_OPEN),
                (col(Game.first_id) == version_id) | (col(Game.second_id) == version_id),
            )
            .order_by(col(Game.sequence))
        )
        with self._sessions.reading() as session:
            return [PlannedGame(game_id, spec_from_json(spec)) for game_id, spec in fetch(session, query)]

    def first_rated(self, version_id: int) -> tuple[int, int] | None:
        """Return the tournament of a version's next rated game, and its place, from 1 on, among the planned ones."""
        own = (col(Game.first_id) == version_id) | (col(Game.second_id) == version_id)
        # Without a commit number a game is not over: the indexes of both sides have few such entries.
        query = (
            select(col(Game.tournament_id), col(Game.sequence))
            .where(own, col(Game.commit_number).is_(None), col(Game.state) == "planned", col(Game.is_rated).is_(True))
            .order_by(col(Game.sequence))
            .limit(1)
        )
        with self._sessions.reading() as session:
            game = session.execute(query).first()
            if game is None:
                return None
            tournament_id, sequence = game
            until = select(func.count()).where(
                col(Game.tournament_id) == tournament_id,
                col(Game.state) == "planned",
                col(Game.sequence) <= sequence,
            )
            return tournament_id, session.scalar(until) or 1

    def priorities(self) -> dict[int, int]:
        """Return the priorities of the running tournaments with planned games."""
        has_games = exists().where(col(Game.tournament_id) == col(Tournament.id), col(Game.state) == "planned")
        running = select(Tournament).where(col(Tournament.state) == "running", has_games)
        with self._sessions.reading() as session:
            return {row.id: row.priority for row in session.scalars(running)}

    def hand_out(self, ids: Sequence[str], lease_owner: str) -> list[str]:
        """Queue planned games for a coordinator and count the attempt; return the games that were still planned."""
        with self._sessions.writing() as session:
            mine = set(session.scalars(_HAND_OUT, {"ids": list(ids), "to": lease_owner}))
        # In the order of `ids`: RETURNING gives rows in any order.
        return [game_id for game_id in ids if game_id in mine]

    def start(self, *ids: str) -> None:
        """Mark queued games as running."""
        with self._sessions.writing() as session:
            session.execute(_START, {"ids": list(ids), "at": now()})

    def give_back(self, *, lease_owner: str | None = None, ids: Sequence[str] | None = None) -> int:
        """Mark queued and running games as planned again; return how many. `lease_owner` and `ids` restrict which.

        The caller ensures that no slot still plays these games. If a game had not started, its dispatch no longer
        counts as an attempt.
        """
        attempt = case((col(Game.state) == "queued", col(Game.attempt) - 1), else_=col(Game.attempt))
        query = (
            update(Game)
            .where(col(Game.state).in_(("queued", "running")))
            .values(state="planned", lease_owner="", attempt=attempt)
        )
        if lease_owner is not None:
            query = query.where(col(Game.lease_owner) == lease_owner)
        if ids is not None:
            query = query.where(col(Game.id).in_(ids))
        with self._sessions.writing() as session:
            return int(session.execute(query).rowcount)  # type: ignore[attr-defined]

    def cancel(
        self,
        tournament_id: int,
        *,
        states: Sequence[str] = _OPEN,
        version_id: int | None = None,
        is_untried: bool = False,
    ) -> int:
        """Cancel the games of a tournament in these states, all or those of one version; return how many.

        `is_untried` spares games that have been attempted. Cancelled games never get a result, and no longer count in
        the tournament's total.
        """
        query = (
            update(Game)
            .where(col(Game.tournament_id) == tournament_id, col(Game.state).in_(states))
            .values(state="cancelled")
        )
        if version_id is not None:
            query = query.where((col(Game.first_id) == version_id) | (col(Game.second_id) == version_id))
        if is_untried:
            query = query.where(col(Game.attempt) == 0)
        with self._sessions.writing() as session:
            count = int(session.execute(query).rowcount)  # type: ignore[attr-defined]
            if count:
                session.execute(
                    update(Tournament)
                    .where(col(Tournament.id) == tournament_id)
                    .values(planned_games=col(Tournament.planned_games) - count)
                )
        return count

    def open(self) -> dict[str, int]:
        """Count the planned, queued and running games of all tournaments; states without games are omitted."""
        query = select(col(Game.state), func.count()).where(col(Game.state).in_(_OPEN)).group_by(col(Game.state))
        later = select(func.sum(col(Tournament.later_games))).where(col(Tournament.state).in_(_UNFINISHED))
        with self._sessions.reading() as session:
            counts: dict[str, int] = dict(fetch(session, query))
            if count := session.scalar(later):
                counts["planned"] = counts.get("planned", 0) + count
        return counts


_STATES: Mapping[str, State] = {"finished": "done", "void": "void", "cancelled": "cancelled"}
_POINTS = {"first": 1.0, "draw": 0.5, "second": 0.0}


def _tournament_games(rows: Iterable[Any], seats: Mapping[int, int]) -> list[TournamentGame]:
    """Convert rows of `_GAME` to the input of a format."""
    return [
        TournamentGame(
            sequence=sequence,
            round=round,
            pair=pair,
            first=seats[first_id],
            second=seats[second_id],
            state=_STATES.get(state, "open"),
            points=_POINTS.get(winner) if state == "finished" else None,
            order=commit_number or 0,
        )
        for sequence, round, pair, first_id, second_id, state, winner, commit_number in rows
    ]


def row_of_game(
    tournament: Tournament, game: PlannedGame, versions: Mapping[str, int], pools: dict[str, str]
) -> dict[str, Any]:
    """Return the columns of a planned game. `versions` gives ids by name; `pools` caches the rating pools by rules."""
    spec = game.spec
    rules = f"{spec.family} {spec.variant} {sorted(spec.options.items())}"
    if rules not in pools:
        kind = tournament.settings.get("pool", "bots")
        pools[rules] = pool_of(load(spec.family).settle(spec.variant, spec.options), kind)
    return {
        "id": game.id,
        "tournament_id": tournament.id,
        "sequence": spec.sequence,
        "round": spec.round,
        "pair": spec.pair,
        "family": spec.family,
        "pool": pools[rules],
        "variant": spec.variant,
        "first_id": versions[spec.first.name],
        "second_id": versions[spec.second.name],
        "first": spec.first.name,
        "second": spec.second.name,
        "is_rated": tournament.is_rated,
        "meeting": 0,
        "anchor": None,
        "spec": spec.as_json(),
        "state": "planned",
        "attempt": 0,
        "lease_owner": "",
        "worker": "",
        "detail": "",
        "plies": 0,
    }
