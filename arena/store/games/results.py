"""Results: commit them once, read them in commit order, count them, undo wrong ones.

Lists omit records, which are read as a stream. Wrong results are voided, their games requeued and the ratings rebuilt
in one transaction; games that a tournament has planned because of a wrong result stay planned.
"""

from __future__ import annotations

import json
from collections import Counter as Multiset
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from cachetools import LRUCache
from sqlalchemy import String, cast, delete, func, insert, literal, select, tuple_, union_all, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.game import ALL_GAMES, GameItem, GameQuery
from arena.documents.rating import ScoreTables
from arena.store.base.engine import Repository, Sessions, batched, fetch, table_of
from arena.store.base.page import bounded
from arena.store.base.tables.analyses import Analysis, RequestedAnalysis
from arena.store.base.tables.games import Game, Record, Void
from arena.store.base.tables.operations import Counter
from arena.store.base.tables.tournaments import Tournament
from arena.store.games.commit import Committed, commit, unpack, unpack_line
from arena.store.games.games import LINE, conditions, game_item
from arena.store.ratings.rebuild import rebuild
from referee.game.record import GameRecord
from referee.game.spec import GameSpec, spec_from_json
from referee.rules.core import Kind, Termination
from referee.tournament.ranking import GameResult

COUNTER = "undone"
"""Name of the counter of undone results; recompute cached sums when it has grown."""
MAX_POOLS = 256
"""Number of pools whose results are counted in memory."""
MAX_COUNTED = 32
"""Number of bots whose results are counted in memory."""
MAX_OPPONENTS = 100
"""The most frequent opponents of a bot whose results are counted apart."""
_COUNTED_AT_ONCE = 10_000
_BATCH = 500
"""Records per query of a walk through all games, which are in memory together."""
_COLUMNS = ("termination_class" if name == "kind" else name for name in GameResult._fields)
_RESULT = tuple(table_of(Game).c[name] for name in _COLUMNS)
"""The columns of a `GameResult`, whose `kind` is named as in game records."""
_GAMES = table_of(Game).c
_ENDING = _GAMES.termination, _GAMES.termination_class
_STATE = select(
    func.coalesce(func.max(_GAMES.commit_number), 0),
    func.coalesce(select(col(Counter.value)).where(col(Counter.name) == COUNTER).scalar_subquery(), 0),
)
"""The last commit number, and how many results were ever undone."""


@dataclass(slots=True)
class _Counts:
    """Results of some versions up to the commit number `last`; hold `lock` while you use them."""

    tables: ScoreTables = field(default_factory=ScoreTables)
    last: int = 0
    undone: int = 0
    lock: Any = field(default_factory=Lock)


def undo(sessions: Sessions, wrong: Mapping[str, str], lease_owner: str = "") -> list[str]:
    """Void the results of these games, given as game id -> reason; return the ids of those that had a result.

    The games are played again, also in a finished tournament, but not in a cancelled one.
    """
    done: list[str] = []

    def void_all(session: Session) -> None:
        for game_id, problem in wrong.items():
            if _void(session, game_id, problem, lease_owner):
                done.append(game_id)
        _count(session, len(done))

    if wrong:
        rebuild(sessions, wrong.keys(), void_all)
    return done


def undone(session: Session) -> int:
    """Return how many results were ever undone."""
    return session.scalar(select(col(Counter.value)).where(col(Counter.name) == COUNTER)) or 0


def _void(session: Session, game_id: str, problem: str, lease_owner: str) -> bool:
    game = session.get(Game, game_id, with_for_update=True)
    if game is None or game.commit_number is None:
        return False
    tournament = session.get(Tournament, game.tournament_id, with_for_update=True)
    assert tournament is not None
    session.add(
        Void(
            game_id=game_id,
            attempt=game.attempt,
            termination=Termination.WORKER_WRONG.value,
            detail=problem,
            lease_owner=lease_owner,
        )
    )
    # A game has one record: the wrong one would be in the way when the game is played again.
    for model in (Record, Analysis, RequestedAnalysis):
        session.execute(delete(model).where(col(model.game_id) == game_id))
    game.state = "cancelled" if tournament.state == "cancelled" else "planned"
    game.commit_number = game.winner = game.termination = game.termination_class = game.started_at = (
        game.finished_at
    ) = None
    game.lease_owner = game.worker = game.detail = ""
    game.plies = 0
    tournament.finished_games -= 1
    if game.state == "cancelled":
        tournament.planned_games -= 1
    if tournament.state == "finished":
        tournament.state, tournament.finished_at = "running", None
    return True


def _count(session: Session, count: int) -> None:
    if not session.execute(  # type: ignore[attr-defined]
        update(Counter).where(col(Counter.name) == COUNTER).values(value=col(Counter.value) + count)
    ).rowcount:
        session.execute(insert(Counter).values(name=COUNTER, value=count))


