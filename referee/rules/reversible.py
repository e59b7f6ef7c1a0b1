"""A notation of whole games that can be replayed backwards: a note after each move says what it changed.

The text begins with the final position. If a move cannot be undone from its text alone, a note in parentheses says what
was there before: `d8c7(b7:s | . . . 14 .)`: a white marble stood on b7, and the fourth field after the board in the
position string was 14 instead of what undoing the move gives. `-` is an empty cell, `.` a field that needs no note.
`(=…)` holds the whole position before the move.

The same code serves every family. From the position after a move it predicts the one before: the pieces by
`Rules.take_back`, or by moving what is on the last cell that the move names to the first; the counters by playing the
move from there. The notes are the differences from this prediction, so writer and reader agree in every family.
"""

from __future__ import annotations

import re
from typing import Final

from referee.rules.core import ParseError
from referee.rules.gameparts import GamePart
from referee.rules.gametags import FINAL, RESULTS, Draft, braced, other_tags, placed, rule_tags, wrapped, write_tag
from referee.rules.gametext import GameReader, remarked_game, settle, take_tags
from referee.rules.position import IllegalMoveError, state_after
from referee.rules.position_setup import read_board, rows_of, write_board
from referee.rules.rules import GameFormat, GameText, PositionSetup, Ruleset
from referee.rules.tokens import NEVER, Grammar, TextToken

_KEPT: Final = "\0"
"""Stands for a blank at which no line may end."""
_MOVE: Final = re.compile(r"(\([^()]*\)|[^()]+)(?:\(([^()]*)\))?")
"""A move, with its note."""
GRAMMAR: Final = Grammar(
    hint="write moves as a1c3 or a1c3(c3:w)",
    word=r"(?:\([^()\s|:=]*\)|[^\s()\[\]{};!?$]+)(?:\([^()]*\))?",
    bare=NEVER,
)


