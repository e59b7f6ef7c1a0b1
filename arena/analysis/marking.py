"""Computes losses and marks of moves from evaluated positions. Pure: no engine, no rules, no I/O.

Winning chances range from -1 (lost) over 0 (even) to 1 (won). The loss of a move is the chances after the engine's
choice minus the chances after the move, both for the side that moves. Without a search after the choice, the chances
before the move are used. Losses are marked `?!` (0.1 or more), `?` (0.2) and `??` (0.3, a blunder), with these
exceptions:

- The engine's choice, the only legal move, and opening book moves lose nothing.
- A move gets no mark if the game was lost before it or is won after it (`DECIDED`): neither a slower win nor a faster
  loss counts as a mistake.
- Missing a win in one is `??`, unless the move keeps a forced win, which is only slower. A position that merely looks
  won is not enough.

A position with one legal move has the value of the position after it, so the engine need not search it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from arena.analysis.win_model import WinModel
from arena.documents.analysis import Accuracy, AnalysedMove, BlownWin, Blunders, Mark
from referee.rules.core import SIDES, Side, Winner

MARKS: tuple[tuple[float, Mark], ...] = ((0.3, "??"), (0.2, "?"), (0.1, "?!"))
"""Minimum losses of the marks, the worst first."""
BLUNDER: Mark = "??"
DECIDED = 0.8
"""Winning chances from which a game counts as won."""
WON, EVEN = 0.5, 0.0
"""A turning point takes a side from at least WON to at most EVEN."""
CERTAIN = 1.0


@dataclass(frozen=True, slots=True)
class EvaluatedPosition:
    """An evaluated position, from the view of the side to move.

    `score` is in centipawns (None: not reported), `best` the engine's choice, `line` its principal variation. `choices`
    counts the legal moves; `wins_now` is true if one of them wins at once. `result` is 1, 0 or -1 where the game is
    over by the rules. `depths` are the depths of the search with the score after each, ascending, as far as reported.
    """

    side: Side
    score: int | None = None
    best: str = ""
    line: str = ""
    choices: int = 0
    wins_now: bool = False
    result: int | None = None
    depths: tuple[tuple[int, int], ...] = ()


def mark_moves(
    scored: Sequence[EvaluatedPosition],
    moves: Sequence[str],
    win_model: WinModel,
    book: Container[int] = (),
    instead: Mapping[int, EvaluatedPosition] = MappingProxyType({}),
) -> list[AnalysedMove]:
    """Return the moves of a game with losses and marks.

    `scored` has one position more than there are moves, the start first. `book` contains the numbers of opening book
    plies. `instead` maps plies to the position after the engine's choice. The moves of these plies are compared with
    the choice and not with the position before the move, because a search that starts a ply later looks a ply further
    and scores from the other side. Both positions are compared at a common depth, see `_level`.
    """
    chances = _chances(scored, moves, win_model)
    analysed = []
    for number, move in enumerate(moves, 1):
        at, after = scored[number - 1], scored[number]
        before_chance, after_chance = chances[number - 1], chances[number]
        loss: float | None = None
        mark: Mark = ""
        if before_chance is not None and after_chance is not None:
            best, later = _compare(at, after, (before_chance, after_chance), instead.get(number), win_model)
            has_choice = at.choices > 1 and move != at.best and number not in book
            loss = max(0.0, best - later) if has_choice else 0.0
            mark = _mark(at, best, later, loss) if has_choice else ""
            loss = round(loss, 3)
        chance = None if before_chance is None else round(before_chance, 3) + 0.0
        analysed.append(AnalysedMove(number, at.side, move, at.score, chance, at.best, loss, mark, at.line))
    return analysed


def _compare(
    at: EvaluatedPosition,
    after: EvaluatedPosition,
    chances: tuple[float, float],
    chosen: EvaluatedPosition | None,
    win_model: WinModel,
) -> tuple[float, float]:
    """Return the mover's chances after the best move and after the one played.

    `chances` are those of the positions before and after the move; `chosen` is the position after the engine's choice.
    """
    best, later = chances
    if chosen is not None and (pair := _level(after, later, chosen, win_model)):
        later, other = pair
        other = other if chosen.side == at.side else -other
        if not at.wins_now and other > -CERTAIN:  # a choice that turns out to be lost is not the best move
            best = other
    return best, later if after.side == at.side else -later


def swing(at: EvaluatedPosition, chosen: EvaluatedPosition | None, win_model: WinModel) -> float:
    """Return how much the chances differ between the positions before and after the engine's choice; 0 if unknown."""
    if chosen is None or at.wins_now or _is_ended(chosen) or not (at.depths and chosen.depths):
        return 0.0
    after = _mean(chosen, win_model)
    return abs(_mean(at, win_model) - (after if chosen.side == at.side else -after))


