"""Counts of results: by side, opponent and ending, by variant and winner, by options.

Counts are cached with the last commit number that they contain. New results are added to them; once a result is undone,
all are counted again.
"""

from __future__ import annotations

import json
from collections import Counter as Multiset
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from cachetools import LRUCache
from sqlalchemy import String, cast, func, literal, select, union_all
from sqlmodel import col

from arena.documents.rating import ScoreTables
from arena.store.base.engine import Repository, Sessions, fetch, table_of
from arena.store.base.tables.games import Game
from arena.store.games.results import LAST_COMMIT
from arena.store.games.undo import UNDONE, undone
from referee.rules.core import Kind

MAX_POOLS = 256
"""Number of pools whose results are counted in memory."""
MAX_COUNTED = 32
"""Number of bots whose results are counted in memory."""
MAX_OPPONENTS = 100
"""The most frequent opponents of a bot whose results are counted apart."""
_COUNTED_AT_ONCE = 10_000
_GAMES = table_of(Game).c
_ENDING = _GAMES.termination, _GAMES.termination_class
_STATE = select(LAST_COMMIT.scalar_subquery(), UNDONE.scalar_subquery())


@dataclass(slots=True)
class _Counts:
    """Results of some versions up to the commit number `last`; hold `lock` while you use them."""

    tables: ScoreTables = field(default_factory=ScoreTables)
    last: int = 0
    undone: int = 0
    lock: Any = field(default_factory=Lock)


class Counts(Repository):
    """Counts of the results of bots, pools and tournaments."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self._lock = Lock()
        self._sides: LRUCache[str, tuple[int, int, dict[tuple[str, str], int]]] = LRUCache(MAX_POOLS)
        """Cache of `sides` by pool: last commit number, number of undone results by then, counts."""
        self._counts: LRUCache[tuple[object, ...], _Counts] = LRUCache(MAX_COUNTED)

    def scores(self, versions: Sequence[int], against: Sequence[int] | None = None, family: str = "") -> ScoreTables:
        """Count the results of `versions`, or only those against `against` or in a family. Void games are not counted.

        A game between two of the versions counts for both. New results are added to the earlier ones.
        """
        key = (*versions, None if against is None else (*against,), family)
        with self._lock:
            counts = self._counts.setdefault(key, _Counts())
        with counts.lock, self._sessions.reading() as session:
            last, undone_by_now = session.execute(_STATE).one()
            if undone_by_now != counts.undone:
                counts.tables, counts.last, counts.undone = ScoreTables(), 0, undone_by_now
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
            last, undone_then, before = self._sides.get(pool, (0, 0, {}))
        with self._sessions.reading() as session:
            undone_by_now = undone(session)
            if undone_then != undone_by_now:
                last, before = 0, {}
            query = (
                select(col(Game.variant), col(Game.winner), func.count(), func.max(col(Game.commit_number)))
                .where(col(Game.pool) == pool, col(Game.commit_number) > last)
                .group_by(col(Game.variant), col(Game.winner))
            )
            rows = fetch(session, query)
        counts = dict(before)
        for variant, winner, count, newest in rows:
            counts[variant, winner] = counts.get((variant, winner), 0) + count
            last = max(last, newest)
        with self._lock:
            self._sides[pool] = (last, undone_by_now, counts)
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
