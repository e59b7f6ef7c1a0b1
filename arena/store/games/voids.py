"""Void attempts at games: they failed through no fault of a bot."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import col

from arena.clock import now
from arena.documents.query import PageQuery, PageResponse
from arena.documents.service import VoidItem
from arena.errors import NotFoundError
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import bounded, cut, read_cursor
from arena.store.base.tables.games import Game, Record, Void
from arena.store.games.commit import count_over, pack
from referee.game.record import GameRecord
from referee.rules.core import Kind

_LINE = (
    *(col(column) for column in (Void.id, Void.game_id, Game.tournament_id, Game.family, Game.first, Game.second)),
    *(col(column) for column in (Void.attempt, Void.termination, Void.detail, Void.voided_at, Void.lease_owner)),
)
"""The columns of a `VoidItem`, in its order."""
_FIRST = PageQuery()


class Voids(Repository):
    """Void attempts; their games became planned again or were given up."""

    def add(self, record: GameRecord, attempt: int, lease_owner: str = "", *, give_up: bool = False) -> bool:
        """Store void attempt number `attempt`, and mark its game as planned again or give it up for good.

        Returns False if that changes nothing: the game is over, the attempt is stored already, or the game has been
        handed out again since. Raises NotFoundError.
        """
        with self._sessions.writing() as session:
            game = session.get(Game, record.id, with_for_update=True)
            if game is None:
                raise NotFoundError("game", record.id)
            if game.state in ("finished", "void", "cancelled"):
                return False
            # The row of the game is locked, so no other transaction stores the same attempt meanwhile.
            same = select(col(Void.id)).where(col(Void.game_id) == record.id, col(Void.attempt) == attempt)
            if session.scalar(same) is not None:
                return False
            session.add(
                Void(
                    game_id=record.id,
                    attempt=attempt,
                    termination=record.termination.value,
                    detail=record.detail,
                    lease_owner=lease_owner,
                )
            )
            if game.attempt > attempt:
                return False
            game.attempt = attempt  # requeuing may have taken it back, and the next attempt needs another number
            game.state, game.lease_owner = ("void", lease_owner) if give_up else ("planned", "")
            if give_up:
                game.termination, game.termination_class, game.detail = (
                    record.termination.value,
                    Kind.VOID.value,
                    record.detail,
                )
                game.finished_at, game.plies = now(), len(record.moves)
                session.add(Record(game_id=record.id, data=pack(record)))
                count_over(session, game.tournament_id)
        return True

    def page(self, query: PageQuery = _FIRST) -> PageResponse[VoidItem]:
        """Return void attempts, latest first."""
        limit = bounded(query.limit)
        rows = select(*_LINE).join(Game, col(Game.id) == col(Void.game_id)).order_by(col(Void.id).desc())
        if keys := read_cursor(query.after, int):
            rows = rows.where(col(Void.id) < keys[0])
        with self._sessions.reading() as session:
            lines = [VoidItem(*row) for row in fetch(session, rows.limit(limit + 1))]
        return cut(lines, limit, lambda line: (line.id,))

    def of(self, game_id: str) -> list[Void]:
        """Return the void attempts at one game, in order."""
        query = select(Void).where(col(Void.game_id) == game_id).order_by(col(Void.id))
        with self._sessions.reading() as session:
            return list(session.scalars(query))
