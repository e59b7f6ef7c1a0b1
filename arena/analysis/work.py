"""The analysis of a whole game: every position asked about, moves marked, doubtful ones asked about again.

Refuses to know where games come from and where analyses go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.analysis.budget import AGAIN, DOUBT, MOST_PLIES
from arena.analysis.curve import Curve
from arena.analysis.judge import Answers
from arena.analysis.marking import Judged, Summary, mark_moves, summarise
from referee.record import GameRecord
from referee.rules.core import SIDES

Ask = Callable[[Sequence[int], int], Answers]
"""Asks a judge about the positions after so many plies each, with a budget of nodes."""


@dataclass(frozen=True, slots=True)
class GameAnalysis:
    """A game as a judge saw it; `fit` names the curve that turned scores into chances."""

    game: str
    family: str
    judge: str
    nodes: int
    fit: str
    plies: list[Judged]
    summary: Summary

    def as_json(self) -> dict[str, Any]:
        """Plain data, chances and losses from the mover's view."""
        summary = self.summary
        return {
            "game": self.game,
            "family": self.family,
            "judge": self.judge,
            "nodes": self.nodes,
            "fit": self.fit,
            "plies": [asdict(one) for one in self.plies],
            "gaffes": dict(zip(SIDES, summary.gaffes, strict=True)),
            "accuracy": dict(zip(SIDES, summary.accuracy, strict=True)),
            "turning_points": summary.turns,
            "thrown_away": dict(zip(SIDES, summary.thrown, strict=True)),
        }


def analyse(record: GameRecord, ask: Ask, *, nodes: int, curve: Curve) -> GameAnalysis:
    """Ask a judge about a game. Raises what `ask` raises."""
    moves = record.moves[:MOST_PLIES]
    book = {number for number, ply in enumerate(record.plies, 1) if ply.book}
    answers = ask(range(len(moves) + 1), nodes)
    scored = answers.scored
    doubtful = _in_doubt(mark_moves(scored, moves, curve, book))
    for place, better in zip(doubtful, ask(doubtful, AGAIN * nodes).scored if doubtful else (), strict=True):
        scored[place] = better
    judged = mark_moves(scored, moves, curve, book)
    return GameAnalysis(
        record.id, record.family, answers.judge, nodes, curve.version, judged, summarise(judged, record.winner, book)
    )


def _in_doubt(judged: list[Judged]) -> list[int]:
    """The places of the positions before and after moves that seem to lose."""
    doubtful = [one.number for one in judged if one.loss is not None and one.loss >= DOUBT]
    return sorted({place for number in doubtful for place in (number - 1, number)})


def ask_position(record: GameRecord, ask: Ask, *, nodes: int, curve: Curve) -> dict[str, Any]:
    """What a judge thinks of the last position of a game, from the view of the side to move. Raises what `ask` does."""
    answers = ask([len(record.moves)], nodes)
    found = answers.scored[0]
    chance = float(found.result) if found.result is not None else None
    if chance is None and found.score is not None:
        chance = round(curve.chance(found.score), 3)
    return {
        "family": record.family,
        "side": found.side,
        "judge": answers.judge,
        "nodes": nodes,
        "fit": curve.version,
        "score": found.score,
        "chance": chance,
        "best": found.best,
        "line": found.line.split(),
    }


def marks_of(data: Mapping[str, Any]) -> dict[int, str]:
    """The marks of an analysis (see `GameAnalysis.as_json`) by ply, as notations keep them."""
    return {ply["number"]: ply["mark"] for ply in data["plies"] if ply["mark"]}
