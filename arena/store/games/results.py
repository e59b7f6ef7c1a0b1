"""Results: commit them once, read them in commit order, count them.

Lists omit records, which are read as a stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

from sqlalchemy import String, cast, func, select, tuple_
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.game import ALL_GAMES, GameItem, GameQuery, Tally
from arena.store.base.engine import Sessions, batched, fetch, table_of
from arena.store.base.models import Game, Record
from arena.store.base.page import bounded
from arena.store.games.commit import Committed, commit, unpack, unpack_line
from arena.store.games.game_filter import conditions
from arena.store.games.games import LINE
from arena.store.games.undo import undo, undone
from referee.game.record import GameRecord
from referee.game.spec import GameSpec, spec_from_json
from referee.rules.core import Kind, Termination

_BATCH = 500
"""Rows per statement, within the parameter limits of both databases."""


class FinishedGame(NamedTuple):  # a dataclass takes four times as long to create, which matters for 10,000 games
    """The fields of a finished game that standings and crosstables need."""

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
        """Points of the first and of the second side, each 1, ½ or 0."""
        return _POINTS.get(self.winner, _HALVES)


class TournamentResult(NamedTuple):
    """The fields of a result that are needed to add up the results of a tournament."""

    id: str
    commit_number: int
    pair: int
    first_id: int
    second_id: int
    winner: str
    termination: str
    termination_class: str
    pool: str
    is_rated: bool
    attempt: int


_POINTS: Mapping[str | None, tuple[float, float]] = {"first": (1.0, 0.0), "second": (0.0, 1.0)}
_HALVES = (0.5, 0.5)


_COLUMNS = tuple("termination_class" if name == "kind" else name for name in FinishedGame._fields)
"""Columns of a `FinishedGame`, whose `kind` is named as in game records."""
_RESULT = tuple(table_of(Game).c[name] for name in _COLUMNS)
_TOURNAMENT_RESULT = tuple(table_of(Game).c[name] for name in TournamentResult._fields)
_GAMES = table_of(Game).c


class Results:
    """Games with a result: commits results, and reads them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._sides: dict[str, tuple[int, int, dict[tuple[str, str], int]]] = {}
        """Cache of `sides` by pool: last commit number, number of undone results by then, counts."""

    def commit(self, record: GameRecord, lease_owner: str = "") -> Committed | None:
        """Commit a result exactly once, in one transaction with its ratings; return None if the game is already over.

        Raises NotFoundError for an unplanned game, ConflictError if the record names other bots than the plan.
        """
        return self.commit_all([record], lease_owner)[0]

    def commit_all(self, records: Sequence[GameRecord], lease_owner: str = "") -> list[Committed | None]:
        """Commit several results in this order, in one transaction: all of them, or none if it raises."""
        with self._sessions.writing() as session:
            return commit(session, records, lease_owner)

    def undo(self, wrong: Mapping[str, str], lease_owner: str = "") -> list[str]:
        """Void wrong results, given as game id and reason, and rebuild all ratings (see `arena.store.games.undo`)."""
        return undo(self._sessions, wrong, lease_owner)

    def undone(self) -> int:
        """Return how many results were ever undone. Callers recompute cached sums when this number has grown."""
        with self._sessions.reading() as session:
            return undone(session)

    def of(
        self, *, tournament_id: int | None = None, pool: str | None = None, limit: int | None = None
    ) -> list[FinishedGame]:
        """Return finished games, but not their moves: those of a tournament in planned order, or the latest of a pool.

        The games of a pool are in commit order.
        """
        query = select(*_RESULT)
        if tournament_id is not None:
            mine = (col(Game.tournament_id) == tournament_id, col(Game.state) == "finished")
            query = query.where(*mine).order_by(col(Game.sequence)).limit(limit)
        else:
            query = query.where(col(Game.pool) == pool, col(Game.commit_number).is_not(None))
            query = query.order_by(col(Game.commit_number).desc()).limit(limit)
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        found = _results(rows)
        return found if tournament_id is not None else found[::-1]

    def of_tournament(self, tournament_id: int, after: int) -> list[TournamentResult]:
        """Return the results of a tournament after a commit number, in commit order."""
        mine = (_GAMES.tournament_id == tournament_id, _GAMES.commit_number > after)
        query = select(*_TOURNAMENT_RESULT).where(*mine).order_by(_GAMES.commit_number)
        with self._sessions.reading() as session:
            return [TournamentResult(*row) for row in fetch(session, query)]

    def of_pairings(self, tournament_id: int, pairings: Sequence[tuple[int, int]]) -> list[FinishedGame]:
        """Return the results of a tournament between these versions, given as (first, second)."""
        found: list[FinishedGame] = []
        with self._sessions.reading() as session:
            for part in batched(pairings):
                query = select(*_RESULT).where(
                    tuple_(_GAMES.first_id, _GAMES.second_id).in_(part),
                    _GAMES.tournament_id == tournament_id,
                    _GAMES.commit_number.is_not(None),
                )
                found += _results(fetch(session, query))
        return found

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

    def tally(self, versions: Sequence[int], against: Sequence[int] | None = None) -> list[Tally]:
        """Count the results of `versions`, or only those against `against`, by players, family, winner and termination.

        Void games are not counted.
        """
        keys = [col(getattr(Game, name)) for name in Tally.__dataclass_fields__ if name != "count"]
        parts = []
        for mine, theirs in ((Game.first_id, Game.second_id), (Game.second_id, Game.first_id)):
            query = select(*keys, func.count()).where(
                col(mine).in_(versions),
                col(Game.commit_number).is_not(None),
                col(Game.termination_class) != Kind.VOID.value,
            )
            if against is not None:
                query = query.where(col(theirs).in_(against))
            parts.append(query.group_by(*keys))
        with self._sessions.reading() as session:
            # A set removes duplicates: both parts count the games in which two of `versions` met.
            return sorted({Tally(*row) for part in parts for row in fetch(session, part)}, key=astuple)

    def sides(self, pool: str) -> dict[tuple[str, str], int]:
        """Count the results of a pool by variant and winner: (variant, `first`/`second`/`draw`) -> games."""
        # Add the results with higher commit numbers to the cached counts; recount everything if results were undone.
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
        found = dict(before)
        for variant, winner, count, newest in rows:
            found[variant, winner] = found.get((variant, winner), 0) + count
            last = max(last, newest)
        self._sides[pool] = (last, undone, found)
        return dict(found)

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
            return [GameItem(*row) for row in session.execute(query).all()]

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


def _results(rows: Sequence[Sequence[Any]]) -> list[FinishedGame]:
    """Convert rows of `_RESULT` to results."""
    ways = {way: (Kind(way[0]), Termination(way[1])) for way in {row[-2:] for row in rows}}  # few distinct endings
    return [FinishedGame._make((*row[:-2], *ways[row[-2:]])) for row in rows]


def last_commit(session: Session) -> int:
    """Return the highest commit number, 0 without results."""
    return session.scalar(select(func.max(col(Game.commit_number)))) or 0
