"""Void attempts at games: they failed through no fault of a bot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import col

from arena.clock import now
from arena.documents.page import PageResponse
from arena.errors import NotFoundError
from arena.store.base.engine import Sessions, fetch
from arena.store.base.models import Game, Record, Void
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.games.commit import count_over, pack
from referee.game.record import GameRecord
from referee.rules.core import Kind


@dataclass(frozen=True, slots=True)
class VoidLine:
    """A void attempt, with the names of its game."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str
    second: str
    attempt: int
    termination: str
    detail: str
    lease_owner: str
    voided_at: datetime


class Voids:
    """Void attempts; their games were returned to the plan or given up."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def add(self, record: GameRecord, lease_owner: str = "", *, give_up: bool = False) -> bool:
        """Store a void attempt and return its game to the plan, or give the game up for good.

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

    def page(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> PageResponse[VoidLine]:
        """Return void attempts, latest first."""
        limit = bounded(limit)
        query = (
            select(
                col(Void.id),
                col(Void.game_id),
                col(Game.tournament_id),
                col(Game.family),
                col(Game.first),
                col(Game.second),
                col(Void.attempt),
                col(Void.termination),
                col(Void.detail),
                col(Void.lease_owner),
                col(Void.voided_at),
            )
            .join(Game, col(Game.id) == col(Void.game_id))
            .order_by(col(Void.id).desc())
            .limit(limit + 1)
        )
        if keys := read_cursor(after, int):
            query = query.where(col(Void.id) < keys[0])
        with self._sessions.reading() as session:
            lines = [VoidLine(*row) for row in fetch(session, query)]
        return cut(lines, limit, lambda line: (line.id,))

    def of(self, game_id: str) -> list[Void]:
        """Return the void attempts at one game, in order."""
        query = select(Void).where(col(Void.game_id) == game_id).order_by(col(Void.id))
        with self._sessions.reading() as session:
            return list(session.scalars(query))
