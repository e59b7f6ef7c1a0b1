"""Leaderboards, current and past: their lines, built from the best to the last, and result counts by pairing.

The history uses indexes of a pool's games in commit order: the cost is at most linear in the games of the pool.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.rating import LeaderboardLine, ResultCount, Score
from arena.store.base.engine import Repository, batched, fetch, table_of
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game
from arena.store.base.tables.people import User
from arena.store.base.tables.ratings import RatingChange, VersionRating
from arena.store.base.tables.tournaments import Tournament
from referee.ratings.trueskill import TrueSkillRating, conservative
from referee.rules.core import Kind


class StrengthEstimate(Protocol):
    """A strength as a normal distribution."""

    @property
    def mu(self) -> float: ...

    @property
    def sigma(self) -> float: ...


@dataclass(slots=True)
class Ranking:
    """Counters of the lines built so far, best first: `place` counts all lines, `rank` skips provisional ones."""

    place: int = 0
    rank: int = 0

    def line(
        self,
        version: tuple[int, str, str, int, str, str],
        rating: TrueSkillRating,
        *,
        forfeits: int,
        opposition: float,
        follower: StrengthEstimate | None,
    ) -> LeaderboardLine:
        """Build the next line. `version` is (id, name, bot, number, owner, state).

        `opposition` is the sum of the opponents' mu, `follower` the rating of the line below it.
        """
        self.place += 1
        self.rank += not rating.is_provisional
        version_id, name, bot, number, owner, state = version
        return LeaderboardLine(
            place=self.place,
            rank=None if rating.is_provisional else self.rank,
            name=name,
            bot=bot,
            number=number,
            owner=owner,
            state=state,
            mu=rating.mu,
            sigma=rating.sigma,
            conservative=rating.conservative,
            games=rating.games,
            wins=rating.wins,
            draws=rating.draws,
            losses=rating.losses,
            score=(rating.wins + rating.draws / 2) / rating.games,
            forfeits=forfeits,
            opponents=opposition / rating.games,
            is_provisional=rating.is_provisional,
            beats_next=probability(rating, follower) if follower else None,
            version_id=version_id,
        )


def probability(one: StrengthEstimate, two: StrengthEstimate) -> float:
    """Return the probability that `one` is stronger than `two`, for independent normal estimates."""
    spread = math.sqrt(one.sigma**2 + two.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - two.mu) / (spread * math.sqrt(2))))


_POINTS = {"first": 1.0, "second": 0.0}


def games_of(counts: Iterable[ResultCount], names: Mapping[int, str] | None = None) -> Iterator[tuple[str, str, float]]:
    """Yield each counted game as (first player, second player, points of the first player).

    Players are version ids as texts. If `names` is given, only games between versions in it are yielded, with these
    names.
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
    """Add up the result counts to one score for each version."""
    found: dict[int, Score] = defaultdict(Score)
    for one in counts:
        for version_id, is_first in ((one.first_id, True), (one.second_id, False)):
            found[version_id].add(is_first=is_first, winner=one.winner, games=one.games, is_forfeit=one.is_forfeit)
    return dict(found)


