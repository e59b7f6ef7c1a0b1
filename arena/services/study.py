"""Lines of moves to try out on a board, in any notation, from the start of a variant or a given position, and the tree
of their variations: as text in the address of the board, or as a game in a notation.

The text has the canonical moves of the main line, with alternatives in brackets after the move that they replace and
notes in braces: `b1b3 [c1c3 {better} h4f4] h5f5`. A note that begins with a mark (`!?`) marks its move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from arena.collections.best_reading import best_reading
from arena.collections.collection import CollectedGame
from arena.collections.notation import RESULTS
from arena.collections.recorded import RECORD
from arena.errors import BadValueError
from arena.services.archive import find_format
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.core import Outcome, ParseError, Side, UnknownNameError, value_text
from referee.rules.gametags import MARKS
from referee.rules.move_input import LegalMove, legal_moves, refusal
from referee.rules.position import IllegalMoveError, Position
from referee.rules.position_setup import PositionSetupError, compose
from referee.rules.rules import GameText, Ruleset, Variation
from referee.rules.variations import MAX_DEPTH

MAX_MOVES = 1000
"""Maximum number of moves in a line."""


@dataclass(frozen=True, slots=True)
class MoveChoices:
    """The legal moves of a position. If the game is over there are none, and `outcome` is set."""

    position: str
    side: Side
    moves: tuple[LegalMove, ...]
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Study:
    """A line: its rules, the position string of its start, its moves in canonical notation, and the final position."""

    ruleset: Ruleset
    start: str
    moves: tuple[str, ...]
    end: Position


@lru_cache(maxsize=500)
def choice(family: str, variant: str = "", options: str = "", position: str = "", moves: str = "") -> MoveChoices:
    """Return the legal moves after `moves` (separated by blanks). Raises BadValueError like `settle` and `read`."""
    end = read(settle(family, variant, options), position, moves.split()).end
    return MoveChoices(str(end), end.side, tuple(legal_moves(end)), end.outcome)


def settle(family: str, variant: str, options: str) -> Ruleset:
    """Return the requested rules; `options` are `name=value`, separated by commas. Raises BadValueError."""
    pairs = [part.partition("=") for part in options.split(",") if part.strip()]
    given = {name.strip(): value for name, _, value in pairs}
    try:
        return load(family).settle(variant or None, given)
    except (UnknownNameError, ParseError) as error:
        field = "options" if isinstance(error, UnknownNameError) and not error.what.startswith("variant") else "variant"
        raise BadValueError(str(error), field=field) from None


def options_text(ruleset: Ruleset) -> str:
    """Return the options that differ from those of the variant, in the form that `settle` reads."""
    return ",".join(f"{name}={value_text(value)}" for name, value in ruleset.overrides.items())


def read(ruleset: Ruleset, position: str, moves: Sequence[str]) -> Study:
    """Play `moves` from a position string, by default from the variant's start.

    Raises BadValueError that names the field and, for moves, the first illegal one, with its number if others follow.
    """
    try:
        at = Position.start(ruleset, position or None)
    except ParseError as error:
        raise BadValueError(error.problem, field="position", hint=error.hint) from None
    if len(moves) > MAX_MOVES:
        raise BadValueError(f"too many moves: {len(moves)}", field="moves", hint=f"at most {MAX_MOVES} are allowed")
    start = str(at)
    for number, text in enumerate(moves, 1):
        try:
            at = at.play(text)
        except ParseError as error:
            problem = f"cannot read {text[:40]}: {error.problem}"
            hint = error.hint
        except IllegalMoveError:
            why = refusal(at, ruleset.rules.notation.read_move(text, at.state, ruleset.config))
            problem = f"{text[:40]} is illegal"
            hint = why or _near(at)
        else:
            continue
        # A player who has typed the last move knows which one is meant.
        if number == len(moves):
            raise BadValueError(problem, field="moves", hint=hint)
        raise BadValueError(f"move {number}: {problem}", field="moves", hint=hint)
    return Study(ruleset, start, _texts(at), at)


def set_up(ruleset: Ruleset, pieces: str, side: Side) -> Study:
    """Return the position with these `pieces`, such as `a1=b,c3=w`. Raises BadValueError with the reason."""
    pairs = [part.partition("=") for part in pieces.split(",") if part]
    try:
        text = compose(ruleset, {cell: held for cell, _, held in pairs if held}, side)
    except PositionSetupError as error:
        raise BadValueError(str(error), field="pieces") from None
    return read(ruleset, text, ())


def _near(at: Position) -> str:
    """Return a hint that lists legal moves."""
    known = at.texts
    return f"legal moves: {', '.join(known[:8])}{' …' if len(known) > 8 else ''}" if known else "the game is over"


def _texts(end: Position) -> tuple[str, ...]:
    """Return the moves of a line in canonical notation."""
    write, found = end.ruleset.rules.notation.write_move, []
    at: Position | None = end
    while at is not None and at.move is not None:
        found.append(write(at.move))
        at = at.previous
    return tuple(reversed(found))


MAX_TREE_LETTERS = 40_000
"""Maximum length of a tree, and of a game's text."""
MAX_TREE_MOVES = 3_000
"""Maximum number of moves in a tree."""
_PART = re.compile(r"\{[^{}]*\}|[\[\]]|[^\s\[\]{}]+")
_NOT_IN_NOTES = re.compile(r"[\[\]{}\s]+")


@dataclass(slots=True)
class _Branch:
    """A move of a tree, its note, and the moves after it: first the one that continues its line, then alternatives."""

    move: str = ""
    parent: _Branch | None = None
    note: str = ""
    children: dict[str, _Branch] = field(default_factory=dict)


