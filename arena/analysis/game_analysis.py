"""The analysis of a whole game: every position asked about, moves marked, doubtful ones asked about again.

Refuses to know where games come from and where analyses go.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.analysis.budget import DOUBT, MOST_PLIES, ODDS, at_first, in_doubt
from arena.analysis.engine import Answers, Spot
from arena.analysis.marking import AnalysedMove, Scored, Summary, mark_moves, summarise, swing
from arena.analysis.win_model import WinModel
from referee.record import GameRecord
from referee.rules.core import SIDES

Ask = Callable[[Sequence[Spot], int], Answers]
"""Asks an engine about positions of a game, with a budget of nodes for each."""


@dataclass(frozen=True, slots=True)
class AnalysedGame:
    """A game as an engine saw it; `win_model` names the curve that turned scores into chances."""

    game: str
    family: str
    engine: str
    nodes: int
    win_model: str
    plies: list[AnalysedMove]
    summary: Summary

    def as_json(self) -> dict[str, Any]:
        """Plain data, chances and losses from the mover's view."""
        summary = self.summary
        return {
            "game": self.game,
            "family": self.family,
            "engine": self.engine,
            "nodes": self.nodes,
            "win_model": self.win_model,
            "plies": [asdict(one) for one in self.plies],
            "blunders": dict(zip(SIDES, summary.blunders, strict=True)),
            "accuracy": dict(zip(SIDES, summary.accuracy, strict=True)),
            "turning_points": summary.turning_points,
            "blown_win": dict(zip(SIDES, summary.blown_win, strict=True)),
        }


def analyse(record: GameRecord, ask: Ask, *, nodes: int, win_model: WinModel) -> AnalysedGame:
    """Ask an engine about a game; `nodes` is the unit, see `arena.analysis.budget`. Raises what `ask` raises."""
    moves = record.moves[:MOST_PLIES]
    book = {number for number, ply in enumerate(record.plies, 1) if ply.book}
    sight = _Sight(ask, moves, book)
    sight.study(at_first(nodes))
    if doubtful := sight.doubtful(win_model):
        sight.study(in_doubt(nodes), doubtful)
    analysed = sight.analysed(win_model)
    return AnalysedGame(
        record.id,
        record.family,
        sight.engine,
        nodes,
        win_model.version,
        analysed,
        summarise(analysed, record.winner, book),
    )


class _Sight:
    """What is known of a game so far: its positions, and those after what the engine would have played."""

    def __init__(self, ask: Ask, moves: Sequence[str], book: Container[int]) -> None:
        self._ask, self._moves, self._book = ask, moves, book
        self._scored: dict[int, Scored] = {}
        self._instead: dict[int, Scored] = {}
        self.engine = ""

    def study(self, nodes: int, numbers: Sequence[int] = ()) -> None:
        """Ask about the positions before and after these plies (all without any), and what would have been better."""
        numbers = numbers or range(1, len(self._moves) + 1)
        places = sorted({place for number in numbers for place in (number - 1, number)}) or [0]
        answers = self._ask([(place, "") for place in places], nodes)
        self.engine = answers.engine
        self._scored.update(zip(places, answers.scored, strict=True))
        self._compare(numbers, nodes)

    def _compare(self, numbers: Sequence[int], nodes: int) -> None:
        """Ask about what the engine would have played in place of these plies, where that is something else."""
        for number in numbers:
            self._instead.pop(number, None)
        chosen = [number for number in numbers if self._differs(number)]
        if chosen:
            answers = self._ask([(number - 1, self._scored[number - 1].best) for number in chosen], nodes)
            self._instead.update(zip(chosen, answers.scored, strict=True))

    def _differs(self, number: int) -> bool:
        at = self._scored[number - 1]
        return at.score is not None and at.best not in ("", self._moves[number - 1]) and number not in self._book

    def doubtful(self, win_model: WinModel) -> list[int]:
        """The plies of which a longer search may say something else: they seem to lose about as much as a blunder, or the
        engine's own choice looks other than the position before it did.
        """
        least, most = DOUBT
        return [
            one.number
            for one in self.analysed(win_model)
            if one.loss is not None and (least <= one.loss <= most or self._swing(one.number, win_model) >= ODDS)
        ]

    def _swing(self, number: int, win_model: WinModel) -> float:
        at, played = self._scored[number - 1], self._scored[number]
        chosen = played if at.best == self._moves[number - 1] else self._instead.get(number)
        return 0.0 if number in self._book else swing(at, chosen, win_model)

    def analysed(self, win_model: WinModel) -> list[AnalysedMove]:
        """The moves by what is known now."""
        scored = [self._scored[place] for place in range(len(self._moves) + 1)]
        return mark_moves(scored, self._moves, win_model, self._book, self._instead)


def analyse_last_move(
    record: GameRecord, ask: Ask, *, nodes: int, win_model: WinModel, is_plain: bool = False
) -> AnalysedMove:
    """The last move of a game alone; `is_plain`: by one search of so many nodes. Raises what `ask` raises."""
    before = len(record.moves) - 1

    def ask_there(spots: Sequence[Spot], nodes: int) -> Answers:
        return ask([(before + place, move) for place, move in spots], nodes)

    sight = _Sight(ask_there, record.moves[-1:], ())
    sight.study(nodes if is_plain else at_first(nodes))
    if not is_plain and sight.doubtful(win_model):
        sight.study(in_doubt(nodes))
    return sight.analysed(win_model)[0]


def ask_position(record: GameRecord, ask: Ask, *, nodes: int, win_model: WinModel) -> dict[str, Any]:
    """What an engine thinks of the last position of a game, from the view of the side to move. Raises what `ask` does."""
    answers = ask([(len(record.moves), "")], nodes)
    found = answers.scored[0]
    chance = float(found.result) if found.result is not None else None
    if chance is None and found.score is not None:
        chance = round(win_model.winning_chances(found.score), 3)
    return {
        "family": record.family,
        "side": found.side,
        "engine": answers.engine,
        "nodes": nodes,
        "win_model": win_model.version,
        "score": found.score,
        "winning_chances": chance,
        "best": found.best,
        "line": found.line.split(),
    }


def marks_of(data: Mapping[str, Any]) -> dict[int, str]:
    """The marks of an analysis (see `AnalysedGame.as_json`) by ply, as notations keep them."""
    return {ply["number"]: ply["mark"] for ply in data["plies"] if ply["mark"]}
