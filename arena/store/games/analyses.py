"""Stored analyses of games, with the figures used for searching, and the queue of analyses to make.

Requests of people are served in turn. Otherwise the latest results are analysed, up to a daily limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import zstandard
from sqlalchemy import ColumnElement, delete, func, select, update
from sqlmodel import col

from arena.clock import now
from arena.documents.analysis import AnalysedGamesQuery, AnalysisFigures, PositionEvaluation, PositionResponse
from arena.errors import NotFoundError, QuotaError
from arena.store.base.engine import Repository, fetch
from arena.store.base.tables.analyses import Analysis, RequestedAnalysis, StoredWinModel
from arena.store.base.tables.games import Game

MAX_LATEST = 1_000
"""Number of latest results that may be analysed without a request."""
MAX_WAITING = 1_000
"""Maximum number of waiting requests."""
MAX_WAITING_PER_USER = 10
"""Maximum number of waiting requests per user."""


@dataclass(frozen=True, slots=True)
class AnalysisTask:
    """A game to analyse, or a position given by `question`. `request` is None for a game without a request.

    `user` is 0 for a request of the administrator.
    """

    request: int | None
    game_id: str | None
    question: Mapping[str, Any]
    nodes: int
    user: int = 0


def conditions(query: AnalysedGamesQuery) -> list[ColumnElement[bool]]:
    """Return the filters by analysis as SQL conditions on `analyses`."""
    conditions: list[ColumnElement[bool]] = []
    for minimum, maximum, name in (
        (query.blunders, query.max_blunders, "blunders"),
        (query.accuracy, query.max_accuracy, "accuracy"),
        (query.min_turning_points, None, "turning_points"),
    ):
        column = col(getattr(Analysis, name))
        conditions += [column >= minimum] if minimum is not None else []
        conditions += [column <= maximum] if maximum is not None else []
    if query.blown_win is not None:
        conditions.append(col(Analysis.has_blown_win) == (query.blown_win == "yes"))
    return conditions


_FIGURES = tuple(col(getattr(Analysis, name)) for name in AnalysisFigures.__dataclass_fields__)


class Analyses(Repository):
    """Stored analyses and requests for further ones."""

    def put(self, figures: AnalysisFigures, data: Mapping[str, Any]) -> None:
        """Store the analysis of a game, replacing a former one, and delete its request."""
        packed = zstandard.ZstdCompressor(level=6).compress(json.dumps(data, separators=(",", ":")).encode())
        row = Analysis(
            game_id=figures.game_id,
            family=figures.family,
            engine=figures.engine,
            nodes=figures.nodes,
            win_model=figures.win_model,
            blunders=figures.blunders,
            first_blunders=figures.first_blunders,
            second_blunders=figures.second_blunders,
            accuracy=figures.accuracy,
            first_accuracy=figures.first_accuracy,
            second_accuracy=figures.second_accuracy,
            turning_points=figures.turning_points,
            has_blown_win=figures.has_blown_win,
            analysed_at=figures.analysed_at,
            data=packed,
        )
        with self._sessions.writing() as session:
            session.merge(row)
            session.execute(delete(RequestedAnalysis).where(col(RequestedAnalysis.game_id) == figures.game_id))

    def get(self, game_id: str) -> dict[str, Any] | None:
        """Return the whole analysis of a game, or None."""
        with self._sessions.reading() as session:
            data = session.scalar(select(col(Analysis.data)).where(col(Analysis.game_id) == game_id))
        return None if data is None else _unpacked(data)

    def figures(self, ids: Sequence[str]) -> dict[str, AnalysisFigures]:
        """Return the analysis figures of these games; games without an analysis are omitted."""
        with self._sessions.reading() as session:
            rows = fetch(session, select(*_FIGURES).where(col(Analysis.game_id).in_(ids)))
        return {row.game_id: _figures(row) for row in rows}

    def scores(self, family: str) -> Iterator[dict[str, Any]]:
        """Yield the whole analysis of every analysed game of a family, in no particular order."""
        with self._sessions.reading() as session:
            ids = list(session.scalars(select(col(Analysis.game_id)).where(col(Analysis.family) == family)))
        for game_id in ids:
            if data := self.get(game_id):
                yield data

    # -- requests ------------------------------------------------------------------------------------------------------

    def ask(
        self, user_id: int | None, nodes: int, *, game_id: str | None = None, question: Mapping[str, Any] | None = None
    ) -> int:
        """Queue the analysis of a game or a position; return the request's id.

        A game has one request; if that has failed, it is retried. Raises QuotaError if too many requests wait.
        """
        with self._sessions.writing() as session:
            if game_id is not None:
                there = session.scalar(
                    select(col(RequestedAnalysis.id)).where(col(RequestedAnalysis.game_id) == game_id)
                )
                if there is not None:
                    again = update(RequestedAnalysis).where(col(RequestedAnalysis.id) == there)
                    session.execute(again.values(problem="", answer={}))
                    return there
            mine = _waiting().where(col(RequestedAnalysis.user_id) == user_id)
            for waiting, most, whose in ((mine, MAX_WAITING_PER_USER, "of yours "), (_waiting(), MAX_WAITING, "")):
                if (session.scalar(waiting) or 0) >= most:
                    raise QuotaError(f"{most} analyses {whose}are already waiting", hint="retry when some are done")
            row = RequestedAnalysis(user_id=user_id, game_id=game_id, question=dict(question or {}), nodes=nodes)
            session.add(row)
            session.flush()
            return row.id

    def request(self, number: int) -> PositionResponse:
        """Return a request for a position. Raises NotFoundError."""
        with self._sessions.reading() as session:
            row = session.get(RequestedAnalysis, number)
            if row is None or row.game_id is not None:
                raise NotFoundError("question", number)
            answer = PositionEvaluation(**row.answer) if row.answer else None
            line = str(row.question["record"])
            return PositionResponse(number, row.is_done, row.problem, answer, line, row.user_id)

    def request_of(self, game_id: str) -> RequestedAnalysis | None:
        """Return the request for a game while it waits or has failed, else None."""
        with self._sessions.reading() as session:
            row = session.scalar(select(RequestedAnalysis).where(col(RequestedAnalysis.game_id) == game_id))
            if row is not None:
                session.expunge(row)
            return row

    def next(self, after: int = -1) -> AnalysisTask | None:
        """Return the waiting request of the user with the next number after `after`, so that all have their turn.

        Of one user's requests, positions come first because they are quick, then the oldest.
        """
        query = (
            select(RequestedAnalysis)
            .where(*_WAITS)
            .order_by(_user <= after, _user, col(RequestedAnalysis.game_id).is_not(None), col(RequestedAnalysis.id))
            .limit(1)
        )
        with self._sessions.reading() as session:
            row = session.scalar(query)
            if row is None:
                return None
            return AnalysisTask(row.id, row.game_id, row.question, row.nodes, row.user_id or 0)

    def ahead(self, request: RequestedAnalysis) -> int:
        """Return how many waiting requests of the same user are served before this one, a game."""
        earlier = (col(RequestedAnalysis.id) < request.id) | col(RequestedAnalysis.game_id).is_(None)
        with self._sessions.reading() as session:
            return session.scalar(_waiting().where(_user == (request.user_id or 0), earlier)) or 0

    def next_unasked(self, nodes: int, since: datetime, most: int) -> AnalysisTask | None:
        """Return the latest unanalysed result; None if at least `most` games were analysed after `since`."""
        done = select(func.count()).select_from(Analysis).where(col(Analysis.analysed_at) >= since)
        last = select(func.max(col(Game.commit_number))).scalar_subquery()
        query = (
            select(col(Game.id))
            .outerjoin(Analysis, col(Analysis.game_id) == col(Game.id))
            .outerjoin(RequestedAnalysis, col(RequestedAnalysis.game_id) == col(Game.id))
            .where(col(Game.commit_number) > last - MAX_LATEST, col(Game.plies) > 0, col(Analysis.game_id).is_(None))
            .where(col(RequestedAnalysis.id).is_(None), col(Game.termination_class) != "void")
            .order_by(col(Game.commit_number).desc())
            .limit(1)
        )
        with self._sessions.reading() as session:
            if (session.scalar(done) or 0) >= most:
                return None
            game_id = session.scalar(query)
        return None if game_id is None else AnalysisTask(None, game_id, {}, nodes)

    def answer(self, request: int, answer: Mapping[str, Any], *, is_done: bool = True) -> None:
        """Store the answer to a request, or what is known of it so far."""
        with self._sessions.writing() as session:
            session.execute(
                update(RequestedAnalysis)
                .where(col(RequestedAnalysis.id) == request)
                .values(answer=dict(answer), is_done=is_done)
            )

    def fail(self, task: AnalysisTask, problem: str) -> None:
        """Store the failure of an analysis. It is retried only on a new request."""
        problem = problem[:300] or "it failed"
        with self._sessions.writing() as session:
            if task.request is None:
                session.add(RequestedAnalysis(game_id=task.game_id, nodes=task.nodes, problem=problem))
            else:
                mine = col(RequestedAnalysis.id) == task.request
                session.execute(update(RequestedAnalysis).where(mine).values(problem=problem))

    # -- win-probability models ----------------------------------------------------------------------------------------

    def add_win_model(self, win_model: StoredWinModel) -> int:
        """Store a win-probability model, which applies from now on; return its id."""
        with self._sessions.writing() as session:
            session.add(win_model)
            session.flush()
            return win_model.id

    def win_model(self, family: str) -> StoredWinModel | None:
        """Return the latest win-probability model fitted here for a family."""
        with self._sessions.reading() as session:
            query = (
                select(StoredWinModel)
                .where(col(StoredWinModel.family) == family)
                .order_by(col(StoredWinModel.id).desc())
                .limit(1)
            )
            row = session.scalar(query)
            if row is not None:
                session.expunge(row)
            return row


_user = func.coalesce(col(RequestedAnalysis.user_id), 0)
_WAITS = (col(RequestedAnalysis.problem) == "", col(RequestedAnalysis.is_done).is_(False))


def _waiting() -> Any:
    return select(func.count()).select_from(RequestedAnalysis).where(*_WAITS)


def _unpacked(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(data))
    return found


def today(at: datetime | None = None) -> datetime:
    """Return the start of the current day in UTC."""
    return (at or now()).replace(hour=0, minute=0, second=0, microsecond=0)


def _figures(row: Analysis) -> AnalysisFigures:
    """Return the figures of an analysis as a document. Any row of `_FIGURES` will do."""
    return AnalysisFigures(
        game_id=row.game_id,
        family=row.family,
        engine=row.engine,
        nodes=row.nodes,
        win_model=row.win_model,
        blunders=row.blunders,
        first_blunders=row.first_blunders,
        second_blunders=row.second_blunders,
        accuracy=row.accuracy,
        first_accuracy=row.first_accuracy,
        second_accuracy=row.second_accuracy,
        turning_points=row.turning_points,
        has_blown_win=row.has_blown_win,
        analysed_at=row.analysed_at,
    )