def write_tree(line: Study, tree: str, notation: str) -> str:
    """Return a tree as a game in a notation. `line` has the rules, the start, and the moves if the tree is empty.

    Raises BadValueError.
    """
    form = find_format(line.ruleset.rules, notation)
    game = read_tree(line.ruleset, line.start, tree if tree.strip() else " ".join(line.moves))
    try:
        text = form.write(game, line.ruleset)
        if game.variations and not any(parsed.variations for parsed in form.read(text, line.ruleset)):
            raise ValueError("this notation has no variations")
        return text
    except ValueError as error:
        raise BadValueError(f"{notation} cannot express this game: {error}", field="notation") from None


def read_tree(ruleset: Ruleset, position: str, tree: str) -> GameText:
    """Return a tree as a game from a position. Raises BadValueError for an illegal move or too many moves."""
    _require_short(tree, "tree")
    root = _parsed(tree)
    try:
        start = Position.start(ruleset, position or None)
        line = _followed(root, start, 0)
        outcome = start.play_all(line.moves).outcome
    except ParseError as error:
        raise BadValueError(f"{error.problem}: {error.text[:40]!r}", field="tree", hint=error.hint) from None
    except IllegalMoveError as error:
        raise BadValueError(str(error)[:200], field="tree", hint="the rules do not allow this move") from None
    mark, said = _remark(root.note)
    comments = {0: f"{mark} {said}".strip(), **line.comments} if root.note else line.comments
    return GameText(
        line.moves,
        ruleset.variant.name,
        ruleset.overrides,
        None if str(start) == ruleset.write(ruleset.read()) else str(start),
        result=RESULTS[outcome.winner if outcome else None],
        marks=line.marks,
        comments=comments,
        variations=line.variations,
    )


def tree_of_text(ruleset: Ruleset, text: str) -> tuple[CollectedGame, str]:
    """Return the first game of a text in any notation, and its tree. Raises BadValueError."""
    _require_short(text, "text")
    hint = f"paste a game in a notation of {ruleset.rules.family}"
    try:
        reading = best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError as error:
        raise BadValueError(str(error)[:300], field="text", hint=hint) from None
    if not reading.games:
        raise BadValueError(str(reading.problems[0])[:300], field="text", hint=hint)
    return reading.games[0], tree_of_game(reading.games[0].game)


def tree_of_game(game: GameText | GameRecord) -> str:
    """Return a game with its variations, comments and marks as a tree."""
    words = _words(Variation(1, tuple(game.moves), game.marks, game.comments, game.variations))
    return " ".join(filter(None, (_note("", game.comments.get(0, "")), *words)))


def _require_short(text: str, name: str) -> None:
    if len(text) > MAX_TREE_LETTERS:
        raise BadValueError(f"the {name} is too long", field=name, hint=f"at most {MAX_TREE_LETTERS:,} characters")


def _words(line: Variation) -> Iterator[str]:
    """Yield the parts of a line's text: moves, notes and bracketed alternatives. Some are empty."""
    alternatives: dict[int, list[Variation]] = {}
    for branch in line.variations:
        alternatives.setdefault(branch.ply, []).append(branch)
    for ply, move in enumerate(line.moves, line.ply):
        yield move
        # The comment before the first move of a variation becomes part of that move's note.
        before = line.comments.get(ply - 1, "") if ply == line.ply > 1 else ""
        yield _note(line.marks.get(ply, ""), f"{before} {line.comments.get(ply, '')}")
        for branch in alternatives.get(ply, ()):
            yield f"[{' '.join(filter(None, _words(branch)))}]"


def _note(mark: str, said: str) -> str:
    note = _NOT_IN_NOTES.sub(" ", f"{mark} {said}").strip()
    return f"{{{note}}}" if note else ""


def _remark(note: str) -> tuple[str, str]:
    word, _, rest = note.partition(" ")
    return (word, rest.strip()) if word in MARKS else ("", note)


def _parsed(tree: str) -> _Branch:
    """Return the root of a tree. Raises BadValueError."""
    root = at = _Branch()
    waiting: list[_Branch] = []
    count = 0
    for match in _PART.finditer(tree):
        part = match[0]
        if part == "[":
            if at.parent is None:
                raise BadValueError("an alternative replaces no move", field="tree", hint="write it after a move")
            waiting.append(at)
            at = at.parent
        elif part == "]":
            at = waiting.pop() if waiting else at
        elif part.startswith("{"):
            at.note = " ".join(part[1:-1].split())
        else:
            at = at.children.setdefault(part, _Branch(part, at))
            count += 1
        if len(waiting) > MAX_DEPTH or count > MAX_TREE_MOVES:
            hint = f"at most {MAX_TREE_MOVES:,} moves, and alternatives nested {MAX_DEPTH} deep"
            raise BadValueError("the tree is too large", field="tree", hint=hint)
    return root


def _followed(branch: _Branch, at: Position, ply: int) -> Variation:
    """Return the moves that follow a branch at ply `ply`, with their alternatives.

    Raises ParseError, IllegalMoveError.
    """
    moves: list[str] = []
    marks: dict[int, str] = {}
    comments: dict[int, str] = {}
    variations: list[Variation] = []
    first = ply + 1
    while branch.children:
        ply += 1
        branch, *others = branch.children.values()
        for other in others:
            variations.append(_alternative(other, at, ply))
        at = at.play(branch.move)
        moves.append(at.ruleset.rules.notation.write_move(at.move or 0))
        mark, said = _remark(branch.note)
        if mark:
            marks[ply] = mark
        if said:
            comments[ply] = said
    return Variation(first, tuple(moves), marks, comments, tuple(variations))


def _alternative(branch: _Branch, at: Position, ply: int) -> Variation:
    """Return an alternative to the move at `ply`, with the moves after it."""
    line = _Branch(children={branch.move: branch})
    return _followed(line, at, ply - 1)
