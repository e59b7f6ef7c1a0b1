"""The one transaction that commits results: records, results, commit numbers, ratings, counters.

A game is committed exactly once, by its id: a second result changes nothing. The row of the commit counter is locked
first, so results are committed and rated in the order of their numbers. Results that arrive together are committed in
one transaction, because most of the cost is per transaction and statement.
"""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import zstandard
from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.orm import Session

from arena.clock import now
from arena.errors import ConflictError, NotFoundError, SchemaError
from arena.store.base.engine import table_of
from arena.store.base.tables.bots import Version
from arena.store.base.tables.games import Game, Record
from arena.store.base.tables.operations import Counter
from arena.store.base.tables.ratings import RatingChange, VersionRating
from arena.store.base.tables.tournaments import Tournament
from arena.store.ratings import fold
from arena.store.ratings.fold import COUNTER, change_row, line_of, row_of
from referee.game.record import GameRecord, read_record
from referee.rules.core import Kind

_OVER = ("finished", "void", "cancelled")

# Statements are built once and bypass the ORM: ORM objects or repeated building would double the cost of a write.
_COUNTERS, _GAMES, _RATINGS, _RECORDS, _CHANGES, _TOURNAMENTS, _VERSIONS = (
    table_of(model) for model in (Counter, Game, VersionRating, Record, RatingChange, Tournament, Version)
)
_TAKE_NUMBERS = (
    update(_COUNTERS)
    .where(_COUNTERS.c.name == COUNTER)
    .values(value=_COUNTERS.c.value + bindparam("count"))
    .returning(_COUNTERS.c.value)
)
_PLANS = select(
    *(_GAMES.c[name] for name in ("id", "state", "family", "first", "second")),
    *(_GAMES.c[name] for name in ("tournament_id", "pool", "first_id", "second_id", "is_rated", "meeting", "anchor")),
).where(_GAMES.c.id.in_(bindparam("games", expanding=True)))
_FINISH = update(_GAMES).where(_GAMES.c.id == bindparam("game"))
_COUNT_OVER = (
    update(_TOURNAMENTS)
    .where(_TOURNAMENTS.c.id == bindparam("tournament"))
    .values(finished_games=_TOURNAMENTS.c.finished_games + bindparam("count"))
)
_THIS_LINE = (_RATINGS.c.pool == bindparam("of_pool"), _RATINGS.c.version_id == bindparam("of_version"))
_THESE_LINES = select(_RATINGS).where(
    _RATINGS.c.pool.in_(bindparam("pools", expanding=True)),
    _RATINGS.c.version_id.in_(bindparam("versions", expanding=True)),
)
_NEW_LINE, _NEXT_LINE = insert(_RATINGS), update(_RATINGS).where(*_THIS_LINE)
_FOLLOWS = select(_VERSIONS.c.follows_id).where(_VERSIONS.c.id == bindparam("version"))
_NEW_RECORD, _NEW_CHANGES = insert(_RECORDS), insert(_CHANGES)


@dataclass(frozen=True, slots=True)
class Committed:
    """A newly committed result; `changes` is empty for games that change no rating."""

    game_id: str
    tournament_id: int
    number: int
    pool: str
    changes: tuple[fold.FoldedChange, ...]


def pack(record: GameRecord) -> bytes:
    """Serialise a record for storage as zstd-compressed JSON. The worker's name is removed because it is internal."""
    # Level 3 takes a third of the time of level 6 and 6 % more space (games of 200 plies).
    return zstandard.compress(replace(record, worker="").line().encode(), level=3)


def unpack(data: bytes) -> GameRecord:
    """Parse a stored record."""
    return read_record(unpack_line(data))


def unpack_line(data: bytes) -> bytes:
    """Decompress the JSON of a stored record without parsing it."""
    return zstandard.decompress(data)


class LiveRatings:
    """The ratings as seen by this session's transaction; `write` stores the changed ones."""

    def __init__(self, session: Session, pools: Collection[str], versions: Collection[int]) -> None:
        """Read the ratings of these versions in these pools together; others are read when they are needed."""
        self._session = session
        self._lines: dict[tuple[str, int], fold.FoldedRating | None] = {}
        self._known: set[tuple[str, int]] = set()
        """Ratings that have a row."""
        self._changed: dict[tuple[str, int], fold.FoldedRating] = {}
        self._read(pools, versions)

    def _read(self, pools: Collection[str], versions: Collection[int]) -> None:
        rows = self._session.execute(_THESE_LINES, {"pools": list(pools), "versions": list(versions)})
        stored = {(row.pool, row.version_id): line_of(row) for row in rows}
        self._lines |= dict.fromkeys(product(pools, versions)) | stored
        self._known |= stored.keys()

    def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
        """Return the current rating (see `fold.RatingTable`)."""
        place = (pool, version_id)
        if place not in self._lines:
            self._read([pool], [version_id])
        return self._lines[place]

    def follows(self, version_id: int) -> int | None:
        """Return the predecessor of a version (see `fold.RatingTable`)."""
        return self._session.scalar(_FOLLOWS, {"version": version_id})

    def put(self, pool: str, version_id: int, line: fold.FoldedRating) -> None:
        """Set a rating (see `fold.RatingTable`)."""
        self._lines[pool, version_id] = self._changed[pool, version_id] = line

    def write(self) -> None:
        """Write the changed ratings: rows that are new in the pool, and updates of the others."""
        rows = {place: row_of(*place, line) for place, line in self._changed.items()}
        if new := [row for place, row in rows.items() if place not in self._known]:
            self._session.execute(_NEW_LINE, new)
        if old := [
            {**row, "of_pool": row["pool"], "of_version": row["version_id"]}
            for place, row in rows.items()
            if place in self._known
        ]:
            self._session.execute(_NEXT_LINE, old)


