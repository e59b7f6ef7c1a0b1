"""The one transaction that makes a game's result part of the arena: record, result, commit number, ratings, counters.

Exactly once by game id: the first result stands, a second one changes nothing. The row of the commit counter is locked
first, so commits follow one another in the order of their numbers, and ratings are folded in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import zstandard
from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.orm import Session

from arena.store import fold
from arena.store.engine import table_of
from arena.store.errors import ConflictError, NotFoundError, SchemaError
from arena.store.models import Counter, Game, Rating, RatingChange, Record, Tournament, Version, now
from referee.ratings import trueskill
from referee.record import GameRecord, read_record
from referee.rules.core import Kind

COUNTER = "commit"
_OVER = ("finished", "void", "cancelled")

# As tables, and each statement made once: nobody holds what is written here as an object, and going by objects, or
# making a statement anew, takes as long as the write itself.
_COUNTERS, _GAMES, _RATINGS, _RECORDS, _CHANGES, _TOURNAMENTS, _VERSIONS = (
    table_of(model) for model in (Counter, Game, Rating, Record, RatingChange, Tournament, Version)
)
_NEXT_NUMBER = (
    update(_COUNTERS)
    .where(_COUNTERS.c.name == COUNTER)
    .values(value=_COUNTERS.c.value + 1)
    .returning(_COUNTERS.c.value)
)
_PLAN = select(
    *(_GAMES.c[name] for name in ("tournament_id", "pool", "first_id", "second_id", "is_rated")),
    *(_GAMES.c[name] for name in ("state", "family", "first", "second")),
).where(_GAMES.c.id == bindparam("game"))
_FINISH = update(_GAMES).where(_GAMES.c.id == bindparam("game"))
_COUNT_OVER = (
    update(_TOURNAMENTS)
    .where(_TOURNAMENTS.c.id == bindparam("tournament"))
    .values(finished_games=_TOURNAMENTS.c.finished_games + 1)
)
_THIS_LINE = (_RATINGS.c.pool == bindparam("of_pool"), _RATINGS.c.version_id == bindparam("of_version"))
_RATING = select(
    *(
        _RATINGS.c[name]
        for name in ("mu", "sigma", "games", "wins", "draws", "losses", "forfeits", "opposition", "last")
    )
).where(*_THIS_LINE)
_NEW_LINE, _NEXT_LINE = insert(_RATINGS), update(_RATINGS).where(*_THIS_LINE)
_FOLLOWS = select(_VERSIONS.c.follows_id).where(_VERSIONS.c.id == bindparam("version"))
_NEW_RECORD, _NEW_CHANGES = insert(_RECORDS), insert(_CHANGES)


@dataclass(frozen=True, slots=True)
class Committed:
    """A result that has just become part of the arena; `changes` is empty for games that move no rating."""

    game_id: str
    tournament_id: int
    number: int
    pool: str
    changes: tuple[fold.Change, ...]


def pack(record: GameRecord) -> bytes:
    """A record as it is stored: its JSON, zstd-compressed. Who played it is nobody's business but the arena's."""
    return zstandard.ZstdCompressor(level=6).compress(replace(record, worker="").line().encode())


def unpack(data: bytes) -> GameRecord:
    """A record from its stored form."""
    return read_record(unpack_line(data))


def unpack_line(data: bytes) -> bytes:
    """The JSON of a record from its stored form, unread."""
    return zstandard.ZstdDecompressor().decompress(data)


class LiveTable:
    """The ratings as they are in this session's transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.known: set[int] = set()
        """The versions whose line was found."""

    def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
        """See `fold.RatingTable`."""
        row = self._session.execute(_RATING, {"of_pool": pool, "of_version": version_id}).one_or_none()
        if row is None:
            return None
        self.known.add(version_id)
        return line_of(row)

    def follows(self, version_id: int) -> int | None:
        """See `fold.RatingTable`."""
        return self._session.scalar(_FOLLOWS, {"version": version_id})


