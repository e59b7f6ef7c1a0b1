"""All ratings folded again from the games, in the order of their commits: what is stored must be just that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, tuple_, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import fold
from arena.store.commit import COUNTER, change_row, line_of, row_of
from arena.store.engine import Sessions, batched, fetch, table_of
from arena.store.models import Counter, Game, Rating, RatingChange, Version

_BATCH = 1000
_CHANGE = ("game_id", "version_id", "pool", "committed", "mu_before", "sigma_before", "mu", "sigma")
_CHANGES = table_of(RatingChange)
_MENDED = ("of_game", "of_version", *_CHANGE[2:])
_MEND = update(_CHANGES).where(
    _CHANGES.c.game_id == bindparam("of_game"), _CHANGES.c.version_id == bindparam("of_version")
)
_Key = tuple[str, int]
_Row = tuple[Any, ...]


def check(sessions: Sessions) -> list[str]:
    """Fold every game again in commit order; what differs from the stored numbers, in words."""
    table = _Fresh()
    with sessions.reading() as session:
        problems = [
            f"game {game}, version {version}: stored {old}, rebuilt {new}"
            for (game, version), old, new in _wrong_changes(session, table)
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
    table = _Fresh(frozenset(without))
    with sessions.reading() as session:
        wrong = list(_wrong_changes(session, table))
    with sessions.writing() as session:
        session.get(Counter, COUNTER, with_for_update=True)  # no commit in between
        undo(session)
        wrong += _wrong_changes(session, table)
        for part in batched(wrong):
            if gone := [key for key, _, new in part if new is None]:
                there = tuple_(_CHANGES.c.game_id, _CHANGES.c.version_id).in_(gone)
                session.execute(delete(_CHANGES).where(there))
            if missing := [new for _, old, new in part if old is None and new is not None]:
                session.execute(insert(_CHANGES), [dict(zip(_CHANGE, new, strict=True)) for new in missing])
            if other := [new for _, old, new in part if old is not None and new is not None]:
                session.execute(_MEND, [dict(zip(_MENDED, new, strict=True)) for new in other])
        for (pool, version), _, line in list(_wrong_lines(session, table)):
            session.execute(delete(Rating).where(col(Rating.pool) == pool, col(Rating.version_id) == version))
            if line is not None:
                session.execute(insert(Rating).values(row_of(pool, version, line)))
    return table.count


class _Fresh:
    """Ratings folded from nothing: `count` games that count, up to the commit number `last`, `without` some."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self.without = without
        self.earlier: dict[int, int] = {}
        self.lines: dict[tuple[str, int], fold.FoldedRating] = {}
        self.count = self.last = 0

    def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
        return self.lines.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        return self.earlier.get(version_id)

    def play(self, game: fold.FoldedGame) -> tuple[fold.Change, fold.Change]:
        changes = fold.step(self, game)
        for change in changes:
            self.lines[game.pool, change.version_id] = change.after
        self.count += 1
        return changes


def _wrong_changes(session: Session, table: _Fresh) -> Iterator[tuple[_Key, _Row | None, _Row | None]]:
    """Fold the games behind `table.last` into it; every rating change that is not as it should be: key, old, new."""
    query = select(col(Version.id), col(Version.follows_id)).where(col(Version.follows_id).is_not(None))
    table.earlier = dict(fetch(session, query))
    while True:
        games = _games(session, table.last)
        expected: dict[_Key, _Row] = {}
        for game in games:
            if game.counts and game.game_id not in table.without:
                for change in table.play(game):
                    row = change_row(game, change)
                    expected[game.game_id, change.version_id] = tuple(row[name] for name in _CHANGE)
        stored = _stored(session, [game.game_id for game in games])
        for key in sorted(stored.keys() | expected.keys()):
            if stored.get(key) != expected.get(key):
                yield key, stored.get(key), expected.get(key)
        if games:
            table.last = games[-1].committed
        if len(games) < _BATCH:
            break
    without_result = select(col(Game.id)).where(col(Game.committed).is_(None))
    for key, old in _stored(session, without_result).items():
        yield key, old, None


def _games(session: Session, after: int) -> list[fold.FoldedGame]:
    """The next results in commit order."""
    query = (
        select(
            col(Game.id),
            col(Game.committed),
            col(Game.family),
            col(Game.pool),
            col(Game.first_id),
            col(Game.second_id),
            col(Game.winner),
            col(Game.kind),
            col(Game.is_rated),
        )
        .where(col(Game.committed) > after)
        .order_by(col(Game.committed))
        .limit(_BATCH)
    )
    return [fold.FoldedGame(*row) for row in fetch(session, query)]


def _stored(session: Session, games: Any) -> dict[_Key, _Row]:
    """The stored changes of these games."""
    query = select(*(col(getattr(RatingChange, name)) for name in _CHANGE)).where(col(RatingChange.game_id).in_(games))
    return {(row[0], row[1]): tuple(row) for row in fetch(session, query)}


def _wrong_lines(
    session: Session, table: _Fresh
) -> Iterator[tuple[_Key, fold.FoldedRating | None, fold.FoldedRating | None]]:
    """Every rating that is not as it should be: key, old, new."""
    stored = {(row.pool, row.version_id): line_of(row) for row in session.scalars(select(Rating))}
    for key in sorted(stored.keys() | table.lines.keys()):
        if stored.get(key) != table.lines.get(key):
            yield key, stored.get(key), table.lines.get(key)
