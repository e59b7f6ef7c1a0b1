"""A text of many games, read game by game: the good ones are kept, the bad ones named with line, move and position.

A family's reader takes a whole text and stops at the first mistake. So the text is cut first, at lines that begin a
game: tags, set-ups or titles after moves, or move number one. A number alone above the moves belongs to the title.
Refuses to know any notation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.game.move_text import move_texts
from referee.rules import load
from referee.rules.core import Outcome, ParseError
from referee.rules.gametitle import is_number, looks_like_title
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Value

WINNERS = {"1-0": "first", "0-1": "second", "1/2-1/2": "draw", "first": "first", "second": "second", "draw": "draw"}

_BEGINNING = re.compile(r"\s*(?:\[|#\s*\[|#!|[a-z][0-9]{1,3}\s*:|\{\")")
"""A tag, a set-up line, a JSON object."""
_NUMBER_ONE = re.compile(r"[\s|]*1(?:\.(?!\.|[wb]\s)|\)|\s+[^\s.]|\s*\|)")
_FIRST = 10
"""Parts of a long text that tell which notations it may be in."""
_BODY = re.compile(r"[\s|]*[0-9]{1,6}[.)\s|]|.*[a-z][1-9]|\{\"")
_PARTIAL = re.compile(r"\S*\Z")
"""The beginning of the word in which a reader stopped."""


@dataclass(frozen=True, slots=True)
class GameProblem:
    """Why a game of a collection cannot be used: in which line of the text, at which ply (0: before the first)."""

    line: int
    ply: int
    position: str
    message: str

    def __str__(self) -> str:
        where = f", move {self.ply}" if self.ply else ""
        return f"line {self.line}{where}: {self.message}" + (f" in {self.position}" if self.position else "")


@dataclass(frozen=True, slots=True)
class CollectedGame:
    """A game that can be played: as read, as it stood in the text, and where; its rules, last position and outcome."""

    game: GameText
    text: str
    line: int
    ruleset: Ruleset
    last: State = field(compare=False)
    outcome: Outcome | None
    winner: str | None

    def __reduce__(self) -> tuple[Callable[..., CollectedGame], tuple[Any, ...]]:
        """Rules are sent by their names."""
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
    """What came of a text."""

    format: str
    games: list[CollectedGame] = field(default_factory=list)
    problems: list[GameProblem] = field(default_factory=list)

    def add(self, *others: Collection) -> None:
        """Take in what came of later parts of the text."""
        for other in others:
            self.games += other.games
            self.problems += other.problems


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """(line from 1, text) of every part of a text that should be a game of its own."""
    start, depth, has_body = 0, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
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
    while lines and not lines[0].strip():
        lines, start = lines[1:], start + 1
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    if lines:
        yield start + 1, "".join(lines).rstrip("\r\n") + "\n"


def settle(game: GameText, ruleset: Ruleset) -> Ruleset:
    """The exact rules of a game; what it does not say is taken from `ruleset`. Raises UnknownNameError, ParseError."""
    if not game.variant and not game.options:
        return ruleset
    variant = game.variant or ruleset.variant.name
    kept = ruleset.overrides if variant == ruleset.variant.name else {}
    return ruleset.rules.settle(variant, {**kept, **game.options})


def read_collection(text: str, form: GameFormat, ruleset: Ruleset) -> Collection:
    """Read every game of a text in one notation. Raises ValueError for a text without any game, good or bad."""
    found = _reading(list(pieces(text)), form, ruleset)
    if not found.games and not found.problems:
        raise ValueError("no game in it")
    return found


def _reading(parts: Sequence[tuple[int, str]], form: GameFormat, ruleset: Ruleset) -> Collection:
    found = Collection(form.name)
    for part in parts:
        _read_piece(part, form, ruleset, found)
    return found


def best_reading(text: str, ruleset: Ruleset, forms: tuple[GameFormat, ...]) -> Collection:
    """Return the reading, among several notations, that leaves the fewest bad games and moves. Raises ValueError.

    Of readings that are equally good it is the one whose notation would write the first game in as many lines. Of a
    long text the first games tell; the others are looked at in other notations only if some of them are bad.
    """
    # Parts are read each by itself: a notation that cannot read the first ones reads no text better than one that can.
    parts = list(pieces(text))
    able = forms
    if len(parts) > _FIRST:
        readings = _readings(parts[:_FIRST], forms, ruleset)
        readings = [one for one in readings if one.games and not one.problems]
        if readings:
            best = _best(readings, forms)
            able = tuple(form for form in forms if form.name in {one.format for one in readings})
            form = next(form for form in forms if form.name == best.format)
            best.add(_reading(parts[_FIRST:], form, ruleset))
            if not best.problems:
                return best
    readings = _readings(parts, able, ruleset)
    if len(able) < len(forms) and all(found.problems for found in readings):
        readings = _readings(parts, forms, ruleset)
    readings = [found for found in readings if found.games or found.problems]
    if not readings:
        raise ValueError("no game in it")
    return _best(readings, forms)


def _readings(parts: Sequence[tuple[int, str]], forms: Iterable[GameFormat], ruleset: Ruleset) -> list[Collection]:
    """A reading for each notation; those that have a reader in common are read once."""
    found: list[Collection] = []
    by_reader: dict[Callable[[str, Ruleset], Sequence[GameText]], Collection] = {}
    for form in forms:
        if form.read not in by_reader:
            by_reader[form.read] = _reading(parts, form, ruleset)
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
    """By how many lines the text of the first game differs from what its notation would write."""
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
        ply, position = _progress(_PARTIAL.sub("", piece[: error.index]), form, ruleset)
        hint = f" ({error.hint})" if error.hint else ""
        where = line + piece.count("\n", 0, error.index)
        found.problems.append(GameProblem(where, ply, position, f"{error.problem}{hint}"))
        return
    except ValueError as error:
        found.problems.append(GameProblem(line, 0, "", str(error)))
        return
    for number, game in enumerate(games):
        try:
            found.games.append(played(game, piece, line, ruleset))
        except BadGame as bad:
            where = line + _line_of(piece, number, bad.ply, form, ruleset)
            found.problems.append(GameProblem(where, bad.ply, bad.position, bad.message))


class BadGame(Exception):  # noqa: N818 - told as a problem
    """Why a game cannot be played: at which ply (0: before the first), in which position."""

    def __init__(self, ply: int, position: str, message: str) -> None:
        self.ply, self.position, self.message = ply, position, message


def played(game: GameText, piece: str, line: int, ruleset: Ruleset) -> CollectedGame:
    """A game played through, `piece` its text and `line` where that stands. Raises BadGame at the first move that
    cannot be."""
    try:
        settled = settle(game, ruleset)
        here = LineOfPlay(settled, game.position)
    except ValueError as error:
        raise BadGame(0, "", str(error)) from None
    texts = move_texts(settled.rules.family)
    for ply, move in enumerate(game.moves, 1):
        outcome = here.outcome
        if outcome is not None:
            raise BadGame(ply, settled.write(here.state), f"{move} after the end of the game ({outcome.reason})")
        code = texts.code(move, here)
        if code is None or not here.is_legal(code):
            raise BadGame(ply, settled.write(here.state), f"illegal move {move}")
        here.push(code)
    if not game.moves and not game.position:
        raise BadGame(0, "", "a game without a move")
    winner, outcome = WINNERS.get(game.result), here.outcome
    if outcome is not None and winner not in (None, outcome.winner):
        raise BadGame(len(game.moves), settled.write(here.state), _contradiction(game.result, outcome))
    return CollectedGame(game, piece, line, settled, here.state, outcome, outcome.winner if outcome else winner)


def _contradiction(result: str, outcome: Outcome) -> str:
    return f"claims {result}, but by the rules it is {outcome.winner} by {outcome.reason}"


def _progress(prefix: str, form: GameFormat, ruleset: Ruleset) -> tuple[int, str]:
    """The ply that comes next after the beginning of a game, and the position it is made in."""
    try:
        games = form.read(prefix, ruleset)
        if not games:
            return 0, ""
        position = Position.start(settle(games[-1], ruleset), games[-1].position).play_all(games[-1].moves)
    except ValueError:
        return 0, ""
    return len(games[-1].moves) + 1, str(position)


def _line_of(piece: str, number: int, ply: int, form: GameFormat, ruleset: Ruleset) -> int:
    """How many line ends stand before a ply of the piece's game of that number (from 0)."""
    lines = piece.splitlines(keepends=True)
    for count in range(len(lines) if ply else 0):
        try:
            games = form.read("".join(lines[: count + 1]), ruleset)
        except ValueError:
            continue
        if len(games) > number + 1 or (len(games) > number and len(games[number].moves) >= ply):
            return count
    return 0
