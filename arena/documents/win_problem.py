"""Problems: positions in which the side to move is to win in some moves, their solutions and solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.page import PageQuery
from arena.documents.query import Query, described, hidden
from arena.documents.words import Side

WinProblemState = Literal["waiting", "accepted", "refused"]
Level = Literal["easy", "medium", "hard"]
MAX_MOVES = 8
"""The longest win that a problem may ask for, in moves of the winning side."""
_MOVES = {"ge": 1, "le": MAX_MOVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class WinProblemItem:
    """A problem in a list: `side` is to move and wins in `moves` of its own moves.

    `state` is `waiting` until the solver has proved it, then `accepted` or `refused`; `problem` is the reason. `rating`
    is the strength (mu) of a problem, measured by the `attempts` of people. `month` names the month whose problem it
    is. `tries` counts plausible wrong first moves; `is_quiet` means that the first move captures nothing.
    """

    id: int
    family: str
    variant: str
    side: Side
    moves: int | None
    condition: str
    title: str
    source: str
    author: str | None
    state: WinProblemState
    problem: str
    level: str
    is_unique: bool
    is_quiet: bool
    tries: int
    month: str | None
    rating: float
    attempts: int
    solved: int
    created_at: datetime
    accepted_at: datetime | None
    created_by: int | None = hidden(None)

    @property
    def is_open(self) -> bool:
        """True once the problem is proved, so that people can solve it."""
        return self.state == "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class WinProblemResponse(WinProblemItem):
    """A problem with its position. `max_moves` is the longest win that its author allows."""

    options: Mapping[str, Any]
    position: str
    max_moves: int
    text: str
    attempt: FirstAttempt | None = hidden(None)
    """The first attempt of the reader; None if they made none or have no account."""
    tree: Mapping[str, Any] = hidden(MISSING)
    """All solutions (see `referee.solver.tree`)."""


@dataclass(frozen=True, slots=True)
class FirstAttempt:
    """The first attempt of a user at a problem, with the strength (mu) of the user before and after it."""

    is_solved: bool
    rating_before: float
    rating: float
    attempted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResponse:
    """The answer to a line of play: `continue` with the reply of the defence as its last move, `solved`, or `wrong`.

    `position` is that after `moves`; `left` is the number of moves that remain. `attempt` is your first attempt, once
    it is decided.
    """

    state: Literal["continue", "solved", "wrong"]
    moves: Sequence[str]
    position: str
    left: int
    attempt: FirstAttempt | None = None


@dataclass(frozen=True, slots=True)
class HintResponse:
    """The cells on which the next winning move starts. After a hint, an undecided first attempt counts as failed."""

    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class SolutionResponse:
    """The solution: the first moves, the main line, and all solutions as nested objects.

    `tree` maps each move to the tree after it, alternately for the winning side (all moves that win in time) and the
    other one (the moves that resist longest). `text` is the tree with variations in parentheses.
    """

    keys: Sequence[str]
    line: Sequence[str]
    text: str
    tree: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WinProblemQuery(PageQuery):
    """Filters of problems. Only accepted ones are listed by default."""

    family: str | None = described("a family", words.FAMILY, label="Family")
    level: Level | None = described("the level", label="Level")
    moves: int | None = described("the length of the win, in moves of the winning side", _MOVES, label="Moves")
    unique: Literal["yes", "no"] | None = described("whether a single first move wins", label="One solution")
    author: str | None = described("the user who added the problem", words.NAME)
    state: WinProblemState = described("the state", default="accepted")


@dataclass(frozen=True, slots=True, kw_only=True)
class WinProblemRequest(Query):
    """A problem to add: the side to move wins in at most `max_moves` moves, which the solver proves first.

    `condition` limits what that side does, such as `marbles<=7`.
    """

    family: str = described("a family", words.FAMILY, default=MISSING)
    position: str = described("the position", {"min_length": 1, "max_length": 600}, default=MISSING)
    variant: str | None = described("a variant of the family (default: its first)", words.VARIANT)
    options: str = described("rule options, such as swap=true,pie=false", {"max_length": 400}, default="")
    max_moves: int = described("the longest win allowed, in moves of the winning side", _MOVES, default=5)
    condition: str = described("a limit, such as marbles<=7", {"max_length": 60}, default="")
    title: str = described("a title", {**words.ONE_LINE, "min_length": 0}, default="")
    text: str = described("the problem in words", words.PROSE, default="")
    source: str = described("the origin, such as a game", {**words.ONE_LINE, "min_length": 0}, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRequest(Query):
    """A line of play from the problem's position: your moves with the replies between them, and your new move."""

    moves: str = described("moves in any notation, separated by blanks", {"max_length": 600}, default=MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverQuery(PageQuery):
    """The family whose solvers to list."""

    family: str = described("a family", words.FAMILY, default=MISSING)


@dataclass(frozen=True, slots=True)
class SolverLine:
    """A person's line in the leaderboard of solvers, best first by mu - 3 sigma; provisional ones have no rank."""

    rank: int | None
    name: str
    mu: float
    sigma: float
    conservative: float
    attempts: int
    solved: int
    is_provisional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthRequest(Query):
    """The month of which the problem becomes the problem of the month; by default the current month."""

    month: str | None = described("a month, such as 2026-11", {"pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])$"})
