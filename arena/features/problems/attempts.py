"""First attempts at problems, and the ratings of people and problems that follow from them.

An attempt counts as a game of the person (first) against the problem (second) in the pool `FAMILY/problems`, and is
rated by the same function `fold` as all games. A person has one rated attempt at a problem.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import select, tuple_, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.query import PageResponse
from arena.errors import ConflictError, NotFoundError
from arena.features.problems.documents import FirstAttempt, SolverLine, SolverQuery
from arena.features.problems.store import of_attempt
from arena.features.problems.tables import ProblemAttempt, SolverRating, StoredProblem
from arena.store import Store
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import bounded, read_cursor, write_cursor
from arena.store.base.tables.people import User
from arena.store.ratings.fold import FoldedGame, FoldedRating, fold
from referee.ratings.trueskill import SIGMA, TrueSkillRating
from referee.rules.core import Kind

START_MU = {"easy": 20.0, "medium": 25.0, "hard": 30.0}
"""The strength from which the rating of a problem starts, by its level."""


def pool_of_problems(family: str) -> str:
    """Return the pool in which people and problems of a family are rated."""
    return f"{family}/problems"


class _Ratings:
    """The ratings that a fold reads and writes (see `fold.RatingTable`); problems have negative numbers."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], FoldedRating] = {}

    def line(self, pool: str, version_id: int) -> FoldedRating | None:
        return self.lines.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        """Return None: people and problems have no predecessors."""
        return None

    def put(self, pool: str, version_id: int, line: FoldedRating) -> None:
        self.lines[pool, version_id] = line


class Attempts(Repository):
    """First attempts at problems, and the ratings of solvers."""

    def decide(self, number: int, user_id: int, *, is_solved: bool) -> FirstAttempt:
        """Store and rate the first attempt of a user at a problem. A later call changes nothing and returns the first.

        Raises NotFoundError, and ConflictError for a problem that is not accepted.
        """
        with self._sessions.writing() as session:
            problem = session.get(StoredProblem, number, with_for_update=True)
            user = session.get(User, user_id, with_for_update=True)
            if problem is None or user is None:
                raise NotFoundError("problem", number)
            if problem.state != "accepted":
                raise ConflictError(f"problem {number} is {problem.state}", problem.state)
            mine = (col(ProblemAttempt.problem_id) == number, col(ProblemAttempt.user_id) == user_id)
            known = session.scalar(select(ProblemAttempt).where(*mine))
            if known is not None:
                return of_attempt(known)
            attempt = ProblemAttempt(problem_id=number, user_id=user_id, is_solved=is_solved, mu_before=0.0, mu=0.0)
            session.add(attempt)
            session.flush()
            _rate(session, attempt, problem)
            return of_attempt(attempt)

    def rating(self, family: str, user_id: int) -> TrueSkillRating:
        """Return the rating of a user against the problems of a family; before the first attempt the default rating."""
        with self._sessions.reading() as session:
            row = session.get(SolverRating, (pool_of_problems(family), user_id))
            return _line_of(row).rating if row else TrueSkillRating()

    def of_user(self, user_id: int) -> dict[str, tuple[int, int, float]]:
        """Return by family how many problems a user has tried, how many at once solved, and the strength (mu)."""
        query = select(SolverRating).where(col(SolverRating.user_id) == user_id).order_by(col(SolverRating.pool))
        with self._sessions.reading() as session:
            rows = session.scalars(query).all()
        return {row.pool.partition("/")[0]: (row.games, row.wins, row.mu) for row in rows}

    def outcomes(self, user_id: int, numbers: Collection[int]) -> dict[int, bool]:
        """Return whether the first attempt of a user solved each of these problems; those not tried are left out."""
        query = select(col(ProblemAttempt.problem_id), col(ProblemAttempt.is_solved)).where(
            col(ProblemAttempt.user_id) == user_id, col(ProblemAttempt.problem_id).in_(numbers)
        )
        with self._sessions.reading() as session:
            return dict(session.execute(query).all())

    def solvers(self, query: SolverQuery) -> PageResponse[SolverLine]:
        """Return the solvers of a family, best first by mu - 3 sigma."""
        limit = bounded(query.limit)
        keys = (col(SolverRating.conservative), col(SolverRating.user_id))
        rows = (
            select(SolverRating, col(User.name))
            .join(User, col(User.id) == col(SolverRating.user_id))
            .where(col(SolverRating.pool) == pool_of_problems(query.family))
            .order_by(*(key.desc() for key in keys))
            .limit(limit + 1)
        )
        rank = 0
        if last := read_cursor(query.after, float, int, int):
            rows = rows.where(tuple_(*keys) < tuple_(*last[:2]))
            rank = last[2]
        with self._sessions.reading() as session:
            rated = fetch(session, rows)
        lines = []
        for row, name in rated[:limit]:
            is_provisional = _line_of(row).rating.is_provisional
            rank += not is_provisional
            shown = None if is_provisional else rank
            lines.append(
                SolverLine(shown, name, row.mu, row.sigma, row.conservative, row.games, row.wins, is_provisional)
            )
        if len(rated) <= limit:
            return PageResponse(lines)
        row = rated[limit - 1][0]
        return PageResponse(lines, write_cursor(row.conservative, row.user_id, rank))

    def check(self) -> list[str]:
        """Compute all ratings again from the attempts in order; describe the differences from the stored ratings."""
        with self._sessions.reading() as session:
            return list(_differences(session, *_folded(session)))

    def rebuild(self) -> int:
        """Compute all ratings again, correct the stored ones, and return the number of attempts."""
        with self._sessions.writing() as session:
            table, changes = _folded(session)
            for attempt, before, after in changes:
                attempt.mu_before, attempt.mu = before, after
            session.execute(update(StoredProblem).values(games=0, wins=0, opposition=0.0))
            for (pool, number), line in table.lines.items():
                _store(session, pool, number, line)
            return len(changes)


