"""Openings: the plain start, random moves, random starts (deals) or a book. A seed always draws the same openings."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.position import Position
from referee.rules.rules import Ruleset, Value

Order = Literal["sequential", "random"]
_HINT = "write FILE;order=sequential or random;plies=N"


@dataclass(frozen=True, slots=True)
class OpeningSource:
    """A book's path (or `auto`, `random:4` …), the order of its lines, and the number of plies used of each line."""

    place: str
    order: Order = "sequential"
    plies: int | None = None


def read_source(text: str) -> OpeningSource:
    """Parse an opening source. Raises ValueError naming the invalid setting."""
    if os.path.exists(text):
        return OpeningSource(text)
    place, *parts = text.split(";")
    order: Order = "sequential"
    plies: int | None = None
    for part in parts:
        name, _, value = part.strip().partition("=")
        if name == "order" and value in ("sequential", "random"):
            order = "random" if value == "random" else "sequential"
        elif name == "plies" and value.isdecimal() and 0 < int(value) <= 999:
            plies = int(value)
        else:
            raise ValueError(f"--openings: unknown setting {part.strip()!r}; {_HINT}")
    if parts and not os.path.isfile(place):
        raise ValueError(f"--openings: order and plies need a file, and {place!r} does not exist; {_HINT}")
    return OpeningSource(place, order, plies)


