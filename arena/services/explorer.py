"""The opening explorer: moves played in a position, with their results.

Symmetric images of a position count as one. Moves are written for the requested position, and moves that lead to the
same position are merged. Variants are kept apart.
"""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from arena.documents.explorer import MAX_MOVES_LENGTH, ExplorerQuery, ExplorerResponse, PlayedMoveItem
from arena.errors import BadValueError
from arena.services.arena import Arena
from arena.store.archive.explorer import ExplorerTally
from arena.store.archive.line import date_of
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
    found = arena.store.archive.explorer.explore(
        key, chosen, codes_by_tag, family=family, rated_in=rated_in, side=position.side
    )
    moves = [
        PlayedMoveItem(
            move=ruleset.rules.notation.write_move(codes[0]),
            shown=position.display(codes[0]),
            same=[ruleset.rules.notation.write_move(code) for code in codes[1:]],
            **_figures(found.moves[tag], position.side),
        )
        for tag, codes in codes_by_tag.items()
        if tag in found.moves
    ]
    return ExplorerResponse(
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        position=str(position),
        side=position.side,
        pool=query.pool or rated_in,
        total_exact=found.is_exact,
        moves=sorted(moves, key=lambda one: (-one.games, one.move)),
        key=key,
        **_figures(found.whole, position.side),
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
    found: dict[int, list[int]] = {}
    tags = (keys_of(ruleset, after) >> np.uint64(32)).tolist()
    write = ruleset.rules.notation.write_move
    for _, tag, code in sorted((write(code), tag, code) for tag, code in zip(tags, moves, strict=True)):
        found.setdefault(tag, []).append(code)
    return found


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
