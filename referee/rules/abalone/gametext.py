"""Whole games in Aba-Pro notation: running text of numbered moves, tables, and games written backwards.

All readers accept move numbers, `(e)` marks, scores, `! ?`, `{comments}`, titles, sentences around the game, and
doubled first cells (`e4e4e5`). They do not check legality. Tags before the moves contain everything else: `[Variant
"..."]`, `[Position "..."]`, `[Result "..."]`, `[Rule.<option> "..."]` and any others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from referee.rules import gametable
from referee.rules.abalone.notation import read_move, write_move
from referee.rules.abalone.state import BY_BLACK, BY_WHITE, NUMBER, QUIET, SIDE, follow
from referee.rules.abalone.tables import CELLS, NAMES, PLACES, is_cell, number
from referee.rules.core import ParseError
from referee.rules.gameparts import GamePart
from referee.rules.gametags import Draft, braced, plain, rule_tags, tag_lines, wrapped
from referee.rules.gametext import GameReader, place, read_moves, remarked_game, settle, take_tags, understand
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset
from referee.rules.tokens import Grammar
from referee.rules.variations import remarks

_SPACED: Final = r"[A-Ia-i][1-9](?:[ \t]*[-–—][ \t]*[A-Ia-i][1-9](?![0-9]))+[^\s{}\[\]();|!?$]*"
"""Regular expression for a move with blanks around its dashes."""
GRAMMAR: Final = Grammar(
    hint="write moves as e5e6 or e6e8f6",
    word=rf"{_SPACED}|{Grammar.word}",
    skipped=r"[0-9]{1,3}-[0-9]{1,3}|1/2-1/2|\*|\([eE]\)",
    has_rows=True,
    has_results=False,
)
_BACKWARDS: Final = Grammar(
    hint="write the number before each move: …-3. g5g4 -3. c3c2",
    word=GRAMMAR.word,
    skipped=GRAMMAR.skipped,
    bare=r"(?:…|\.{3})?-[0-9]{1,9}\.",
    has_results=False,
)
_DOUBLED: Final = re.compile(r"([A-Ia-i][1-9])(?=\1(?:[A-Ia-i][1-9]){1,2}(?:\([eE]\))?$)")


def _spelled(word: str) -> str:
    """Return a move word, whose first cell may be doubled."""
    word = plain(word)
    doubled = _DOUBLED.match(word)
    return word[doubled.end() :] if doubled else word


def _understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return the game of a part of a text. Raise ParseError."""
    game, _ = understand(part, ruleset, _spelled)
    _check_rows(part)
    return game


def _check_rows(part: GamePart) -> None:
    """Raise ParseError for a third move in a row of a table, whose number has no dot."""
    counts = [(count, token) for count, token in part.numbers if token.text]
    ends = [count for count, _ in counts[1:]]
    for (count, token), end in zip(counts, [*ends, len(part.words)], strict=False):
        if not token.value and end - count > 2:
            hint = "a row is a number, Black's move and White's move"
            raise ParseError("a third move in one row", text=part.text, index=part.words[count + 2].start, hint=hint)


class _Ply(NamedTuple):
    """One move to write: its number, the side (0 Black), its text, and after an ejection the score and `(e)`."""

    number: int
    side: int
    text: str
    score: str
    ejection: str


def _plies(game: GameText, ruleset: Ruleset, said: dict[int, str]) -> Iterator[_Ply]:
    """Yield the numbered moves, with ejection marks and scores if the options enable them.

    Raise ParseError for an unreadable move, ValueError for one that the board does not allow.
    """
    variant = ruleset.rules.variant(game.variant) if game.variant else ruleset.variant
    state = ruleset.read(game.position or variant.position)
    is_marked, is_scored = bool(ruleset.values["mark_ejections"]), bool(ruleset.values["show_score"])
    number, side = int(state[NUMBER]), int(state[SIDE])
    for ply, move in enumerate(game.moves, 1):
        code = read_move(move)
        score = ejection = ""
        if is_marked or is_scored:
            after = follow(state, code)
            if after is None:
                where = ruleset.write(state)
                raise ValueError(
                    f"illegal move {move!r} in {where}; turn off mark_ejections and show_score to write it unchecked"
                )
            if after[QUIET] == 0:
                ejection = "(e)" if is_marked else ""
                score = f"{after[BY_BLACK]}-{after[BY_WHITE]}" if is_scored else ""
            state = after
        text = write_move(code) + ejection + game.marks.get(ply, "")
        yield _Ply(number, side, f"{text} {said[ply]}" if ply in said else text, score, ejection)
        number, side = number + side, 1 - side


def _head(game: GameText) -> list[str]:
    """Return the tag lines of a game, without default values. Raise ValueError for an invalid tag name."""
    own = [("Variant", game.variant), ("Position", game.position or "")]
    own += [("Result", "" if game.result == "*" else game.result), *rule_tags(game.options)]
    lines = tag_lines(game, own=own)
    # A comment above the first move would belong to the game before it, if no tag separated them.
    return lines or tag_lines(game, own=[("Result", game.result if game.comments.get(0) else "")])


