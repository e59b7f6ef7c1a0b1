"""Analyses of games and of single positions, and the filters of games by their analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from arena.documents.query import PageQuery, Query, described
from arena.documents.words import Bounds, Side
from referee.meaning import HIDDEN, meaning

Mark = Literal["", "?!", "?", "??"]
FIGURES = ("blunders", "accuracy", "first_accuracy", "second_accuracy", "turning_points")
"""Figures by which lists of games can be sorted in addition to their own columns; unanalysed games are then omitted."""
_GROUP = "of analysed games"
_COUNT: Bounds = {"ge": 0, "le": 10_000}
_SHARE: Bounds = {"ge": 0, "le": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedGamesQuery(PageQuery):
    """Filters of games by their analysis; any of them leaves out unanalysed games."""

    blunders: int | None = described(
        "the minimum number of blunders of both sides", _COUNT, label="Blunders: minimum", group=_GROUP
    )
    max_blunders: int | None = described(
        "the maximum number of blunders of both sides", _COUNT, label="maximum", group=_GROUP
    )
    accuracy: int | None = described(
        "the minimum accuracy of the less accurate side, 0 to 100", _SHARE, label="Accuracy: minimum", group=_GROUP
    )
    max_accuracy: int | None = described(
        "the maximum accuracy of the less accurate side, 0 to 100", _SHARE, label="maximum", group=_GROUP
    )
    min_turning_points: int | None = described(
        "the minimum number of turning points: moves from a winning position to an even or lost one",
        _COUNT,
        label="Turning points: minimum",
        group=_GROUP,
    )
    blown_win: Literal["yes", "no"] | None = described(
        "whether a side reached a winning position and did not win", label="Win thrown away", group=_GROUP
    )

    @property
    def is_about_analysis(self) -> bool:
        """True if the query has any filter by analysis."""
        bounds = (self.blunders, self.max_blunders, self.accuracy, self.max_accuracy, self.min_turning_points)
        return self.blown_win is not None or any(one is not None for one in bounds)


@dataclass(frozen=True, slots=True)
class AnalysisFigures:
    """Figures of an analysis, for lists of games. `accuracy` is that of the less accurate side."""

    game_id: str
    family: str
    engine: str
    nodes: int
    win_model: str
    blunders: int
    first_blunders: int
    second_blunders: int
    accuracy: float | None
    first_accuracy: float | None
    second_accuracy: float | None
    turning_points: int
    has_blown_win: bool
    analysed_at: datetime


@dataclass(frozen=True, slots=True)
class AnalysedMove:
    """A move with the evaluation of the position before it, from the mover's view.

    `score` is in centipawns, `winning_chances` from -1 (lost) to 1 (won). `best` is the engine's choice, `line` its
    principal variation. Without a score, `winning_chances` and `loss` are None.
    """

    number: int = field(metadata=meaning("ply of the move, counted from 1 over both sides"))
    side: Side
    move: str
    score: int | None = field(metadata=meaning("in centipawns; null: the engine reported none"))
    winning_chances: float | None
    best: str = field(metadata=meaning("the engine's choice; empty: it reported none"))
    loss: float | None = field(metadata=meaning("winning chances lost against the engine's choice, from 0 to 2"))
    mark: Mark = field(
        metadata=meaning("by `loss`, unless the game is decided: `?!` from 0.1, `?` from 0.2, `??` from 0.3")
    )
    line: str = field(metadata=meaning("moves from the position before the move, separated by blanks"))

    @property
    def chances_of_first(self) -> float | None:
        """The winning chances of the side `first`, whichever side moves."""
        if self.winning_chances is None:
            return None
        return self.winning_chances if self.side == "first" else -self.winning_chances


@dataclass(frozen=True, slots=True)
class Blunders:
    """Number of moves marked `??`, for each side."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy by side, 0 to 100; null for a side without analysed moves."""

    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class BlownWin:
    """True for a side whose winning chances reached 0.8 and that did not win."""

    first: bool
    second: bool


@dataclass(frozen=True, slots=True)
class GameAnalysis:
    """The analysis of a game, as it is stored; the fields are those of `AnalysisResponse`."""

    game: str
    family: str
    engine: str
    nodes: int
    win_model: str
    plies: list[AnalysedMove]
    blunders: Blunders
    accuracy: Accuracy
    turning_points: int
    blown_win: BlownWin