def line_of(row: Rating | Row[Any]) -> fold.FoldedRating:
    """A stored rating as the fold knows it."""
    rating = trueskill.Rating(row.mu, row.sigma, row.games, row.wins, row.draws, row.losses)
    return fold.FoldedRating(rating, row.forfeits, row.opposition, row.last)


def row_of(pool: str, version_id: int, line: fold.FoldedRating) -> dict[str, Any]:
    """The columns of a rating."""
    rating = line.rating
    return {
        "pool": pool,
        "version_id": version_id,
        "mu": rating.mu,
        "sigma": rating.sigma,
        "conservative": rating.conservative,
        "games": rating.games,
        "wins": rating.wins,
        "draws": rating.draws,
        "losses": rating.losses,
        "forfeits": line.forfeits,
        "opposition": line.opposition,
        "last": line.last,
    }


def change_row(game: fold.FoldedGame, change: fold.Change) -> dict[str, Any]:
    """The columns of a rating change."""
    return {
        "game_id": game.game_id,
        "version_id": change.version_id,
        "pool": game.pool,
        "committed": game.committed,
        "mu_before": change.before.rating.mu,
        "sigma_before": change.before.rating.sigma,
        "mu": change.after.rating.mu,
        "sigma": change.after.rating.sigma,
    }


def commit(session: Session, record: GameRecord, lease_owner: str = "") -> Committed | None:
    """Make a finished game's record part of the arena, inside the session's transaction; None when it is over already.

    Raises NotFoundError for a game nobody planned, ConflictError for a record of other bots, ValueError for a void one.
    """
    if record.kind is Kind.VOID:
        raise ValueError(f"game {record.id} is void: it has no result to commit")
    number = session.scalar(_NEXT_NUMBER)
    if number is None:
        raise SchemaError("the commit counter is missing; run `arena db upgrade`")
    game = _planned(session, record)
    if game is None:
        session.rollback()  # gives the number back
        return None
    tournament_id, pool, first_id, second_id, is_rated = game
    played = fold.FoldedGame(
        record.id, number, record.family, pool, first_id, second_id, record.winner, record.kind.value, is_rated
    )
    session.execute(_NEW_RECORD, {"game_id": record.id, "data": pack(record)})
    session.execute(
        _FINISH,
        {
            "game": record.id,
            "state": "finished",
            "committed": number,
            "lease_owner": lease_owner,
            "worker": record.worker[:120],
            "started": _instant(record.started),
            "finished": _instant(record.finished),
            "winner": record.winner,
            "termination": record.termination.value,
            "kind": record.kind.value,
            "detail": record.detail,
            "plies": len(record.moves),
        },
    )
    count_over(session, tournament_id)
    changes = _rate(session, played) if played.counts else ()
    return Committed(record.id, tournament_id, number, pool, changes)


def _planned(session: Session, record: GameRecord) -> tuple[Any, ...] | None:
    """What the plan says of the game; None when it is over."""
    row = session.execute(_PLAN, {"game": record.id}).one_or_none()
    if row is None:
        raise NotFoundError("game", record.id)
    *plan, state, family, first, second = tuple(row)
    if (family, first, second) != (record.family, record.first, record.second):
        raise ConflictError(
            f"game {record.id} is {family}: {first} - {second}, "
            f"the record says {record.family}: {record.first} - {record.second}",
            str(state),
        )
    return None if state in _OVER else tuple(plan)


def count_over(session: Session, tournament_id: int) -> None:
    """One more game of the tournament is over."""
    session.execute(_COUNT_OVER, {"tournament": tournament_id})


def _rate(session: Session, game: fold.FoldedGame) -> tuple[fold.Change, ...]:
    table = LiveTable(session)
    changes = fold.step(table, game)
    for change in changes:
        columns = row_of(game.pool, change.version_id, change.after)
        if change.version_id in table.known:
            session.execute(_NEXT_LINE, {**columns, "of_pool": game.pool, "of_version": change.version_id})
        else:
            session.execute(_NEW_LINE, columns)
    session.execute(_NEW_CHANGES, [change_row(game, change) for change in changes])
    return changes


def _instant(text: str) -> datetime:
    """A time of a record; now, for one that cannot be read."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return now()
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
