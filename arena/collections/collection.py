"""Texts of many games, read game by game: valid games are kept, problems are listed with line, move and position.

A family's reader takes a whole text and stops at the first error. So the text is cut first, at the lines at which the
notation itself says that a game begins.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from arena.collections.notation import other_format
from referee.game.history import move_texts
from referee.rules import load
from referee.rules.core import Outcome, ParseError, Winner
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Value

WINNERS: Mapping[str, Winner] = {
    **{"1-0": "first", "0-1": "second", "1/2-1/2": "draw"},
    **{"first": "first", "second": "second", "draw": "draw"},
}

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
"""What separates the games of a notation that does not say where they begin."""
_NOT_FILLED = re.compile(r"(?:[^\S\n]*\n)*")
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

    unread: int = field(default=0, compare=False)
    """Number of characters of the parts that have a problem."""
    unreadable: int = field(default=0, compare=False)
    """Number of problems that are texts which cannot be read at all."""

    def add(self, *others: Collection) -> None:
        """Append the games and problems of later parts of the text."""
        for other in others:
            self.games += other.games
            self.problems += other.problems
            self.unread += other.unread
            self.unreadable += other.unreadable

    @property
    def moves(self) -> int:
        """The number of moves that were read, those before a problem included."""
        before = sum(max(0, problem.ply - 1) for problem in self.problems)
        return sum(len(collected.game.moves) for collected in self.games) + before

    @property
    def comments(self) -> int:
        """The number of variations that could not be read and became comments."""
        return sum(collected.game.unread for collected in self.games)


def pieces(text: str, form: GameFormat, ruleset: Ruleset, after: int = 0) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text) of every part that should be one game, after the first `after` lines.

    The notation says where its games begin.
    """
    rest, line = _after(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), after), after
    start = 0
    for index in (*_starts(rest, form, ruleset), len(rest)):
        # A line belongs to its game from its indentation on.
        end = rest.rfind("\n", 0, index) + 1 if index < len(rest) else index
        piece = rest[start:end]
        if piece.strip():
            shown = piece[_NOT_FILLED.match(piece).end() :]  # type: ignore[union-attr]
            yield line + piece.count("\n") - shown.count("\n") + 1, shown.rstrip() + "\n"
        line, start = line + piece.count("\n"), end


def _after(text: str, lines: int) -> str:
    """Return a text without its first lines."""
    index = 0
    for _ in range(lines):
        index = text.find("\n", index) + 1 or len(text)
    return text[index:]


def _starts(text: str, form: GameFormat, ruleset: Ruleset) -> Iterable[int]:
    if form.starts is not None:
        return form.starts(text, ruleset)
    return (match.end() for match in _PARAGRAPH.finditer(text))


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
    return told_once(read_parts(pieces(text, form, ruleset), form, ruleset), text)


def read_parts(parts: Iterable[tuple[int, str]], form: GameFormat, ruleset: Ruleset) -> Collection:
    """Read the games of some parts of a text in one notation."""
    found = Collection(form.name)
    for part in parts:
        _read_piece(part, form, ruleset, found)
    return found


def told_once(reading: Collection, text: str) -> Collection:
    """Return a reading with one problem instead of many if no part of the text could be read.

    Raises ValueError for a text without any game, valid or not.
    """
    if not reading.games and not reading.problems:
        raise ValueError("the text contains no game")
    if not reading.games and reading.unreadable:
        first, name, others = reading.problems[0], other_format(text), len(reading.problems) - 1
        message = f"this looks like {name}: {first.message}" if name else first.message
        more = f"; {others} more part{'s' * (others > 1)} of the text cannot be read either" if others else ""
        reading.problems = [replace(first, message=message + more, position="" if name or others else first.position)]
    return reading


def _read_piece(part: tuple[int, str], form: GameFormat, ruleset: Ruleset, reading: Collection) -> None:
    line, piece = part
    try:
        games = form.read(piece, ruleset)
    except ValueError as error:
        reading.problems.append(_problem_of(error, line, piece, form, ruleset))
        reading.unread += len(piece)
        reading.unreadable += 1
        return
    for number, game in enumerate(games):
        try:
            collected = played(game, piece, line, ruleset)
            # Do not store a text with many games, such as a JSON document, once for each of them.
            reading.games.append(collected if len(games) == 1 else replace(collected, text=_written(collected, form)))
        except UnplayableGameError as bad:
            is_located = len(reading.problems) < _LOCATED
            where = line + (_line_of(piece, number, bad.ply, form, ruleset) if is_located else 0)
            reading.problems.append(GameProblem(where, bad.ply, bad.position, bad.message))
            reading.unread += len(piece) // len(games)


def _problem_of(error: ValueError, line: int, piece: str, form: GameFormat, ruleset: Ruleset) -> GameProblem:
    """Return the problem of a text that cannot be read, with the move and the position up to which it was read."""
    if not isinstance(error, ParseError):
        return GameProblem(line, 0, "", str(error))
    ply, position = _progress(_whole_words(piece[: error.index]), form, ruleset)
    if ply == 1 and piece.startswith(("[", "#"), error.index):
        ply, position = 0, ""  # a tag holds no move
    hint = f" ({error.hint})" if error.hint else ""
    return GameProblem(line + piece.count("\n", 0, error.index), ply, position, f"{error.problem}{hint}")


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
        if code is None or not here.push(code):
            raise UnplayableGameError(ply, settled.write(here.state), f"illegal move {move}")
    if not game.moves and not game.position:
        raise UnplayableGameError(0, "", "a game without a move")
    winner, outcome = WINNERS.get(game.result), here.outcome
    if outcome is not None and winner not in (None, outcome.winner):
        problem = f"claims {game.result}, but the rules give {outcome.winner} by {outcome.reason}"
        raise UnplayableGameError(len(game.moves), settled.write(here.state), problem)
    return CollectedGame(game, piece, line, settled, here.state, outcome, outcome.winner if outcome else winner)


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
    lines = re.findall(r"[^\n]*\n|[^\n]+", piece)  # `splitlines` would also count form feeds and the like

    def is_reached(count: int) -> bool:
        for more in range(min(_UNREADABLE, len(lines) - count)):
            with suppress(ValueError):
                games = form.read("".join(lines[: count + more + 1]), ruleset)
                return len(games) > number + 1 or (len(games) > number and len(games[number].moves) >= ply)
        return False

    index = bisect_left(range(len(lines)), True, key=is_reached) if ply else 0
    return index if index < len(lines) else 0
