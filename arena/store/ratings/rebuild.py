"""Rebuild of all ratings from the games in commit order; stored ratings must equal the result.

A rebuild computes the ratings in portions of games. It stores corrections (`rebuilt_changes`) and its progress
(`rebuilds`); if it is killed, the next rebuild continues from there. The last transaction applies all corrections:
until then readers see the old ratings, and results are committed as usual.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, text, tuple_, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.errors import ConflictError
from arena.store.base.engine import Sessions, batched, fetch, table_of
from arena.store.base.tables.bots import Version
from arena.store.base.tables.games import Game
from arena.store.base.tables.operations import Counter
from arena.store.base.tables.ratings import RatingChange, Rebuild, RebuiltChange, VersionRating
from arena.store.ratings.fold import COUNTER, FoldedGame, FoldedRating, change_row, fold, line_of, row_of
from referee.ratings import trueskill

PORTION = 5_000
"""Number of games folded between two stores of the progress: about one second."""

_GAMES, _CHANGES, _REBUILT, _RATINGS = (table_of(model) for model in (Game, RatingChange, RebuiltChange, VersionRating))
_CHANGE = tuple(_CHANGES.c)
_NAMES = tuple(column.name for column in _CHANGE)
_KEYS = _NAMES.index("wins")
"""Number of columns before those that the fold computes."""
_NEXT = (
    select(*(_GAMES.c["id" if name == "game_id" else name] for name in FoldedGame._fields))
    .where(_GAMES.c.commit_number > bindparam("after"))
    .order_by(_GAMES.c.commit_number)
    .limit(bindparam("portion"))
)
_PORTION = select(_GAMES.c.id).where(
    _GAMES.c.commit_number > bindparam("after"), _GAMES.c.commit_number <= bindparam("until")
)

_STORED = select(*_CHANGE).where(_CHANGES.c.game_id.in_(_PORTION))
_LISTED = ", ".join(_NAMES)
_CORRECT = (
    # The computed columns only: none of them is in an index.
    update(_CHANGES)
    .where(*(_CHANGES.c[name] == _REBUILT.c[name] for name in _NAMES[:_KEYS]))
    .where(_REBUILT.c.rebuild_id == bindparam("rebuild"), _REBUILT.c.mu.is_not(None))
    .values({name: _REBUILT.c[name] for name in _NAMES[_KEYS:]})
)
_REPLACE = text(
    f"INSERT INTO rating_changes ({_LISTED}) SELECT {_LISTED} FROM rebuilt_changes "  # noqa: S608 - names of columns
    "WHERE rebuild_id = :rebuild_id AND mu IS NOT NULL ON CONFLICT (game_id, version_id) DO UPDATE SET "
    + ", ".join(f"{column.name} = excluded.{column.name}" for column in _CHANGE if not column.primary_key)
)

_DELETE = delete(_RATINGS).where(_RATINGS.c.pool == bindparam("of"), _RATINGS.c.version_id == bindparam("version"))
_NO_RESULT = select(_GAMES.c.id).where(_GAMES.c.commit_number.is_(None))

_Key = tuple[str, int]
_Row = tuple[Any, ...]
"""Columns of a rating change, in order."""
_Difference = tuple[_Row | None, _Row | None]
"""The stored and the expected row."""
Progress = Callable[[int, int], None]
"""Progress callback with the number of folded games and the total."""


def ignore_progress(done: int, total: int) -> None:
    """Do nothing: for callers that show no progress."""


class _FoldedRatings:
    """The ratings after the games up to the commit number `last`, except `without`. Implements `fold.RatingTable`.

    Up to the commit number `trusted`, changes are not computed but read: the stored ones, with the corrections that the
    rebuild `rebuild_id` has noted.
    """

    def __init__(
        self, session: Session, without: frozenset[str] = frozenset(), trusted: int = 0, rebuild_id: str = ""
    ) -> None:
        query = select(col(Version.id), col(Version.follows_id)).where(col(Version.follows_id).is_not(None))
        self._follows: dict[int, int] = dict(fetch(session, query))
        self.by_key: dict[_Key, FoldedRating] = {}
        self.last = self.seen = self.count = 0
        """Last commit number, number of games so far, and number of those that changed ratings."""
        self.rebuild_id, self.noted = rebuild_id, trusted
        self._without, self._trusted = without, trusted

    def line(self, pool: str, version_id: int) -> FoldedRating | None:
        """Return the current rating (see `fold.RatingTable`)."""
        return self.by_key.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        """Return the predecessor of a version (see `fold.RatingTable`)."""
        return self._follows.get(version_id)

    def put(self, pool: str, version_id: int, line: FoldedRating) -> None:
        """Set a rating (see `fold.RatingTable`)."""
        self.by_key[pool, version_id] = line

    def fold_next(self, session: Session) -> list[_Difference] | None:
        """Rate the next portion of games; return (stored, expected) of each wrong change, None after the last game."""
        games = list(map(FoldedGame._make, session.execute(_NEXT, {"after": self.last, "portion": PORTION}).all()))
        if not games:
            return None
        stored, wrong = self._stored(session, games[-1].commit_number), []
        for game in games:
            changed = stored.get(game.game_id, {})
            is_trusted = game.commit_number <= self._trusted
            changes = () if game.game_id in self._without else fold(self, game, _update(game, changed, is_trusted))
            self.count += bool(changes)
            expected = {change.version_id: tuple(change_row(game, change).values()) for change in changes}
            if changed != expected and not is_trusted:
                versions = sorted(changed.keys() | expected.keys())
                wrong += [(changed.get(version), expected.get(version)) for version in versions]
        self.last = games[-1].commit_number
        self.seen += len(games)
        return [(old, new) for old, new in wrong if old != new]

    def _stored(self, session: Session, until: int) -> dict[str, dict[int, _Row]]:
        """Return the changes in the next games, by game and version: as stored, or as this rebuild corrects them."""
        which: dict[str, Any] = {"after": self.last, "until": until}
        changes: dict[str, dict[int, _Row]] = defaultdict(dict)
        for row in session.execute(_STORED, which).all():
            changes[row[0]][row[1]] = tuple(row)
        if self.last < self._trusted:
            mine = _REBUILT.c.rebuild_id == self.rebuild_id, _REBUILT.c.game_id.in_(_PORTION)
            corrected = select(*(_REBUILT.c[name] for name in _NAMES)).where(*mine)
            for row in session.execute(corrected, which).all():
                changes[row[0]][row[1]] = tuple(row)
        return changes


def _update(game: FoldedGame, stored: dict[int, _Row], is_trusted: bool) -> trueskill.Update:
    """Return the function that rates a game: by the stored numbers if trusted and complete, else by TrueSkill."""
    if not is_trusted:
        return trueskill.update
    rows = [stored.get(version) for version in (game.first_id, game.second_id)]
    if any(row is None or row[-1] is None for row in rows):
        return trueskill.update
    (*_, first_mu, first_sigma), (*_, second_mu, second_sigma) = (row for row in rows if row is not None)
    return lambda first, second, points, *_: (
        trueskill.counted(first, first_mu, first_sigma, points),
        trueskill.counted(second, second_mu, second_sigma, 1 - points),
    )


def check(sessions: Sessions, on_progress: Progress = ignore_progress) -> list[str]:
    """Compute all ratings again from the games in commit order; describe the differences from the stored ones."""
    problems: list[str] = []
    with sessions.reading() as session:
        lines, total = _FoldedRatings(session), _count(session)
        while (wrong := lines.fold_next(session)) is not None:
            problems += [_describe(*difference) for difference in wrong]
            on_progress(lines.seen, total)
        left = select(*_CHANGE).where(_CHANGES.c.game_id.in_(_NO_RESULT))
        problems += [_describe(tuple(row), None) for row in session.execute(left)]
        problems += [
            f"{pool}, version {version}: stored {old}, rebuilt {new}"
            for (pool, version), old, new in _wrong_ratings(session, lines)
        ]
    return problems


def rebuild(
    sessions: Sessions,
    without: Collection[str] = (),
    undo: Callable[[Session], None] = lambda session: None,
    on_progress: Progress = ignore_progress,
) -> int:
    """Compute all ratings again, correct the stored ones, and return the number of rated games.

    The results of games in `without` are excluded; changes before the first of these games are not recomputed. In the
    last transaction, `undo` removes these results. Raises ConflictError if another rebuild finished first.
    """
    with sessions.writing() as session:
        lines = _begin(session, frozenset(without))
        total = _count(session)
        on_progress(_count(session, until=lines.noted), total)
    while True:
        with sessions.reading() as session:
            # Fold without a write transaction: SQLite has one writer, whom a second of folding would keep from commits.
            wrong = lines.fold_next(session)
        if wrong is None:
            break
        if lines.last > lines.noted:
            with sessions.writing() as session:
                _note(session, lines, wrong)
            on_progress(lines.seen, total)
    with sessions.writing() as session:
        session.get(Counter, COUNTER, with_for_update=True)  # blocks commits until the end
        undo(session)
        while (wrong := lines.fold_next(session)) is not None:
            _note(session, lines, wrong)
        _finish(session, lines)
    return lines.count


def _begin(session: Session, without: frozenset[str]) -> _FoldedRatings:
    """Resume an interrupted rebuild that excludes the same games, or start a new rebuild."""
    digest = hashlib.sha256(" ".join(sorted(without)).encode()).hexdigest() if without else ""
    begun = session.scalar(select(Rebuild).where(col(Rebuild.without) == digest).limit(1))
    if begun is None:
        first = [
            session.scalar(select(func.min(_GAMES.c.commit_number)).where(_GAMES.c.id.in_(part)))
            for part in batched(without)
        ]
        last = min((number for number in first if number is not None), default=1) - 1
        begun = Rebuild(id=uuid.uuid4().hex, without=digest, last=last)
        session.add(begun)
    return _FoldedRatings(session, without, begun.last, begun.id)


def _note(session: Session, lines: _FoldedRatings, wrong: list[_Difference]) -> None:
    """Store corrections and the progress of the rebuild."""
    mine = col(Rebuild.id) == lines.rebuild_id, col(Rebuild.last) == lines.noted
    # Two rebuilds may continue the same progress: the one that finds it moved has lost.
    if not session.execute(update(Rebuild).where(*mine).values(last=lines.last)).rowcount:  # type: ignore[attr-defined]
        raise ConflictError("another rebuild of the ratings is running; wait for its end, then retry")
    lines.noted = lines.last
    if wrong:
        connection = session.connection()
        # By the driver: SQLAlchemy's own way makes two dictionaries for each row, in twice the time of the database.
        marks = ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * (1 + len(_NAMES)))
        statement = f"INSERT INTO rebuilt_changes (rebuild_id, {_LISTED}) VALUES ({marks})"  # noqa: S608 - as above
        connection.exec_driver_sql(statement, [(lines.rebuild_id, *_columns(*difference)) for difference in wrong])


def _columns(old: _Row | None, new: _Row | None) -> _Row:
    """Return the columns of a corrected change; those from `wins` on are None if the change must be deleted."""
    if new is not None:
        return new
    assert old is not None
    return *old[:_KEYS], *[None] * (len(_NAMES) - _KEYS)


def _finish(session: Session, lines: _FoldedRatings) -> None:
    """Apply the corrections of this rebuild; delete those of all rebuilds and their progress, so that others fail."""
    _note(session, lines, [])
    mine = _REBUILT.c.rebuild_id == lines.rebuild_id
    noted, kept = session.execute(select(func.count(), func.count(_REBUILT.c.mu)).where(mine)).one()
    if kept < noted:
        keys = select(_REBUILT.c.game_id, _REBUILT.c.version_id).where(mine, _REBUILT.c.mu.is_(None))
        session.execute(delete(_CHANGES).where(tuple_(_CHANGES.c.game_id, _CHANGES.c.version_id).in_(keys)))
    session.execute(delete(_CHANGES).where(_CHANGES.c.game_id.in_(_NO_RESULT)))
    corrected = session.execute(_CORRECT, {"rebuild": lines.rebuild_id}).rowcount  # type: ignore[attr-defined]
    if corrected < kept:  # some are missing, or are stored for another pool or commit number
        session.execute(_REPLACE, {"rebuild_id": lines.rebuild_id})
    if wrong := list(_wrong_ratings(session, lines)):
        session.connection().execute(_DELETE, [{"of": pool, "version": version} for (pool, version), *_ in wrong])
        if rows := [row_of(*key, line) for key, _, line in wrong if line is not None]:
            session.connection().execute(insert(_RATINGS), rows)
    session.execute(delete(_REBUILT))
    session.execute(delete(Rebuild))


def _count(session: Session, until: int | None = None) -> int:
    """Count all results, or those up to a commit number."""
    mine = _GAMES.c.commit_number.is_not(None) if until is None else _GAMES.c.commit_number <= until
    return session.scalar(select(func.count()).select_from(_GAMES).where(mine)) or 0


def _describe(old: _Row | None, new: _Row | None) -> str:
    game, version, *_ = old or new or ()
    return f"game {game}, version {version}: stored {old}, rebuilt {new}"


def _wrong_ratings(
    session: Session, lines: _FoldedRatings
) -> Iterator[tuple[_Key, FoldedRating | None, FoldedRating | None]]:
    """Yield every wrong rating: key, stored value, expected value."""
    stored = {(row.pool, row.version_id): line_of(row) for row in session.scalars(select(VersionRating))}
    for key in sorted(stored.keys() | lines.by_key.keys()):
        if stored.get(key) != lines.by_key.get(key):
            yield key, stored.get(key), lines.by_key.get(key)
