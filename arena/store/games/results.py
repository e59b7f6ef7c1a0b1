"""Results: commit them once, and read them in commit order. Lists omit records, which are read as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.game import ALL_GAMES, GameItem, GameQuery
from arena.store.base.engine import Repository, batched, fetch, table_of
from arena.store.base.page import bounded
from arena.store.base.tables.games import Game, Record
from arena.store.games.commit import Committed, commit, unpack, unpack_line
from arena.store.games.games import LINE, conditions
from arena.store.games.undo import undo, undone
from referee.game.record import GameRecord
from referee.game.spec import GameSpec, spec_from_json
from referee.rules.core import Kind, Termination
from referee.tournament.ranking import GameResult

_BATCH = 500
"""Records per query of a walk through all games, which are in memory together."""
_COLUMNS = ("termination_class" if name == "kind" else name for name in GameResult._fields)
_RESULT = tuple(table_of(Game).c[name] for name in _COLUMNS)
"""The columns of a `GameResult`, whose `kind` is named as in game records."""
_GAMES = table_of(Game).c
LAST_COMMIT = select(func.coalesce(func.max(_GAMES.commit_number), 0))
"""The highest commit number, 0 without results."""


class Results(Repository):
    """Games with a result: commits results, and reads them."""

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

    def in_planned_order(self, tournament_id: int) -> list[GameResult]:
        """Return the finished games of a tournament in planned order, but not their moves."""
        mine = (_GAMES.tournament_id == tournament_id, _GAMES.state == "finished")
        with self._sessions.reading() as session:
            return _results(fetch(session, select(*_RESULT).where(*mine).order_by(_GAMES.sequence)))

    def after_commit(self, tournament_id: int, after: int, limit: int | None = None) -> list[GameResult]:
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

    def committed(self, tournament_id: int, after: int, limit: int) -> list[GameItem]:
        """Return the results of a tournament after a commit number, in commit order."""
        query = (
            select(*LINE)
            .where(col(Game.tournament_id) == tournament_id, col(Game.commit_number) > after)
            .order_by(col(Game.commit_number))
            .limit(bounded(limit))
        )
        with self._sessions.reading() as session:
            return [GameItem(*row) for row in fetch(session, query)]

    def last_commit_of(self, tournament_id: int) -> int:
        """Return the highest commit number of a tournament, 0 without results."""
        with self._sessions.reading() as session:
            return session.scalar(LAST_COMMIT.where(_GAMES.tournament_id == tournament_id)) or 0

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
    return session.scalar(LAST_COMMIT) or 0
