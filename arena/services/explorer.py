"""The opening explorer: moves played in a position, with their results.

Symmetric images of a position count as one. Moves are written for the requested position, and moves that lead to the
same position are merged. Variants are kept apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from arena.errors import BadValueError
from arena.services.archive import read_day
from arena.services.arena import Arena
from arena.store.archive.explorer import ExplorerTally, Selection
from arena.store.archive.line import ArchiveLine, date_of
from arena.store.archive.search import ArchiveSearch
from referee.ratings.trueskill import BETA, pool_of
from referee.rules import load
from referee.rules.core import ParseError, Side, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import Ruleset, Value
from referee.rules.symmetry import key_of, keys_of

MAX_MOVES_LENGTH = 2000
"""Maximum length of the requested moves in characters."""


_BOT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}( v\d{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ExplorerRequest:
    """A request to the explorer; None or empty means the start, or all games. `REQUEST_FIELDS` describes the fields."""

    family: str
    variant: str | None = None
    options: Mapping[str, Value] = field(default_factory=dict)
    position: str | None = None
    moves: str | None = None
    pool: str | None = None
    rating: float | None = None
    bot: str | None = None
    source: str | None = None
    since: str | None = None
    until: str | None = None


REQUEST_FIELDS: Mapping[str, str] = {
    "variant": "a variant of the family (default: its first)",
    "position": "a position, in any symmetric image (default: the start)",
    "moves": "moves from that position, separated by blanks",
    "pool": "games of one rating pool, played here",
    "rating": "games in which both players have at least this strength (mu) today",
    "bot": "games of a bot, or of one version of it",
    "source": "games of one collection; arena: played here",
    "since": "the first day, 2003-07-31; a month or a year will do",
    "until": "the last day, in the same way",
}
"""Descriptions of the request's fields, in the order of forms."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of a set of games.

    `score` is the points share of the side to move, None without a known result. `rating` is the players' mean strength
    (mu) today, `performance` the strength that these results imply. `last` is the day of the latest game, `best` the
    game between the strongest players.
    """

    games: int
    first: int
    draw: int
    second: int
    other: int
    score: float | None
    rating: float | None
    performance: float | None
    last: str
    best: ArchiveLine | None


@dataclass(frozen=True, slots=True)
class PlayedMove(Figures):
    """A move with its results, merged with the other moves to the same position (`same`)."""

    move: str
    shown: str
    """The move in display notation."""
    same: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplorerResult(Figures):
    """Moves played in a position, the most frequent first."""

    family: str
    variant: str
    position: str
    side: Side
    pool: str
    moves: tuple[PlayedMove, ...]
    key: int = 0
    """Key of the position, equal for all its symmetric images."""


def explore(arena: Arena, request: ExplorerRequest) -> ExplorerResult:
    """Return the moves played in a position. Raises BadValueError that names the field."""
    ruleset = _ruleset(request)
    if request.bot and not _BOT.fullmatch(request.bot):
        raise BadValueError(f"invalid bot name {request.bot[:40]!r}", field="bot", hint="write ada, or ada v2")
    position = _position(ruleset, request)
    rated_in = pool_of(ruleset)
    chosen = Selection(
        ArchiveSearch(
            family=ruleset.rules.family,
            variant=ruleset.variant.name,
            source=request.source or None,
            since=read_day(request.since, "since", 0),
            until=read_day(request.until, "until", 9999),
        ),
        rated_in,
        pool=request.pool or None,
        bot=request.bot or None,
        rating=request.rating,
    )
    key = key_of(ruleset, position.state)
    codes_by_tag = _moves_by_tag(position)
    found = arena.store.archive.explorer.explore(key, chosen, codes_by_tag, side=position.side)
    moves = [
        PlayedMove(
            move=ruleset.rules.notation.write_move(codes[0]),
            shown=position.display(codes[0]),
            same=tuple(ruleset.rules.notation.write_move(code) for code in codes[1:]),
            **_figures(found.moves[tag], position.side),
        )
        for tag, codes in codes_by_tag.items()
        if tag in found.moves
    ]
    return ExplorerResult(
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        position=str(position),
        side=position.side,
        pool=request.pool or rated_in,
        moves=tuple(sorted(moves, key=lambda one: (-one.games, one.move))),
        key=key,
        **_figures(found.whole, position.side),
    )


def _ruleset(request: ExplorerRequest) -> Ruleset:
    try:
        return load(request.family).settle(request.variant or None, request.options)
    except UnknownNameError as error:
        is_family = "famil" in str(error)
        raise BadValueError(str(error), field="family" if is_family else "variant") from None
    except ParseError as error:
        raise BadValueError(str(error), field="variant") from None


def _position(ruleset: Ruleset, request: ExplorerRequest) -> Position:
    try:
        position = Position.start(ruleset, request.position or None)
    except ValueError as error:
        raise BadValueError(str(error), field="position", hint="write a position of the chosen variant") from None
    words = request.moves or ""
    if len(words) > MAX_MOVES_LENGTH:
        raise BadValueError("too many moves", field="moves", hint="give the position after them instead")
    try:
        return position.play_all(words.split())
    except (ParseError, IllegalMoveError) as error:
        raise BadValueError(str(error), field="moves") from None


def _moves_by_tag(position: Position) -> dict[int, list[int]]:
    """Group the legal moves by the position they lead to, as tagged in the position index."""
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
    """Return the fields of `Figures`."""
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
