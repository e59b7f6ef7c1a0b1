"""Evaluations by the sample engine as jobs of other processes, in the background or for a person who waits."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from arena.analysis.engine import (
    MAX_PLIES,
    MAX_WAITING,
    AnalysisEngine,
    CandidateLine,
    Evaluations,
    PositionRef,
    sample_engine,
)
from arena.offload import OffloadProcess, share_with_games, yield_to_games
from referee.errors import ArenaError
from referee.game.record import GameRecord, read_record
from referee.machine.pool import JobError, WorkerLostError
from referee.play import slot


def evaluate_in_background(record: bytes, spots: Sequence[PositionRef], nodes: int, max_plies: int) -> Evaluations:
    """Evaluate positions in the background by the sample engine, as a job of a slot (`referee.play.slot`).

    Raises EngineError, NotAGameError, Stopped.
    """
    yield_to_games()
    return _evaluate(record, spots, nodes, max_plies)


def evaluate_on_request(record: bytes, spots: Sequence[PositionRef], nodes: int, max_plies: int) -> Evaluations:
    """Evaluate positions for a person who waits, like `evaluate_in_background`."""
    share_with_games()
    return _evaluate(record, spots, nodes, max_plies)


def _evaluate(record: bytes, spots: Sequence[PositionRef], nodes: int, max_plies: int) -> Evaluations:
    game = read_record(record)
    with AnalysisEngine(sample_engine(game.family), slot.roster(), game, game.moves[:max_plies]) as engine:
        return engine.evaluate_all(spots, nodes)


def evaluate_lines_on_request(
    record: bytes, nodes: int, count: int, max_plies: int
) -> tuple[Evaluations, list[CandidateLine]]:
    """Evaluate the last position of a game, and the next best moves up to `count` lines, for a person who waits.

    It is a job of a slot. Raises EngineError, NotAGameError, Stopped.
    """
    share_with_games()
    game = read_record(record)
    moves = game.moves[:max_plies]
    with AnalysisEngine(sample_engine(game.family), slot.roster(), game, moves) as engine:
        evaluations = engine.evaluate_all([(len(moves), "")], nodes)
        (at,) = evaluations.scored
        # The search may have ended with another move than that of its last complete depth, whose line is shown.
        shown = engine.canonical(len(moves), next(iter(at.line.split()), "")) or at.best
        lines = engine.candidates((len(moves), ""), shown, nodes, count - 1) if shown else []
        return evaluations, lines


class EngineBusyError(ArenaError):
    """The engine is busy with positions of other visitors, or cannot start."""

    kind = "unavailable"


class BoardEngine:
    """The engine's process, which starts with the first position to evaluate. Thread-safe."""

    def __init__(self) -> None:
        self._process = OffloadProcess()
        self._turn = threading.Lock()
        self._room = threading.BoundedSemaphore(MAX_WAITING)

    def evaluate(self, record: GameRecord, nodes: int, lines: int) -> tuple[Evaluations, list[CandidateLine]]:
        """Evaluate the last position of a game, with the next best moves. Raises EngineBusyError."""
        if not self._room.acquire(blocking=False):
            raise EngineBusyError("the engine of the analysis board is busy", hint="try again in a few seconds")
        try:
            with self._turn:
                text = record.line().encode()
                return self._process.call(evaluate_lines_on_request, text, nodes, lines, MAX_PLIES)
        except (JobError, WorkerLostError) as error:
            raise EngineBusyError(f"the engine did not evaluate the position: {error}") from None
        finally:
            self._room.release()

    def close(self) -> None:
        # First, as a search may take long and has the turn.
        self._process.interrupt()
        with self._turn:
            self._process.close()
