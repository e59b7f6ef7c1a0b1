"""What a judge's scores say of the moves of a game: chances, losses, marks. Pure; asks nobody, knows no rules.

Chances run from -1 (lost) over 0 (even) to 1 (won). A move loses the chance after the judge's own choice (that before
the move, where nobody looked) less the chance after the move, both of the side that moves. From losses follow the marks
`?!` (0.1), `?` (0.2) and `??` (0.3, a gaffe), by rules of sense:

* The judge's own choice loses nothing; neither does a move without an alternative, nor one of the opening book.
* Where a side is as good as lost before its move, or as good as won after it (`DECIDED`), there is no mark: a longer
  way to win and a shorter way to lose are no gaffes. So somebody who is being mated anyway makes none.
* A win on the spot that is not played is `??`, whatever the chance after it, for it gives away certainty; unless the
  move keeps a win that is forced, which is as certain and only longer. A position that merely looks won is not.

A position with one legal move is worth what comes of that move: no judge need think about it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from arena.analysis.curve import Curve
from referee.rules.core import SIDES, Side, Winner

Mark = Literal["", "?!", "?", "??"]
MARKS: tuple[tuple[float, Mark], ...] = ((0.3, "??"), (0.2, "?"), (0.1, "?!"))
"""From which loss on a move gets which mark, the worst first."""
GAFFE: Mark = "??"
DECIDED = 0.8
"""From this chance on a game is as good as won."""
WON, EVEN = 0.5, 0.0
"""A turning point takes somebody from the first or more to the second or less."""
CERTAIN = 1.0


@dataclass(frozen=True, slots=True)
class Scored:
    """A position as a judge found it, from the view of the side to move.

    `score` in hundredths (None: it said nothing), `best` its choice, `line` what it expects. `choices` counts the legal
    moves, `wins_now` says that one of them wins at once. `result` is 1, 0 or -1 where the game is over by the rules.
    """

    side: Side
    score: int | None = None
    best: str = ""
    line: str = ""
    choices: int = 0
    wins_now: bool = False
    result: int | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A move with what the judge said of the position before it. `score` in hundredths, `chance` from -1 (lost) to 1
    (won) and `loss` are the mover's; `best` is what the judge would have played, `line` how it goes on. Without a score
    chance and loss are None.
    """

    number: int
    side: Side
    move: str
    score: int | None
    chance: float | None
    best: str
    loss: float | None
    mark: Mark
    line: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What is looked for in analysed games, each by side (first, second).

    `gaffes` are `??`, `turns` turning points: moves from a winning position to one that is even at best. `thrown` says
    of whom the game was as good as won and who did not win it.
    """

    gaffes: tuple[int, int]
    accuracy: tuple[float | None, float | None]
    turns: int
    thrown: tuple[bool, bool]


def mark_moves(
    scored: Sequence[Scored],
    moves: Sequence[str],
    curve: Curve,
    book: Container[int] = (),
    instead: Mapping[int, Scored] = MappingProxyType({}),
) -> list[Judged]:
    """The moves of a game, from its positions: one more than moves, the start first. `book` are numbers of plies.

    `instead` has, by ply, the position after the judge's own choice there. With it a move is compared with that choice
    and not with the position before: a search from one ply later looks one ply further and from the other side, which
    shifts its scores, but those of both alike.
    """
    chances = _chances(scored, moves, curve)
    found = []
    for number, move in enumerate(moves, 1):
        at, after = scored[number - 1], scored[number]
        before_chance, after_chance = chances[number - 1], chances[number]
        loss: float | None = None
        mark: Mark = ""
        if before_chance is not None and after_chance is not None:
            later = after_chance if after.side == at.side else -after_chance
            chosen = _chance_after(instead.get(number), at, curve)
            best = before_chance if chosen is None or at.wins_now else chosen
            has_choice = at.choices > 1 and move != at.best and number not in book
            loss = max(0.0, best - later) if has_choice else 0.0
            mark = _mark(at, best, later, loss) if has_choice else ""
            loss = round(loss, 3)
        chance = None if before_chance is None else round(before_chance, 3)
        found.append(Judged(number, at.side, move, at.score, chance, at.best, loss, mark, at.line))
    return found


def _chance_after(after: Scored | None, before: Scored, curve: Curve) -> float | None:
    """What a position is worth to the side that moved to it."""
    if after is None:
        return None
    chance = None if after.score is None else curve.chance(after.score)
    if after.result is not None:
        chance = float(after.result)
    elif after.wins_now:
        chance = CERTAIN
    return chance if chance is None or after.side == before.side else -chance


def _chances(scored: Sequence[Scored], moves: Sequence[str], curve: Curve) -> list[float | None]:
    """What each position is worth to its side to move, from the last to the first."""
    found: list[float | None] = []
    for place in range(len(moves), -1, -1):
        at = scored[place]
        chance = None if at.score is None else curve.chance(at.score)
        if at.result is not None:
            chance = float(at.result)
        elif at.wins_now:
            chance = CERTAIN
        elif at.choices == 1 and found and (then := found[-1]) is not None:
            chance = then if scored[place + 1].side == at.side else -then
        found.append(chance)
    return found[::-1]


def _mark(at: Scored, before: float, later: float, loss: float) -> Mark:
    if at.wins_now:
        return GAFFE if later < CERTAIN else ""
    if before <= -DECIDED or later >= DECIDED:
        return ""
    return next((mark for least, mark in MARKS if loss >= least), "")


def summarise(judged: Sequence[Judged], winner: Winner | None, book: Container[int] = ()) -> Summary:
    """The figures of a game that ended so."""
    gaffes, accuracy, thrown = [], [], []
    for side in SIDES:
        mine = [one for one in judged if one.side == side and one.number not in book]
        gaffes.append(sum(one.mark == GAFFE for one in mine))
        accuracy.append(_accuracy([one.loss for one in mine if one.loss is not None]))
        stood_won = any(one.chance is not None and one.chance >= DECIDED for one in mine)
        thrown.append(stood_won and winner is not None and winner != side)
    turns = sum(_turns(one) for one in judged)
    return Summary((gaffes[0], gaffes[1]), (accuracy[0], accuracy[1]), turns, (thrown[0], thrown[1]))


def _turns(one: Judged) -> bool:
    return (
        bool(one.mark)
        and one.chance is not None
        and one.loss is not None
        and one.chance >= WON
        and one.chance - one.loss <= EVEN
    )


def _accuracy(losses: Sequence[float]) -> float | None:
    """0 to 100, the mean over moves of 100 e^(-2 loss): 100 without losses, about 55 for one gaffe of 0.3 a move."""
    if not losses:
        return None
    return round(100 * sum(math.exp(-2 * loss) for loss in losses) / len(losses), 1)
