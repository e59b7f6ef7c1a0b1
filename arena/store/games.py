"""Games: the plan, the way of each from `planned` to `finished`, results, records and their lists.

Lists come without specs and records, which are read one by one or as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Any, Unpack

from sqlalchemy import Select, bindparam, func, insert, select, union_all, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.commit import Committed, commit, count_over, pack, unpack, unpack_line
from arena.store.engine import Sessions, batched, fetch, table_of
from arena.store.errors import BadValueError, ConflictError, NotFoundError
from arena.store.game_filter import GameFilter, conditions
from arena.store.models import Game, Record, Tournament, Void, now
from arena.store.page import DEFAULT_LIMIT, Page, bounded, cut, read_cursor
from referee.ratings.trueskill import pool_of
from referee.record import GameRecord
from referee.rules import load
from referee.rules.core import Kind, Termination
from referee.spec import GameSpec, PlannedGame, spec_from_json

_BATCH = 500
"""Rows per statement, within the parameter limits of every database."""
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
    .values(state="running", started=bindparam("at", type_=_GAMES.c.started.type))
)


@dataclass(frozen=True, slots=True)
class GameLine:
    """A game in a list; what it has no value for yet is None. `committed` orders results."""

    id: str
    tournament_id: int
    sequence: int
    round: int
    pair: int
    family: str
    pool: str
    variant: str
    first_id: int
    second_id: int
    first: str
    second: str
    is_rated: bool
    state: str
    attempt: int
    lease_owner: str
    started: datetime | None
    finished: datetime | None
    committed: int | None
    winner: str | None
    termination: str | None
    kind: str | None
    detail: str
    plies: int


@dataclass(frozen=True, slots=True)
class Result:
    """What standings and crosstables need of a finished game."""

    sequence: int
    round: int
    pair: int
    first_id: int
    second_id: int
    first: str
    second: str
    winner: str | None
    kind: Kind
    termination: Termination

    @property
    def points(self) -> tuple[float, float]:
        """1, ½ or 0 for first and second."""
        return {"first": (1.0, 0.0), "second": (0.0, 1.0)}.get(self.winner or "", (0.5, 0.5))


@dataclass(frozen=True, slots=True)
class Outline:
    """What a format needs of a game of its tournament, planned or over."""

    sequence: int
    round: int
    pair: int
    first_id: int
    second_id: int
    state: str
    winner: str | None
    committed: int | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A planned game ready to be handed out; `attempt` counts the times it was before."""

    game: PlannedGame
    tournament_id: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Tally:
    """How many games of two versions in a family ended in one way."""

    first_id: int
    second_id: int
    first: str
    second: str
    family: str
    winner: str
    kind: str
    termination: str
    count: int


