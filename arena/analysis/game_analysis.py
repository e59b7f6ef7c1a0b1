"""Analyses whole games: evaluates all positions, marks the moves, and searches borderline moves again.

An analysis is a series of steps, so that a reader sees it grow, and several share one engine. Search budgets are
multiples of the number of nodes that a caller chooses. Their factors come from `tests/tools/bench/analysis.py`. The
first pass searches all positions, the second only borderline ones. So the engine finds nine in ten of the blunders that
a second pass over all positions would find, at lower cost.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.marking import EvaluatedPosition, mark_moves, own_chances, summarise, swing
from arena.analysis.win_model import WinModel
from arena.documents.analysis import AnalysedMove, GameAnalysis
from referee.game.record import GameRecord, ruleset_of
from referee.rules.position import Position
from referee.rules.rules import Variation

DEFAULT_NODES = 10_000
"""Nodes that the factors multiply, unless the caller sets another number."""
FIRST_PASS_FACTOR, SECOND_PASS_FACTOR, MAX_NODES = 8, 100, 8_000_000
"""Factors of the first pass (all positions) and the second (borderline ones). No search exceeds MAX_NODES."""
BORDERLINE_LOSS = (0.15, 0.5)
"""Losses in this range are borderline and searched again in the second pass."""
MAX_SWING = 0.1
"""A move is also borderline if the engine's choice changes the evaluation by this much."""
MAX_PLIES = 1_000
"""Longer games are analysed up to this ply."""
PREVIEW_SHARE = 10
"""A preview searches this fraction of the nodes for each position: a curve after a second, without marks."""
BATCH_NODES = 400_000
"""Nodes that one step may search, unless a single position takes more: a second or two of processor time."""
BORDERLINE_SHARE = 0.15
"""Share of moves that is expected to be borderline, to estimate the work that is left."""


def first_pass_nodes(nodes: int) -> int:
    """Return how many nodes the first pass searches for each position."""
    return max(nodes, min(FIRST_PASS_FACTOR * nodes, MAX_NODES))


def second_pass_nodes(nodes: int) -> int:
    """Return how many nodes the second pass searches for each position."""
    return max(nodes, min(SECOND_PASS_FACTOR * nodes, MAX_NODES))


MAX_LINE = 8
"""The longest variation that is made of an engine's line, in moves."""
BLUNDER = "??"

Evaluate = Callable[[Sequence[PositionRef], int], Evaluations]
"""A function that evaluates positions of a game with a number of nodes for each."""


@dataclass(frozen=True, slots=True)
class AnalysisStep:
    """An analysis so far. `share` is the estimated part of the work that is done; that of the last step is 1."""

    share: float
    plies: list[AnalysedMove]
    analysis: GameAnalysis | None = None
    """The whole analysis, in the last step only."""


def analyse(record: GameRecord, evaluate: Evaluate, *, nodes: int, win_model: WinModel) -> GameAnalysis:
    """Analyse a game. `nodes` is the number that the budgets multiply. Raises what `evaluate` raises."""
    *_, last = analysis_steps(record, evaluate, nodes=nodes, win_model=win_model)
    assert last.analysis is not None
    return last.analysis


