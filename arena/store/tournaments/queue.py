"""Games without a result: planned, dispatched, requeued. The coordinator dispatches games from here.

Lists of games for pages and the API are in `arena.store.games.games`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import bindparam, case, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Sessions, batched, fetch, table_of
from arena.store.base.models import Game, Tournament
from referee.game.spec import PlannedGame, spec_from_json
from referee.ratings.trueskill import pool_of
from referee.rules import load

_OPEN = ("planned", "queued", "running")
_UNFINISHED = ("running", "paused", "draining")
_GAMES = table_of(Game)
_THESE = _GAMES.c.id.in_(bindparam("ids", expanding=True))
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


class GameOutline(NamedTuple):  # a dataclass takes four times as long to create, which matters for 10,000 games
    """The fields of a game, planned or over, that tournament formats need."""

    sequence: int
    round: int
    pair: int
    first_id: int
    second_id: int
    state: str
    winner: str | None
    commit_number: int | None


@dataclass(frozen=True, slots=True)
class PendingGame:
    """A planned game ready for dispatch; `attempt` counts its earlier attempts."""

    game: PlannedGame
    tournament_id: int
    attempt: int


OUTLINE = tuple(_GAMES.c[name] for name in GameOutline._fields)  # table columns are twice as fast as model attributes


class Queue:
    """The plan of every tournament and the dispatch of its games."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def plan(
        self, tournament_id: int, games: Sequence[PlannedGame], versions: Mapping[str, int], *, later: int = 0
    ) -> int:
        """Store games of a tournament in one transaction and return how many were new. Stored games stay unchanged.

        `versions` maps the bot names in the specs to version ids. Sequence numbers must be new in the tournament.
        `later` is the number of further games in the plan that are stored later. Raises NotFoundError, and
        ConflictError if another process has planned different games or has cancelled the tournament.
        """
        try:
            return self._plan(tournament_id, games, versions, later)
        except IntegrityError as error:
            raise ConflictError(
                f"another process has planned the games of tournament {tournament_id}: {error.orig}"
            ) from None

    def _plan(self, tournament_id: int, games: Sequence[PlannedGame], versions: Mapping[str, int], later: int) -> int:
        pools: dict[str, str] = {}
        with self._sessions.writing() as session:
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            if tournament.state == "cancelled":
                raise ConflictError(f"tournament {tournament_id} is cancelled", tournament.state)
            known: set[str] = set()
            for part in batched([game.id for game in games]):
                known.update(session.scalars(select(col(Game.id)).where(col(Game.id).in_(part))))
            rows = [row_of_game(tournament, game, versions, pools) for game in games if game.id not in known]
            for new in batched(rows):
                session.execute(insert(Game), new)
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

    def frontier(self, tournament_id: int) -> list[GameOutline]:
        """Return the planned, queued and running games of a tournament and its last stored game, in planned order."""
        mine = select(*OUTLINE).where(col(Game.tournament_id) == tournament_id)
        with self._sessions.reading() as session:
            rows = fetch(session, mine.where(col(Game.state).in_(_OPEN)))
            last = fetch(session, mine.order_by(col(Game.sequence).desc()).limit(1))
        return sorted({GameOutline(*row) for row in (*rows, *last)}, key=lambda game: game.sequence)

    def outline(self, tournament_id: int) -> list[GameOutline]:
        """Return every game of a tournament in planned order, in any state."""
        query = select(*OUTLINE).where(col(Game.tournament_id) == tournament_id).order_by(col(Game.sequence))
        with self._sessions.reading() as session:
            return [GameOutline(*row) for row in fetch(session, query)]

    def waiting(self, tournament_id: int, limit: int, without: Collection[str] = ()) -> list[PendingGame]:
        """Return the next planned games of a tournament in planned order, except those of the versions in `without`."""
        query = (
            select(col(Game.id), col(Game.spec), col(Game.attempt))
            .where(col(Game.tournament_id) == tournament_id, col(Game.state) == "planned")
            .order_by(col(Game.sequence))
            .limit(limit)
        )
        if without:
            query = query.where(col(Game.first).not_in(without), col(Game.second).not_in(without))
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        return [
            PendingGame(PlannedGame(game_id, spec_from_json(spec)), tournament_id, attempt)
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

    def hand_out(self, ids: Sequence[str], lease_owner: str) -> list[str]:
        """Queue planned games for a coordinator and count the attempt; return the games that were still planned."""
        with self._sessions.writing() as session:
            mine = set(session.scalars(_HAND_OUT, {"ids": list(ids), "to": lease_owner}))
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
            found: dict[str, int] = dict(fetch(session, query))
            if count := session.scalar(later):
                found["planned"] = found.get("planned", 0) + count
        return found


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
        "spec": spec.as_json(),
        "state": "planned",
        "attempt": 0,
        "lease_owner": "",
        "worker": "",
        "detail": "",
        "plies": 0,
    }