class _Board:
    """The moves of one game, played and undone on position strings."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.setup = ruleset.rules.position_setup
        cells = ruleset.rules.board(ruleset.read(), ruleset.config).cells
        self.rows = rows_of(self.setup, cells) if self.setup else []
        names = sorted((cell.name for cell in cells), key=len, reverse=True)
        self.names = frozenset(names)
        self._cells = re.compile("|".join(map(re.escape, names)))
        self._last: tuple[str, str, str | None] = ("", "", None)
        self._letters = (
            [set(pair) for pair in zip(*map(str.split, self.setup.tails), strict=True)] if self.setup else []
        )

    def code(self, move: str, position: str) -> int:
        """Return the code of a move. Raise ParseError."""
        return self.ruleset.rules.notation.read_move(move, self.ruleset.read(position), self.ruleset.config)

    def played(self, position: str, move: str) -> str | None:
        """Return the position after a move, or None if the position does not exist or does not allow the move."""
        # Keep the last result: after a right prediction the same move is played from the same position again.
        if self._last[:2] != (position, move):
            self._last = position, move, self._play(position, move)
        return self._last[2]

    def _play(self, position: str, move: str) -> str | None:
        try:
            state = self.ruleset.read(position)
            code = self.ruleset.rules.notation.read_move(move, state, self.ruleset.config)
        except ParseError:
            return None
        after = state_after(self.ruleset, state, code)
        return None if after is None else self.ruleset.write(after)

    def note(self, before: str, move: str, after: str) -> str:
        """Return the note of a move: what undoing it from `after` needs in order to give `before`."""
        if self.setup is None:
            return f"={before}"
        board, *tail = before.split(" ")
        pieces = read_board(self.setup, self.rows, board)
        if write_board(self.setup, self.rows, pieces) != board:
            return f"={before}"
        predicted = self._predicted_pieces(self.setup, after, move)
        cells = [name for name in {**predicted, **pieces} if predicted.get(name) != pieces.get(name)]
        notes = [f"{name}:{pieces.get(name, '-')}" for name in sorted(cells)]
        guess = self._predicted_tail(board, after, move)
        if tail != guess:
            is_alike = len(tail) == len(guess)
            notes += ["|", *("." if is_alike and had == guess[place] else had for place, had in enumerate(tail))]
        return " ".join(notes)

    def undone(self, after: str, move: str, note: str) -> str:
        """Return the position before a move, from the position after it and the note. Raise ParseError."""
        before = note[1:] if note.startswith("=") else self._before(after, move, note)
        if self.played(before, move) != after:
            hint = f"undoing the move gives {before}"
            raise ParseError(f"{move} does not lead to {after}", text=note or move, hint=hint)
        return before

    def _before(self, after: str, move: str, note: str) -> str:
        if self.setup is None:
            hint = "write (=…) with the position before the move"
            raise ParseError("a note without the position before the move", text=note, hint=hint)
        cells, _, fields = note.partition("|")
        pieces = self._predicted_pieces(self.setup, after, move)
        for word in cells.split():
            name, _, symbols = word.partition(":")
            if name not in self.names:
                raise ParseError(f"unknown cell {name[:20]!r}", text=note, hint="write cell:piece, as c3:w or c3:-")
            pieces[name] = symbols.strip("-")
        board = write_board(self.setup, self.rows, pieces)
        tail, words = self._predicted_tail(board, after, move), fields.split()
        if words:
            is_alike = len(words) == len(tail)
            tail = [tail[at] if is_alike and word == "." else word for at, word in enumerate(words)]
        return " ".join([board, *tail])

    def _predicted_pieces(self, setup: PositionSetup, after: str, move: str) -> dict[str, str]:
        """Return the pieces before a move, assuming that it captured nothing."""
        pieces = read_board(setup, self.rows, after.split(" ", maxsplit=1)[0])
        if self.ruleset.rules.take_back is not None:
            return dict(self.ruleset.rules.take_back(move, pieces))
        cells = self._cells.findall(move)
        if cells and cells[-1] in pieces:
            pieces[cells[0]] = pieces.pop(cells[-1])
        return pieces

    def _predicted_tail(self, board: str, after: str, move: str) -> list[str]:
        """Return the fields predicted to follow `board`, the board before a move; `after` is the position after it.

        A counter that the move reset is predicted to be unchanged, and so are all counters if the move cannot be
        played.
        """
        tail = after.split(" ")[1:]
        guess = [
            next(iter(pair - {word})) if len(pair) == 2 and word in pair else word
            for word, pair in zip(tail, [*self._letters, *[set[str]()] * len(tail)], strict=False)
        ]
        there = self.played(" ".join([board, *guess]), move)
        fields = there.split(" ")[1:] if there else []
        if len(fields) != len(tail):
            return tail
        return [
            str(max(0, 2 * int(had) - int(has))) if had != has and had.isdecimal() and int(had) else had
            for had, has in zip(guess, fields, strict=True)
        ]


def understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return a game that is replayed from its end to its start. Raise ParseError."""
    draft, final = Draft(), list[str]()

    def is_final(tag: TextToken) -> bool:
        final.extend([tag.value] if tag.text == FINAL else [])
        return tag.text == FINAL

    take_tags(part, ruleset, draft, own=is_final)
    settled = settle(draft, ruleset, part)
    if not final:
        hint = f'write [{FINAL} "…"] before the moves'
        raise ParseError("a game without its final position", text=part.text, index=part.index, hint=hint)
    try:
        position = settled.write(settled.read(final[-1]))
    except ParseError as error:
        problem = f"invalid position: {error.problem}"
        raise ParseError(problem, text=part.text, index=part.index, hint=error.hint) from None
    moves: list[str] = []
    board = _Board(settled)
    for token in reversed(part.words):
        match = _MOVE.fullmatch(token.text)
        try:
            if match is None:
                raise ParseError("unreadable move", text=token.text, hint=GRAMMAR.hint)
            moves.append(settled.rules.notation.write_move(board.code(match[1], position)))
            position = board.undone(position, moves[-1], match[2] or "")
        except ParseError as error:
            raise placed(error, part.text, token.start) from None
    if position != settled.start:
        draft.position = position
    draft.result = part.result if draft.result == "*" and part.result else draft.result
    moves.reverse()
    part.keep_asides_as_comments()
    return remarked_game(part, draft, moves, settled)


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text: tags with the final position, the moves with their notes, the result.

    Raise ParseError or IllegalMoveError for a game that the rules do not allow.
    """
    ruleset = ruleset.rules.settle(game.variant or ruleset.variant.name, game.options)
    state = ruleset.read(game.position)
    turn = ruleset.rules.side(state, ruleset.config)
    board, position, words = _Board(ruleset), ruleset.write(state), [braced(game.comments.get(0, ""))]
    for ply, move in enumerate(game.moves, 1):
        after = board.played(position, move)
        if after is None:
            raise IllegalMoveError(f"illegal move {move!r} in {position}")
        number, second = divmod(ply - 1 + turn, 2)
        note = board.note(position, move, after)
        words += [f"{number + 1}." + ".." * second] if ply == 1 or not second else []
        # Never break a line inside a note: it is one word.
        words.append((move + (f"({note})" if note else "")).replace(" ", _KEPT) + game.marks.get(ply, ""))
        words.append(braced(game.comments.get(ply, "")))
        position = after
    tags = [*other_tags(game), ("Variant", game.variant), *rule_tags(game.options), (FINAL, position)]
    is_known = game.result in RESULTS
    tags += [] if is_known else [("Result", game.result)]
    lines = [write_tag(name, value) for name, value in tags if value or name not in ("Variant", "Result")]
    lines += wrapped([*words, game.result if is_known else "*"])
    return "\n".join(lines).replace(_KEPT, " ") + "\n"


READER: Final = GameReader(GRAMMAR, understand)
REVERSIBLE: Final = GameFormat(
    "reversible",
    READER,
    write_game,
    "the final position, and after each move what it took away: c6d5(d5:s)",
    READER.starts,
)
"""The notation, the same for every family."""
