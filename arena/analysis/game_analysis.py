"""Analyses whole games: evaluates all positions, marks the moves, and searches borderline moves again.

Search budgets are multiples of the number of nodes that a caller chooses. Their factors come from
`tests/tools/bench/analysis.py`. The first pass searches all positions, the second only borderline ones. So the engine
finds nine in ten of the blunders that a second pass over all positions would find, at lower cost.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.marking import EvaluatedPosition, mark_moves, summarise, swing
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


def analyse(record: GameRecord, evaluate: Evaluate, *, nodes: int, win_model: WinModel) -> GameAnalysis:
    """Analyse a game. `nodes` is the number that the budgets multiply. Raises what `evaluate` raises."""
    moves = record.moves[:MAX_PLIES]
    book = {number for number, ply in enumerate(record.plies, 1) if ply.book}
    evaluations = _GameEvaluations(evaluate, moves, book)
    evaluations.evaluate(first_pass_nodes(nodes))
    if borderline := evaluations.borderline(win_model):
        evaluations.evaluate(second_pass_nodes(nodes), borderline)
    analysed = evaluations.analysed(win_model)
    return GameAnalysis(
        record.id,
        record.family,
        evaluations.engine,
        nodes,
        win_model.version,
        analysed,
        *summarise(analysed, record.winner, book),
    )


class _GameEvaluations:
    """The evaluations made so far: of the game's positions, and of those after the engine's choices."""

    def __init__(self, evaluate: Evaluate, moves: Sequence[str], book: Container[int]) -> None:
        self._evaluate_positions, self._moves, self._book = evaluate, moves, book
        self._scored: dict[int, EvaluatedPosition] = {}
        self._instead: dict[int, EvaluatedPosition] = {}
        self.engine = ""

    def evaluate(self, nodes: int, numbers: Sequence[int] = ()) -> None:
        """Evaluate the positions before and after these plies (by default all) and after the engine's choices."""
        numbers = numbers or range(1, len(self._moves) + 1)
        places = sorted({place for number in numbers for place in (number - 1, number)}) or [0]
        found = self._evaluate_positions([(place, "") for place in places], nodes)
        self.engine = found.engine
        self._scored.update(zip(places, found.scored, strict=True))
        self._compare(numbers, nodes)

    def _compare(self, numbers: Sequence[int], nodes: int) -> None:
        """Evaluate the position after the engine's choice at each of these plies where the choice was not played."""
        for number in numbers:
            self._instead.pop(number, None)
        chosen = [number for number in numbers if self._differs(number)]
        if chosen:
            found = self._evaluate_positions([(number - 1, self._scored[number - 1].best) for number in chosen], nodes)
            self._instead.update(zip(chosen, found.scored, strict=True))

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

    def analysed(self, win_model: WinModel) -> list[AnalysedMove]:
        """Return the moves with losses and marks, from the evaluations made so far."""
        scored = [self._scored[place] for place in range(len(self._moves) + 1)]
        return mark_moves(scored, self._moves, win_model, self._book, self._instead)


def evaluate_position(record: GameRecord, evaluate: Evaluate, *, nodes: int, win_model: WinModel) -> dict[str, Any]:
    """Evaluate the last position of a game, from the view of the side to move. Raises what `evaluate` raises."""
    evaluations = evaluate([(len(record.moves), "")], nodes)
    evaluated = evaluations.scored[0]
    chance = float(evaluated.result) if evaluated.result is not None else None
    if chance is None and evaluated.score is not None:
        chance = round(win_model.winning_chances(evaluated.score), 3)
    return {
        "family": record.family,
        "side": evaluated.side,
        "engine": evaluations.engine,
        "nodes": nodes,
        "win_model": win_model.version,
        "score": evaluated.score,
        "winning_chances": chance,
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
