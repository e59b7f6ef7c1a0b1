"""Problems: add them, solve them against the best defence, and find one near a person's strength.

A line of play is checked against the stored tree of solutions, so that no request waits for the solver.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena.clock import now
from arena.documents.account import Identity
from arena.documents.query import PageResponse
from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError
from arena.features.problems.attempts import Attempts
from arena.features.problems.days import Days, today
from arena.features.problems.documents import (
    AttemptResponse,
    FirstAttempt,
    HintResponse,
    SolutionResponse,
    SolverLine,
    SolverQuery,
    WinProblemItem,
    WinProblemQuery,
    WinProblemRequest,
    WinProblemResponse,
)
from arena.features.problems.store import Problems
from arena.features.problems.tables import StoredProblem
from arena.services import study
from arena.services.arena import Arena
from arena.services.study import Study
from referee.ratings.trueskill import MU, SIGMA, TrueSkillRating
from referee.rules import families, load
from referee.rules.core import SIDES, ParseError, UnknownNameError
from referee.rules.move_input import ways_of
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.solver.proofs import Condition
from referee.solver.tree import Tree, main_line, tree_text


def search(arena: Arena, query: WinProblemQuery) -> PageResponse[WinProblemItem]:
    """Return one part of the matching problems, latest first. Raises NotFoundError for an unknown family."""
    if query.family is not None:
        _require_family(query.family)
    return Problems(arena.store.sessions).page(query)


def read(arena: Arena, number: int, by: Identity | None = None) -> WinProblemResponse:
    """Return a problem in any state, with the caller's first attempt. Raises NotFoundError."""
    return Problems(arena.store.sessions).get(number, by.user_id if by else None)


def _require_family(family: str) -> None:
    if family not in families():
        raise NotFoundError("family", family, families())


# -- setting -----------------------------------------------------------------------------------------------------------


def add(arena: Arena, request: WinProblemRequest, by: Identity | None) -> WinProblemResponse:
    """Store a problem; people can solve it once the solver has proved it. `by` is None for the operator.

    Raises NotFoundError, BadValueError, TakenError, QuotaError.
    """
    _require_family(request.family)
    ruleset = study.settle(request.family, request.variant or "", request.options)
    start = study.read(ruleset, request.position, ())
    if start.end.outcome is not None:
        raise BadValueError("the game is over in this position", field="position", hint="set up an earlier one")
    condition = _condition(request.condition, ruleset)
    key = [request.family, ruleset.variant.name, ruleset.overrides, start.start, condition]
    row = StoredProblem(
        digest=hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest(),
        family=request.family,
        variant=ruleset.variant.name,
        options=ruleset.overrides,
        position=start.start,
        side=start.end.side,
        condition=condition,
        max_moves=request.max_moves,
        title=request.title,
        text=request.text,
        source=request.source,
        mu=MU,
        sigma=SIGMA,
        created_by=by.user_id if by else None,
    )
    number = Problems(arena.store.sessions).add(row)
    arena.note("problem.add", f"problem:{number}", by)
    arena.wake()
    return Problems(arena.store.sessions).get(number)


def _condition(text: str, ruleset: Ruleset) -> str:
    """Return the condition of a problem as it is stored. Raises BadValueError."""
    if not text.strip():
        return ""
    try:
        condition = Condition.read(text)
        condition.index(ruleset)
    except (ParseError, UnknownNameError) as error:
        hint = error.hint if isinstance(error, ParseError) else ""
        raise BadValueError(str(error), field="condition", hint=hint) from None
    return str(condition)


def choose_of_month(arena: Arena, number: int, month: str | None, by: Identity | None) -> WinProblemResponse:
    """Make an accepted problem the problem of a month, by default of the current month.

    Raises ForbiddenError, NotFoundError, ConflictError.
    """
    if by is not None and "organise" not in by.scopes:
        raise ForbiddenError("only organisers choose the problem of the month", hint="ask an organiser")
    month = month or this_month()
    Problems(arena.store.sessions).choose(number, month)
    arena.note("problem.month", f"problem:{number}", by, month=month)
    return Problems(arena.store.sessions).get(number)


def this_month() -> str:
    """Return the present month in UTC, such as `2026-11`."""
    return f"{now():%Y-%m}"