class Results(Repository):
    """Games with a result: commits results, and reads them."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self._lock = Lock()
        self._sides: LRUCache[str, tuple[int, int, dict[tuple[str, str], int]]] = LRUCache(MAX_POOLS)
        """Cache of `sides` by pool: last commit number, number of undone results by then, counts."""
        self._counts: LRUCache[tuple[object, ...], _Counts] = LRUCache(MAX_COUNTED)

    def commit(self, record: GameRecord, lease_owner: str = "") -> Committed | None:
        """Commit a result exactly once, in one transaction with its ratings; return None if the game is already over.

        Raises NotFoundError for an unplanned game, ConflictError if the record names other bots than the plan.
        """
        return self.commit_all([record], lease_owner)[0]

    def commit_all(self, records: Sequence[GameRecord], lease_owner: str = "") -> list[Committed | None]:
        """Commit several results in this order, in one transaction: all of them, or none if it raises."""
        # Durable: the files of these results are deleted next.
        with self._sessions.writing(is_durable=True) as session:
            return commit(session, records, lease_owner)

    def undo(self, wrong: Mapping[str, str], lease_owner: str = "") -> list[str]:
        """Void wrong results, given as game id and reason, and rebuild all ratings."""
        return undo(self._sessions, wrong, lease_owner)

    def undone(self) -> int:
        """Return how many results were ever undone. Callers recompute cached sums when this number has grown."""
        with self._sessions.reading() as session:
            return undone(session)

    def of(self, tournament_id: int) -> list[GameResult]:
        """Return the finished games of a tournament in planned order, but not their moves."""
        mine = (_GAMES.tournament_id == tournament_id, _GAMES.state == "finished")
        with self._sessions.reading() as session:
            return _results(fetch(session, select(*_RESULT).where(*mine).order_by(_GAMES.sequence)))

    def of_tournament(self, tournament_id: int, after: int, limit: int | None = None) -> list[GameResult]:
        """Return the results of a tournament after a commit number, or the first `limit` of them, in commit order."""
        mine = (_GAMES.tournament_id == tournament_id, _GAMES.commit_number > after)
        query = select(*_RESULT).where(*mine).order_by(_GAMES.commit_number).limit(limit)
        with self._sessions.reading() as session:
            return _results(fetch(session, query))

    def of_pairings(self, tournament_id: int, pairings: Sequence[tuple[int, int]]) -> list[GameResult]:
        """Return the results of a tournament between these versions, given as (first, second)."""
        results: list[GameResult] = []
        with self._sessions.reading() as session:
            for part in batched(pairings):
                query = select(*_RESULT).where(
                    tuple_(_GAMES.first_id, _GAMES.second_id).in_(part),
                    _GAMES.tournament_id == tournament_id,
                    _GAMES.commit_number.is_not(None),
                )
                results += _results(fetch(session, query))
        return results

    def last_records(self, tournament_id: int, version_id: int, count: int) -> list[GameRecord]:
        """Return the latest records of a version in a tournament, in commit order."""
        mine = (col(Game.first_id) == version_id) | (col(Game.second_id) == version_id)
        query = (
            select(col(Record.data))
            .join(Game, col(Record.game_id) == col(Game.id))
            .where(col(Game.tournament_id) == tournament_id, col(Game.commit_number).is_not(None), mine)
            .order_by(col(Game.commit_number).desc())
            .limit(count)
        )
        with self._sessions.reading() as session:
            return [unpack(row[0]) for row in fetch(session, query)][::-1]

    def scores(self, versions: Sequence[int], against: Sequence[int] | None = None, family: str = "") -> ScoreTables:
        """Count the results of `versions`, or only those against `against` or in a family. Void games are not counted.

        A game between two of the versions counts for both. New results are added to the earlier ones.
        """
        key = (*versions, None if against is None else (*against,), family)
        with self._lock:
            counts = self._counts.setdefault(key, _Counts())
        with counts.lock, self._sessions.reading() as session:
            last, gone = session.execute(_STATE).one()
            if gone != counts.undone:
                counts.tables, counts.last, counts.undone = ScoreTables(), 0, gone
            parts = []
            for side, mine, other, theirs in (
                ("first", _GAMES.first_id, _GAMES.second_id, _GAMES.second),
                ("second", _GAMES.second_id, _GAMES.first_id, _GAMES.first),
            ):
                part = select(literal(side), _GAMES.family, theirs, _GAMES.winner, *_ENDING).where(
                    # Not those committed since `last` was read, which the next call adds: PostgreSQL shows them here.
                    mine.in_(versions),
                    _GAMES.commit_number.between(counts.last + 1, last),
                )
                part = part if against is None else part.where(other.in_(against))
                parts.append(part.where(_GAMES.family == family) if family else part)
            # Counted here, as SQLite sorts the rows of a group: three times the time of reading them.
            rows = session.execute(union_all(*parts), execution_options={"yield_per": _COUNTED_AT_ONCE})
            for (side, kind, opponent, winner, termination, way), games in Multiset(rows).items():
                for score in (
                    counts.tables.sides[f"{kind} {side}"],
                    counts.tables.opponents[opponent],
                    counts.tables.endings[termination],
                ):
                    score.add(is_first=side == "first", winner=winner, games=games, is_forfeit=way == Kind.FORFEIT)
            counts.last = last
            tables = counts.tables
            return ScoreTables(tables.sides.first(), tables.opponents.first(MAX_OPPONENTS), tables.endings.first())

    def sides(self, pool: str) -> dict[tuple[str, str], int]:
        """Count the results of a pool by variant and winner: (variant, `first`/`second`/`draw`) -> games."""
        # Add the results with higher commit numbers to the cached counts; recount everything if results were undone.
        with self._lock:
            last, then, before = self._sides.get(pool, (0, 0, {}))
        undone = self.undone()
        if then != undone:
            last, before = 0, {}
        query = (
            select(col(Game.variant), col(Game.winner), func.count(), func.max(col(Game.commit_number)))
            .where(col(Game.pool) == pool, col(Game.commit_number) > last)
            .group_by(col(Game.variant), col(Game.winner))
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        counts = dict(before)
        for variant, winner, count, newest in rows:
            counts[variant, winner] = counts.get((variant, winner), 0) + count
            last = max(last, newest)
        with self._lock:
            self._sides[pool] = (last, undone, counts)
        return dict(counts)

    def by_options(self, tournament_id: int) -> list[tuple[str, dict[str, Any], str, int]]:
        """Count the results of a tournament by variant, options and winner: (variant, options, winner, games)."""
        options = cast(col(Game.spec)["options"], String)
        query = (
            select(col(Game.variant), options, col(Game.winner), func.count())
            .where(col(Game.tournament_id) == tournament_id, col(Game.winner).is_not(None))
            .group_by(col(Game.variant), options, col(Game.winner))
            .order_by(col(Game.variant), options, col(Game.winner))
        )
        with self._sessions.reading() as session:
            return [(row[0], json.loads(row[1]), row[2], row[3]) for row in fetch(session, query)]

    def committed(self, tournament_id: int, after: int, limit: int) -> list[GameItem]:
        """Return the results of a tournament after a commit number, in commit order."""
        query = (
            select(*LINE)
            .where(col(Game.tournament_id) == tournament_id, col(Game.commit_number) > after)
            .order_by(col(Game.commit_number))
            .limit(bounded(limit))
        )
        with self._sessions.reading() as session:
            return [game_item(row) for row in fetch(session, query)]

    def last_commit_of(self, tournament_id: int) -> int:
        """Return the highest commit number of a tournament, 0 without results."""
        query = select(func.max(col(Game.commit_number))).where(col(Game.tournament_id) == tournament_id)
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def last_commit(self) -> int:
        """Return the highest commit number, 0 without results. It shows cheaply whether results have changed."""
        with self._sessions.reading() as session:
            return last_commit(session)

    def records(
        self, query: GameQuery = ALL_GAMES, *, versions: Sequence[int] | None = None, after: int = 0
    ) -> Iterator[tuple[int, bytes]]:
        """Yield (commit number, record as JSON) of the results that match a query, in commit order after `after`.

        `versions` selects the games of these versions on either side, instead of the query's `bot`. No transaction is
        open while the caller processes an item.
        """
        narrow = conditions(query)
        if versions is not None:
            narrow.append(col(Game.first_id).in_(versions) | col(Game.second_id).in_(versions))
        for number, data in self._walk((col(Game.commit_number), col(Record.data)), after, narrow):
            yield number, unpack_line(data)

    def with_records(self, *, after: int = 0) -> Iterator[tuple[GameItem, bytes]]:
        """Yield (list entry, record as JSON) of all results in commit order after `after`."""
        for *line, data in self._walk((*LINE, col(Record.data)), after, conditions(ALL_GAMES)):
            yield GameItem(*line), unpack_line(data)

    def with_plans(
        self, query: GameQuery = ALL_GAMES, *, worker: str | None = None, after: int = 0
    ) -> Iterator[tuple[int, str, bytes, GameSpec]]:
        """Yield (commit number, id, record as JSON, spec) of the results that match, in commit order after `after`."""
        columns = (col(Game.commit_number), col(Game.id), col(Record.data), col(Game.spec))
        for number, game_id, data, spec in self._walk(columns, after, conditions(query, worker=worker)):
            yield number, game_id, unpack_line(data), spec_from_json(spec)

    def _walk(self, columns: Sequence[Any], after: int, narrow: Sequence[Any]) -> Iterator[Any]:
        while True:
            query = (
                select(*columns, col(Game.commit_number))
                .join(Record, col(Record.game_id) == col(Game.id))
                .where(*narrow, col(Game.commit_number) > after)
                .order_by(col(Game.commit_number))
                .limit(_BATCH)
            )
            with self._sessions.reading() as session:
                rows = fetch(session, query)
            for *row, _ in rows:
                yield row
            if len(rows) < _BATCH:
                return
            after = rows[-1][-1]


def _results(rows: Sequence[Sequence[Any]]) -> list[GameResult]:
    """Convert rows of `_RESULT` to results."""
    ways = {way: (Kind(way[0]), Termination(way[1])) for way in {row[-2:] for row in rows}}  # few distinct endings
    return [GameResult._make((*row[:-2], *ways[row[-2:]])) for row in rows]


def last_commit(session: Session) -> int:
    """Return the highest commit number, 0 without results."""
    return session.scalar(select(func.max(col(Game.commit_number)))) or 0