class RatingHistory(Repository):
    """Leaderboards of past moments."""

    def commit_at(self, pool: str, at: datetime) -> int:
        """Return the commit number of the last game of a pool that ended by this time; 0 if there is none."""
        query = (
            select(col(Game.commit_number))
            .where(col(Game.pool) == pool, col(Game.commit_number).is_not(None), col(Game.finished_at) <= at)
            .order_by(col(Game.finished_at).desc(), col(Game.commit_number).desc())
            .limit(1)
        )
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def game_of(self, prefix: str) -> str:
        """Return the id of the only game whose id has this prefix; empty if no game or several games have it."""
        query = select(col(Game.id)).where(col(Game.id) >= prefix, col(Game.id) < prefix + "g").limit(2)
        with self._sessions.reading() as session:
            found = list(session.scalars(query))
        return found[0] if len(found) == 1 else ""

    def count_redispatched(self, tournament_id: int) -> int:
        """Count the unfinished games of a tournament that were dispatched more than once: after a restart, a pause or
        a void attempt.
        """
        query = (
            select(func.count())
            .select_from(Game)
            .where(
                col(Game.tournament_id) == tournament_id,
                col(Game.state).in_(("planned", "queued", "running")),
                col(Game.attempt) > 1,
            )
        )
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def before(self, pool: str, version_id: int, commit_number: int) -> TrueSkillRating | None:
        """Return the rating of a version in a pool before a result; None if it had none."""
        query = (
            select(RatingChange)
            .where(
                col(RatingChange.version_id) == version_id,
                col(RatingChange.pool) == pool,
                col(RatingChange.commit_number) < commit_number,
            )
            .order_by(col(RatingChange.commit_number).desc())
            .limit(1)
        )
        with self._sessions.reading() as session:
            row = session.scalar(query)
        if row is None:
            return None
        games = row.wins + row.draws + row.losses
        return TrueSkillRating(row.mu, row.sigma, games, row.wins, row.draws, row.losses)

    def counts(self, pool: str, until: int | None = None) -> list[ResultCount]:
        """Count the results that a pool's ratings are computed from, up to a commit number."""
        keys = tuple(col(getattr(Game, name)) for name in _COUNTED)
        conditions = [
            col(Game.pool) == pool,
            col(Game.commit_number).is_not(None),
            col(Game.is_rated).is_(True),
            col(Game.termination_class) != Kind.VOID.value,
            # An opponent whom a player chose may lose on purpose, if it is not one of the arena's own bots.
            (col(Game.meeting) == 0) | col(Game.anchor).is_not(None),
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
        found: dict[int, Mapping[str, object]] = {}
        with self._sessions.reading() as session:
            for part in batched(sorted(tournament_ids)):
                query = select(col(Tournament.id), col(Tournament.settings)).where(col(Tournament.id).in_(part))
                found.update((key, value) for key, value in session.execute(query) if key is not None)
        return found

    def leaderboard(
        self, pool: str, until: int, *, with_retired: bool = False, after: int = 0, limit: int | None = None
    ) -> list[LeaderboardLine]:
        """Return the leaderboard of a pool as it was after a commit number, in the form of `Ratings.leaderboard`: by
        default all lines, else at most `limit` that follow the place `after`.

        Names, owners and states of versions are the current ones.
        """
        rated, change = table_of(VersionRating).c, table_of(RatingChange).alias().c
        last = (
            select(func.max(change.commit_number))
            .where(change.version_id == rated.version_id, change.pool == pool, change.commit_number <= until)
            .scalar_subquery()
        )
        mine = table_of(RatingChange).c
        query = (
            select(
                *(mine[name] for name in ("version_id", "mu", "sigma", "wins", "draws", "losses")),
                *(mine[name] for name in ("forfeits", "opposition")),
            )
            .select_from(table_of(VersionRating))
            .join(
                table_of(RatingChange),
                and_(mine.version_id == rated.version_id, mine.pool == pool, mine.commit_number == last),
            )
            .where(rated.pool == pool)
        )
        if not with_retired:
            version = table_of(Version).c
            query = query.join(table_of(Version), version.id == rated.version_id).where(version.state != "retired")
        with self._sessions.reading() as session:
            rows = sorted(fetch(session, query), key=lambda row: (-conservative(row.mu, row.sigma), -row.version_id))
            ratings = [
                TrueSkillRating(row.mu, row.sigma, row.wins + row.draws + row.losses, row.wins, row.draws, row.losses)
                for row in rows
            ]
            # Places and ranks depend on all versions, but names are needed for few of thousands.
            end = len(rows) if limit is None else after + limit
            names = _names(session, [row.version_id for row in rows[after:end]])
        ranking = Ranking(min(after, len(rows)), sum(not rating.is_provisional for rating in ratings[:after]))
        return [
            ranking.line(
                names[row.version_id], rating, forfeits=row.forfeits, opposition=row.opposition, follower=follower
            )
            for row, rating, follower in zip(
                rows[after:end], ratings[after:end], [*ratings[after + 1 : end + 1], None], strict=False
            )
        ]


def _names(session: Session, version_ids: Sequence[int]) -> dict[int, tuple[int, str, str, int, str, str]]:
    """Return (id, name, bot, number, owner, state) of versions, by id."""
    names: dict[int, tuple[int, str, str, int, str, str]] = {}
    for part in batched(version_ids):
        query = (
            select(
                *(col(column) for column in (Version.id, Version.name, BotIdentity.name, Version.number, User.name)),
                col(Version.state),
            )
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .join(User, col(User.id) == col(BotIdentity.owner_id))
            .where(col(Version.id).in_(part))
        )
        names.update((row[0], tuple(row)) for row in fetch(session, query))
    return names


_COUNTED = ("tournament_id", "variant", "first_id", "second_id", "winner", "termination_class")
