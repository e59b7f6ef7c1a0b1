"""History of the rating pools: leaderboards of past moments, and result counts by pairing.

Both use indexes of a pool's games in commit order: the cost is at most linear in the games of the pool.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from arena.documents.rating import LeaderboardLine, ResultCount, Score
from arena.store.base.engine import Sessions, batched, fetch
from arena.store.base.models import BotIdentity, Game, RatingChange, Tournament, User, Version
from arena.store.ratings.rating_line import Ranking
from referee.ratings.trueskill import TrueSkillRating
from referee.rules.core import Kind

_POINTS = {"first": 1.0, "second": 0.0}


def games_of(counts: Iterable[ResultCount], names: Mapping[int, str] | None = None) -> Iterator[tuple[str, str, float]]:
    """Yield each counted game as (first, second, points of the first).

    With `names`, only games between those versions, with their names.
    """
    for count in counts:
        if names is None:
            first, second = str(count.first_id), str(count.second_id)
        elif count.first_id in names and count.second_id in names:
            first, second = names[count.first_id], names[count.second_id]
        else:
            continue
        yield from itertools.repeat((first, second, _POINTS.get(count.winner, 0.5)), count.games)


def scores_of(counts: Iterable[ResultCount]) -> dict[int, Score]:
    """Sum the counts by version."""
    found: dict[int, Score] = defaultdict(Score)
    for one in counts:
        for version_id, is_first in ((one.first_id, True), (one.second_id, False)):
            found[version_id].add(is_first=is_first, winner=one.winner, games=one.games, is_forfeit=one.is_forfeit)
    return dict(found)


class RatingHistory:
    """Leaderboards of past moments."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def commit_at(self, pool: str, at: datetime) -> int:
        """Return the last commit number in a pool of a game that had ended at a given time, or 0."""
        query = (
            select(col(Game.commit_number))
            .where(col(Game.pool) == pool, col(Game.commit_number).is_not(None), col(Game.finished_at) <= at)
            .order_by(col(Game.commit_number).desc())
            .limit(1)
        )
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def game_of(self, prefix: str) -> str:
        """Return the id of the only game whose id has this prefix; empty if no game or several have it."""
        query = select(col(Game.id)).where(col(Game.id) >= prefix, col(Game.id) < prefix + "g").limit(2)
        with self._sessions.reading() as session:
            found = list(session.scalars(query))
        return found[0] if len(found) == 1 else ""

    def count_redispatched(self, tournament_id: int) -> int:
        """Count the games of a tournament that were dispatched more than once: after a restart, a pause or a void."""
        query = (
            select(func.count())
            .select_from(Game)
            .where(col(Game.tournament_id) == tournament_id, col(Game.attempt) > 1)
        )
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def counts(self, pool: str, until: int | None = None) -> list[ResultCount]:
        """Return the result counts of a pool that its ratings use, up to a commit number."""
        keys = tuple(col(getattr(Game, name)) for name in _COUNTED)
        conditions = [
            col(Game.pool) == pool,
            col(Game.commit_number).is_not(None),
            col(Game.is_rated).is_(True),
            col(Game.termination_class) != Kind.VOID.value,
        ]
        if until is not None:
            conditions.append(col(Game.commit_number) <= until)
        query = select(*keys, func.count()).where(*conditions).group_by(*keys)
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        return [
            ResultCount(tournament, variant, first, second, winner or "draw", kind == Kind.FORFEIT.value, games)
            for tournament, variant, first, second, winner, kind, games in rows
            if first != second
        ]

    def settings(self, tournament_ids: set[int]) -> dict[int, Mapping[str, object]]:
        """Return the settings documents of these tournaments."""
        found: dict[int, Mapping[str, object]] = {}
        with self._sessions.reading() as session:
            for part in batched(sorted(tournament_ids)):
                query = select(col(Tournament.id), col(Tournament.settings)).where(col(Tournament.id).in_(part))
                found.update((key, value) for key, value in session.execute(query) if key is not None)
        return found

    def leaderboard(self, pool: str, until: int, *, with_retired: bool = False) -> list[LeaderboardLine]:
        """Return the lines of a pool after a commit number, in the form of `Ratings.leaderboard`.

        Names, owners and states of versions are the current ones.
        """
        scores = scores_of(self.counts(pool, until))
        with self._sessions.reading() as session:
            ratings = _ratings(session, pool, until, sorted(scores))
            opposition = _opposition(session, pool, until)
            names = _names(session, sorted(scores))
        order = sorted(
            (one for one in ratings if with_retired or names[one][-1] != "retired"),
            key=lambda one: (-(ratings[one].mu - 3 * ratings[one].sigma), -one),
        )
        ranking = Ranking()
        lines: list[LeaderboardLine] = []
        for version_id, following in zip(order, [*order[1:], None], strict=False):
            rating, score = ratings[version_id], scores[version_id]
            line = ranking.line(
                (version_id, *names[version_id]),
                TrueSkillRating(rating.mu, rating.sigma, score.games, score.wins, score.draws, score.losses),
                forfeits=score.forfeits,
                opposition=opposition.get(version_id, 0.0),
                follower=ratings[following] if following else None,
            )
            lines.append(line)
        return lines


_COUNTED = ("tournament_id", "variant", "first_id", "second_id", "winner", "termination_class")


def _ratings(session: Session, pool: str, until: int, versions: list[int]) -> dict[int, TrueSkillRating]:
    """Return mu and sigma of these versions after a commit number, with one index seek per version."""
    found: dict[int, TrueSkillRating] = {}
    keys = (col(RatingChange.version_id), col(RatingChange.pool), col(RatingChange.commit_number))
    for part in batched(versions):
        last = (
            select(keys[0], keys[1], func.max(keys[2]).label("commit_number"))
            .where(keys[0].in_(part), keys[1] == pool, keys[2] <= until)
            .group_by(keys[0], keys[1])
        )
        places = last.subquery()
        query = select(keys[0], col(RatingChange.mu), col(RatingChange.sigma)).join(
            places, and_(*(key == place for key, place in zip(keys, places.c, strict=True)))
        )
        found.update((one, TrueSkillRating(mu, sigma)) for one, mu, sigma in session.execute(query))
    return found


def _opposition(session: Session, pool: str, until: int) -> dict[int, float]:
    """Return the sum of the opponents' mu before each game, by version."""
    mine, theirs = aliased(RatingChange), aliased(RatingChange)
    query = (
        select(col(mine.version_id), func.sum(col(theirs.mu_before)))
        .select_from(Game)
        .join(mine, col(mine.game_id) == col(Game.id))
        .join(theirs, (col(theirs.game_id) == col(Game.id)) & (col(theirs.version_id) != col(mine.version_id)))
        .where(col(Game.pool) == pool, col(Game.commit_number) <= until)
        .group_by(col(mine.version_id))
    )
    return dict(fetch(session, query))


def _names(session: Session, versions: list[int]) -> dict[int, tuple[str, str, int, str, str]]:
    """Return display name, bot, number, owner and state of versions."""
    found: dict[int, tuple[str, str, int, str, str]] = {}
    for part in batched(versions):
        query = (
            select(
                col(Version.id),
                col(Version.name),
                col(BotIdentity.name),
                col(Version.number),
                col(User.name),
                col(Version.state),
            )
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .join(User, col(User.id) == col(BotIdentity.owner_id))
            .where(col(Version.id).in_(part))
        )
        for key, version, bot, number, owner, state in fetch(session, query):
            found[key] = version, bot, number, owner, state
    return found
