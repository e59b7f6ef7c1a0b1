"""Ratings: leaderboards, the line of one version, and the rebuild that must reproduce every stored number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import fold
from arena.store.commit import COUNTER, change_row, line_of, row_of
from arena.store.engine import Sessions, batched, fetch, table_of
from arena.store.models import Bot, Counter, Game, Rating, RatingChange, User, Version
from arena.store.page import DEFAULT_LIMIT, Page, bounded, cut, read_cursor, write_cursor
from referee.ratings.trueskill import Rating as Strength

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class RatingLine:
    """One line of a leaderboard. `place` counts all lines, `rank` only those that are not provisional.

    `opponents` is the average mu of the opponents, `beats_next` the probability to be stronger than the next line.
    """

    place: int
    rank: int | None
    version_id: int
    name: str
    bot: str
    number: int
    owner: str
    state: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    opponents: float
    is_provisional: bool
    beats_next: float | None

    @property
    def score(self) -> float:
        """Points per game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0


@dataclass(frozen=True, slots=True)
class PoolLine:
    """One version's rating in one pool, for the page of a bot."""

    pool: str
    version_id: int
    name: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    is_provisional: bool


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One point of a rating plot: the game and what it did. `points` is what the version scored."""

    committed: int
    game_id: str
    finished: datetime | None
    opponent: str
    points: float
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


class Ratings:
    """The ratings as the commits left them."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def pools(self) -> list[tuple[str, int]]:
        """Every pool with rated games, and how many."""
        query = select(col(Rating.pool), func.sum(col(Rating.games))).group_by(col(Rating.pool))
        with self._sessions.reading() as session:
            return sorted((pool, int(games) // 2) for pool, games in fetch(session, query))

    def leaderboard(
        self, pool: str, *, with_retired: bool = False, limit: int = DEFAULT_LIMIT, after: str | None = None
    ) -> Page[RatingLine]:
        """The lines of a pool, best first by mu - 3 sigma. Retired versions are left out unless asked for."""
        limit = bounded(limit)
        keys = (col(Rating.conservative), col(Rating.version_id))
        query = (
            select(Rating, col(Version.name), col(Bot.name), col(Version.number), col(User.name), col(Version.state))
            .join(Version, col(Version.id) == col(Rating.version_id))
            .join(Bot, col(Bot.id) == col(Version.bot_id))
            .join(User, col(User.id) == col(Bot.owner_id))
            .where(col(Rating.pool) == pool)
            .order_by(*(key.desc() for key in keys))
            .limit(limit + 1)
        )
        if not with_retired:
            query = query.where(col(Version.state) != "retired")
        place = rank = 0
        if last := read_cursor(after, float, int, int, int):
            query = query.where(tuple_(*keys) < tuple_(*last[:2]))
            place, rank = last[2:]
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        lines: list[RatingLine] = []
        for index, (row, name, bot, number, owner, state) in enumerate(rows[:limit]):
            is_provisional = line_of(row).rating.is_provisional
            place, rank = place + 1, rank + (not is_provisional)
            follower = rows[index + 1][0] if index + 1 < len(rows) else None
            lines.append(
                RatingLine(
                    place,
                    None if is_provisional else rank,
                    row.version_id,
                    name,
                    bot,
                    number,
                    owner,
                    state,
                    row.mu,
                    row.sigma,
                    row.conservative,
                    row.games,
                    row.wins,
                    row.draws,
                    row.losses,
                    row.forfeits,
                    row.opposition / row.games,
                    is_provisional,
                    probability(row, follower) if follower else None,
                )
            )
        if len(rows) <= limit:
            return Page(lines)
        return Page(lines, write_cursor(lines[-1].conservative, lines[-1].version_id, place, rank))

    def of_versions(self, version_ids: Sequence[int]) -> list[PoolLine]:
        """The ratings of some versions in all their pools, pools by name, newest version first."""
        query = (
            select(Rating, col(Version.name))
            .join(Version, col(Version.id) == col(Rating.version_id))
            .where(col(Rating.version_id).in_(set(version_ids)))
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        lines = [
            PoolLine(
                row.pool,
                row.version_id,
                name,
                row.mu,
                row.sigma,
                row.conservative,
                row.games,
                row.wins,
                row.draws,
                row.losses,
                row.forfeits,
                line_of(row).rating.is_provisional,
            )
            for row, name in rows
        ]
        return sorted(lines, key=lambda line: (line.pool, -line.version_id))

    def strengths(self, pool: str, version_ids: Sequence[int]) -> dict[int, Strength]:
        """The ratings of these versions in a pool; versions without a game in it are left out."""
        query = select(Rating).where(col(Rating.pool) == pool, col(Rating.version_id).in_(set(version_ids)))
        with self._sessions.reading() as session:
            return {row.version_id: line_of(row).rating for row in session.scalars(query)}

    def changes(
        self, version_id: int, pool: str, *, limit: int = DEFAULT_LIMIT, after: str | None = None
    ) -> Page[ChangeLine]:
        """What every game did to one version's rating, in order."""
        limit = bounded(limit)
        query = (
            select(
                RatingChange,
                col(Game.finished),
                col(Game.first_id),
                col(Game.first),
                col(Game.second),
                col(Game.winner),
            )
            .join(Game, col(Game.id) == col(RatingChange.game_id))
            .where(col(RatingChange.version_id) == version_id, col(RatingChange.pool) == pool)
            .order_by(col(RatingChange.committed))
            .limit(limit + 1)
        )
        if keys := read_cursor(after, int):
            query = query.where(col(RatingChange.committed) > keys[0])
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        lines = []
        for change, finished, first_id, first, second, winner in rows:
            is_first = first_id == version_id
            points = 0.5 if winner == "draw" else float((winner == "first") == is_first)
            lines.append(
                ChangeLine(
                    change.committed,
                    change.game_id,
                    finished,
                    second if is_first else first,
                    points,
                    change.mu_before,
                    change.sigma_before,
                    change.mu,
                    change.sigma,
                )
            )
        return cut(lines, limit, lambda line: (line.committed,))

    def of_game(self, game_id: str) -> dict[int, RatingChange]:
        """What a game did to the ratings of its versions; nothing for games that move none."""
        query = select(RatingChange).where(col(RatingChange.game_id) == game_id)
        with self._sessions.reading() as session:
            return {row.version_id: row for row in session.scalars(query)}

    def of_tournament(self, tournament_id: int) -> dict[int, tuple[float, float]]:
        """mu - 3 sigma of every version before its first rated game of a tournament, and after its last one."""
        ends = (
            select(
                col(RatingChange.version_id),
                col(RatingChange.pool),
                func.min(col(RatingChange.committed)).label("first"),
                func.max(col(RatingChange.committed)).label("last"),
            )
            .join(Game, col(Game.id) == col(RatingChange.game_id))
            .where(col(Game.tournament_id) == tournament_id)
            .group_by(col(RatingChange.version_id), col(RatingChange.pool))
            .subquery()
        )
        first, last = _CHANGES.alias("first"), _CHANGES.alias("last")
        query = select(ends.c.version_id, first.c.mu_before, first.c.sigma_before, last.c.mu, last.c.sigma)
        for change, at in ((first, ends.c.first), (last, ends.c.last)):
            mine = (change.c.version_id == ends.c.version_id, change.c.pool == ends.c.pool, change.c.committed == at)
            query = query.join(change, and_(*mine))
        with self._sessions.reading() as session:
            return {
                version_id: (mu_before - 3 * sigma_before, mu - 3 * sigma)
                for version_id, mu_before, sigma_before, mu, sigma in fetch(session, query)
            }

    # -- rebuilding --------------------------------------------------------------------------------------------------

    def check(self) -> list[str]:
        """Fold every game again in commit order; what differs from the stored numbers, in words."""
        table = _Fresh()
        with self._sessions.reading() as session:
            problems = [
                f"game {game}, version {version}: stored {old}, rebuilt {new}"
                for (game, version), old, new in _wrong_changes(session, table)
            ]
            problems += [
                f"{pool}, version {version}: stored {old}, rebuilt {new}"
                for (pool, version), old, new in _wrong_lines(session, table)
            ]
        return problems

    def rebuild(self) -> int:
        """Fold every game again and put right whatever differs; returns how many games counted.

        Results can be committed meanwhile: only the repair itself, with the games since, keeps them waiting.
        """
        table = _Fresh()
        with self._sessions.reading() as session:
            wrong = list(_wrong_changes(session, table))
        with self._sessions.writing() as session:
            session.get(Counter, COUNTER, with_for_update=True)  # no commit in between
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
    """Ratings folded from nothing: `count` games that count, up to the commit number `last`."""

    def __init__(self) -> None:
        self.earlier: dict[int, int] = {}
        self.lines: dict[tuple[str, int], fold.Line] = {}
        self.count = self.last = 0

    def line(self, pool: str, version_id: int) -> fold.Line | None:
        return self.lines.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        return self.earlier.get(version_id)

    def play(self, game: fold.Played) -> tuple[fold.Change, fold.Change]:
        changes = fold.step(self, game)
        for change in changes:
            self.lines[game.pool, change.version_id] = change.after
        self.count += 1
        return changes


_CHANGE = ("game_id", "version_id", "pool", "committed", "mu_before", "sigma_before", "mu", "sigma")
_CHANGES = table_of(RatingChange)
_MENDED = ("of_game", "of_version", *_CHANGE[2:])
_MEND = update(_CHANGES).where(
    _CHANGES.c.game_id == bindparam("of_game"), _CHANGES.c.version_id == bindparam("of_version")
)
_Key = tuple[str, int]
_Row = tuple[Any, ...]


def _wrong_changes(session: Session, table: _Fresh) -> Iterator[tuple[_Key, _Row | None, _Row | None]]:
    """Fold the games behind `table.last` into it; every rating change that is not as it should be: key, old, new."""
    query = select(col(Version.id), col(Version.follows_id)).where(col(Version.follows_id).is_not(None))
    table.earlier = dict(fetch(session, query))
    while True:
        games = _games(session, table.last)
        expected: dict[_Key, _Row] = {}
        for game in games:
            if game.counts:
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


def _games(session: Session, after: int) -> list[fold.Played]:
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
    return [fold.Played(*row) for row in fetch(session, query)]


def _stored(session: Session, games: Any) -> dict[_Key, _Row]:
    """The stored changes of these games."""
    query = select(*(col(getattr(RatingChange, name)) for name in _CHANGE)).where(col(RatingChange.game_id).in_(games))
    return {(row[0], row[1]): tuple(row) for row in fetch(session, query)}


def _wrong_lines(session: Session, table: _Fresh) -> Iterator[tuple[_Key, fold.Line | None, fold.Line | None]]:
    """Every rating that is not as it should be: key, old, new."""
    stored = {(row.pool, row.version_id): line_of(row) for row in session.scalars(select(Rating))}
    for key in sorted(stored.keys() | table.lines.keys()):
        if stored.get(key) != table.lines.get(key):
            yield key, stored.get(key), table.lines.get(key)


def probability(one: Rating | Strength, two: Rating | Strength) -> float:
    """The probability that the first is the stronger one, both estimates taken as independent and normal."""
    spread = math.sqrt(one.sigma**2 + two.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - two.mu) / (spread * math.sqrt(2))))
