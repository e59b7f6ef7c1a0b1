"""Texts of many games, read game by game: valid games are kept, problems are listed with line, move and position.

A family's reader takes a whole text and stops at the first error. So the text is cut first, at lines that begin a game:
move number one, or tags, setups or titles that follow moves. A number alone above the moves belongs to the title.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from referee.game.move_text import move_texts
from referee.rules import load
from referee.rules.core import Outcome, ParseError, Winner
from referee.rules.gametitle import is_number, looks_like_title
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Value

WINNERS: Mapping[str, Winner] = {
    **{"1-0": "first", "0-1": "second", "1/2-1/2": "draw"},
    **{"first": "first", "second": "second", "draw": "draw"},
}

_BEGINNING = re.compile(r"\s*(?:\[|#\s*\[|#!|[a-z][0-9]{1,3}\s*:|\{\")")
"""A tag, a setup line or a JSON object."""
_NUMBER_ONE = re.compile(r"[\s|]*1(?:\.(?!\.|[wb]\s)|\)|\s+[^\s.]|\s*\|)")
_FIRST = 10
"""Number of pieces of a long text from which its possible notations are detected."""
_BODY = re.compile(r"[\s|]*[0-9]{1,6}[.)\s|]|.*[a-z][1-9]|\{\"")
_LOCATED = 20
"""Number of problems whose line is searched; later ones get the line at which their game begins."""
_UNREADABLE = 3
"""Beginnings of a game that are tried at a line: one that ends within a comment, say, is unreadable."""


@dataclass(frozen=True, slots=True)
class GameProblem:
    """Reason why a game of a collection is invalid, with line and ply (0: before the first)."""

    line: int
    ply: int
    position: str
    message: str

    def __str__(self) -> str:
        where = f", move {self.ply}" if self.ply else ""
        return f"line {self.line}{where}: {self.message}" + (f" in {self.position}" if self.position else "")


@dataclass(frozen=True, slots=True)
class CollectedGame:
    """A valid game as read, with its text and line, its rules, its last position and its outcome."""

    game: GameText
    text: str
    line: int
    ruleset: Ruleset
    last: State = field(compare=False)
    outcome: Outcome | None
    winner: Winner | None

    def __reduce__(self) -> tuple[Callable[..., CollectedGame], tuple[Any, ...]]:
        """Replace the rules by their names for pickling."""
        names = self.ruleset.rules.family, self.ruleset.variant.name, self.ruleset.overrides
        return _sent, (self.game, self.text, self.line, names, self.last, self.outcome, self.winner)

    @property
    def final(self) -> str:
        """The last position as text."""
        return self.ruleset.write(self.last)


def _sent(
    game: GameText, text: str, line: int, names: tuple[str, str, dict[str, Value]], last: State, *end: Any
) -> CollectedGame:
    family, variant, overrides = names
    return CollectedGame(game, text, line, load(family).settle(variant, overrides), last, *end)


@dataclass(slots=True)
class Collection:
    """Games and problems of a text."""

    format: str
    games: list[CollectedGame] = field(default_factory=list)
    problems: list[GameProblem] = field(default_factory=list)

    def add(self, *others: Collection) -> None:
        """Append the games and problems of later parts of the text."""
        for other in others:
            self.games += other.games
            self.problems += other.problems


def pieces(text: str, after: int = 0) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text) of every part that should be one game, after the first `after` lines."""
    start, depth, has_body = after, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines[after:], after):
        if depth == 0 and has_body and _begins(line):
            yield from _trimmed(lines[start:number], start)
            start, has_body = number, False
        if depth == 0 and not _BEGINNING.match(line):
            has_body = has_body or (bool(_BODY.match(line)) and not is_number(line))
        elif line.lstrip().startswith('{"'):
            has_body = True
        if not line.lstrip().startswith('{"'):
            depth = max(0, depth + line.count("{") - line.count("}"))
    yield from _trimmed(lines[start:], start)


def _begins(line: str) -> bool:
    return bool(_BEGINNING.match(line) or _NUMBER_ONE.match(line) or looks_like_title(line))


def _trimmed(lines: list[str], start: int) -> Iterator[tuple[int, str]]:
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if filled:
        first, last = filled[0], filled[-1]
        yield start + first + 1, "".join(lines[first : last + 1]).rstrip("\r\n") + "\n"


