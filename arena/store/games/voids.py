"""Void attempts at games: they failed through no fault of a bot."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import col

from arena.clock import now
from arena.documents.page import PageQuery, PageResponse
from arena.documents.service import VoidItem
from arena.errors import NotFoundError
from arena.store.base.engine import Sessions, fetch
from arena.store.base.models import Game, Record, Void
from arena.store.base.page import bounded, cut, read_cursor
from arena.store.games.commit import count_over, pack
from referee.game.record import GameRecord
from referee.rules.core import Kind

_LINE = (
    *(col(one) for one in (Void.id, Void.game_id, Game.tournament_id, Game.family, Game.first, Game.second)),
    *(col(one) for one in (Void.attempt, Void.termination, Void.detail, Void.voided_at, Void.lease_owner)),
)
"""The columns of a `VoidItem`."""


_FIRST = PageQuery()


class Voids:
    """Void attempts; their games became planned again or were given up."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def add(self, record: GameRecord, lease_owner: str = "", *, give_up: bool = False) -> bool:
        """Store a void attempt, and mark its game as planned again or give it up for good.

        Returns False if the game is already over. Raises NotFoundError.
        """
        with self._sessions.writing() as session:
            game = session.get(Game, record.id, with_for_update=True)
            if game is None:
                raise NotFoundError("game", record.id)
            if game.state in ("finished", "void", "cancelled"):
                return False
            session.add(
                Void(
                    game_id=record.id,
                    attempt=game.attempt,
                    termination=record.termination.value,
                    detail=record.detail,
                    lease_owner=lease_owner,
                )
            )
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