@dataclass(frozen=True, slots=True)
class Opening:
    """The start of a pair of games: variant, options, position (None = the variant's start) and moves played."""

    variant: str
    position: str | None = None
    moves: tuple[str, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()
    is_dealt: bool = False
    """True for a deal, a random start: it is written as a position, and every pair of games gets another one."""


def opening_of(drawn: Sequence[Opening], turn: int, pair: int) -> Opening:
    """Return the opening of a pair of games, from its number among the pairs of the same two bots, and among all pairs.

    `turn` and `pair` are these numbers, from 0. `pair` selects among deals, so that each is used once; `turn` selects
    among other openings, so that all pairings get the same ones. After the last opening comes the first again.
    """
    return drawn[(pair if drawn[0].is_dealt else turn) % len(drawn)]


def draw_opener(ruleset: Ruleset, opening: Opening, lot: random.Random) -> dict[str, Value]:
    """Draw the value of the option that says who moves first; empty if the rules or the opening fix who does."""
    name = ruleset.rules.opener
    if not name or opening.moves or opening.position is not None:
        return {}
    return {name: lot.choice(ruleset.rules.option(name).values)}


def opened_by_each(ruleset: Ruleset) -> tuple[Ruleset, ...]:
    """Return a ruleset for each side that may move first; none if the family has no option for that."""
    name = ruleset.rules.opener
    values = ruleset.rules.option(name).values if name else ()
    return tuple(ruleset.rules.settle(ruleset.variant.name, {**ruleset.overrides, name: value}) for value in values)


BALANCE = 300
"""A random opening is kept if its static score differs from that of the start by at most this many centipawns."""


def _random_line(ruleset: Ruleset, plies: int, rng: random.Random, start: str | None = None) -> tuple[str, ...] | None:
    position = Position.start(ruleset, start)
    rules, config = ruleset.rules, ruleset.config
    origin = int(rules.kernel.evaluate(position.state, config))
    moves = []
    for _ in range(plies):
        choice = position.moves[rng.randrange(len(position.moves))]
        moves.append(rules.notation.write_move(choice))
        position = position.play(choice)
        if position.outcome is not None:
            return None
    sign = 1 if plies % 2 == 0 else -1
    if abs(sign * int(rules.kernel.evaluate(position.state, config)) - origin) > BALANCE:
        return None
    after = np.empty_like(position.state)
    for move in position.moves:  # neither side may win or lose on the very next ply
        rules.kernel.play(position.state, config, move, after)
        if int(rules.kernel.result(after, config, 1, 0)) % 4 in (1, 2):
            return None
    return tuple(moves)


def random_openings(ruleset: Ruleset, plies: int, count: int, seed: int) -> list[Opening]:
    """Draw `count` different openings of `plies` random moves, after which no single move wins or loses the game.

    The seed determines them: a smaller `count` gives the first ones of the same list. If fewer are found, they repeat.
    """
    # Seeded by text, a generator gives the same numbers in every process; `hash` of a text does not.
    rng = random.Random(f"openings {ruleset.rules.family} {ruleset.variant.name} {plies} {seed}")
    unique_lines: dict[tuple[str, ...], None] = {}
    for _ in range(200 + 50 * count):
        if len(unique_lines) == count:
            break
        line = _random_line(ruleset, plies, rng)
        if line is not None:
            unique_lines.setdefault(line)
    if not unique_lines:
        raise ValueError(f"no balanced opening of {plies} plies in {ruleset.variant.name}; take fewer plies")
    lines = list(unique_lines)
    return [Opening(ruleset.variant.name, moves=lines[number % len(lines)]) for number in range(count)]


def setup_openings(ruleset: Ruleset, variant: str, count: int, seed: int) -> list[Opening]:
    """Draw `count` random starts of a variant. Raises ValueError if the family has no random starts."""
    deal = ruleset.rules.draw
    if deal is None:
        raise ValueError(f"{ruleset.rules.family} has no set-ups to draw; use random:PLIES:SEED")
    rng = random.Random(f"setups {variant} {seed}")
    starts = []
    for _ in range(count):
        drawn = deal(variant, rng)
        named = ruleset.rules.settle(drawn.name, drawn.options)
        position = None if named.variant.position == drawn.position else drawn.position
        if position and ruleset.phase:  # a named start begins with its phase anyway
            position = ruleset.phase.begin(position)
        starts.append(Opening(drawn.name, position, options=tuple(drawn.options.items())))
    return starts


_TRIES = 200
"""Number of random lines that are tried from one deal."""


def is_source(text: str) -> bool:
    """Return whether a text is a source that is not a book: `none`, `auto`, `random:…` or `setups:…`."""
    return text.partition(":")[0] in ("none", "auto", "random", "setups")


MAX_RANDOM_PLIES = 60
"""Longer random games are hardly openings, and seldom balanced."""


def is_dealt(ruleset: Ruleset, source: str) -> bool:
    """Return whether a source gives random start positions (deals), a different one for every pair of games."""
    return source.startswith("setups:") or (
        ruleset.variant.is_dealt and source.partition(":")[0] in ("none", "auto", "random")
    )


def _deals(ruleset: Ruleset, variant: str, count: int, seed: int, plies: int = 0) -> list[Opening]:
    """Draw `count` random start positions and play `plies` random moves from each."""
    rng = random.Random(f"deals {ruleset.rules.family} {variant} {plies} {seed}")
    dealt = []
    for deal in setup_openings(ruleset, variant, count, seed):
        settled = ruleset.rules.settle(deal.variant, {**ruleset.overrides, **dict(deal.options)})
        start = deal.position or settled.variant.position
        lines = (_random_line(settled, plies, rng, start) for _ in range(_TRIES)) if plies else iter([()])
        moves = next((line for line in lines if line is not None), None)
        if moves is None:
            raise ValueError(f"no balanced opening of {plies} plies from {start}; take fewer plies")
        dealt.append(replace(deal, position=start, moves=moves, is_dealt=True))
    return dealt


_LINE_END = re.compile(r"\r\n?|\n")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
"""A comment starts at the beginning of a line or after a blank: names of set-ups contain `#`."""


def file_openings(ruleset: Ruleset, text: str, count: int) -> list[Opening]:
    """Read `count` openings of a book in order, from the first again if there are too few.

    A line is `START`, or moves from the variant's start, or `START ; moves`; `#` begins a comment. `START` is a
    position, or the name of a variant with the same rules, such as `pijersi-36#12`. Raises ParseError naming the line
    for text that cannot be parsed, an illegal move, a finished position, or a line that leads to the position of an
    earlier line.
    """
    book = read_book(ruleset, text)
    return [book[number % len(book)] for number in range(count)]


def book_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line of a book that has an opening: without comment, mark and blank lines.

    Lines end as in an editor, with CR, LF or both. `str.splitlines` would also count form feeds and the like.
    """
    for number, line in enumerate(_LINE_END.split(text), 1):
        # Joined files have a byte order mark at the beginning of a line inside.
        if body := _COMMENT.sub("", line.lstrip("\ufeff")).strip():
            yield number, body


def read_book(ruleset: Ruleset, text: str) -> list[Opening]:
    """Return all openings of a book, at least one. Raises ParseError."""
    book: list[Opening] = []
    seen: dict[bytes, int] = {}
    for number, body in book_lines(text):
        opening, end = _read_opening(ruleset, body, number)
        earlier = seen.setdefault(end.key, number)
        if earlier != number:
            raise ParseError(
                f"line {number}: leads to the same position as line {earlier}", text=body, hint="remove one of them"
            )
        book.append(opening)
    if not book:
        raise ParseError("no opening in the file", text=text[:80], hint="write one position or move list per line")
    return book


def _other_start(ruleset: Ruleset, name: str) -> Ruleset | None:
    """Return the rules with the start of another variant; None if there is no such variant.

    Raises ValueError if that variant has other rules.
    """
    try:
        other = ruleset.rules.settle(name, ruleset.overrides)
    except UnknownNameError:
        return None
    here, there = ruleset.variant, other.variant
    if (here.options, here.params) != (there.options, there.params):
        raise ValueError(f"the variant {name} has other rules than {here.name}; an opening changes the start only")
    return other


def _read_opening(ruleset: Ruleset, body: str, number: int) -> tuple[Opening, Position]:
    """Return the opening in a line and the position that it leads to. Raises ParseError."""
    start, separator, tail = body.partition(";")
    try:
        position: str | None = start.strip() or None
        words = tail.split()
        named = _other_start(ruleset, position) if position and " " not in position else None
        if named is not None:
            ruleset, position = named, None
        elif not separator:
            try:
                ruleset.read(position)
            except ParseError:
                position, words = None, body.split()
        line = Position.start(ruleset, position)
        beginning = line
        for word in words:
            line = line.play(word)
    except ParseError as error:
        at = max(0, body.find(error.text)) + error.index
        hint = error.hint or "a position, moves, or `position ; moves`"
        raise ParseError(f"line {number}: {error.problem}", text=body, index=at, hint=hint) from None
    except ValueError as error:
        raise ParseError(
            f"line {number}: {error}", text=body, hint="a position, moves, or `position ; moves`"
        ) from None
    if line.outcome is not None:
        raise ParseError(
            f"line {number}: the game is already over ({line.outcome.reason})",
            text=body,
            hint="write an opening that does not end the game",
        )
    moves, end = [], line
    while line.previous is not None:
        moves.append(ruleset.rules.notation.write_move(line.move or 0))
        line = line.previous
    return Opening(ruleset.variant.name, position and str(beginning), tuple(reversed(moves))), end


def end_of(ruleset: Ruleset, opening: Opening) -> Position:
    settled = ruleset.rules.settle(opening.variant, {**ruleset.overrides, **dict(opening.options)})
    return Position.start(settled, opening.position).play_all(opening.moves)


def chosen_openings(ruleset: Ruleset, text: str, source: OpeningSource, seed: int) -> list[Opening]:
    """Read all openings of a book in the order `source.order`, each cut to `source.plies`.

    Of those that lead to the same position when cut, the first is kept. Raises ParseError.
    """
    chosen: dict[bytes, Opening] = {}
    for opening in read_book(ruleset, text):
        cut = replace(opening, moves=opening.moves[: source.plies])
        chosen.setdefault(end_of(ruleset, cut).key, cut)
    ordered = list(chosen.values())
    if source.order == "random":
        random.Random(f"order of openings {seed}").shuffle(ordered)
    return ordered


def write_opening(opening: Opening) -> str:
    """Return the line of a book from which `file_openings` reads this opening."""
    moves = " ".join(opening.moves)
    return f"{opening.position or opening.variant} ; {moves}" if moves else opening.position or opening.variant


def openings(ruleset: Ruleset, source: str, count: int, seed: int, text: str | None = None) -> list[Opening]:
    """Draw the openings of `count` pairs of games from `source`, or from a book's `text` if there is one.

    `source` is `none` (the plain start), `auto` (the plain start once, then random openings of four plies),
    `random:PLIES[:SEED]` or `setups:VARIANT[:SEED]`. In a variant with random starts, every pair gets a newly drawn
    start: `none` and `auto` add no moves to it, `random` plays its moves from it. Raises ValueError for any other
    `source`.
    """
    if text is not None:
        return file_openings(ruleset, text, count)
    kind, _, rest = source.partition(":")
    words = rest.split(":") if rest else []
    if kind in ("none", "auto") and not words:
        return _usual(ruleset, kind, count, seed)
    if kind in ("random", "setups") and 1 <= len(words) <= 2 and all(word.isdecimal() for word in words[1:]):
        drawn_by = int(words[1]) if len(words) == 2 else seed
        if kind == "setups":
            return _deals(ruleset, words[0], count, drawn_by)
        if words[0].isdecimal():
            if (plies := int(words[0][:9])) > MAX_RANDOM_PLIES:
                limit = f"at most {MAX_RANDOM_PLIES} random plies"
                raise ValueError(f"openings {source[:60]!r}: {limit}; write random:4 or random:4:SEED")
            is_deal = ruleset.variant.is_dealt
            draw = partial(_deals, ruleset, ruleset.variant.name) if is_deal else partial(random_openings, ruleset)
            return draw(plies=plies, count=count, seed=drawn_by)
    raise ValueError(f"openings {source!r}: write none, auto, random:PLIES:SEED, setups:VARIANT:SEED or a file's path")


def _usual(ruleset: Ruleset, kind: str, count: int, seed: int) -> list[Opening]:
    """Draw the openings of the sources `none` and `auto`."""
    if ruleset.variant.is_dealt:
        return _deals(ruleset, ruleset.variant.name, count, seed)
    plain = Opening(ruleset.variant.name)
    if kind == "none" or count <= 1:
        return [plain] * count
    return [plain, *random_openings(ruleset, 4, count - 1, seed)]