def settle(game: GameText, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a game: those that it names, otherwise those of `ruleset`.

    Raises UnknownNameError, ParseError.
    """
    if not game.variant and not game.options:
        return ruleset
    variant = game.variant or ruleset.variant.name
    kept = ruleset.overrides if variant == ruleset.variant.name else {}
    return ruleset.rules.settle(variant, {**kept, **game.options})


def read_collection(text: str, form: GameFormat, ruleset: Ruleset) -> Collection:
    """Read every game of a text in one notation. Raises ValueError for a text without any game, valid or not."""
    found = read_parts(list(pieces(text)), form, ruleset)
    if not found.games and not found.problems:
        raise ValueError("the text contains no game")
    return found


def read_parts(parts: Sequence[tuple[int, str]], form: GameFormat, ruleset: Ruleset) -> Collection:
    """Read the games of some parts of a text in one notation."""
    found = Collection(form.name)
    for part in parts:
        _read_piece(part, form, ruleset, found)
    return found


def best_reading(text: str, ruleset: Ruleset, forms: tuple[GameFormat, ...]) -> Collection:
    """Return the reading, among several notations, with the fewest problems, then the most moves. Raises ValueError.

    Among equal readings, choose the one whose notation writes the first game with a number of lines nearest to that in
    the text. A long text is judged by its first games; the others are read in further notations only if some of them
    are invalid.
    """
    return best_reading_of(list(pieces(text)), ruleset, forms)


def best_reading_of(parts: Sequence[tuple[int, str]], ruleset: Ruleset, forms: tuple[GameFormat, ...]) -> Collection:
    """Return the best reading of some parts of a text, as `best_reading` does. Raises ValueError."""
    # Parts are read independently: a notation that fails in the first parts cannot be better than one that reads all.
    able = forms
    if len(parts) > _FIRST:
        readings = _readings(parts[:_FIRST], forms, ruleset)
        readings = [one for one in readings if one.games and not one.problems]
        if readings:
            best = _best(readings, forms)
            able = tuple(form for form in forms if form.name in {one.format for one in readings})
            form = next(form for form in forms if form.name == best.format)
            best.add(read_parts(parts[_FIRST:], form, ruleset))
            if not best.problems:
                return best
    readings = _readings(parts, able, ruleset)
    if len(able) < len(forms) and all(found.problems for found in readings):
        readings = _readings(parts, forms, ruleset)
    readings = [found for found in readings if found.games or found.problems]
    if not readings:
        raise ValueError("the text contains no game")
    return _best(readings, forms)


def _readings(parts: Sequence[tuple[int, str]], forms: Iterable[GameFormat], ruleset: Ruleset) -> list[Collection]:
    """Read the text in each notation; notations with a common reader are read once."""
    found: list[Collection] = []
    by_reader: dict[Callable[[str, Ruleset], Sequence[GameText]], Collection] = {}
    for form in forms:
        if form.read not in by_reader:
            by_reader[form.read] = read_parts(parts, form, ruleset)
        mine = Collection(form.name)
        mine.add(by_reader[form.read])
        found.append(mine)
    return found


def _best(readings: Sequence[Collection], forms: Iterable[GameFormat]) -> Collection:
    ranks = [(len(found.problems), -sum(len(one.game.moves) for one in found.games)) for found in readings]
    best = [found for found, rank in zip(readings, ranks, strict=True) if rank == min(ranks)]
    writers = {form.name: form.write for form in forms}
    return best[0] if len(best) == 1 else min(best, key=lambda found: _lines_apart(found, writers[found.format]))


def _lines_apart(found: Collection, write: Callable[[GameText, Ruleset], str]) -> int:
    """Return the difference in number of lines between the first game's text and the same game as `write` writes it."""
    if not found.games:
        return 0
    one = found.games[0]
    try:
        return abs(write(one.game, one.ruleset).strip().count("\n") - one.text.strip().count("\n"))
    except ValueError:
        return one.text.count("\n")


def _read_piece(part: tuple[int, str], form: GameFormat, ruleset: Ruleset, found: Collection) -> None:
    line, piece = part
    try:
        games = form.read(piece, ruleset)
    except ParseError as error:
        ply, position = _progress(_whole_words(piece[: error.index]), form, ruleset)
        hint = f" ({error.hint})" if error.hint else ""
        where = line + piece.count("\n", 0, error.index)
        found.problems.append(GameProblem(where, ply, position, f"{error.problem}{hint}"))
        return
    except ValueError as error:
        found.problems.append(GameProblem(line, 0, "", str(error)))
        return
    for number, game in enumerate(games):
        try:
            one = played(game, piece, line, ruleset)
            # Do not store a text with many games, such as a JSON document, once for each of them.
            found.games.append(one if len(games) == 1 else replace(one, text=_written(one, form)))
        except UnplayableGameError as bad:
            is_located = len(found.problems) < _LOCATED
            where = line + (_line_of(piece, number, bad.ply, form, ruleset) if is_located else 0)
            found.problems.append(GameProblem(where, bad.ply, bad.position, bad.message))


def _whole_words(text: str) -> str:
    """Return a text without the incomplete word at its end."""
    words = text.rsplit(maxsplit=1)
    return text if not words or text[-1].isspace() else text[: -len(words[-1])]


def _written(found: CollectedGame, form: GameFormat) -> str:
    """Return the text of a game in its notation; empty if the notation cannot express the game."""
    for game in (found.game, replace(found.game, tags={})):
        with suppress(ValueError):
            return form.write(game, found.ruleset)
    return ""


class UnplayableGameError(Exception):
    """An illegal move or impossible start, at a ply (0: before the first) in a position."""

    def __init__(self, ply: int, position: str, message: str) -> None:
        self.ply, self.position, self.message = ply, position, message


def played(game: GameText, piece: str, line: int, ruleset: Ruleset) -> CollectedGame:
    """Replay a game and return it with its outcome; `piece` is its text, which starts in line `line`.

    Raises UnplayableGameError for the first illegal move.
    """
    try:
        settled = settle(game, ruleset)
        here = LineOfPlay(settled, game.position)
    except ValueError as error:
        raise UnplayableGameError(0, "", str(error)) from None
    texts = move_texts(settled.rules.family)
    for ply, move in enumerate(game.moves, 1):
        outcome = here.outcome
        if outcome is not None:
            raise UnplayableGameError(
                ply, settled.write(here.state), f"{move} after the end of the game ({outcome.reason})"
            )
        code = texts.code(move, here)
        if code is None or not here.is_legal(code):
            raise UnplayableGameError(ply, settled.write(here.state), f"illegal move {move}")
        here.push(code)
    if not game.moves and not game.position:
        raise UnplayableGameError(0, "", "a game without a move")
    winner, outcome = WINNERS.get(game.result), here.outcome
    if outcome is not None and winner not in (None, outcome.winner):
        raise UnplayableGameError(len(game.moves), settled.write(here.state), _contradiction(game.result, outcome))
    return CollectedGame(game, piece, line, settled, here.state, outcome, outcome.winner if outcome else winner)


def _contradiction(result: str, outcome: Outcome) -> str:
    return f"claims {result}, but the rules give {outcome.winner} by {outcome.reason}"


def _progress(prefix: str, form: GameFormat, ruleset: Ruleset) -> tuple[int, str]:
    """Return the number of the ply that follows `prefix` (the beginning of a game), and the position before the ply."""
    try:
        games = form.read(prefix, ruleset)
        if not games:
            return 0, ""
        position = Position.start(settle(games[-1], ruleset), games[-1].position).play_all(games[-1].moves)
    except ValueError:
        return 0, ""
    return len(games[-1].moves) + 1, str(position)


def _line_of(piece: str, number: int, ply: int, form: GameFormat, ruleset: Ruleset) -> int:
    """Return the index of the line in `piece`, a part of a text, on which game `number` (from 0) reaches `ply`.

    Return 0 if no such line is found.
    """
    lines = piece.splitlines(keepends=True)

    def is_reached(count: int) -> bool:
        for more in range(min(_UNREADABLE, len(lines) - count)):
            with suppress(ValueError):
                games = form.read("".join(lines[: count + more + 1]), ruleset)
                return len(games) > number + 1 or (len(games) > number and len(games[number].moves) >= ply)
        return False

    found = bisect_left(range(len(lines)), True, key=is_reached) if ply else 0
    return found if found < len(lines) else 0
