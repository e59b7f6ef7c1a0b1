"""Analyses of games and of single positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from arena.analysis.marking import AnalysedMove
from arena.api.schemas.word import In, Out, Side


class Blunders(Out):
    """Number of moves marked `??` by side."""

    first: int
    second: int


class Accuracy(Out):
    """Accuracy by side, 0 to 100; null for a side without analysed moves."""

    first: float | None
    second: float | None


class BlownWin(Out):
    """True for a side that reached a winning position and did not win."""

    first: bool
    second: bool


class AnalysisResponse(Out):
    """The analysis of a game. `state` is its progress; `problem` says why it failed.

    `blunders` counts moves marked `??`, `accuracy` is 0 to 100, `turning_points` counts moves from a winning position
    to one that is even at best. `win_model` names the model that converted scores to winning chances.
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
    """Nodes per position. Positions are searched with 8 times this number, borderline ones with 100 times. By default
    the server's setting.
    """

    nodes: int | None = None


class PositionRequest(In):
    """A position: `moves` (any spelling, separated by blanks) after `position`, or after the start of the variant."""

    family: str
    variant: str = ""
    options: str = ""
    position: str = ""
    moves: str = ""
    nodes: int | None = None


class PositionEvaluation(Out):
    """Evaluation of a position from the view of the side to move. `line` is the principal variation, `best` its first
    move.

    `score` is in centipawns, `winning_chances` from -1 (lost) to 1 (won).
    """

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
    """A requested position and, once `is_done`, its evaluation in `answer`; `problem` says why it failed."""

    id: int
    is_done: bool
    problem: str
    answer: PositionEvaluation | None
