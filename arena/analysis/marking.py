"""What an engine's scores say of the moves of a game: chances, losses, marks. Pure; asks nobody, knows no rules.

Chances run from -1 (lost) over 0 (even) to 1 (won). A move loses the chance after the engine's own choice (that before
the move, where nobody looked) less the chance after the move, both of the side that moves. From losses follow the marks
`?!` (0.1), `?` (0.2) and `??` (0.3, a blunder), by rules of sense:

* The engine's own choice loses nothing; neither does a move without an alternative, nor one of the opening book.
* Where a side is as good as lost before its move, or as good as won after it (`DECIDED`), there is no mark: a longer
  way to win and a shorter way to lose are no blunders. So somebody who is being mated anyway makes none.
* A win on the spot that is not played is `??`, whatever the chance after it, for it gives away certainty; unless the
  move keeps a win that is forced, which is as certain and only longer. A position that merely looks won is not.

A position with one legal move is worth what comes of that move: no engine need think about it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from arena.analysis.win_model import WinModel
from referee.rules.core import SIDES, Side, Winner

Mark = Literal["", "?!", "?", "??"]
MARKS: tuple[tuple[float, Mark], ...] = ((0.3, "??"), (0.2, "?"), (0.1, "?!"))
"""From which loss on a move gets which mark, the worst first."""
BLUNDER: Mark = "??"
DECIDED = 0.8
"""From this chance on a game is as good as won."""
WON, EVEN = 0.5, 0.0
"""A turning point takes somebody from the first or more to the second or less."""
CERTAIN = 1.0


@dataclass(frozen=True, slots=True)
class Scored:
    """A position as an engine found it, from the view of the side to move.

    `score` in hundredths (None: it said nothing), `best` its choice, `line` what it expects. `choices` counts the legal
    moves, `wins_now` says that one of them wins at once. `result` is 1, 0 or -1 where the game is over by the rules.
    `depths` are those of its search with the score after each, ascending, where it said them.
    """

    side: Side
    score: int | None = None
    best: str = ""
    line: str = ""
    choices: int = 0
    wins_now: bool = False
    result: int | None = None
    depths: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class AnalysedMove:
    """A move with what the engine said of the position before it. `score` in hundredths, `winning_chances` from -1 (lost) to 1
    (won) and `loss` are the mover's; `best` is what the engine would have played, `line` how it goes on. Without a score
    chance and loss are None.
    """

    number: int
    side: Side
    move: str
    score: int | None
    winning_chances: float | None
    best: str
    loss: float | None
    mark: Mark
    line: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What is looked for in analysed games, each by side (first, second).

    `blunders` are `??`, `turning_points` moves from a winning position to one that is even at best. `blown_win` says
    of whom the game was as good as won and who did not win it.
    """

    blunders: tuple[int, int]
    accuracy: tuple[float | None, float | None]
    turning_points: int
    blown_win: tuple[bool, bool]


def mark_moves(
    scored: Sequence[Scored],
    moves: Sequence[str],
    win_model: WinModel,
    book: Container[int] = (),
    instead: Mapping[int, Scored] = MappingProxyType({}),
) -> list[AnalysedMove]:
    """The moves of a game, from its positions: one more than moves, the start first. `book` are numbers of plies.

    `instead` has, by ply, the position after the engine's own choice there. With it a move is compared with that choice
    and not with the position before: a search from one ply later looks one ply further and from the other side, which
    shifts its scores, but those of both alike. Both are taken as far as both were searched, see `_level`.
    """
    chances = _chances(scored, moves, win_model)
    found = []
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
        found.append(AnalysedMove(number, at.side, move, at.score, chance, at.best, loss, mark, at.line))
    return found


def _compare(
    at: Scored, after: Scored, chances: tuple[float, float], chosen: Scored | None, win_model: WinModel
) -> tuple[float, float]:
    """What the best move and the one played were worth to whoever moved.

    `chances` are those of the position before and after the move, by themselves; `chosen` is behind the engine's choice.
    """
    best, later = chances
    if at.depths and not at.wins_now:
        best = _mean(at, win_model)
    if chosen is not None and (pair := _level(after, later, chosen, win_model)):
        later, other = pair
        other = other if chosen.side == at.side else -other
        if not at.wins_now and other > -CERTAIN:  # a choice that turns out lost is not what is best
            best = other
    return best, later if after.side == at.side else -later


