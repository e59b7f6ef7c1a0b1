"""Current ratings: leaderboards, the ratings of one version, the changes by a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, and_, func, select, tuple_
from sqlmodel import col

from arena.documents.query import PageResponse
from arena.documents.rating import ChangeItem, LeaderboardLine, PoolItem, PoolRating
from arena.store.base.engine import Repository, batched, fetch
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor, write_cursor
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game
from arena.store.base.tables.people import User
from arena.store.base.tables.ratings import RatingChange, VersionRating
from arena.store.bots.bots import LEVELS, OWNER
from arena.store.ratings import rebuild
from arena.store.ratings.fold import line_of
from arena.store.ratings.rating_history import Ranking
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA, conservative
from referee.ratings.trueskill import TrueSkillRating as Strength

_RESULT = tuple(col(field) for field in (Game.finished_at, Game.first_id, Game.first, Game.second, Game.winner))
"""The columns of a game that a `ChangeItem` shows."""
_NUMBER = col(RatingChange.wins) + col(RatingChange.draws) + col(RatingChange.losses)
"""Number of a change among those of its version in its pool, from 1."""
_STEP = (
    *(col(getattr(RatingChange, name)) for name in ("version_id", "pool", "commit_number", "game_id")),
    *(col(getattr(RatingChange, name)) for name in ("mu_before", "sigma_before", "mu", "sigma")),
    _NUMBER.label("number"),
)
"""The columns of a change that it shows: selected, not mapped, as a plot has hundreds."""


class Ratings(Repository):
    """The current rating of each version in each pool, and the leaderboards made of them."""

    def pools(self, family: str | None = None) -> list[PoolItem]:
        """Return every pool with rated games, or those of a family, by name."""
        pool = col(VersionRating.pool)
        query = select(pool, func.sum(col(VersionRating.games))).group_by(pool)
        if family is not None:
            query = query.where((pool == family) | pool.startswith(f"{family}/", autoescape=True))
        with self._sessions.reading() as session:
            rows = sorted(fetch(session, query))
        return [PoolItem(pool, pool.partition("/")[0], int(games) // 2) for pool, games in rows]

    def size(self, pool: str) -> int:
        """Count the rated versions of a pool."""
        query = select(func.count()).select_from(VersionRating).where(col(VersionRating.pool) == pool)
        with self._sessions.reading() as session:
            return int(session.execute(query).scalar_one())

    def leaderboard(
        self, pool: str, *, with_retired: bool = False, limit: int = DEFAULT_LIMIT, after: str | None = None
    ) -> PageResponse[LeaderboardLine]:
        """Return a pool's leaderboard, best first by mu - 3 sigma; without retired versions by default."""
        limit = bounded(limit)
        keys = (col(VersionRating.conservative), col(VersionRating.version_id))
        query = (
            select(
                VersionRating,
                col(Version.name),
                col(BotIdentity.name),
                col(Version.number),
                col(User.name),
                col(Version.state),
            )
            .join(Version, col(Version.id) == col(VersionRating.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .join(User, col(User.id) == col(BotIdentity.owner_id))
            .where(col(VersionRating.pool) == pool)
            .order_by(*(key.desc() for key in keys))
            .limit(limit + 1)
        )
        if not with_retired:
            query = query.where(col(Version.state) != "retired")
        ranking = Ranking()
        if last := read_cursor(after, float, int, int, int):
            query = query.where(tuple_(*keys) < tuple_(*last[:2]))
            ranking = Ranking(*last[2:])
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        followers = [row for row, *_ in rows[1:]] + [None]
        lines = [
            ranking.line(
                (row.version_id, *version),
                line_of(row).rating,
                forfeits=row.forfeits,
                opposition=row.opposition,
                follower=follower,
            )
            for (row, *version), follower in zip(rows[:limit], followers, strict=False)
        ]
        if len(rows) <= limit:
            return PageResponse(lines)
        return PageResponse(
            lines, write_cursor(lines[-1].conservative, lines[-1].version_id, ranking.place, ranking.rank)
        )

    def of_versions(self, version_ids: Sequence[int]) -> list[PoolRating]:
        """Return the ratings of some versions in all their pools, by pool name, newest version first."""
        return self._where(col(VersionRating.version_id).in_(set(version_ids)))

    def best_of_owner(self, user_id: int) -> list[PoolRating]:
        """Return the highest rating of each pool of all versions of a user's bots, by pool name.

        A provisional one counts only if there is no other.
        """
        is_provisional = (col(VersionRating.games) < PROVISIONAL_GAMES) | (col(VersionRating.sigma) > PROVISIONAL_SIGMA)
        order = (is_provisional, col(VersionRating.conservative).desc(), col(VersionRating.version_id))
        place = func.row_number().over(partition_by=col(VersionRating.pool), order_by=order).label("place")
        numbered = (
            select(col(VersionRating.pool), col(VersionRating.version_id), place)
            .join(Version, col(Version.id) == col(VersionRating.version_id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.owner_id) == user_id)
            .subquery()
        )
        best = select(numbered.c.pool, numbered.c.version_id).where(numbered.c.place == 1)
        return self._where(tuple_(col(VersionRating.pool), col(VersionRating.version_id)).in_(best))

    def best_of_bots(self, bot_ids: Sequence[int]) -> dict[int, PoolRating]:
        """Return the highest rating of each of these bots; a provisional one counts only if there is no other."""
        query = (
            select(VersionRating, col(Version.name), col(Version.bot_id))
            .join(Version, col(Version.id) == col(VersionRating.version_id))
            .where(col(Version.bot_id).in_(set(bot_ids)))
        )
        with self._sessions.reading() as session:
            lines = [(_pool_rating(row, name), bot_id) for row, name, bot_id in fetch(session, query)]
        lines.sort(key=lambda line: (not line[0].is_provisional, line[0].conservative))
        return {bot_id: line for line, bot_id in lines}

    def of_levels(self) -> dict[str, dict[int, float]]:
        """Return the ratings of the levels of the champion, by pool and level, without provisional ones."""
        query = (
            select(col(VersionRating.pool), col(BotIdentity.name), col(VersionRating.conservative))
            .join(Version, col(Version.bot_id) == col(BotIdentity.id))
            .join(VersionRating, col(VersionRating.version_id) == col(Version.id))
            .join(User, col(User.id) == col(BotIdentity.owner_id))
            .where(
                col(VersionRating.games) >= PROVISIONAL_GAMES,
                col(VersionRating.sigma) <= PROVISIONAL_SIGMA,
                col(User.name) == OWNER,
                col(BotIdentity.name).in_(LEVELS),
            )
            .order_by(col(Version.number))
        )
        levels: dict[str, dict[int, float]] = {}
        with self._sessions.reading() as session:
            for pool, name, rating in fetch(session, query):
                levels.setdefault(pool, {})[LEVELS[name]] = rating
        return levels

    def _where(self, condition: Any) -> list[PoolRating]:
        query = (
            select(VersionRating, col(Version.name))
            .join(Version, col(Version.id) == col(VersionRating.version_id))
            .where(condition)
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        lines = [_pool_rating(row, name) for row, name in rows]
        return sorted(lines, key=lambda line: (line.pool, -line.version_id))

    def strengths(self, pool: str, version_ids: Sequence[int]) -> dict[int, Strength]:
        """Return the ratings of these versions in a pool; versions without a game in it are omitted."""
        query = select(VersionRating).where(
            col(VersionRating.pool) == pool, col(VersionRating.version_id).in_(set(version_ids))
        )
        with self._sessions.reading() as session:
            return {row.version_id: line_of(row).rating for row in session.scalars(query)}

    def changes(
        self, version_id: int, pool: str, *, limit: int = DEFAULT_LIMIT, after: str | None = None
    ) -> PageResponse[ChangeItem]:
        """Return the effect of every game on one version's rating, in commit order."""
        limit = bounded(limit)
        query = (
            select(*_STEP, *_RESULT)
            .join(Game, col(Game.id) == col(RatingChange.game_id))
            .where(col(RatingChange.version_id) == version_id, col(RatingChange.pool) == pool)
            .order_by(col(RatingChange.commit_number))
            .limit(limit + 1)
        )
        if keys := read_cursor(after, int):
            query = query.where(col(RatingChange.commit_number) > keys[0])
        with self._sessions.reading() as session:
            lines = [_change_item(row) for row in fetch(session, query)]
        return cut(lines, limit, lambda line: (line.commit_number,))

    def curves(
        self, version_ids: Sequence[int], pools: Sequence[str], most_points: int, latest: int = 1
    ) -> dict[tuple[int, str], list[ChangeItem]]:
        """Return points of each version's rating curve in each pool, in commit order, by version and pool.

        These are at most `most_points` changes at equal distances, the first one among them, and the `latest` ones.
        """
        mine, games = (col(RatingChange.version_id), col(RatingChange.pool)), col(VersionRating.games)
        step = (games - 1) // most_points + 1
        query = (
            select(*_STEP, *_RESULT)
            .join(VersionRating, and_(mine[0] == VersionRating.version_id, mine[1] == VersionRating.pool))
            # Outer, so that SQLite looks up the games of the points alone: it puts an inner join before the choice.
            .outerjoin(Game, col(Game.id) == col(RatingChange.game_id))
            .where(mine[0].in_(version_ids), mine[1].in_(pools))
            .where(((_NUMBER - 1) % step == 0) | (games - latest < _NUMBER))
            .order_by(col(RatingChange.commit_number))
        )
        curves: dict[tuple[int, str], list[ChangeItem]] = {}
        with self._sessions.reading() as session:
            for row in fetch(session, query):
                curves.setdefault((row.version_id, row.pool), []).append(_change_item(row))
        return curves

    def of_game(self, game_id: str) -> dict[int, RatingChange]:
        """Return the rating changes of a game by version; empty for unrated games."""
        query = select(RatingChange).where(col(RatingChange.game_id) == game_id)
        with self._sessions.reading() as session:
            return {row.version_id: row for row in session.scalars(query)}

    def before_and_after(self, ends: Mapping[tuple[int, str], tuple[str, str]]) -> dict[int, tuple[float, float]]:
        """Return each version's mu - 3 sigma before its first and after its last game, by version.

        `ends` gives the ids of these two games by version and pool.
        """
        games, versions = sorted({game for both in ends.values() for game in both}), {version for version, _ in ends}
        rows: dict[tuple[str, int], Row[*tuple[Any, ...]]] = {}
        fields = ("game_id", "version_id", "mu_before", "sigma_before", "mu", "sigma")
        columns = [col(getattr(RatingChange, name)) for name in fields]
        with self._sessions.reading() as session:
            for part in batched(games):
                query = select(*columns).where(columns[0].in_(part), columns[1].in_(versions))
                rows.update(((row.game_id, row.version_id), row) for row in fetch(session, query))
        strengths = {}
        for (version, _), (first, last) in ends.items():
            before, after = rows.get((first, version)), rows.get((last, version))
            if before and after:
                strengths[version] = (
                    conservative(before.mu_before, before.sigma_before),
                    conservative(after.mu, after.sigma),
                )
        return strengths

    def check(self, on_progress: rebuild.Progress = rebuild.ignore_progress) -> list[str]:
        """Compute all ratings again from the games in commit order; describe the differences from the stored ones."""
        return rebuild.check(self._sessions, on_progress)

    def rebuild(self, on_progress: rebuild.Progress = rebuild.ignore_progress) -> int:
        """Compute all ratings again, correct the stored ones, and return the number of rated games (see `rebuild`)."""
        return rebuild.rebuild(self._sessions, on_progress=on_progress)


def _change_item(row: Row[*tuple[Any, ...]]) -> ChangeItem:
    """Return a change of a rating, given as a row of `_STEP` and `_RESULT`."""
    is_first = row.first_id == row.version_id
    return ChangeItem(
        number=row.number,
        commit_number=row.commit_number,
        game_id=row.game_id,
        finished_at=row.finished_at,
        opponent=row.second if is_first else row.first,
        points=0.5 if row.winner == "draw" else float((row.winner == "first") == is_first),
        mu_before=row.mu_before,
        sigma_before=row.sigma_before,
        mu=row.mu,
        sigma=row.sigma,
    )


def _pool_rating(row: VersionRating, name: str) -> PoolRating:
    """Return a stored rating of the version with this name as a document."""
    return PoolRating(
        pool=row.pool,
        name=name,
        mu=row.mu,
        sigma=row.sigma,
        conservative=row.conservative,
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        forfeits=row.forfeits,
        is_provisional=line_of(row).rating.is_provisional,
        version_id=row.version_id,
    )
