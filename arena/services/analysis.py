"""Analyses of games and positions: request and read them, and add their marks to game records."""

from __future__ import annotations

from collections.abc import Sequence

from arena.analysis import game_analysis
from arena.analysis.storage import win_model_of
from arena.documents.account import Identity
from arena.documents.analysis import (
    AnalysisFigures,
    AnalysisResponse,
    FurtherLine,
    PositionEvaluation,
    PositionRequest,
    PositionResponse,
)
from arena.errors import BadValueError, ConflictError, NotFoundError
from arena.services import study
from arena.services.arena import Arena
from referee.game.record import GameRecord, Ply, now
from referee.rules.core import Kind, Termination
from referee.validation import adapter_of

POSITION_NODES = 200_000
"""Default number of nodes for a requested position."""


def read(arena: Arena, game_id: str) -> AnalysisResponse:
    """Return the analysis of a game played here or imported, or the state of its request. Raises NotFoundError."""
    if arena.store.archive.serial_of(game_id) is None:
        arena.store.games.get(game_id)
    return _read(arena, game_id)


def _read(arena: Arena, game_id: str) -> AnalysisResponse:
    data = arena.store.analyses.get(game_id)
    if data is not None:
        analysis: AnalysisResponse = adapter_of(AnalysisResponse).validate_python({"state": "done", **data})
        return analysis
    request = arena.store.analyses.request_of(game_id)
    if request is None:
        return AnalysisResponse(game_id, "none")
    if request.problem:
        return AnalysisResponse(game_id, "failed", request.problem)
    waiting: AnalysisResponse = adapter_of(AnalysisResponse).validate_python(
        {"game": game_id, "state": "waiting", "ahead": arena.store.analyses.ahead(request), **request.answer}
    )
    return waiting


def figures(arena: Arena, game_ids: Sequence[str]) -> dict[str, AnalysisFigures]:
    """Return the figures of each game's analysis, such as blunders, by game id; games without one are left out."""
    return arena.store.analyses.figures(game_ids)


def ask(arena: Arena, game_id: str, by: Identity, nodes: int | None = None) -> AnalysisResponse:
    """Request the analysis of a game, which begins within seconds. It replaces an analysis with other `nodes`.

    Raises NotFoundError, BadValueError, QuotaError, and ConflictError if the game is not over.
    """
    nodes = _bounded(arena, nodes or arena.settings.analysis_nodes_per_position)
    if arena.store.archive.serial_of(game_id) is None:
        line = arena.store.games.get(game_id)
        if line.state != "finished":
            raise ConflictError(f"game {game_id} is {line.state}; request its analysis when it is over", line.state)
    analysis = _read(arena, game_id)
    if analysis.state == "done" and analysis.nodes == nodes:
        return analysis
    arena.store.analyses.ask(by.user_id, nodes, game_id=game_id)
    arena.wake()
    return _read(arena, game_id) if analysis.state != "done" else analysis


def _bounded(arena: Arena, nodes: int) -> int:
    most = arena.settings.analysis_max_nodes
    if not 100 <= nodes <= most:
        raise BadValueError(f"invalid nodes {nodes}: expected 100 to {most}", field="nodes")
    return nodes


def read_question(question: PositionRequest) -> study.Study:
    """Parse the line to analyse. Raises BadValueError."""
    ruleset = study.settle(question.family, question.variant, question.options)
    return study.read(ruleset, question.position, question.moves.split())


def ask_position(arena: Arena, line: study.Study, by: Identity, nodes: int | None = None) -> PositionResponse:
    """Request the analysis of the last position of a line, which begins within seconds.

    Raises QuotaError, and BadValueError for bad `nodes` or if the game is over in that position.
    """
    nodes = _bounded(arena, nodes or min(POSITION_NODES, arena.settings.analysis_max_nodes))
    number = arena.store.analyses.ask(by.user_id, nodes, question={"record": _record_of(line).line()})
    arena.wake()
    return arena.store.analyses.request(number)


def evaluate_now(
    arena: Arena, line: study.Study, nodes: int, lines: int = 1
) -> tuple[PositionEvaluation, list[FurtherLine]]:
    """Evaluate the last position of a line with a small number of nodes, at once, with the next best moves.

    Raises EngineBusyError, and BadValueError if the game is over in that position or if `nodes` is not between 100 and
    `analysis_board_nodes` (0 allows no evaluation).
    """
    most = arena.settings.analysis_board_nodes
    if not 100 <= nodes <= most:
        raise BadValueError(f"invalid nodes {nodes}: expected 100 to {most}", field="nodes")
    record = _record_of(line)
    win_model = win_model_of(arena.store, record.family)
    evaluations, others = arena.board_engine.evaluate(record, nodes, lines)
    evaluated = game_analysis.evaluate_position(record, lambda *_: evaluations, nodes=nodes, win_model=win_model)
    evaluation: PositionEvaluation = adapter_of(PositionEvaluation).validate_python(evaluated)
    further = [FurtherLine(other.score, [other.move, *other.after.line.split()]) for other in others]
    return evaluation, further


def _record_of(line: study.Study) -> GameRecord:
    """Return a line as the record of an unfinished game. Raises BadValueError if the game is over."""
    ruleset = line.ruleset
    if line.end.outcome is not None:
        raise BadValueError("the game is over in this position", field="moves", hint="choose an earlier position")
    return GameRecord(
        id="",
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        options=ruleset.overrides,
        position=line.start,
        first="",
        second="",
        winner=None,
        termination=Termination.STOPPED,
        kind=Kind.VOID,
        moves=line.moves,
        plies=[Ply()] * len(line.moves),
        started=now(),
        finished=now(),
    )


def read_answer(arena: Arena, number: int, by: Identity) -> PositionResponse:
    """Return the caller's own request to analyse a position, with its state and answer. Raises NotFoundError."""
    found = arena.store.analyses.request(number)
    if found.user_id != by.user_id:
        raise NotFoundError("question", number)
    return found


def annotated(arena: Arena, record: GameRecord) -> GameRecord:
    """Return the game with the marks of its analysis and the engine's lines, unless people have annotated it."""
    if record.marks:
        return record
    data = arena.store.analyses.get(record.id)
    return game_analysis.annotated(record, data) if data else record