def swing(at: Scored, chosen: Scored | None, win_model: WinModel) -> float:
    """By how much the position after the engine's choice, `chosen`, looks better or worse than that before it; 0 where
    that is not known.
    """
    if chosen is None or at.wins_now or _is_ended(chosen) or not (at.depths and chosen.depths):
        return 0.0
    after = _mean(chosen, win_model)
    return abs(_mean(at, win_model) - (after if chosen.side == at.side else -after))


def _level(after: Scored, after_chance: float, chosen: Scored, win_model: WinModel) -> tuple[float, float] | None:
    """The chances of two positions that are compared, each for its side to move; None where one is not known.

    A search favours whoever moves last in it, and a deeper one sees more: so both count to the depth that both were
    searched to, as the mean of that depth and the one before. What is certain of either needs no such care.
    """
    chosen_chance = _own(chosen, win_model)
    if chosen_chance is None:
        return None
    if after.choices == 1 or _is_ended(after) or _is_ended(chosen) or not (after.depths and chosen.depths):
        return after_chance, chosen_chance
    is_certain = CERTAIN in (abs(after_chance), abs(chosen_chance))  # no deeper look would change it
    most = None if is_certain else min(after.depths[-1][0], chosen.depths[-1][0])
    return _mean(after, win_model, most), _mean(chosen, win_model, most)


def _mean(at: Scored, win_model: WinModel, most: int | None = None) -> float:
    """The chance by the last two depths of a search, up to `most`; by the last where that is certain.

    A search that began deeper counts by its first depth.
    """
    reached = [one for one in at.depths if most is None or one[0] <= most] or at.depths[:1]
    chances = [win_model.winning_chances(score) for _, score in reached[-2:]]
    return chances[-1] if abs(chances[-1]) == CERTAIN else sum(chances) / len(chances)


def _is_ended(at: Scored) -> bool:
    return at.result is not None or at.wins_now


def _own(at: Scored, win_model: WinModel) -> float | None:
    """The chance of a position by itself."""
    if at.result is not None:
        return float(at.result)
    if at.wins_now:
        return CERTAIN
    return None if at.score is None else win_model.winning_chances(at.score)


def _chances(scored: Sequence[Scored], moves: Sequence[str], win_model: WinModel) -> list[float | None]:
    """What each position is worth to its side to move, from the last to the first."""
    found: list[float | None] = []
    for place in range(len(moves), -1, -1):
        at = scored[place]
        chance = _own(at, win_model)
        if not _is_ended(at) and at.choices == 1 and found and (then := found[-1]) is not None:
            chance = then if scored[place + 1].side == at.side else -then
        found.append(chance)
    return found[::-1]


def _mark(at: Scored, before: float, later: float, loss: float) -> Mark:
    if at.wins_now:
        return BLUNDER if later < CERTAIN else ""
    if before <= -DECIDED or later >= DECIDED:
        return ""
    return next((mark for least, mark in MARKS if loss >= least), "")


def summarise(analysed: Sequence[AnalysedMove], winner: Winner | None, book: Container[int] = ()) -> Summary:
    """The figures of a game that ended so."""
    blunders, accuracy, blown_win = [], [], []
    for side in SIDES:
        mine = [one for one in analysed if one.side == side and one.number not in book]
        blunders.append(sum(one.mark == BLUNDER for one in mine))
        accuracy.append(_accuracy([one.loss for one in mine if one.loss is not None]))
        stood_won = any(one.winning_chances is not None and one.winning_chances >= DECIDED for one in mine)
        blown_win.append(stood_won and winner is not None and winner != side)
    turning_points = sum(_is_turning_point(one) for one in analysed)
    return Summary((blunders[0], blunders[1]), (accuracy[0], accuracy[1]), turning_points, (blown_win[0], blown_win[1]))


def _is_turning_point(one: AnalysedMove) -> bool:
    return (
        bool(one.mark)
        and one.winning_chances is not None
        and one.loss is not None
        and one.winning_chances >= WON
        and one.winning_chances - one.loss <= EVEN
    )


def _accuracy(losses: Sequence[float]) -> float | None:
    """0 to 100, the mean over moves of 100 e^(-2 loss): 100 without losses, about 55 for one blunder of 0.3 a move."""
    if not losses:
        return None
    return round(100 * sum(math.exp(-2 * loss) for loss in losses) / len(losses), 1)