def analysis_steps(
    record: GameRecord, evaluate: Evaluate, *, nodes: int, win_model: WinModel, has_preview: bool = False
) -> Iterator[AnalysisStep]:
    """Yield the analysis of a game after each batch of positions. Marks are in the last step only: more nodes change
    them. A preview evaluates all positions with few nodes first. Raises what `evaluate` raises.
    """
    moves = record.moves[:MAX_PLIES]
    book = {number for number, ply in enumerate(record.plies, 1) if ply.book}
    evaluations = _GameEvaluations(evaluate, moves, book)
    preview, first, second = max(1, nodes // PREVIEW_SHARE), first_pass_nodes(nodes), second_pass_nodes(nodes)
    # Each move needs the position before it, often the one after the engine's choice, and a borderline one all three.
    expected = len(moves) * (preview * has_preview + 1.5 * first + 3 * BORDERLINE_SHARE * second)
    passes = chain(evaluations.look(preview) if has_preview else (), evaluations.evaluate(first))
    for _ in passes:
        yield AnalysisStep(min(0.99, evaluations.searched / (expected or 1)), evaluations.preview(win_model))
    if borderline := evaluations.borderline(win_model):
        # From here on the work is known; the share continues from the estimate.
        before, done = min(0.99, evaluations.searched / expected), evaluations.searched
        left = 3 * second * len(borderline)
        for _ in evaluations.evaluate(second, borderline):
            share = before + (1 - before) * (evaluations.searched - done) / left
            yield AnalysisStep(min(0.99, share), evaluations.preview(win_model))
    analysed = evaluations.analysed(win_model)
    analysis = GameAnalysis(
        record.id,
        record.family,
        evaluations.engine,
        nodes,
        win_model.version,
        analysed,
        *summarise(analysed, record.winner, book),
    )
    yield AnalysisStep(1.0, analysed, analysis)


class _GameEvaluations:
    """The evaluations made so far: of the game's positions, and of those after the engine's choices."""

    def __init__(self, evaluate: Evaluate, moves: Sequence[str], book: Container[int]) -> None:
        self._evaluate_positions, self._moves, self._book = evaluate, moves, book
        self._scored: dict[int, EvaluatedPosition] = {}
        self._instead: dict[int, EvaluatedPosition] = {}
        self.engine = ""
        self.searched = 0
        """Nodes of all searches so far."""

    def look(self, nodes: int) -> Iterator[None]:
        """Evaluate all positions, but not those after the engine's choices; yield after each batch."""
        yield from self._search(range(len(self._moves) + 1), nodes)

    def evaluate(self, nodes: int, numbers: Sequence[int] = ()) -> Iterator[None]:
        """Evaluate the positions before and after these plies (by default all) and after the engine's choices.

        Yield after each batch of positions.
        """
        numbers = numbers or range(1, len(self._moves) + 1)
        yield from self._search(sorted({place for number in numbers for place in (number - 1, number)}) or [0], nodes)
        yield from self._compare(numbers, nodes)

    def _search(self, places: Sequence[int], nodes: int) -> Iterator[None]:
        for batch in _batches(places, nodes):
            found = self._evaluate_positions([(place, "") for place in batch], nodes)
            self.engine = found.engine
            self._scored.update(zip(batch, found.scored, strict=True))
            self.searched += nodes * len(batch)
            yield

    def _compare(self, numbers: Sequence[int], nodes: int) -> Iterator[None]:
        """Evaluate the position after the engine's choice at each of these plies where the choice was not played."""
        for number in numbers:
            self._instead.pop(number, None)
        for batch in _batches([number for number in numbers if self._differs(number)], nodes):
            spots = [(number - 1, self._scored[number - 1].best) for number in batch]
            evaluations = self._evaluate_positions(spots, nodes)
            self._instead.update(zip(batch, evaluations.scored, strict=True))
            self.searched += nodes * len(batch)
            yield

    def _differs(self, number: int) -> bool:
        at = self._scored[number - 1]
        return at.score is not None and at.best not in ("", self._moves[number - 1]) and number not in self._book

    def borderline(self, win_model: WinModel) -> list[int]:
        """Return the plies that a longer search may mark differently.

        Either their loss is close to that of a blunder, or the evaluation differs before and after the engine's choice.
        """
        least, most = BORDERLINE_LOSS
        return [
            move.number
            for move in self.analysed(win_model)
            if move.loss is not None
            and (least <= move.loss <= most or self._swing(move.number, win_model) >= MAX_SWING)
        ]

    def _swing(self, number: int, win_model: WinModel) -> float:
        at, played = self._scored[number - 1], self._scored[number]
        chosen = played if at.best == self._moves[number - 1] else self._instead.get(number)
        return 0.0 if number in self._book else swing(at, chosen, win_model)

    def preview(self, win_model: WinModel) -> list[AnalysedMove]:
        """Return the moves up to the first position without an evaluation, without losses and marks."""
        known = next((place for place in range(len(self._moves) + 1) if place not in self._scored), None)
        moves = self._moves if known is None else self._moves[: max(0, known - 1)]
        scored = [self._scored[place] for place in range(len(moves) + 1)] if moves else []
        analysed = mark_moves(scored, moves, win_model, self._book) if moves else []
        return [replace(move, loss=None, mark="") for move in analysed]

    def analysed(self, win_model: WinModel) -> list[AnalysedMove]:
        """Return the moves with losses and marks, from the evaluations made so far."""
        scored = [self._scored[place] for place in range(len(self._moves) + 1)]
        return mark_moves(scored, self._moves, win_model, self._book, self._instead)


def _batches(places: Sequence[int], nodes: int) -> Iterator[Sequence[int]]:
    """Yield the places in portions that one step may search."""
    size = max(1, BATCH_NODES // nodes)
    for start in range(0, len(places), size):
        yield places[start : start + size]


def evaluate_position(record: GameRecord, evaluate: Evaluate, *, nodes: int, win_model: WinModel) -> dict[str, Any]:
    """Evaluate the last position of a game, from the view of the side to move. Raises what `evaluate` raises."""
    evaluations = evaluate([(len(record.moves), "")], nodes)
    evaluated = evaluations.scored[0]
    chance = own_chances(evaluated, win_model)
    return {
        "family": record.family,
        "side": evaluated.side,
        "engine": evaluations.engine,
        "nodes": nodes,
        "win_model": win_model.version,
        "score": evaluated.score,
        "winning_chances": None if chance is None else round(chance, 3),
        "best": evaluated.best,
        "line": evaluated.line.split(),
        "depth": evaluated.depths[-1][0] if evaluated.depths else None,
    }


def annotated(record: GameRecord, data: Mapping[str, Any]) -> GameRecord:
    """Return a game with the marks of its analysis (a `GameAnalysis` as plain data), and the engine's line as a
    variation at each blunder.

    A record that people have annotated is returned unchanged.
    """
    if record.marks or record.variations:
        return record
    marks = {ply["number"]: ply["mark"] for ply in data["plies"] if ply["mark"]}
    lines = {ply["number"]: ply["line"].split() or [ply["best"]] for ply in data["plies"] if ply["mark"] == BLUNDER}
    return replace(record, marks=marks, variations=tuple(_variations(record, lines)))


def _variations(record: GameRecord, lines: Mapping[int, Sequence[str]]) -> Iterator[Variation]:
    """Yield the legal beginning of each line as a variation of its ply; `lines` has the engine's lines by ply.

    Stop at an illegal move of the record.
    """
    before = Position.start(ruleset_of(record), record.position or None)
    write = before.ruleset.rules.notation.write_move
    for ply, move in enumerate(record.moves[: max(lines, default=0)], 1):
        at, continuation = before, list[str]()
        with suppress(ValueError):
            for word in lines.get(ply, ())[:MAX_LINE]:
                at = at.play(word)
                assert at.move is not None
                continuation.append(write(at.move))
        if continuation and continuation[0] != move:
            yield Variation(ply, tuple(continuation))
        try:
            before = before.play(move)
        except ValueError:
            return