def commit(session: Session, records: Sequence[GameRecord], lease_owner: str = "") -> list[Committed | None]:
    """Commit records of finished games in this order, inside the session's transaction.

    Returns None for each game that is already over. Raises NotFoundError for an unplanned game, ConflictError if a
    record has other bots than the plan, ValueError if it is void. After an exception, roll the whole transaction back.
    """
    for record in records:
        if record.kind is Kind.VOID:
            raise ValueError(f"game {record.id} is void: it has no result to commit")
    last = session.scalar(_TAKE_NUMBERS, {"count": len(records)})
    if last is None:
        raise SchemaError("missing commit counter; run `arena db upgrade`")
    taken = _planned(session, records)
    if len(taken) < len(records):
        session.execute(_TAKE_NUMBERS, {"count": len(taken) - len(records)})  # a negative count: returns numbers
    versions = {version for _, plan in taken for version in (plan.first_id, plan.second_id)}
    table = LiveRatings(session, {plan.pool for _, plan in taken}, versions)
    committed: dict[str, Committed] = {}
    finished: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    # The counter rose by all records; those taken get the first of these numbers, and the rest was given back.
    for number, (record, plan) in enumerate(taken, last - len(records) + 1):
        played = fold.FoldedGame(
            record.id,
            number,
            record.family,
            plan.pool,
            plan.first_id,
            plan.second_id,
            record.winner,
            record.kind.value,
            plan.is_rated,
            plan.meeting,
            plan.anchor,
        )
        changes = fold.fold(table, played)
        changed += [change_row(played, change) for change in changes]
        finished.append(_finished(record, number, lease_owner))
        committed[record.id] = Committed(record.id, plan.tournament_id, number, plan.pool, changes)
    if taken:
        session.execute(_NEW_RECORD, [{"game_id": record.id, "data": pack(record)} for record, _ in taken])
        session.execute(_FINISH, finished)
    for tournament_id, count in Count(game.tournament_id for game in committed.values()).items():
        count_over(session, tournament_id, count)
    table.write()
    if changed:
        session.execute(_NEW_CHANGES, changed)
    # Popped: a second record of a game gets None, like one of a game that was over before.
    return [committed.pop(record.id, None) for record in records]


def _planned(session: Session, records: Sequence[GameRecord]) -> list[tuple[GameRecord, Row[Any]]]:
    """Return the records whose games are not over, each with its plan. Of several records of a game, use the first."""
    plans = {row.id: row for row in session.execute(_PLANS, {"games": [record.id for record in records]})}
    planned: dict[str, tuple[GameRecord, Row[Any]]] = {}
    for record in records:
        plan = plans.get(record.id)
        if plan is None:
            raise NotFoundError("game", record.id)
        if (plan.family, plan.first, plan.second) != (record.family, record.first, record.second):
            raise ConflictError(
                f"game {record.id} is {plan.family}: {plan.first} - {plan.second}, "
                f"the record says {record.family}: {record.first} - {record.second}",
                str(plan.state),
            )
        if plan.state not in _OVER:
            planned.setdefault(record.id, (record, plan))
    return list(planned.values())


def _finished(record: GameRecord, number: int, lease_owner: str) -> dict[str, Any]:
    """Return the columns of a game that change with its result."""
    return {
        "game": record.id,
        "state": "finished",
        "commit_number": number,
        "lease_owner": lease_owner,
        # PostgreSQL refuses a text that is longer than its column; SQLite does not look at lengths.
        "worker": record.worker[:120],
        "started_at": _instant(record.started),
        "finished_at": _instant(record.finished),
        "winner": record.winner,
        "termination": record.termination.value,
        "termination_class": record.kind.value,
        "detail": record.detail,
        "plies": len(record.moves),
    }


def count_over(session: Session, tournament_id: int, count: int = 1) -> None:
    """Add to the number of finished games of a tournament."""
    session.execute(_COUNT_OVER, {"tournament": tournament_id, "count": count})


def _instant(text: str) -> datetime:
    """Parse a time of a record; return the current time if it is unreadable."""
    try:
        found = datetime.fromisoformat(text)
    # Times of a record come from a worker's clock and decide nothing: no result is lost for them.
    except ValueError:
        return now()
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
