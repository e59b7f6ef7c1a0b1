"""Undo wrong results: void them, requeue their games and rebuild the ratings, all in one transaction.

Games that a tournament has planned because of a wrong result stay planned.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.base.engine import Sessions
from arena.store.base.tables.analyses import Analysis, RequestedAnalysis
from arena.store.base.tables.games import Game, Record, Void
from arena.store.base.tables.operations import Counter
from arena.store.base.tables.tournaments import Tournament
from arena.store.ratings.rebuild import rebuild
from referee.rules.core import Termination

COUNTER = "undone"
"""Name of the counter of undone results; recompute cached sums when it has grown."""
UNDONE = select(func.coalesce(func.max(col(Counter.value)), 0)).where(col(Counter.name) == COUNTER)
"""The number of results ever undone."""


def undo(sessions: Sessions, wrong: Mapping[str, str], lease_owner: str = "") -> list[str]:
    """Void the results of these games, given as game id -> reason; return the ids of those that had a result.

    The games are played again, also in a finished tournament, but not in a cancelled one.
    """
    done: list[str] = []

    def void_all(session: Session) -> None:
        for game_id, problem in wrong.items():
            if _void(session, game_id, problem, lease_owner):
                done.append(game_id)
        _count(session, len(done))

    if wrong:
        rebuild(sessions, wrong.keys(), void_all)
    return done


def undone(session: Session) -> int:
    """Return how many results were ever undone."""
    return session.scalar(UNDONE) or 0


def _void(session: Session, game_id: str, problem: str, lease_owner: str) -> bool:
    game = session.get(Game, game_id, with_for_update=True)
    if game is None or game.commit_number is None:
        return False
    tournament = session.get(Tournament, game.tournament_id, with_for_update=True)
    assert tournament is not None
    session.add(
        Void(
            game_id=game_id,
            attempt=game.attempt,
            termination=Termination.WORKER_WRONG.value,
            detail=problem,
            lease_owner=lease_owner,
        )
    )
    # A game has one record: the wrong one would be in the way when the game is played again.
    for model in (Record, Analysis, RequestedAnalysis):
        session.execute(delete(model).where(col(model.game_id) == game_id))
    game.state = "cancelled" if tournament.state == "cancelled" else "planned"
    game.commit_number = game.winner = game.termination = game.termination_class = game.started_at = (
        game.finished_at
    ) = None
    game.lease_owner = game.worker = game.detail = ""
    game.plies = 0
    tournament.finished_games -= 1
    if game.state == "cancelled":
        tournament.planned_games -= 1
    if tournament.state == "finished":
        tournament.state, tournament.finished_at = "running", None
    return True


def _count(session: Session, count: int) -> None:
    if not session.execute(  # type: ignore[attr-defined]
        update(Counter).where(col(Counter.name) == COUNTER).values(value=col(Counter.value) + count)
    ).rowcount:
        session.execute(insert(Counter).values(name=COUNTER, value=count))
