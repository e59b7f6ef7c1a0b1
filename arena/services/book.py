"""Opening books made from games: lines that were played often and in which both sides scored about the same.

The explorer supplies the moves, so a line is found in all symmetric images, and all filters of the explorer apply.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from arena.collections.book import BookError, BookLine
from arena.documents.explorer import ExplorerQuery, ExplorerResponse, PlayedFigures
from arena.services.arena import Arena
from arena.services.explorer import explore
from referee.game.openings import Opening
from referee.ratings.interval import wilson

MAX_POSITIONS = 20_000
"""Maximum number of positions examined for one book."""


@dataclass(frozen=True, slots=True)
class BookCriteria:
    """Criteria for the lines of a book.

    `plies` is their length, `games` the minimum number of games with a result, `balance` the maximum distance of the
    first side's score from one half.
    """

    plies: int
    games: int
    balance: float


def make_from_games(
    arena: Arena,
    family: str,
    query: ExplorerQuery,
    criteria: BookCriteria,
    *,
    count: int,
    seed: int,
    on_examine: Callable[[int], None] = lambda examined: None,
) -> list[BookLine]:
    """Return `count` lines, sampled by seed from all that meet the criteria and sorted by their moves.

    The same games give the same lines. Raises BadValueError, and BookError if there are too few lines.
    """
    known: dict[int, BookLine] = {}
    front: list[tuple[str, ...]] = [()]
    examined = 0
    for depth in range(criteria.plies + 1):
        seen: set[int] = set()
        following: list[tuple[str, ...]] = []
        for line in front:
            examined += 1
            if examined > MAX_POSITIONS:
                raise BookError(f"more than {MAX_POSITIONS:,} positions to examine; raise --games or lower --plies")
            on_examine(examined)
            found = explore(arena, family, replace(query, moves=" ".join(line)))
            if found.key in seen:  # a transposition
                continue
            seen.add(found.key)
            if depth < criteria.plies:
                following += [(*line, one.move) for one in found.moves if _known(one) >= criteria.games]
            elif _is_level(found, criteria):
                known[found.key] = BookLine(_opening(found, line, query), None, describe_evidence(found))
        front = following
    lines = sorted(known.values(), key=lambda line: line.opening.moves)
    if len(lines) < count:
        raise BookError(
            f"only {len(lines)} lines of {criteria.plies} plies have {criteria.games} games and are within "
            f"{criteria.balance:g} of an even score; lower --count or --games, or raise --balance"
        )
    return sorted(random.Random(seed).sample(lines, count), key=lambda line: line.opening.moves)


def _opening(found: ExplorerResponse, line: tuple[str, ...], query: ExplorerQuery) -> Opening:
    return Opening(found.variant, moves=line, position=query.position or None)


def _known(figures: PlayedFigures) -> int:
    """Return the number of games with a result."""
    return figures.first + figures.draw + figures.second


def _is_level(figures: PlayedFigures, criteria: BookCriteria) -> bool:
    games = _known(figures)
    return games >= criteria.games and abs((figures.first + figures.draw / 2) / games - 0.5) <= criteria.balance


def describe_evidence(figures: PlayedFigures) -> str:
    """Describe the evidence for a line: games, results, the first side's score with its 95 % confidence interval."""
    games = _known(figures)
    low, high = wilson(figures.first + figures.draw / 2, games)
    return (
        f"{games} games, {figures.first} won by first, {figures.draw} drawn, {figures.second} won by second: "
        f"{(figures.first + figures.draw / 2) / games:.0%} ({low:.0%} to {high:.0%})"
    )
