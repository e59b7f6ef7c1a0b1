"""The explorer: what was played in a position, as people ask for it and as it is shown.

A position is the same however its board is turned; moves are shown as they stand in the position asked for, those that
lead to the same position together. Variants are kept apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from arena.services.archive import read_day
from arena.services.arena import Arena
from arena.store import BadValueError
from arena.store.archive.explorer import Selection, Tally
from arena.store.archive.line import ArchiveLine, date_of
from arena.store.archive.search import Search
from referee.ratings.trueskill import BETA, pool_of
from referee.rules import load
from referee.rules.core import ParseError, Side, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import Ruleset, Value
from referee.rules.symmetry import key_of, keys_of

MOST_WORDS = 2000
"""How long the moves asked for may be, in characters."""


_BOT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}( v\d{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody wants to know; None or empty = the start, or all games. See `ASKED` for what each is."""

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


ASKED: Mapping[str, str] = {
    "variant": "a variant of the family (default: its first)",
    "position": "a position, however the board is turned (default: the start)",
    "moves": "moves from there, blanks between them",
    "pool": "games of one pool of ratings, played here",
    "rating": "games in which both have at least this strength (mu) today",
    "bot": "games of a bot, or of one version of it",
    "source": "games of one collection; arena: played here",
    "since": "the first day, 2003-07-31; a month or a year will do",
    "until": "the last day, in the same way",
}
"""What can be asked for, in the order of forms."""


@dataclass(frozen=True, slots=True)
class Figures:
    """How some games went. `score` is the share of points of who was to move, None without a known result; `rating`
    their mean strength (mu) today, `performance` the strength that such results against such opponents speak of;
    `last` the day of the latest game, `best` the one of the strongest players."""

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
    """A move, those that lead to the same position (`same`), and how the games went in which one of them was played."""

    move: str
    shown: str
    """The move in people's notation."""
    same: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found(Figures):
    """What was played in a position; `moves` the most played first."""

    family: str
    variant: str
    position: str
    side: Side
    pool: str
    moves: tuple[PlayedMove, ...]
    key: int = 0
    """What all images of the position have in common."""


def explore(arena: Arena, question: Question) -> Found:
    """What was played in a position. Raises BadValueError that names the field."""
    ruleset = _ruleset(question)
    if question.bot and not _BOT.fullmatch(question.bot):
        raise BadValueError(f"no name of a bot: {question.bot[:40]!r}", field="bot", hint="write ada, or ada v2")
    position = _position(ruleset, question)
    rated_in = pool_of(ruleset)
    chosen = Selection(
        Search(
            family=ruleset.rules.family,
            variant=ruleset.variant.name,
            source=question.source or None,
            since=read_day(question.since, "since", 0),
            until=read_day(question.until, "until", 9999),
        ),
        rated_in,
        pool=question.pool or None,
        bot=question.bot or None,
        rating=question.rating,
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
    return Found(
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        position=str(position),
        side=position.side,
        pool=question.pool or rated_in,
        moves=tuple(sorted(moves, key=lambda one: (-one.games, one.move))),
        key=key,
        **_figures(found.whole, position.side),
    )


def _ruleset(question: Question) -> Ruleset:
    try:
        return load(question.family).settle(question.variant or None, question.options)
    except UnknownNameError as error:
        is_family = "famil" in str(error)
        raise BadValueError(str(error), field="family" if is_family else "variant") from None
    except ParseError as error:
        raise BadValueError(str(error), field="variant") from None


def _position(ruleset: Ruleset, question: Question) -> Position:
    try:
        position = Position.start(ruleset, question.position or None)
    except ValueError as error:
        raise BadValueError(str(error), field="position", hint="it is one of the chosen variant") from None
    words = question.moves or ""
    if len(words) > MOST_WORDS:
        raise BadValueError("too many moves", field="moves", hint="give the position they lead to")
    try:
        return position.play_all(words.split())
    except (ParseError, IllegalMoveError) as error:
        raise BadValueError(str(error), field="moves") from None


def _moves_by_tag(position: Position) -> dict[int, list[int]]:
    """The legal moves, those together that lead to the same position, by what the index knows that position by."""
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


def _figures(tally: Tally, side: Side) -> dict[str, Any]:
    """The fields of `Figures`."""
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
    """The strength (mu) of which such points could be expected, half a point more for either side put in: then it is
    finite where everything was won."""
    if opposition is None or not games:
        return None
    return opposition + NormalDist().inv_cdf((points + 0.5) / (games + 1)) * BETA * 2**0.5
