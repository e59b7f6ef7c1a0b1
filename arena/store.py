"""All queries of the arena, in one place. The database is the truth: a result is in it once, or not at all.

Synchronous; the web server calls it from threads. Refuses to know HTTP and processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, SQLModel, col, create_engine, func, select

from arena.models import Game, Rating
from referee import ratings
from referee.core import Kind
from referee.record import GameRecord, read_record, ruleset_of


def open_engine(url: str) -> Engine:
    """An engine for a database URL; SQLite in WAL mode with a busy timeout and foreign keys."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def configure(connection: Any, _: Any) -> None:
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=5000", "foreign_keys=ON"):
                connection.execute(f"PRAGMA {pragma}")

    return engine


class Store:
    """The arena's database."""

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        SQLModel.metadata.create_all(self.engine)

    @classmethod
    def in_folder(cls, folder: Path) -> Store:
        """The embedded default: SQLite in a data folder, made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(f"sqlite:///{(folder / 'arena.sqlite3').resolve()}")

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with Session(self.engine) as session:
            yield session

    # -- writing -------------------------------------------------------------------------------------------------

    def add(self, record: GameRecord) -> bool:
        """Record a game and its rating change in one transaction; False when it was there already."""
        pool = ratings.pool_of(ruleset_of(record))
        with self._session() as session:
            game = Game(
                id=record.id,
                event=record.event,
                family=record.family,
                pool=pool,
                first=record.first,
                second=record.second,
                winner=record.winner,
                termination=record.termination.value,
                kind=record.kind.value,
                plies=len(record.moves),
                finished=record.finished,
                record=record.line(),
            )
            session.add(game)
            try:
                session.flush()
            except IntegrityError:
                session.rollback()
                return False
            if record.kind is not Kind.VOID and record.first != record.second:
                assert game.sequence is not None
                self._rate(session, record, pool, game.sequence)
            session.commit()
            return True

    def _rate(self, session: Session, record: GameRecord, pool: str, sequence: int) -> None:
        names = (record.first, record.second)
        rows = {name: session.get(Rating, (pool, name)) for name in names}
        before = {name: _rating(row) for name, row in rows.items() if row is not None}
        after = ratings.fold([record], before)
        for name in names:
            rating = after[name]
            row = rows[name] or Rating(
                pool=pool, bot=name, mu=0, sigma=0, conservative=0, games=0, wins=0, draws=0, losses=0, last=0
            )
            _copy(rating, row)
            row.last = sequence
            session.add(row)

    # -- reading -------------------------------------------------------------------------------------------------

    def pools(self) -> list[tuple[str, int]]:
        """Every pool with rated games, and how many."""
        query = select(Game.pool, func.count()).where(Game.kind != Kind.VOID.value).group_by(Game.pool)
        with self._session() as session:
            return sorted((pool, count) for pool, count in session.exec(query))

    def leaderboard(self, pool: str, limit: int = 1000) -> list[dict[str, Any]]:
        """The lines of a pool, best first by mu - 3 sigma; as `referee.ratings.leaderboard`."""
        query = select(Rating).where(Rating.pool == pool).order_by(col(Rating.conservative).desc(), Rating.bot)
        with self._session() as session:
            table = {row.bot: _rating(row) for row in session.exec(query.limit(limit))}
        return ratings.leaderboard(table)

    def records(self, *, event: str | None = None, pool: str | None = None) -> list[GameRecord]:
        """Games in commit order, of one event or one pool."""
        query = select(Game.record).order_by(col(Game.sequence))
        if event is not None:
            query = query.where(Game.event == event)
        if pool is not None:
            query = query.where(Game.pool == pool)
        with self._session() as session:
            return [read_record(line) for line in session.exec(query)]

    def recent(self, family: str, limit: int = 20) -> Sequence[dict[str, Any]]:
        """The latest games of a family, newest first, without their moves."""
        query = select(Game).where(Game.family == family).order_by(col(Game.sequence).desc()).limit(limit)
        with self._session() as session:
            return [game.model_dump(exclude={"record"}) for game in session.exec(query)]

    def events(self) -> list[str]:
        """The names of all events."""
        with self._session() as session:
            return sorted(session.exec(select(Game.event).distinct()))

    def wrong_ratings(self) -> list[str]:
        """Fold every game again in commit order; what differs from the stored ratings, in words."""
        problems = []
        for pool, _ in self.pools():
            fresh = ratings.fold(self.records(pool=pool))
            with self._session() as session:
                rows = session.exec(select(Rating).where(Rating.pool == pool)).all()
            stored = {row.bot: _rating(row) for row in rows}
            for name in sorted(fresh.keys() | stored.keys()):
                if fresh.get(name) != stored.get(name):
                    problems.append(f"{pool}, {name}: stored {stored.get(name)}, rebuilt {fresh.get(name)}")
        return problems


def _rating(row: Rating) -> ratings.Rating:
    return ratings.Rating(row.mu, row.sigma, row.games, row.wins, row.draws, row.losses)


def _copy(rating: ratings.Rating, row: Rating) -> None:
    row.mu, row.sigma, row.conservative = rating.mu, rating.sigma, rating.conservative
    row.games, row.wins, row.draws, row.losses = rating.games, rating.wins, rating.draws, rating.losses
