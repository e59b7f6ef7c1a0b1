"""Problems: add, list and remove them, store the solver's verdict on them, choose those of the month."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Select, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.documents.query import PageResponse
from arena.errors import ConflictError, NotFoundError, QuotaError, TakenError
from arena.features.problems.documents import (
    FirstAttempt,
    WinProblemItem,
    WinProblemQuery,
    WinProblemResponse,
    WinProblemState,
)
from arena.features.problems.tables import ProblemAttempt, StoredProblem
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import bounded, cut, read_cursor
from arena.store.base.tables.people import User

REMOVED = "removed"
"""The state of a removed problem, which is kept for the ratings of those who tried it."""
MAX_WAITING_PER_USER = 10
"""Maximum number of a user's problems that wait for their proof."""
MAX_WAITING = 500
"""Maximum number of problems that wait for their proof."""
_rows = select(StoredProblem, col(User.name)).outerjoin(User, col(User.id) == col(StoredProblem.created_by))
_number, _state = col(StoredProblem.id), col(StoredProblem.state)
_accepted = _state == "accepted"
_hardest_first = (col(StoredProblem.is_unique).desc(), col(StoredProblem.mu).desc(), _number)


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of the solver for an accepted problem: its length, its solutions and its grade."""

    moves: int
    is_unique: bool
    is_quiet: bool
    tries: int
    level: str
    tree: Mapping[str, Any]
    mu: float
    """The strength from which the rating of the problem starts."""


class Problems(Repository):
    def add(self, row: StoredProblem) -> int:
        """Store a problem that waits for its proof; return its number. Raises TakenError, QuotaError."""
        waiting = select(func.count()).select_from(StoredProblem).where(_state == "waiting")
        mine = waiting.where(col(StoredProblem.created_by) == row.created_by)
        with self._sessions.writing() as session:
            known = session.scalar(select(_number).where(col(StoredProblem.digest) == row.digest))
            if known is not None:
                raise TakenError(f"problem {known} is the same")
            if (session.scalar(waiting) or 0) >= MAX_WAITING:
                raise QuotaError(f"{MAX_WAITING} problems are waiting for their proofs", hint="try again later")
            if row.created_by is not None and (session.scalar(mine) or 0) >= MAX_WAITING_PER_USER:
                hint = "wait until some are proved"
                raise QuotaError(f"{MAX_WAITING_PER_USER} problems of yours are waiting for their proofs", hint=hint)
            session.add(row)
            session.flush()
            return row.id

    def get(self, number: int, user_id: int | None = None) -> WinProblemResponse:
        """Return a problem, with the first attempt of a user. Raises NotFoundError."""
        with self._sessions.reading() as session:
            rows = fetch(session, _rows.where(_number == number, _state != REMOVED))
            attempt = None if user_id is None else session.scalars(_attempt(number, user_id)).one_or_none()
        if not rows:
            raise NotFoundError("problem", number)
        row, author = rows[0]
        return _problem(row, author, None if attempt is None else of_attempt(attempt))

    def page(self, query: WinProblemQuery) -> PageResponse[WinProblemItem]:
        """Return the problems that match a query, latest first."""
        limit = bounded(query.limit)
        rows = _rows.where(_state == query.state).order_by(_number.desc()).limit(limit + 1)
        for name in ("family", "level", "moves"):
            if (value := getattr(query, name)) is not None:
                rows = rows.where(col(getattr(StoredProblem, name)) == value)
        if query.unique is not None:
            rows = rows.where(col(StoredProblem.is_unique).is_(query.unique == "yes"))
        if query.author is not None:
            rows = rows.where(col(User.name) == query.author)
        if keys := read_cursor(query.after, int):
            rows = rows.where(keys[0] > _number)
        return cut(self._items(rows), limit, lambda line: (line.id,))

    def remove(self, number: int) -> None:
        """Remove a problem from all lists. Its attempts and the ratings that follow from them stay.

        Raises NotFoundError.
        """
        with self._sessions.writing() as session:
            row = session.get(StoredProblem, number, with_for_update=True)
            if row is None or row.state == REMOVED:
                raise NotFoundError("problem", number)
            # Clear the digest, so that the same problem can be added again.
            row.state, row.month, row.digest = REMOVED, None, f"removed {number}"

    def of_month(self, month: str) -> WinProblemItem | None:
        """Return the problem of a month, such as `2026-11`, if one has been chosen."""
        return next(iter(self._items(_rows.where(col(StoredProblem.month) == month))), None)

    def of_months(self, limit: int) -> list[WinProblemItem]:
        """Return the problems of the latest months, latest first."""
        rows = _rows.where(col(StoredProblem.month).is_not(None)).order_by(col(StoredProblem.month).desc())
        return self._items(rows.limit(limit))

    def of_numbers(self, numbers: Sequence[int]) -> list[WinProblemItem]:
        """Return the problems with these numbers, by family."""
        return self._items(_rows.where(_number.in_(numbers)).order_by(col(StoredProblem.family))) if numbers else []

    def choose(self, number: int, month: str) -> None:
        """Make a problem the problem of a month, replacing any other. Raises NotFoundError, ConflictError."""
        with self._sessions.writing() as session:
            row = session.get(StoredProblem, number, with_for_update=True)
            if row is None or row.state == REMOVED:
                raise NotFoundError("problem", number)
            if row.state != "accepted":
                raise ConflictError(f"problem {number} is {row.state}; choose an accepted one", row.state)
            session.execute(update(StoredProblem).where(col(StoredProblem.month) == month).values(month=None))
            row.month = month

    def choose_any(self, month: str) -> int | None:
        """Choose the problem of a month if it has none, and return its number.

        It is the hardest of the accepted problems that belong to no month, those with a unique solution first.
        """
        unused = select(_number).where(_accepted, col(StoredProblem.month).is_(None)).order_by(*_hardest_first)
        try:
            with self._sessions.writing() as session:
                if session.scalar(select(_number).where(col(StoredProblem.month) == month)) is not None:
                    return None
                number = session.scalar(unused.limit(1))
                session.execute(update(StoredProblem).where(_number == number).values(month=month))
                return number
        except IntegrityError:  # another one was chosen at the same time
            return None

    def nearest(self, family: str, mu: float, user_id: int | None, without: Collection[int] = ()) -> int | None:
        """Return the accepted problem nearest to the strength `mu`; not one in `without`, nor one tried by the user."""
        query = select(_number).where(_accepted, col(StoredProblem.family) == family, _number.not_in(without))
        if user_id is not None:
            tried = select(col(ProblemAttempt.problem_id)).where(col(ProblemAttempt.user_id) == user_id)
            query = query.where(_number.not_in(tried))
        strength = col(StoredProblem.mu)
        with self._sessions.reading() as session:
            harder = session.execute(
                query.add_columns(strength).where(strength >= mu).order_by(strength, _number).limit(1)
            ).all()
            easier = session.execute(
                query.add_columns(strength).where(strength < mu).order_by(strength.desc(), _number).limit(1)
            ).all()
        near = sorted([*harder, *easier], key=lambda row: abs(row[1] - mu))
        return int(near[0][0]) if near else None

    # -- proofs --------------------------------------------------------------------------------------------------------

    def next_waiting(self) -> WinProblemResponse | None:
        """Return the oldest problem that waits for its proof."""
        with self._sessions.reading() as session:
            rows = fetch(session, _rows.where(_state == "waiting").order_by(_number).limit(1))
        return _problem(*rows[0]) if rows else None

    def accept(self, number: int, proof: Proof) -> None:
        """Store the proof of a waiting problem, which people can solve from now on."""
        known = {name: getattr(proof, name) for name in Proof.__dataclass_fields__}
        self._decide(number, state="accepted", accepted_at=now(), **{**known, "tree": dict(proof.tree)})

    def refuse(self, number: int, problem: str) -> None:
        """Refuse a waiting problem, with the reason."""
        self._decide(number, state="refused", problem=problem[:300])

    def _decide(self, number: int, **values: Any) -> None:
        with self._sessions.writing() as session:
            session.execute(update(StoredProblem).where(_number == number, _state == "waiting").values(**values))

    def _items(self, rows: Select[*tuple[Any, ...]]) -> list[WinProblemItem]:
        with self._sessions.reading() as session:
            found = fetch(session, rows)
        return [_problem(row, author) for row, author in found]


def _problem(row: StoredProblem, author: str | None, attempt: FirstAttempt | None = None) -> WinProblemResponse:
    """Return a stored problem as a document. A removed one is never shown."""
    return WinProblemResponse(
        id=row.id,
        family=row.family,
        variant=row.variant,
        side=row.side,
        moves=row.moves,
        condition=row.condition,
        title=row.title,
        source=row.source,
        author=author,
        state=cast(WinProblemState, row.state),
        problem=row.problem,
        level=row.level,
        is_unique=row.is_unique,
        is_quiet=row.is_quiet,
        tries=row.tries,
        month=row.month,
        rating=row.mu,
        attempts=row.games,
        solved=row.games - row.wins,
        created_at=row.created_at,
        accepted_at=row.accepted_at,
        created_by=row.created_by,
        options=row.options,
        position=row.position,
        max_moves=row.max_moves,
        text=row.text,
        attempt=attempt,
        tree=row.tree,
    )


def _attempt(number: int, user_id: int) -> Any:
    mine = (col(ProblemAttempt.problem_id) == number, col(ProblemAttempt.user_id) == user_id)
    return select(ProblemAttempt).where(*mine)


def of_attempt(row: ProblemAttempt) -> FirstAttempt:
    """Return a stored attempt as a document."""
    return FirstAttempt(row.is_solved, row.mu_before, row.mu, row.attempted_at)
