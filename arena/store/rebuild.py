"""All ratings folded again from the games, in the order of their commits: what is stored must be just that."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import fold
from arena.store.commit import COUNTER, line_of, row_of
from arena.store.engine import Sessions, batched, fetch, table_of
from arena.store.folding import Folding
from arena.store.folding import Game as FoldedGame
from arena.store.models import Counter, Game, Rating, RatingChange, Version

_BATCH = 10_000
_CHANGE = ("game_id", "version_id", "pool", "committed", "mu_before", "sigma_before", "mu", "sigma")
_CHANGES = table_of(RatingChange)
_MENDED = ("of_game", "of_version", *_CHANGE[2:])
_MEND = update(_CHANGES).where(
    _CHANGES.c.game_id == bindparam("of_game"), _CHANGES.c.version_id == bindparam("of_version")
)
_MEND_NUMBERS = (
    "UPDATE rating_changes SET mu_before = new.column3, sigma_before = new.column4, mu = new.column5, "
    "sigma = new.column6 FROM (VALUES {}) AS new WHERE game_id = new.column1 AND version_id = new.column2"
)
"""In the words that both databases share, not through SQLAlchemy: of many rows its part took longer than theirs."""
_GAME = table_of(Game).c
_FIRST, _SECOND = _CHANGES.alias("first"), _CHANGES.alias("second")
_FIELDS = 9
_GAMES = (
    select(
        _GAME.id,
        _GAME.committed,
        _GAME.family,
        _GAME.pool,
        _GAME.first_id,
        _GAME.second_id,
        _GAME.winner,
        _GAME.kind,
        _GAME.is_rated,
        select(func.count()).where(_CHANGES.c.game_id == _GAME.id).scalar_subquery(),
        and_(*(side.c[name] == _GAME[name] for side in (_FIRST, _SECOND) for name in ("pool", "committed"))),
        *(side.c[name] for side in (_FIRST, _SECOND) for name in _CHANGE[4:]),
    )
    .select_from(
        table_of(Game)
        .outerjoin(_FIRST, and_(_FIRST.c.game_id == _GAME.id, _FIRST.c.version_id == _GAME.first_id))
        .outerjoin(_SECOND, and_(_SECOND.c.game_id == _GAME.id, _SECOND.c.version_id == _GAME.second_id))
    )
    .where(_GAME.committed > bindparam("after"))
    .order_by(_GAME.committed)
    .limit(_BATCH)
)
"""The next results in commit order: `_FIELDS` of the fold, how many rating changes there are, and those of both."""
_Key = tuple[str, int]
_Row = tuple[Any, ...]
_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]


class _Part(NamedTuple):
    """Some games that follow one another, and what their changes should be: those of first, then of second.

    Numbers that are none belong to games that do not count. `is_whole`: both changes are there, and but for their
    numbers as they should be.
    """

    games: list[FoldedGame]
    expected: _Floats
    is_right: _Flags
    is_whole: _Flags


def check(sessions: Sessions) -> list[str]:
    """Fold every game again in commit order; what differs from the stored numbers, in words."""
    table = Folding()
    with sessions.reading() as session:
        problems = [
            f"game {game}, version {version}: stored {old}, rebuilt {new}"
            for part in _folded(session, table)
            for (game, version), old, new in _differences(session, part, ~part.is_right)
        ]
        problems += [
            f"game {game}, version {version}: stored {old}, rebuilt None"
            for (game, version), old in _left(session).items()
        ]
        problems += [
            f"{pool}, version {version}: stored {old}, rebuilt {new}"
            for (pool, version), old, new in _wrong_lines(session, table)
        ]
    return problems


def rebuild(
    sessions: Sessions, without: Collection[str] = (), undo: Callable[[Session], None] = lambda session: None
) -> int:
    """Fold every game again and put right whatever differs; returns how many games counted.

    Results can be committed meanwhile: only the repair itself, with the games since, keeps them waiting. The results of
    games in `without` are left out; `undo` takes them out of the database, in the transaction of the repair.
    """
    table, repair = Folding(frozenset(without)), _Repair()
    with sessions.reading() as session:
        repair.look(session, table)
    with sessions.writing() as session:
        session.get(Counter, COUNTER, with_for_update=True)  # no commit in between
        undo(session)
        repair.look(session, table)
        repair.work(session)
        for (pool, version), _, line in list(_wrong_lines(session, table)):
            session.execute(delete(Rating).where(col(Rating.pool) == pool, col(Rating.version_id) == version))
            if line is not None:
                session.execute(insert(Rating).values(row_of(pool, version, line)))
    return table.count


class _Repair:
    """What is to be put right: changes of which only the numbers are wrong, kept small, and all others."""

    def __init__(self) -> None:
        self._numbers: list[tuple[list[tuple[str, int, int]], _Floats]] = []
        self._others: list[tuple[_Key, _Row | None, _Row | None]] = []

    def look(self, session: Session, table: Folding) -> None:
        """Fold the games behind `table.last` into it, and note what is wrong."""
        for part in _folded(session, table):
            only_numbers = np.flatnonzero(~part.is_right & part.is_whole)
            if len(only_numbers):
                games = [part.games[number] for number in only_numbers.tolist()]
                self._numbers.append(([(game[0], *game[4:6]) for game in games], part.expected[only_numbers]))
            self._others += _differences(session, part, ~part.is_right & ~part.is_whole)
        self._others += [(key, old, None) for key, old in _left(session).items()]

    def work(self, session: Session) -> None:
        """Put it right."""
        for games, expected in self._numbers:
            changes = (
                (game, *change)
                for (game, first, second), numbers in zip(games, expected.tolist(), strict=True)
                for change in ((first, *numbers[:4]), (second, *numbers[4:]))
            )
            for part in batched(changes):
                _mend_numbers(session, part)
        for wrong in batched(self._others):
            if gone := [key for key, _, new in wrong if new is None]:
                there = tuple_(_CHANGES.c.game_id, _CHANGES.c.version_id).in_(gone)
                session.execute(delete(_CHANGES).where(there))
            if missing := [new for _, old, new in wrong if old is None and new is not None]:
                session.execute(insert(_CHANGES), [dict(zip(_CHANGE, new, strict=True)) for new in missing])
            if other := [new for _, old, new in wrong if old is not None and new is not None]:
                session.execute(_MEND, [dict(zip(_MENDED, new, strict=True)) for new in other])


def _mend_numbers(session: Session, changes: list[tuple[Any, ...]]) -> None:
    connection = session.connection()
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    line = f"({', '.join([mark] * 6)})"
    statement = _MEND_NUMBERS.format(", ".join([line] * len(changes)))
    connection.exec_driver_sql(statement, tuple(itertools.chain.from_iterable(changes)))


def _folded(session: Session, table: Folding) -> Iterator[_Part]:
    """Fold the games behind `table.last` into it, and compare with what is stored of them."""
    query = select(col(Version.id), col(Version.follows_id)).where(col(Version.follows_id).is_not(None))
    table.earlier = dict(fetch(session, query))
    while rows := session.execute(_GAMES, {"after": table.last}).all():
        games: list[FoldedGame] = [tuple(row[:_FIELDS]) for row in rows]
        counted = np.array([table.counts(game) for game in games])
        expected = np.full((len(games), 8), np.nan)
        expected[counted] = table.play(game for game, counts in zip(games, counted.tolist(), strict=True) if counts)
        table.last = games[-1][1]
        numbers, are_two, *stored = zip(*(row[_FIELDS:] for row in rows), strict=True)
        are_same = (expected == np.array(stored, dtype=np.float64).T).all(axis=1)
        is_whole = np.array([both is True for both in are_two])  # None where one is missing
        is_right = np.where(counted, (np.array(numbers) == 2) & is_whole & are_same, np.array(numbers) == 0)
        yield _Part(games, expected, is_right, counted & (np.array(numbers) == 2) & is_whole)


def _differences(
    session: Session, part: _Part, is_looked_at: _Flags
) -> Iterator[tuple[_Key, _Row | None, _Row | None]]:
    """Every change of some games of a part that is not as it should be: key, old, new."""
    for numbers in batched(np.flatnonzero(is_looked_at).tolist()):
        expected: dict[_Key, _Row] = {}
        for number in numbers:
            game_id, committed, _, pool, *versions, _winner, _kind, _ = part.games[number]
            values = part.expected[number].tolist()
            for seat, version in enumerate(versions):
                if values[0] == values[0]:  # it counts: there are numbers
                    expected[game_id, version] = (game_id, version, pool, committed, *values[4 * seat : 4 * seat + 4])
        stored = _stored(session, [part.games[number][0] for number in numbers])
        for key in sorted(stored.keys() | expected.keys()):
            if stored.get(key) != expected.get(key):
                yield key, stored.get(key), expected.get(key)


def _left(session: Session) -> dict[_Key, _Row]:
    """Changes of games that have no result."""
    return _stored(session, select(col(Game.id)).where(col(Game.committed).is_(None)))


def _stored(session: Session, games: Any) -> dict[_Key, _Row]:
    """The stored changes of these games."""
    query = select(*(col(getattr(RatingChange, name)) for name in _CHANGE)).where(col(RatingChange.game_id).in_(games))
    return {(row[0], row[1]): tuple(row) for row in fetch(session, query)}


def _wrong_lines(
    session: Session, table: Folding
) -> Iterator[tuple[_Key, fold.FoldedRating | None, fold.FoldedRating | None]]:
    """Every rating that is not as it should be: key, old, new."""
    lines = table.lines()
    stored = {(row.pool, row.version_id): line_of(row) for row in session.scalars(select(Rating))}
    for key in sorted(stored.keys() | lines.keys()):
        if stored.get(key) != lines.get(key):
            yield key, stored.get(key), lines.get(key)