def of_month(arena: Arena) -> WinProblemItem | None:
    """Return the problem of the present month, if there is one."""
    return Problems(arena.store.sessions).of_month(this_month())


def of_months(arena: Arena, limit: int = 12) -> list[WinProblemItem]:
    """Return the problems of the latest months, latest first."""
    return Problems(arena.store.sessions).of_months(limit)


def of_day(arena: Arena, family: str) -> WinProblemItem | None:
    """Return the problem of the present day of a family; None if the family has no problem."""
    return next(iter(of_today(arena, family)), None)


def of_today(arena: Arena, family: str | None = None) -> list[WinProblemItem]:
    """Return the problem of the present day of each family that has one, or of one family."""
    numbers = Days(arena.store.sessions).problems(today(), family)
    return Problems(arena.store.sessions).of_numbers(list(numbers.values()))


def streaks(arena: Arena, by: Identity | None) -> dict[str, int]:
    """Return by family on how many days in a row until today or yesterday the caller solved the problem of the day.

    Families without a streak are left out.
    """
    return Days(arena.store.sessions).streaks(by.user_id, today()) if by else {}


def outcomes(arena: Arena, numbers: Collection[int], by: Identity | None) -> dict[int, bool]:
    """Return which of these problems the caller has tried, and whether the first attempt solved each."""
    return Attempts(arena.store.sessions).outcomes(by.user_id, numbers) if by and numbers else {}


def may_remove(problem: WinProblemItem, by: Identity | None) -> bool:
    """Return whether the caller may remove a problem: its author, organisers, and the operator (None)."""
    return by is None or by.user_id == problem.created_by or "organise" in by.scopes


def remove(arena: Arena, number: int, by: Identity | None) -> None:
    """Remove a problem. The ratings of the people who tried it stay as they are.

    Raises NotFoundError, ForbiddenError.
    """
    problem = Problems(arena.store.sessions).get(number)
    if not may_remove(problem, by):
        raise ForbiddenError(f"problem {number} is not yours", hint="ask its author or an organiser to remove it")
    Problems(arena.store.sessions).remove(number)
    arena.note("problem.remove", f"problem:{number}", by)


# -- solving -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A line of play from the position of a problem, as far as it is in the tree of solutions.

    `rest` is the subtree of the moves that win next; it is empty if the problem is solved. `wrong` is the last move if
    it does not win within the problem's number of moves, else empty.
    """

    study: Study
    rest: Tree
    wrong: str = ""

    @property
    def is_solved(self) -> bool:
        """True once the game is won."""
        return not self.rest and not self.wrong


def follow(problem: WinProblemResponse, moves: Sequence[str]) -> ProblemLine:
    """Return the line of these moves, with the best defence appended if the other side is to move.

    Raises BadValueError for an illegal move, and for one outside the tree of solutions; only the last of `moves` may
    be outside it, if the winning side made it.
    """
    ruleset = ruleset_of(problem)
    line = study.read(ruleset, problem.position, moves)
    rest: Tree = problem.tree
    for ply, move in enumerate(line.moves):
        if move not in rest:
            if ply % 2 == 0 and ply == len(line.moves) - 1:
                return ProblemLine(line, rest, move)
            raise BadValueError(
                f"move {ply + 1} is not in the solution: {move[:40]!r}", field="moves", hint="start the problem again"
            )
        rest = rest[move]
    if rest and len(line.moves) % 2 == 1:
        reply = next(iter(rest))
        return ProblemLine(study.read(ruleset, problem.position, (*line.moves, reply)), rest[reply])
    return ProblemLine(line, rest)


def attempt(arena: Arena, number: int, moves: Sequence[str], by: Identity | None) -> AttemptResponse:
    """Answer a line of play that ends with a move of the person. A user's first attempt is rated when it ends.

    Raises NotFoundError, BadValueError, and ConflictError for a problem without a proof.
    """
    problem = _open(arena, number, by)
    if len(moves) % 2 == 0:
        raise BadValueError("the line does not end with a move of yours", field="moves", hint="add your move")
    line = follow(problem, moves)
    decided: FirstAttempt | None = problem.attempt
    days, day = Days(arena.store.sessions), today()
    if line.is_solved and by is not None and number in days.problems(day, problem.family).values():
        days.note(by.user_id, problem.family, day, number)
    if (line.wrong or line.is_solved) and decided is None:
        decided = _decide(arena, problem, by, is_solved=line.is_solved)
    return AttemptResponse(
        state="wrong" if line.wrong else "solved" if line.is_solved else "continue",
        moves=line.study.moves,
        position=str(line.study.end),
        left=(problem.moves or 0) - len(line.study.moves) // 2 if not line.is_solved else 0,
        attempt=decided,
    )


def _open(arena: Arena, number: int, by: Identity | None) -> WinProblemResponse:
    problem = read(arena, number, by)
    if not problem.is_open:
        raise ConflictError(f"problem {number} is {problem.state}: it cannot be solved", problem.state)
    return problem


def _decide(arena: Arena, problem: WinProblemResponse, by: Identity | None, *, is_solved: bool) -> FirstAttempt | None:
    """Rate the first attempt of a user, except at their own problem."""
    if by is None or by.user_id == problem.created_by:
        return None
    return Attempts(arena.store.sessions).decide(problem.id, by.user_id, is_solved=is_solved)


def hint(arena: Arena, number: int, moves: Sequence[str], by: Identity | None) -> HintResponse:
    """Return the cell from which a next winning move starts; a user's undecided first attempt counts as failed.

    Raises NotFoundError, ConflictError, BadValueError.
    """
    problem = _open(arena, number, by)
    line = follow(problem, moves)
    _decide(arena, problem, by, is_solved=False)
    if not line.rest:
        return HintResponse(())
    position = line.study.end
    return HintResponse(ways_of(position, position.read(next(iter(line.rest))), position.board)[0][:1])


def solution(arena: Arena, number: int, by: Identity | None) -> SolutionResponse:
    """Return all solutions; a user's undecided first attempt counts as failed. Raises NotFoundError, ConflictError."""
    problem = _open(arena, number, by)
    _decide(arena, problem, by, is_solved=False)
    return solution_of(problem)


