"""Analyses: what an engine thought of a game, or of one position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from arena.analysis.marking import AnalysedMove
from arena.api.schemas.word import In, Out, Side


class Blunders(Out):
    """Moves marked `??` of each side."""

    first: int
    second: int


class Accuracy(Out):
    """0 to 100 for each side; null for who made no move that was analysed."""

    first: float | None
    second: float | None


class BlownWin(Out):
    """Whether a side stood as good as won and did not win."""

    first: bool
    second: bool


class AnalysisResponse(Out):
    """The analysis of a game: `state` says whether it is done, waits, has failed (`problem`), or that there is none.

    `blunders` are moves marked `??`, `accuracy` is 0 to 100, `turning_points` are moves from a winning position to one
    that is even at best. `win_model` names the curve that turned scores into chances.
    """

    game: str
    state: Literal["none", "waiting", "failed", "done"]
    problem: str = ""
    family: str | None = None
    engine: str | None = None
    nodes: int | None = None
    win_model: str | None = None
    plies: Sequence[AnalysedMove] = ()
    blunders: Blunders | None = None
    accuracy: Accuracy | None = None
    turning_points: int | None = None
    blown_win: BlownWin | None = None


class AnalysisRequest(In):
    """Unit of the engine's searches, 8 times for each position, 100 times in doubt; what is usual here without it."""

    nodes: int | None = None


class PositionRequest(In):
    """A position: `moves` (in any spelling, separated by blanks) behind `position`, or behind the variant's start."""

    family: str
    variant: str = ""
    options: str = ""
    position: str = ""
    moves: str = ""
    nodes: int | None = None


class PositionEvaluation(Out):
    """What the engine thinks, from the view of the side to move; `line` is what it expects, its `best` move first."""

    family: str
    side: Side
    engine: str
    nodes: int
    win_model: str
    score: int | None
    winning_chances: float | None
    best: str
    line: list[str]


class PositionResponse(Out):
    """A question and, once it is `done`, its `answer`; `problem` says why there is none."""

    id: int
    is_done: bool
    problem: str
    answer: PositionEvaluation | None
