"""Problems: positions in which the side to move is to win in some moves, their solutions and solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.query import PageQuery, Query, described
from arena.documents.words import Side
from arena.errors import BadValueError
from referee.meaning import HIDDEN, meaning

WinProblemState = Literal["waiting", "accepted", "refused"]
Level = Literal["easy", "medium", "hard"]
MAX_MOVES = 8
"""The longest win that a problem may ask for, in moves of the winning side."""
_MOVES = {"ge": 1, "le": MAX_MOVES}


@dataclass(frozen=True, slots=True, kw_only=True)
class WinProblemItem:
    """A problem in a list: `side` is to move and wins in `moves` of its own moves.

    `state` is `waiting` until the solver has examined it, then `accepted` or `refused`; `problem` says why it was
    refused. `rating` is the strength (mu) of a problem, measured by the `attempts` of people. `month` names the month
    whose problem it is. `tries` counts plausible wrong first moves; `is_quiet` means that the first move captures
    nothing.
    """

    id: int
    family: str
    variant: str
    side: Side
    moves: int | None = field(metadata=meaning("length of the shortest forced win; null: not proved"))
    condition: str = field(metadata=meaning("limit on the winning side, such as `marbles<=7`; empty: none"))
    title: str = field(metadata=meaning("empty: none"))
    source: str = field(metadata=meaning("origin, such as a game; empty: none"))
    author: str | None = field(metadata=meaning("name of the user who set it; null: the operator"))
    state: WinProblemState
    problem: str = field(metadata=meaning("empty unless `state` is `refused`"))
    level: str = field(metadata=meaning("`easy`, `medium` or `hard`; empty: not proved"))
    is_unique: bool = field(metadata=meaning("true: only one first move wins in time"))
    is_quiet: bool
    tries: int
    month: str | None = field(metadata=meaning("such as `2026-11`; null: none"))
    rating: float
    attempts: int = field(metadata=meaning("first attempts of users; later ones do not count"))
    solved: int = field(metadata=meaning("successful first attempts"))
    created_at: datetime
    accepted_at: datetime | None = field(metadata=meaning("null: not accepted"))
    created_by: int | None = field(default=None, metadata=HIDDEN)
    # Pages draw the positions of a list.
    options: Mapping[str, Any] = field(metadata=HIDDEN)
    position: str = field(metadata=HIDDEN)
    max_moves: int = field(metadata=HIDDEN)

    @property
    def is_open(self) -> bool:
        """True once the problem is proved, so that people can solve it."""
        return self.state == "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class WinProblemResponse(WinProblemItem):
    """A problem with its position. `max_moves` is the longest win that its author allows."""

    options: Mapping[str, Any] = field(metadata=meaning("rule options that differ from those of the variant"))
    position: str
    max_moves: int
    text: str = field(metadata=meaning("the problem in words, may be empty"))
    attempt: FirstAttempt | None = field(default=None, metadata=HIDDEN)
    """The first attempt of the reader; None if they made none or have no account."""
    tree: Mapping[str, Any] = field(metadata=HIDDEN)
    """All solutions (see `referee.solver.tree`)."""


@dataclass(frozen=True, slots=True)
class FirstAttempt:
    """The first attempt of a user at a problem, with the strength (mu) of the user before and after it."""

    is_solved: bool
    rating_before: float = field(metadata=meaning("before the attempt; 25 for the first problem of a family"))
    rating: float = field(metadata=meaning("after the attempt"))
    attempted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResponse:
    """The answer to a line of play: `continue` with the reply of the defence as its last move, `solved`, or `wrong`.

    `position` is that after `moves`; `left` is the number of moves that remain. `attempt` is your first attempt, once
    it is decided.
    """

    state: Literal["continue", "solved", "wrong"]
    moves: Sequence[str] = field(metadata=meaning("the whole line in canonical notation"))
    position: str
    left: int = field(metadata=meaning("moves of the winning side; 0: solved"))
    attempt: FirstAttempt | None = field(
        default=None, metadata=meaning("null: not decided, no account, or a problem of your own")
    )


@dataclass(frozen=True, slots=True)
class HintResponse:
    """The cells on which the next winning move starts. After a hint, an undecided first attempt counts as failed."""

    cells: Sequence[str] = field(metadata=meaning("names of cells, such as `c4`; empty: solved"))


@dataclass(frozen=True, slots=True)
class SolutionResponse:
    """The solution: the first moves, the main line, and all solutions as nested objects.

    `tree` maps each move to the tree after it, alternately for the winning side (all moves that win in time) and the
    other one (the moves that resist longest). `text` is the tree with variations in parentheses.
    """

    keys: Sequence[str] = field(metadata=meaning("first moves that win in time"))
    line: Sequence[str] = field(metadata=meaning("moves of both sides, with the best defence"))
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
class FoundProblem:
    """A line of `arena problems find -o ndjson`. The sets that come with the program leave the defaults out."""

    family: str
    variant: str
    options: Mapping[str, Any]
    position: str
    side: Side | None = None
    moves: int
    """Length of the win; `in` in JSON."""
    keys: Sequence[str] = ()
    unique: bool = False
    line: Sequence[str] = ()
    quiet: bool = False
    tries: int = 0
    level: Level = "easy"
    source: str = ""
    game_line: int = 0
    ply: int = 0

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> FoundProblem:
        """Read what is needed to add the problem. Raises BadValueError."""
        try:
            return cls(
                family=str(data["family"]),
                variant=str(data["variant"]),
                options=dict(data["options"].items()),
                position=str(data["position"]),
                moves=int(data["in"]),
                source=str(data.get("source", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"not a problem: {type(error).__name__}: {error}"
            raise BadValueError(problem, hint="expected the output of arena problems find -o ndjson") from None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"in" if name == "moves" else name: value for name, value in asdict(self).items()}

    @property
    def request(self) -> WinProblemRequest:
        """The request that adds the problem."""
        return WinProblemRequest(
            family=self.family,
            variant=self.variant,
            options=written_options(self.options),
            position=self.position,
            max_moves=self.moves,
            source=self.source,
        )


def written_options(options: Mapping[str, Any]) -> str:
    """Write rule options as a request has them."""
    return ",".join(f"{name}={value}" for name, value in options.items())


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

    rank: int | None = field(metadata=meaning("from 1"))
    name: str
    mu: float
    sigma: float
    conservative: float
    attempts: int = field(metadata=meaning("problems tried; only the first attempt at each counts"))
    solved: int = field(metadata=meaning("problems solved at the first attempt"))
    is_provisional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthRequest(Query):
    """The month of which the problem becomes the problem of the month; by default the current month."""

    month: str | None = described("a month, such as 2026-11", {"pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])$"})
