"""The opening explorer: moves played in a position, with their results, and opening books made from them.

Symmetric images of a position count as one. Moves are written for the requested position, and moves that lead to the
same position are merged. Variants are kept apart. A book has lines that were played often and in which both sides
scored about the same; all filters of the explorer apply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from arena.collections.book import BookError, BookLine
from arena.documents.archive import MAX_MOVES_LENGTH, ExplorerQuery, ExplorerResponse, PlayedFigures, PlayedMoveItem
from arena.errors import BadValueError
from arena.services.arena import Arena
from arena.store.archive.archived_game import date_of
from arena.store.archive.explorer import ExplorerTally
from referee.game.openings import Opening
from referee.ratings.interval import wilson
from referee.ratings.trueskill import BETA, pool_of
from referee.rules import load
from referee.rules.core import ParseError, Side, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import Ruleset
from referee.rules.symmetry import key_of, keys_of

_BOT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}( v\d{1,9})?", re.ASCII)


def explore(arena: Arena, family: str, query: ExplorerQuery) -> ExplorerResponse:
    """Return the moves played in a position. Raises BadValueError that names the field."""
    ruleset = _ruleset(family, query.variant)
    if query.bot and not _BOT.fullmatch(query.bot):
        raise BadValueError(f"invalid bot name {query.bot[:40]!r}", field="bot", hint="write ada, or ada v2")
    position = _position(ruleset, query)
    rated_in = pool_of(ruleset)
    chosen = replace(query, variant=ruleset.variant.name)
    key = key_of(ruleset, position.state)
    codes_by_tag = _moves_by_tag(position)
    explored = arena.store.archive.explorer.explore(
        key, chosen, codes_by_tag, family=family, rated_in=rated_in, side=position.side
    )
    moves = [
        PlayedMoveItem(
            move=ruleset.rules.notation.write_move(codes[0]),
            shown=position.display(codes[0]),
            same=[ruleset.rules.notation.write_move(code) for code in codes[1:]],
            **_figures(explored.moves[tag], position.side),
        )
        for tag, codes in codes_by_tag.items()
        if tag in explored.moves
    ]
    return ExplorerResponse(
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        position=str(position),
        side=position.side,
        pool=query.pool or rated_in,
        total_exact=explored.is_exact,
        moves=sorted(moves, key=lambda move: (-move.games, move.move)),
        key=key,
        **_figures(explored.whole, position.side),
    )


def _ruleset(family: str, variant: str | None) -> Ruleset:
    try:
        return load(family).settle(variant or None)
    except UnknownNameError as error:
        is_family = "famil" in str(error)
        raise BadValueError(str(error), field="family" if is_family else "variant") from None
    except ParseError as error:
        raise BadValueError(str(error), field="variant") from None


def _position(ruleset: Ruleset, query: ExplorerQuery) -> Position:
    try:
        position = Position.start(ruleset, query.position or None)
    except ValueError as error:
        raise BadValueError(str(error), field="position", hint="write a position of the chosen variant") from None
    words = query.moves or ""
    if len(words) > MAX_MOVES_LENGTH:
        raise BadValueError("too many moves", field="moves", hint="give the position after them instead")
    try:
        return position.play_all(words.split())
    except (ParseError, IllegalMoveError) as error:
        raise BadValueError(str(error), field="moves") from None


def _moves_by_tag(position: Position) -> dict[int, list[int]]:
    """Group the legal moves by the position they lead to; the keys are tags as in `arena.store.archive.positions`."""
    ruleset, moves = position.ruleset, position.moves
    if not moves:
        return {}
    after = np.empty((len(moves), len(position.state)), position.state.dtype)
    for row, code in zip(after, moves, strict=True):
        ruleset.rules.kernel.play(position.state, ruleset.config, code, row)
    codes: dict[int, list[int]] = {}
    tags = (keys_of(ruleset, after) >> np.uint64(32)).tolist()
    write = ruleset.rules.notation.write_move
    for _, tag, code in sorted((write(code), tag, code) for tag, code in zip(tags, moves, strict=True)):
        codes.setdefault(tag, []).append(code)
    return codes


def _figures(tally: ExplorerTally, side: Side) -> dict[str, Any]:
    """Return the fields of `PlayedFigures` for some games, with the score of `side`."""
    known = tally.first + tally.draw + tally.second
    points = (tally.first if side == "first" else tally.second) + tally.draw / 2
    return {
        "games": tally.games,
        "first": tally.first,
        "draw": tally.draw,
        "second": tally.second,
        "other": tally.other,
        "score": points / known if known else None,
        "rating": tally.rating,
        "performance": _performance(tally.opposition, points, known),
        "last": date_of(tally.last),
        "best": tally.best,
    }


def _performance(opposition: float | None, points: float, games: int) -> float | None:
    """Return the strength (mu) for which these points would be expected.

    Half a point is added for either side, which keeps the value finite if all games were won.
    """
    if opposition is None or not games:
        return None
    return opposition + NormalDist().inv_cdf((points + 0.5) / (games + 1)) * BETA * 2**0.5


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
            explored = explore(arena, family, replace(query, moves=" ".join(line)))
            if explored.key in seen:  # a transposition
                continue
            seen.add(explored.key)
            if depth < criteria.plies:
                following += [(*line, move.move) for move in explored.moves if _known(move) >= criteria.games]
            elif _is_level(explored, criteria):
                opening = Opening(explored.variant, moves=line, position=query.position or None)
                known[explored.key] = BookLine(opening, None, describe_evidence(explored))
        front = following
    # In a fixed order, so that only the seed decides what is drawn from them.
    lines = sorted(known.values(), key=lambda line: line.opening.moves)
    if len(lines) < count:
        raise BookError(
            f"only {len(lines)} lines of {criteria.plies} plies have {criteria.games} games and are within "
            f"{criteria.balance:g} of an even score; lower --count or --games, or raise --balance"
        )
    return sorted(random.Random(seed).sample(lines, count), key=lambda line: line.opening.moves)


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