def _said(game: GameText, ruleset: Ruleset) -> dict[int, str]:
    return remarks(game, ruleset.rules.settle(game.variant or ruleset.variant.name, game.options))


def write_linear(game: GameText, ruleset: Ruleset) -> str:
    """Return the running text of a game: tags if there are any, then the numbered moves, or `*` without moves.

    Raise ValueError for a tag that cannot be written or, with ejection marks or scores, for an illegal move.
    """
    said, words = _said(game, ruleset), list[str]()
    for at, ply in enumerate(_plies(game, ruleset, said)):
        start = f"{ply.number}." if ply.side == 0 else "" if at else f"{ply.number}..."
        words.append(start + ply.text)
        words += [ply.score] if ply.score else []
    return "\n".join([*_head(game), *wrapped([said.get(0, ""), *(words or ["*"])])]) + "\n"


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return the table of a game: tags if there are any, column titles, a row per pair of moves, or `*` without moves.

    Raise the errors of `write_linear`.
    """
    said, rows = _said(game, ruleset), list[list[str]]()
    for ply in _plies(game, ruleset, said):
        if ply.side == 0 or not rows:
            rows.append([f"{ply.number}.", gametable.NO_MOVE if ply.side else ply.text, "", ""])
        if ply.side:
            rows[-1][2] = ply.text
        rows[-1][3] = ply.score or rows[-1][3]
    titles = (*ruleset.rules.sides, "score" if ruleset.values["show_score"] else "")
    lines = [*wrapped([said.get(0, "")]), *gametable.lines(titles, [tuple(row) for row in rows])]
    return "\n".join([*_head(game), *lines, *([] if rows else ["*"])]) + "\n"


def _undone(move: str) -> str:
    """Return the move that takes the moved marbles back; undoing that move gives the original one."""
    if len(move) == 4:
        return move[2:] + move[:2]
    low, high, target = (PLACES[CELLS[move[place : place + 2]]] for place in (0, 2, 4))
    row, digit = high[0] + target[0] - low[0], high[1] + target[1] - low[1]
    if not is_cell(row, digit):
        raise ValueError(f"{move} undone would leave the board: the game cannot be written backwards")
    end = NAMES[number(row, digit)]
    return write_move(read_move(move[4:] + end + move[:2]))


def write_reversed(game: GameText, ruleset: Ruleset) -> str:
    """Return the game from its last move to its first, each move undone: `…-3. g5g4 -3. c3c2 …-2. h6i6`.

    The numbers of White's moves have dots before them. Variations are left out. Raise the errors of `write_linear`.
    """
    said = {ply: braced(comment) for ply, comment in game.comments.items()}
    plies = list(zip(game.moves, _plies(game, ruleset, {}), strict=True))
    words = []
    for ply, (move, written) in reversed(list(enumerate(plies, 1))):
        undone = _undone(write_move(read_move(move))) + written.ejection + game.marks.get(ply, "")
        words += [f"{'…' if written.side else ''}-{written.number}.", undone, said.get(ply, ""), written.score]
    return "\n".join([*_head(game), *wrapped([said.get(0, ""), *(words or ["*"])])]) + "\n"


def _understand_reversed(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return a game that is written backwards, with its moves in forward order. Raise ParseError."""
    draft = Draft()
    take_tags(part, ruleset, draft)
    settled = settle(draft, ruleset, part)
    start = place(draft, settled, part)
    if part.words and not any(count == 0 and "-" in token.value for count, token in part.numbers[:1]):
        raise ParseError("not a game written backwards", text=part.text, index=part.first, hint=_BACKWARDS.hint)
    moves = [_undone(move) for move in read_moves(part, settled, start, _spelled)]
    part.keep_asides_as_comments()
    game, last = remarked_game(part, draft, moves, settled, _spelled), len(moves) + 1
    marks = {last - ply: mark for ply, mark in game.marks.items()}
    comments = {last - ply if ply else 0: said for ply, said in game.comments.items()}
    return replace(game, moves=tuple(reversed(moves)), marks=marks, comments=comments)


READER: Final = GameReader(GRAMMAR, _understand)
_READER_BACKWARDS: Final = GameReader(_BACKWARDS, _understand_reversed)

FORMATS: Final = (
    GameFormat("aba-pro", READER, write_linear, "moves in Aba-Pro coordinates, numbered", READER.starts),
    GameFormat("aba-pro-table", READER, write_table, "a numbered row for each pair of moves", READER.starts),
    GameFormat(
        "aba-pro-reversed",
        _READER_BACKWARDS,
        write_reversed,
        "from the last move back: …-3. g5g4 -3. c3c2",
        _READER_BACKWARDS.starts,
    ),
    REVERSIBLE,
)