@dataclass(frozen=True, slots=True)
class AnalysisResponse:
    """The analysis of a game. `state` is its progress; `problem` says why it failed.

    `blunders` counts moves marked `??`, `accuracy` is 0 to 100, `turning_points` counts moves from a winning position
    to one that is even at best. `win_model` names the model that converted scores to winning chances.
    """

    game: str = field(metadata=meaning("id of the game, played here or imported"))
    state: Literal["none", "waiting", "failed", "done"] = field(
        metadata=meaning("`none`: not requested; `waiting`: queued or in progress")
    )
    problem: str = field(default="", metadata=meaning("empty unless `state` is `failed`"))
    family: str | None = field(default=None, metadata=meaning("null until `state` is `done`, like the fields below"))
    engine: str | None = None
    nodes: int | None = field(default=None, metadata=meaning("base number of nodes, as in `AnalysisRequest`"))
    win_model: str | None = field(
        default=None,
        metadata=meaning("version of the model that converted scores into winning chances, such as `shipped 1`"),
    )
    plies: Sequence[AnalysedMove] = field(
        default=(),
        metadata=meaning(
            "the first 1,000 moves in order; while `state` is `waiting`, those evaluated so far, without marks"
        ),
    )
    blunders: Blunders | None = None
    accuracy: Accuracy | None = None
    turning_points: int | None = None
    blown_win: BlownWin | None = None
    ahead: int | None = field(
        default=None, metadata=meaning("the requester's own requests that are served before; null unless `waiting`")
    )
    share: float | None = field(
        default=None, metadata=meaning("estimated part of the work that is done, 0 to 1; null until it begins")
    )
    seconds_left: int | None = field(default=None, metadata=meaning("estimated; null until the work begins"))

    @property
    def by_ply(self) -> dict[int, AnalysedMove]:
        """The analysed moves by ply number."""
        return {ply.number: ply for ply in self.plies}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRequest(Query):
    """The base number of nodes, by default the server's setting. Positions are searched with 8 times this number,
    borderline ones with 100 times.
    """

    nodes: int | None = described("from 100 to the server's maximum; null: the server's default")


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionRequest(Query):
    """A position: `moves` (any spelling, separated by blanks) after `position`, or after the start of the variant."""

    family: str
    variant: str = described("empty: the family's first one", default="")
    options: str = described("rule options that differ from the variant's, such as `swap=true,pie=false`", default="")
    position: str = described("empty: the start of the variant", default="")
    moves: str = described("moves in any notation, separated by blanks", default="")
    nodes: int | None = described("from 100 to the server's maximum; null: 200,000, or that maximum if it is less")


@dataclass(frozen=True, slots=True)
class PositionEvaluation:
    """Evaluation of a position from the view of the side to move. `line` is the principal variation, `best` its first
    move.

    `score` is in centipawns, `winning_chances` from -1 (lost) to 1 (won). `depth` is the last complete depth.
    """

    family: str
    side: Side = field(metadata=meaning("the side to move"))
    engine: str
    nodes: int = field(metadata=meaning("most nodes that the search may visit"))
    win_model: str = field(
        metadata=meaning("version of the model that converts scores into winning chances, such as `shipped 1`")
    )
    score: int | None = field(metadata=meaning("null: the engine reported none"))
    winning_chances: float | None = field(metadata=meaning("null without a score"))
    best: str = field(metadata=meaning("empty: the engine reported none"))
    line: list[str] = field(metadata=meaning("moves from this position"))
    depth: int | None = field(default=None, metadata=meaning("in plies; null: the engine reported none"))


@dataclass(frozen=True, slots=True)
class FurtherLine:
    """A move that is not the engine's choice, with what follows, from the view of the side that makes it."""

    score: int | None
    line: list[str]


@dataclass(frozen=True, slots=True)
class PositionResponse:
    """A requested position with its evaluation so far; `problem` says why it failed."""

    id: int = field(metadata=meaning("number of the request, with which to poll its answer"))
    is_done: bool = field(metadata=meaning("stays false if the analysis fails, so read `problem` too"))
    problem: str = field(metadata=meaning("empty unless the analysis failed"))
    answer: PositionEvaluation | None = field(
        metadata=meaning("null until there is one; until `is_done` of a shorter search, see `nodes`")
    )
    record: str = field(metadata=HIDDEN)
    """The line that leads to the position, as a game record."""
    user_id: int | None = field(metadata=HIDDEN)
    """The user who made the request."""
