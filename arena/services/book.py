"""Books of openings made from games: lines that were played often and in which both sides scored alike.

What was played is asked of the explorer, so a line is known however the board was turned, and whatever narrows the
explorer narrows the games of a book.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from arena.collections.book import BookError, BookLine
from arena.services.arena import Arena
from arena.services.explorer import Figures, Found, Question, explore
from referee.game.openings import Opening
from referee.ratings.interval import wilson

MOST_LOOKS = 20_000
"""So many positions are looked into for one book at most."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked of the lines of a book: so many `plies`, at least so many `games` with a result, and a share of
    points of the first side at most `balance` away from a half."""

    plies: int
    games: int
    balance: float


def make_from_games(
    arena: Arena,
    question: Question,
    demand: Demand,
    *,
    count: int,
    seed: int,
    on_look: Callable[[int], None] = lambda looks: None,
) -> list[BookLine]:
    """`count` lines drawn by seed among all that meet the demand, in the order of their moves.

    Deterministic for the same games. Raises BookError when there are too few, BadValueError.
    """
    known: dict[int, BookLine] = {}
    front: list[tuple[str, ...]] = [()]
    looks = 0
    for depth in range(demand.plies + 1):
        seen: set[int] = set()
        following: list[tuple[str, ...]] = []
        for line in front:
            looks += 1
            if looks > MOST_LOOKS:
                raise BookError(
                    f"more than {MOST_LOOKS:,} positions to look into; ask for more --games or less --plies"
                )
            on_look(looks)
            found = explore(arena, replace(question, moves=" ".join(line)))
            if found.key in seen:  # another order of moves led there
                continue
            seen.add(found.key)
            if depth < demand.plies:
                following += [(*line, one.move) for one in found.moves if _known(one) >= demand.games]
            elif _is_level(found, demand):
                known[found.key] = BookLine(_opening(found, line, question), None, told(found))
        front = following
    lines = sorted(known.values(), key=lambda line: line.opening.moves)
    if len(lines) < count:
        raise BookError(
            f"only {len(lines)} lines of {demand.plies} plies have {demand.games} games and are within "
            f"{demand.balance:g} of an even score; ask for fewer with --count, or take less --games or more --balance"
        )
    return sorted(random.Random(seed).sample(lines, count), key=lambda line: line.opening.moves)


def _opening(found: Found, line: tuple[str, ...], question: Question) -> Opening:
    return Opening(found.variant, moves=line, position=question.position or None)


def _known(figures: Figures) -> int:
    """Games with a result."""
    return figures.first + figures.draw + figures.second


def _is_level(figures: Figures, demand: Demand) -> bool:
    games = _known(figures)
    return games >= demand.games and abs((figures.first + figures.draw / 2) / games - 0.5) <= demand.balance


def told(figures: Figures) -> str:
    """The evidence of a line: games, results, and the first side's share of points with its 95 % interval."""
    games = _known(figures)
    low, high = wilson(figures.first + figures.draw / 2, games)
    return (
        f"{games} games, {figures.first} won by first, {figures.draw} drawn, {figures.second} won by second: "
        f"{(figures.first + figures.draw / 2) / games:.0%} ({low:.0%} to {high:.0%})"
    )