def ruleset_of(problem: WinProblemItem) -> Ruleset:
    return load(problem.family).settle(problem.variant, problem.options)


def solution_of(problem: WinProblemResponse) -> SolutionResponse:
    ruleset = ruleset_of(problem)
    text = tree_text(Position.start(ruleset, problem.position), problem.tree)
    return SolutionResponse(list(problem.tree), main_line(problem.tree), text, problem.tree)


# -- solvers -----------------------------------------------------------------------------------------------------------


def solvers(arena: Arena, query: SolverQuery) -> PageResponse[SolverLine]:
    """Return the solvers of a family, best first. Raises NotFoundError for an unknown family."""
    _require_family(query.family)
    return Attempts(arena.store.sessions).solvers(query)


def rating(arena: Arena, family: str, by: Identity | None) -> TrueSkillRating:
    """Return the caller's rating against the problems of a family; the default one without an account."""
    return Attempts(arena.store.sessions).rating(family, by.user_id) if by else TrueSkillRating()


@dataclass(frozen=True, slots=True)
class SolverProfile:
    """The problems of a family that a user has tried, and solved at the first attempt; strength, and days in a row."""

    family: str
    tried: int
    solved: int
    mu: float
    streak: int


def profile(arena: Arena, user_id: int) -> list[SolverProfile]:
    """Return what a user has solved, the longest streak first; families without a rated attempt are left out."""
    streaks = Days(arena.store.sessions).streaks(user_id, today())
    attempts = Attempts(arena.store.sessions).of_user(user_id)
    profiles = [
        SolverProfile(family, tried, solved, mu, streaks.get(family, 0))
        for family, (tried, solved, mu) in attempts.items()
    ]
    return sorted(profiles, key=lambda profile: (-profile.streak, profile.family))


def next_problem(arena: Arena, family: str, by: Identity | None, tried: Collection[int] = ()) -> WinProblemResponse:
    """Return the problem nearest to the caller's strength that they have not tried and that is not among `tried`.

    Raises NotFoundError.
    """
    _require_family(family)
    user_id = by.user_id if by else None
    number = Problems(arena.store.sessions).nearest(family, rating(arena, family, by).mu, user_id, tried)
    if number is None:
        raise NotFoundError("untried problem of", family)
    return Problems(arena.store.sessions).get(number, user_id)


def side_name(problem: WinProblemItem) -> str:
    ruleset = load(problem.family).settle(problem.variant)
    return ruleset.sides[SIDES.index(problem.side)]