@dataclass(frozen=True, slots=True)
class VoidLine:
    """An attempt that came to nothing, with the game's names."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str
    second: str
    attempt: int
    termination: str
    detail: str
    lease_owner: str
    at: datetime


_LINE = tuple(col(getattr(Game, name)) for name in GameLine.__dataclass_fields__)
_OUTLINE = tuple(col(getattr(Game, name)) for name in Outline.__dataclass_fields__)
_RESULT = tuple(col(getattr(Game, name)) for name in Result.__dataclass_fields__)


class Games:
    """Planned and finished games."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._sides: dict[str, tuple[int, dict[tuple[str, str], int]]] = {}
        """By pool: what `sides` has counted, up to which commit."""

    # -- planning ----------------------------------------------------------------------------------------------------

    def plan(self, tournament_id: int, games: Sequence[PlannedGame], versions: Mapping[str, int]) -> int:
        """Store games of a tournament in one transaction; those that are stored already are left alone.

        `versions` gives the version of every bot name in the specs. Their sequence must be new in the tournament.
        Returns how many were new. Raises ConflictError when somebody else planned other games meanwhile.
        """
        try:
            return self._plan(tournament_id, games, versions)
        except IntegrityError as error:
            raise ConflictError(
                f"the games of tournament {tournament_id} were planned meanwhile: {error.orig}"
            ) from None

    def _plan(self, tournament_id: int, games: Sequence[PlannedGame], versions: Mapping[str, int]) -> int:
        pools: dict[str, str] = {}
        with self._sessions.writing() as session:
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            known: set[str] = set()
            for part in batched([game.id for game in games]):
                known.update(session.scalars(select(col(Game.id)).where(col(Game.id).in_(part))))
            rows = [_row(tournament, game, versions, pools) for game in games if game.id not in known]
            for new in batched(rows):
                session.execute(insert(Game), new)
            tournament.planned_games += len(rows)
        return len(rows)

    def waiting(self, tournament_id: int, limit: int) -> list[Waiting]:
        """The next planned games of a tournament, in planned order."""
        query = (
            select(col(Game.id), col(Game.spec), col(Game.attempt))
            .where(col(Game.tournament_id) == tournament_id, col(Game.state) == "planned")
            .order_by(col(Game.sequence))
            .limit(limit)
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        return [
            Waiting(PlannedGame(game_id, spec_from_json(spec)), tournament_id, attempt)
            for game_id, spec, attempt in rows
        ]

    def hand_out(self, ids: Sequence[str], lease_owner: str) -> list[str]:
        """Mark planned games as queued by a coordinator, one attempt more; returns those that were still planned."""
        with self._sessions.writing() as session:
            mine = set(session.scalars(_HAND_OUT, {"ids": list(ids), "to": lease_owner}))
        return [game_id for game_id in ids if game_id in mine]

    def start(self, *ids: str) -> None:
        """Queued games are being played now."""
        with self._sessions.writing() as session:
            session.execute(_START, {"ids": list(ids), "at": now()})

    def give_back(self, *, lease_owner: str | None = None, ids: Sequence[str] | None = None) -> int:
        """Queued and running games (of a coordinator, or these) wait again: who had them is gone. Returns how many."""
        query = update(Game).where(col(Game.state).in_(("queued", "running"))).values(state="planned", lease_owner="")
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
        states: Sequence[str] = ("planned", "queued", "running"),
        version_id: int | None = None,
    ) -> int:
        """Games of a tournament in these states, all or one version's, will never have a result. Returns how many."""
        query = (
            update(Game)
            .where(col(Game.tournament_id) == tournament_id, col(Game.state).in_(states))
            .values(state="cancelled")
        )
        if version_id is not None:
            query = query.where((col(Game.first_id) == version_id) | (col(Game.second_id) == version_id))
        with self._sessions.writing() as session:
            return int(session.execute(query).rowcount)  # type: ignore[attr-defined]

    # -- results -----------------------------------------------------------------------------------------------------

    def commit(self, record: GameRecord, lease_owner: str = "") -> Committed | None:
        """Record a result exactly once, in one transaction with its ratings; None when the game is over already.

        Raises NotFoundError for a game nobody planned, ConflictError for a record of other bots.
        """
        with self._sessions.writing() as session:
            return commit(session, record, lease_owner)

    def void(self, record: GameRecord, lease_owner: str = "", *, give_up: bool = False) -> bool:
        """Note an attempt that came to nothing: the game waits again, or is given up for good.

        False when the game is over already. Raises NotFoundError.
        """
        with self._sessions.writing() as session:
            game = session.get(Game, record.id, with_for_update=True)
            if game is None:
                raise NotFoundError("game", record.id)
            if game.state in ("finished", "void", "cancelled"):
                return False
            session.add(
                Void(
                    game_id=record.id,
                    attempt=game.attempt,
                    termination=record.termination.value,
                    detail=record.detail,
                    lease_owner=lease_owner,
                )
            )
            game.state, game.lease_owner = ("void", lease_owner) if give_up else ("planned", "")
            if give_up:
                game.termination, game.kind, game.detail = record.termination.value, Kind.VOID.value, record.detail
                game.finished, game.plies = now(), len(record.moves)
                session.add(Record(game_id=record.id, data=pack(record)))
                count_over(session, game.tournament_id)
        return True

    # -- reading -----------------------------------------------------------------------------------------------------

    def get(self, game_id: str) -> GameLine:
        """One game. Raises NotFoundError."""
        with self._sessions.reading() as session:
            row = session.execute(select(*_LINE).where(col(Game.id) == game_id)).one_or_none()
        if row is None:
            raise NotFoundError("game", game_id)
        return GameLine(*row)

    def spec(self, game_id: str) -> GameSpec:
        """What was planned. Raises NotFoundError."""
        with self._sessions.reading() as session:
            spec = session.scalar(select(col(Game.spec)).where(col(Game.id) == game_id))
        if spec is None:
            raise NotFoundError("game", game_id)
        return spec_from_json(spec)

    def record(self, game_id: str) -> GameRecord:
        """What was played. Raises NotFoundError for games without a result."""
        with self._sessions.reading() as session:
            data = session.scalar(select(col(Record.data)).where(col(Record.game_id) == game_id))
        if data is None:
            raise NotFoundError("record of game", game_id)
        return unpack(data)

    def of_tournament(
        self, tournament_id: int, *, state: str | None = None, limit: int = DEFAULT_LIMIT, after: str | None = None
    ) -> Page[GameLine]:
        """The games of a tournament in planned order, all or those in one state."""
        limit = bounded(limit)
        query = select(*_LINE).where(col(Game.tournament_id) == tournament_id).order_by(col(Game.sequence))
        if state is not None:
            query = query.where(col(Game.state) == state)
        if keys := read_cursor(after, int):
            query = query.where(col(Game.sequence) > keys[0])
        with self._sessions.reading() as session:
            lines = [GameLine(*row) for row in fetch(session, query.limit(limit + 1))]
        return cut(lines, limit, lambda line: (line.sequence,))

    def schedule(
        self,
        tournament_id: int,
        *,
        state: str | None = None,
        termination: str | None = None,
        version_id: int | None = None,
        sort: str = "sequence",
        is_falling: bool = False,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> tuple[list[GameLine], int]:
        """Part of a tournament's plan by the filters, sorted by a column of `GameLine`; and how many there are."""
        conditions = [col(Game.tournament_id) == tournament_id]
        if state is not None:
            conditions.append(col(Game.state) == state)
        if termination is not None:
            conditions.append(col(Game.termination) == termination)
        if version_id is not None:
            conditions.append((col(Game.first_id) == version_id) | (col(Game.second_id) == version_id))
        if sort not in GameLine.__dataclass_fields__:
            raise BadValueError(f"no column {sort!r}")
        key = col(getattr(Game, sort))
        order = [key.desc().nulls_last() if is_falling else key.asc().nulls_last(), col(Game.sequence)]
        query = select(*_LINE).where(*conditions).order_by(*order).offset(offset).limit(bounded(limit))
        with self._sessions.reading() as session:
            count = session.scalar(select(func.count()).select_from(Game).where(*conditions)) or 0
            return [GameLine(*row) for row in fetch(session, query)], count

    def openings(self, ids: Sequence[str]) -> dict[str, str]:
        """How these games begin where they do not from their variant's start: a position, opening moves, or both."""
        query = select(col(Game.id), col(Game.spec)).where(col(Game.id).in_(ids))
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        return {key: " ".join(filter(None, (spec.get("position"), *spec.get("opening", ())))) for key, spec in rows}

    def latest(
        self,
        *,
        against: Sequence[int] | None = None,
        limit: int = DEFAULT_LIMIT,
        after: str | None = None,
        **wanted: Unpack[GameFilter],
    ) -> Page[GameLine]:
        """Games with a result, latest first; `against` keeps the games of `versions` against these."""
        limit = bounded(limit)
        narrow = conditions(wanted)
        if keys := read_cursor(after, int):
            narrow.append(col(Game.committed) < keys[0])
        versions = wanted.get("versions")
        if versions is None:
            query = select(*_LINE).where(*narrow)
        else:
            query = _of_versions(versions, against, narrow, limit + 1)
        query = query.order_by(col(Game.committed).desc()).limit(limit + 1)
        with self._sessions.reading() as session:
            lines = [GameLine(*row) for row in fetch(session, query)]
        return cut(lines, limit, lambda line: (line.committed,))

    def tally(self, versions: Sequence[int], against: Sequence[int] | None = None) -> list[Tally]:
        """The results of versions (against others) counted by opponent, side and ending. Void games are left out."""
        keys = [col(getattr(Game, name)) for name in Tally.__dataclass_fields__ if name != "count"]
        parts = []
        for mine, theirs in ((Game.first_id, Game.second_id), (Game.second_id, Game.first_id)):
            query = select(*keys, func.count()).where(
                col(mine).in_(versions), col(Game.committed).is_not(None), col(Game.kind) != Kind.VOID.value
            )
            if against is not None:
                query = query.where(col(theirs).in_(against))
            parts.append(query.group_by(*keys))
        with self._sessions.reading() as session:
            # As a set: games between two of the versions come in both parts.
            return sorted({Tally(*row) for part in parts for row in fetch(session, part)}, key=astuple)

    def results(
        self, *, tournament_id: int | None = None, pool: str | None = None, limit: int | None = None
    ) -> list[Result]:
        """Finished games without their moves: of a tournament in planned order, or the latest of a pool in order."""
        query = select(*_RESULT)
        if tournament_id is not None:
            mine = (col(Game.tournament_id) == tournament_id, col(Game.state) == "finished")
            query = query.where(*mine).order_by(col(Game.sequence)).limit(limit)
        else:
            query = query.where(col(Game.pool) == pool, col(Game.committed).is_not(None))
            query = query.order_by(col(Game.committed).desc()).limit(limit)
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        found = [Result(*(*row[:-2], Kind(row[-2]), Termination(row[-1]))) for row in rows]
        return found if tournament_id is not None else found[::-1]

    def outline(self, tournament_id: int) -> list[Outline]:
        """Every game of a tournament, whatever its state, in planned order."""
        query = select(*_OUTLINE).where(col(Game.tournament_id) == tournament_id).order_by(col(Game.sequence))
        with self._sessions.reading() as session:
            return [Outline(*row) for row in fetch(session, query)]

    def sides(self, pool: str) -> dict[tuple[str, str], int]:
        """How often each side won the games of a pool that count: (variant, `first`/`second`/`draw`) -> games."""
        # Results only ever come in at the end of the line: those counted before need not be counted again.
        last, before = self._sides.get(pool, (0, {}))
        query = (
            select(col(Game.variant), col(Game.winner), func.count(), func.max(col(Game.committed)))
            .where(col(Game.pool) == pool, col(Game.committed) > last)
            .group_by(col(Game.variant), col(Game.winner))
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        found = dict(before)
        for variant, winner, count, newest in rows:
            found[variant, winner] = found.get((variant, winner), 0) + count
            last = max(last, newest)
        self._sides[pool] = (last, found)
        return dict(found)

    def counts(self, tournament_id: int) -> dict[str, int]:
        """How many games of a tournament are in each state."""
        query = select(col(Game.state), func.count()).where(col(Game.tournament_id) == tournament_id)
        with self._sessions.reading() as session:
            return dict(fetch(session, query.group_by(col(Game.state))))

    def open(self) -> dict[str, int]:
        """How many games of all tournaments are planned, queued and running; states without any are left out."""
        states = ("planned", "queued", "running")
        query = select(col(Game.state), func.count()).where(col(Game.state).in_(states)).group_by(col(Game.state))
        with self._sessions.reading() as session:
            return dict(fetch(session, query))

    def in_state(self, state: str, limit: int = DEFAULT_LIMIT) -> list[GameLine]:
        """Some games of all tournaments in one state, such as those being played now."""
        query = select(*_LINE).where(col(Game.state) == state).limit(bounded(limit))
        with self._sessions.reading() as session:
            return [GameLine(*row) for row in fetch(session, query)]

    def records(self, *, after: int = 0, **wanted: Unpack[GameFilter]) -> Iterator[tuple[int, bytes]]:
        """(commit number, record as JSON) of results, all or those wanted, in commit order behind `after`.

        A stream: no transaction is open while the caller works on what it was given.
        """
        for number, data in self._walk((col(Game.committed), col(Record.data)), after, wanted):
            yield number, unpack_line(data)

    def results_with_records(self, *, after: int = 0) -> Iterator[tuple[GameLine, bytes]]:
        """The same of all results, with what the list says of each."""
        for *line, data in self._walk((*_LINE, col(Record.data)), after, {}):
            yield GameLine(*line), unpack_line(data)

    def _walk(self, columns: Sequence[Any], after: int, wanted: GameFilter) -> Iterator[Any]:
        versions = wanted.get("versions")
        players = [] if versions is None else [col(Game.first_id).in_(versions) | col(Game.second_id).in_(versions)]
        while True:
            query = (
                select(*columns, col(Game.committed))
                .join(Record, col(Record.game_id) == col(Game.id))
                .where(*conditions(wanted), *players, col(Game.committed) > after)
                .order_by(col(Game.committed))
                .limit(_BATCH)
            )
            with self._sessions.reading() as session:
                rows = fetch(session, query)
            for *row, _ in rows:
                yield row
            if len(rows) < _BATCH:
                return
            after = rows[-1][-1]

    def voids(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[VoidLine]:
        """Attempts that came to nothing, latest first."""
        limit = bounded(limit)
        query = (
            select(
                col(Void.id),
                col(Void.game_id),
                col(Game.tournament_id),
                col(Game.family),
                col(Game.first),
                col(Game.second),
                col(Void.attempt),
                col(Void.termination),
                col(Void.detail),
                col(Void.lease_owner),
                col(Void.at),
            )
            .join(Game, col(Game.id) == col(Void.game_id))
            .order_by(col(Void.id).desc())
            .limit(limit + 1)
        )
        if keys := read_cursor(after, int):
            query = query.where(col(Void.id) < keys[0])
        with self._sessions.reading() as session:
            lines = [VoidLine(*row) for row in fetch(session, query)]
        return cut(lines, limit, lambda line: (line.id,))

    def voids_of(self, game_id: str) -> list[Void]:
        """The attempts at one game that came to nothing, in order."""
        query = select(Void).where(col(Void.game_id) == game_id).order_by(col(Void.id))
        with self._sessions.reading() as session:
            return list(session.scalars(query))

    def committed(self, tournament_id: int, after: int, limit: int) -> list[GameLine]:
        """The results of a tournament behind a commit number, in the order of their commits."""
        query = (
            select(*_LINE)
            .where(col(Game.tournament_id) == tournament_id, col(Game.committed) > after)
            .order_by(col(Game.committed))
            .limit(bounded(limit))
        )
        with self._sessions.reading() as session:
            return [GameLine(*row) for row in session.execute(query).all()]

    def last_commit_of(self, tournament_id: int) -> int:
        """The highest commit number of a tournament, 0 without results."""
        query = select(func.max(col(Game.committed))).where(col(Game.tournament_id) == tournament_id)
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def last_commit(self) -> int:
        """The highest commit number, 0 without results; a cheap mark of whether lists of results have changed."""
        with self._sessions.reading() as session:
            return last_commit(session)


def last_commit(session: Session) -> int:
    """The highest commit number, 0 without results."""
    return session.scalar(select(func.max(col(Game.committed)))) or 0


def _row(
    tournament: Tournament, game: PlannedGame, versions: Mapping[str, int], pools: dict[str, str]
) -> dict[str, Any]:
    spec = game.spec
    rules = f"{spec.family} {spec.variant} {sorted(spec.options.items())}"
    if rules not in pools:
        pools[rules] = pool_of(load(spec.family).settle(spec.variant, spec.options))
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
        "spec": asdict(spec),
        "state": "planned",
        "attempt": 0,
        "lease_owner": "",
        "detail": "",
        "plies": 0,
    }


def _of_versions(
    versions: Sequence[int], against: Sequence[int] | None, conditions: Sequence[Any], limit: int
) -> Select[Any]:
    """The latest games of some versions: one short walk along an index per version and side, then the best of them."""
    walks = []
    for mine, theirs in ((Game.first_id, Game.second_id), (Game.second_id, Game.first_id)):
        for version in dict.fromkeys(versions):
            for rival in [None] if against is None else dict.fromkeys(against):
                side = [col(mine) == version] if rival is None else [col(mine) == version, col(theirs) == rival]
                walk = select(col(Game.id)).where(*side, *conditions).order_by(col(Game.committed).desc()).limit(limit)
                walks.append(select(walk.subquery().c.id))
    if not walks:
        return select(*_LINE).where(col(Game.id).is_(None))
    return select(*_LINE).where(col(Game.id).in_(union_all(*walks)))