def _level(
    after: EvaluatedPosition, after_chance: float, chosen: EvaluatedPosition, win_model: WinModel
) -> tuple[float, float] | None:
    """Return the chances of two positions at a common depth, each for its side to move; None if one is unknown.

    A search favours the side that moves last in it, and a deeper search sees more. So each position counts with
    the mean of its last two depths up to the one that both searches reached. Chances of ±1 need no such correction.
    """
    chosen_chance = own_chances(chosen, win_model)
    if chosen_chance is None:
        return None
    if after.choices == 1 or _is_ended(after) or _is_ended(chosen) or not (after.depths and chosen.depths):
        return after_chance, chosen_chance
    is_certain = CERTAIN in (abs(after_chance), abs(chosen_chance))  # a deeper search would not change it
    most = None if is_certain else min(after.depths[-1][0], chosen.depths[-1][0])
    return _mean(after, win_model, most), _mean(chosen, win_model, most)


def _mean(at: EvaluatedPosition, win_model: WinModel, most: int | None = None) -> float:
    """Return the mean chances of the last two depths up to `most`; if those of the last depth are ±1, these alone.

    If the search started deeper than `most`, its first depth counts.
    """
    reached = [one for one in at.depths if most is None or one[0] <= most] or at.depths[:1]
    chances = [win_model.winning_chances(score) for _, score in reached[-2:]]
    return chances[-1] if abs(chances[-1]) == CERTAIN else sum(chances) / len(chances)


def _is_ended(at: EvaluatedPosition) -> bool:
    return at.result is not None or at.wins_now


def own_chances(at: EvaluatedPosition, win_model: WinModel) -> float | None:
    """Return the chances of a position from its own result or score; None without a score."""
    if at.result is not None:
        return float(at.result)
    if at.wins_now:
        return CERTAIN
    if at.score is None:
        return None
    # Scores of odd and even depths differ, so those of consecutive plies would alternate.
    return _mean(at, win_model) if at.depths else win_model.winning_chances(at.score)


def _chances(scored: Sequence[EvaluatedPosition], moves: Sequence[str], win_model: WinModel) -> list[float | None]:
    """Return the chances of each position for its side to move, computed from the last to the first."""
    chances: list[float | None] = []
    for place in range(len(moves), -1, -1):
        at = scored[place]
        chance = own_chances(at, win_model)
        if not _is_ended(at) and at.choices == 1 and chances and (then := chances[-1]) is not None:
            chance = then if scored[place + 1].side == at.side else -then
        chances.append(chance)
    return chances[::-1]


def _mark(at: EvaluatedPosition, before: float, later: float, loss: float) -> Mark:
    if at.wins_now:
        return BLUNDER if later < CERTAIN else ""
    if before <= -DECIDED or later >= DECIDED:
        return ""
    return next((mark for least, mark in MARKS if loss >= least), "")


def summarise(
    analysed: Sequence[AnalysedMove], winner: Winner | None, book: Container[int] = ()
) -> tuple[Blunders, Accuracy, int, BlownWin]:
    """Return the blunders, the accuracy, the number of turning points, and the blown wins of a game."""
    blunders, accuracy, blown_win = [], [], []
    for side in SIDES:
        mine = [move for move in analysed if move.side == side and move.number not in book]
        blunders.append(sum(move.mark == BLUNDER for move in mine))
        accuracy.append(_accuracy([move.loss for move in mine if move.loss is not None]))
        stood_won = any(move.winning_chances is not None and move.winning_chances >= DECIDED for move in mine)
        blown_win.append(stood_won and winner is not None and winner != side)
    turning_points = sum(is_turning_point(move) for move in analysed)
    return Blunders(*blunders), Accuracy(*accuracy), turning_points, BlownWin(*blown_win)


def is_turning_point(move: AnalysedMove) -> bool:
    """Return whether a move leads from a winning position to one that is even at best."""
    return (
        bool(move.mark)
        and move.winning_chances is not None
        and move.loss is not None
        and move.winning_chances >= WON
        and move.winning_chances - move.loss <= EVEN
    )


def _accuracy(losses: Sequence[float]) -> float | None:
    """Return the accuracy, 0 to 100: the mean over moves of 100 e^(-2 loss). One blunder of 0.3 per move gives about
    55.
    """
    if not losses:
        return None
    return round(100 * sum(math.exp(-2 * loss) for loss in losses) / len(losses), 1)