def _game(attempt: ProblemAttempt, family: str) -> FoldedGame:
    """Return an attempt as a game that `fold` can rate."""
    number = attempt.id
    return FoldedGame(
        game_id=f"attempt {number}",
        commit_number=number,
        family=family,
        pool=pool_of_problems(family),
        first_id=attempt.user_id,
        second_id=-attempt.problem_id,
        winner="first" if attempt.is_solved else "second",
        termination_class=Kind.RULES.value,
        is_rated=True,
        meeting=0,
        anchor=None,
    )


def _rate(session: Session, attempt: ProblemAttempt, problem: StoredProblem) -> None:
    """Update the two stored ratings by one attempt."""
    pool, table = pool_of_problems(problem.family), _Ratings()
    solver = session.get(SolverRating, (pool, attempt.user_id))
    if solver is not None:
        table.put(pool, attempt.user_id, _line_of(solver))
    table.put(pool, -attempt.problem_id, _line_of(problem))
    person, _ = fold(table, _game(attempt, problem.family))
    attempt.mu_before, attempt.mu = person.before.rating.mu, person.after.rating.mu
    for (_, number), line in table.lines.items():
        _store(session, pool, number, line)


def _line_of(row: SolverRating | StoredProblem) -> FoldedRating:
    return FoldedRating(
        TrueSkillRating(row.mu, row.sigma, row.games, row.wins, 0, row.games - row.wins), 0, row.opposition
    )


def _columns(line: FoldedRating) -> dict[str, Any]:
    rating = line.rating
    return {
        "mu": rating.mu,
        "sigma": rating.sigma,
        "games": rating.games,
        "wins": rating.wins,
        "opposition": line.opposition,
    }


def _store(session: Session, pool: str, number: int, line: FoldedRating) -> None:
    """Write the rating of a person, or of the problem with this negative number."""
    if number < 0:
        session.execute(update(StoredProblem).where(col(StoredProblem.id) == -number).values(**_columns(line)))
    else:
        session.merge(SolverRating(pool=pool, user_id=number, conservative=line.rating.conservative, **_columns(line)))


def _folded(session: Session) -> tuple[_Ratings, list[tuple[ProblemAttempt, float, float]]]:
    """Compute the ratings from all attempts; return them, and each attempt with the person's mu before and after it."""
    table = _Ratings()
    families: dict[int, str] = {}
    for problem in session.scalars(select(StoredProblem).where(col(StoredProblem.accepted_at).is_not(None))):
        number = problem.id
        families[number] = problem.family
        start = FoldedRating(TrueSkillRating(START_MU[problem.level], SIGMA))
        table.put(pool_of_problems(problem.family), -number, start)
    changes = []
    for attempt in session.scalars(select(ProblemAttempt).order_by(col(ProblemAttempt.id))):
        person, _ = fold(table, _game(attempt, families[attempt.problem_id]))
        changes.append((attempt, person.before.rating.mu, person.after.rating.mu))
    return table, changes


def _differences(
    session: Session, table: _Ratings, changes: list[tuple[ProblemAttempt, float, float]]
) -> Iterator[str]:
    """Yield the differences between the stored ratings and the computed ones."""
    for attempt, before, after in changes:
        if (attempt.mu_before, attempt.mu) != (before, after):
            yield f"attempt {attempt.id}: stored {attempt.mu_before}, {attempt.mu}; folded {before}, {after}"
    stored: dict[tuple[str, int], Any] = {
        (row.pool, row.user_id): _columns(_line_of(row)) for row in session.scalars(select(SolverRating))
    }
    for problem in session.scalars(select(StoredProblem).where(col(StoredProblem.accepted_at).is_not(None))):
        stored[pool_of_problems(problem.family), -problem.id] = _columns(_line_of(problem))
    folded = {key: _columns(line) for key, line in table.lines.items()}
    for pool, number in sorted(stored.keys() | folded.keys()):
        old, new = stored.get((pool, number)), folded.get((pool, number))
        if old != new:
            owner = f"problem {-number}" if number < 0 else f"user {number}"
            yield f"{pool}, {owner}: stored {old}, folded {new}"


def rebuild(store: Store) -> str:
    """Rebuild the ratings of solvers and problems; return in words from how much, for `arena ratings rebuild`."""
    count = Attempts(store.sessions).rebuild()
    return f"{count} attempts at problems" if count else ""


def check(store: Store) -> list[str]:
    """Return the stored ratings that the attempts do not reproduce."""
    return Attempts(store.sessions).check()
