"""Whole games in Aba-Pro notation: running text of numbered moves, tables, and games written backwards.

All readers accept move numbers, `(e)` marks, scores, `! ?`, `{comments}`, titles and doubled first cells (`e4e4e5`).
They do not check legality. Tags before the moves contain everything else: `[Variant "..."]`, `[Position "..."]`,
`[Result "..."]`, `[Rule.<option> "..."]` and any others.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from referee.rules import gametable
from referee.rules.abalone.notation import read_move, write_move
from referee.rules.abalone.state import BY_BLACK, BY_WHITE, NUMBER, QUIET, SIDE, follow
from referee.rules.abalone.tables import CELLS, NAMES, PLACES, is_cell, number
from referee.rules.core import ParseError, UnknownNameError, value_text
from referee.rules.gametags import NAME, RULE, Draft, braced, placed, plain, remarked, split_mark, unescape, write_tag
from referee.rules.gametitle import titled
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Rules, Ruleset
from referee.rules.variations import branched, branching

WIDTH: Final = 100
"""Maximum line length of the running text."""
OWN_TAGS: Final = ("Variant", "Position", "Result")

_TAG = re.compile(rf'\[({NAME})[ \t]+"((?:[^"\\]|\\.)*)"[ \t]*\]', re.DOTALL)
_SPACED = r"(?:[0-9]{1,9}(?:\.+|…))?[A-Ia-i][1-9](?:[ \t]*[-–—][ \t]*[A-Ia-i][1-9](?![0-9]))+[^\s{|]*"
"""Regular expression for a move with blanks around its dashes."""
_WORD = re.compile(rf"{_SPACED}|[^\s{{]+")
_TABLE_WORD = re.compile(rf"{_SPACED}|[^\s{{|]+")
_NUMBER = re.compile(r"([0-9]{1,9})(\.+|…)")
_BACKWARDS = re.compile(r"(?:…|\.{3})?-([0-9]{1,9})\.")
_BARE_NUMBER = re.compile(r"[0-9]{1,9}")
_DROPPED = re.compile(r"[0-9]{1,3}-[0-9]{1,3}|1/2-1/2|\*|\([eE]\)|\.{2,}|…")
_RULED_LINE = re.compile(r"[-+=_]+")
_DOUBLED = re.compile(r"([A-Ia-i][1-9])(?=\1(?:[A-Ia-i][1-9]){1,2}(?:\([eE]\))?$)")
_ROW_START = re.compile(r"[0-9.*]|[A-Ia-i][1-9]")


class _Comment(NamedTuple):
    """A comment: the text between braces."""

    text: str


class _Word(NamedTuple):
    """A word of the text, between blanks, with its index and its line."""

    text: str
    at: int
    line: int


class _Tag(NamedTuple):
    """A tag `[Name "value"]` and its index in the text."""

    name: str
    value: str
    at: int


@dataclass
class _AbaloneDraft(Draft):
    """A game being read; `is_begun` is set once anything but a tag was read."""

    moves: list[str] = field(default_factory=list)
    is_begun: bool = False
    is_tagged: bool = False

    def take(self, tag: _Tag, rules: Rules, text: str) -> None:
        """Store the content of a tag. Raise ParseError for an unknown rule or value."""
        self.is_tagged = True
        if tag.name == "Variant":
            self.variant = tag.value
        elif tag.name == "Position":
            self.position = tag.value
        elif tag.name == "Result":
            self.result = tag.value
        elif tag.name.startswith(RULE):
            try:
                self.take_rule(tag.name, tag.value, rules)
            except UnknownNameError as error:
                raise ParseError(str(error), text=text, index=tag.at) from None
        else:
            self.tags[tag.name] = tag.value


def _pieces(text: str, word_pattern: re.Pattern[str]) -> Iterator[_Word | _Tag | _Comment]:
    """Yield tags, words and comments in order. Raise ParseError for a malformed tag or an unclosed comment."""
    index, line = 0, 0
    while index < len(text):
        end = index + 1
        if text[index] == "{":
            end = text.find("}", index) + 1
            if end == 0:
                raise ParseError("unclosed comment", text=text, index=index, hint="close it with }")
            yield _Comment(text[index + 1 : end - 1])
        elif text[index] == "[":
            tag = _TAG.match(text, index)
            if tag is None:
                raise ParseError("not a tag", text=text, index=index, hint='write tags as [Name "value"]')
            yield _Tag(tag[1], unescape(tag[2]), index)
            end = tag.end()
        elif (word := word_pattern.match(text, index)) is not None:
            yield _Word(word[0], index, line)
            end = word.end()
        line += text.count("\n", index, end)
        index = end


def _read_move(word: str, index: int, text: str) -> str:
    """Return the canonical text of a move word, whose first cell may be doubled. Raise ParseError."""
    word = plain(word)
    doubled = _DOUBLED.match(word)
    skipped = doubled.end() if doubled else 0
    try:
        return write_move(read_move(word[skipped:]))
    except ParseError as error:
        raise placed(error, text, index + skipped) from None


class _Reader:
    """A word-by-word reader of the games of one text: a running text, or a table of numbered rows."""

    def __init__(self, text: str, rules: Rules, is_table: bool) -> None:
        self.text, self.rules, self.is_table = text, rules, is_table
        self.games: list[GameText] = []
        self.draft = _AbaloneDraft()
        self.line, self.moves_in_line, self.is_header = -1, 0, False
        self.heading: _Word | None = None

    def read(self) -> list[GameText]:
        """Return all games of the text. Raise ParseError."""
        for piece in _pieces(self.text, _TABLE_WORD if self.is_table else _WORD):
            if isinstance(piece, _Tag):
                if self.draft.is_begun:
                    self._close()
                self.draft.take(piece, self.rules, self.text)
            elif isinstance(piece, _Comment):
                self.draft.comment(len(self.draft.moves), piece.text)
            else:
                self._word(piece)
        if self.draft.is_begun or self.draft.is_tagged:
            self._close()
        if not self.games and self.heading is not None:
            hint = "a row is a number, Black's move and White's move"
            raise ParseError("the table has no rows", text=self.text, index=self.heading.at, hint=hint)
        return self.games

    def _close(self) -> None:
        self.games.append(self.draft.game(self.draft.moves))
        self.draft = _AbaloneDraft()

    def _word(self, word: _Word) -> None:
        is_first, self.line = word.line != self.line, word.line
        if self.is_table and is_first:
            self.moves_in_line = 0
            self.is_header = self._is_heading(word)
        if self.is_table and self.is_header:
            self.heading = self.heading or word
            return
        rest, index = self._number(word, is_first)
        self.draft.is_begun = True
        rest, mark = split_mark(rest)
        if not rest or _DROPPED.fullmatch(rest):
            self.draft.mark(len(self.draft.moves), mark)
            return
        move = _read_move(rest, index, self.text)
        self.moves_in_line += 1
        if self.is_table and self.moves_in_line > 2:
            hint = "a row is a number, Black's move and White's move"
            raise ParseError("a third move in one row", text=self.text, index=index, hint=hint)
        self.draft.moves.append(move)
        self.draft.mark(len(self.draft.moves), mark)

    def _is_heading(self, word: _Word) -> bool:
        """Return whether a line of a table has no moves: column titles before the first row, or a ruled line."""
        if _RULED_LINE.fullmatch(word.text):
            return True
        return not self.draft.is_begun and _ROW_START.match(word.text) is None

    def _number(self, word: _Word, is_first: bool) -> tuple[str, int]:
        """Return a word without its move number, and the index at which the rest begins.

        The number `1.` after moves starts another game, `1...` does not.
        """
        if self.is_table and is_first and _BARE_NUMBER.fullmatch(word.text):
            number, dots, end = int(word.text), 1, len(word.text)
        elif (found := _NUMBER.match(word.text)) is not None:
            number, dots, end = int(found[1]), len(found[2].replace("…", "...")), found.end()
        else:
            return word.text, word.at
        if number == 1 and dots == 1 and self.draft.moves:
            self._close()
        return word.text[end:], word.at + end


def read_linear(text: str, ruleset: Ruleset) -> Sequence[GameText]:
    """Return the games of a running text such as `1.e4e5 e3e4 2.e8f8 h6g5`; an empty text has none.

    A tag after moves, or `1.` after moves, starts a new game. Raise ParseError.
    """
    return _Reader(text, ruleset.rules, is_table=False).read()


def read_table(text: str, ruleset: Ruleset) -> Sequence[GameText]:
    """Return the games of tables whose rows are a number, Black's move, White's move and an optional score.

    Column titles above the first row, ruled lines and `|` between columns are ignored; `...` stands for a missing move.
    Raise ParseError.
    """
    return _Reader(text, ruleset.rules, is_table=True).read()


class _Ply(NamedTuple):
    """One move to write: its number, the side (0 Black), its text, and after an ejection the score and `(e)`."""

    number: int
    side: int
    text: str
    score: str
    ejection: str


def _plies(game: GameText, ruleset: Ruleset) -> Iterator[_Ply]:
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
        yield _Ply(number, side, remarked(write_move(code) + ejection, game, ply), score, ejection)
        number, side = number + side, 1 - side


def _tags(game: GameText) -> list[str]:
    """Return the tag lines of a game, without default values. Raise ValueError for an invalid tag name."""
    pairs = [("Variant", game.variant), ("Position", game.position or "")]
    pairs += [("Result", "" if game.result == "*" else game.result)]
    pairs += [(RULE + name, value_text(value)) for name, value in game.options.items()]
    lines = [(name, value) for name, value in pairs if value]
    for name, value in game.tags.items():
        if not re.fullmatch(NAME, name) or name in OWN_TAGS or name.startswith(RULE):
            raise ValueError(f'invalid tag name "{name}": expected letters, digits, _, . and -')
        lines.append((name, value))
    return [write_tag(name, value) for name, value in lines]


def write_linear(game: GameText, ruleset: Ruleset) -> str:
    """Return the running text of a game: tags if there are any, then the numbered moves, or `*` without moves.

    Raise ValueError for a tag that cannot be written or, with ejection marks or scores, for an illegal move.
    """
    words: list[str] = []
    for place, ply in enumerate(_plies(game, ruleset)):
        number = f"{ply.number}." if ply.side == 0 else "" if place else f"{ply.number}..."
        words.append(number + ply.text)
        words += [ply.score] if ply.score else []
    return "\n".join([*_tags(game), *_wrapped([braced(game.comments.get(0, "")), *(words or ["*"])])]) + "\n"


def _wrapped(words: Sequence[str]) -> list[str]:
    text = " ".join(word for word in words if word)
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return the table of a game: tags if there are any, column titles, a row per pair of moves, or `*` without moves.

    Raise the errors of `write_linear`.
    """
    rows: list[list[str]] = []
    for ply in _plies(game, ruleset):
        if ply.side == 0 or not rows:
            rows.append([f"{ply.number}.", gametable.NO_MOVE if ply.side else ply.text, "", ""])
        if ply.side:
            rows[-1][2] = ply.text
        rows[-1][3] = ply.score or rows[-1][3]
    titles = (*ruleset.rules.sides, "score" if ruleset.values["show_score"] else "")
    lines = [*_wrapped([braced(game.comments.get(0, ""))]), *gametable.lines(titles, [tuple(row) for row in rows])]
    return "\n".join([*_tags(game), *lines, *([] if rows else ["*"])]) + "\n"


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

    The numbers of White's moves have dots before them. Raise the errors of `write_linear`.
    """
    plies = list(zip(game.moves, _plies(game, ruleset), strict=True))
    words = [
        f"{'…' if ply.side else ''}-{ply.number}. "
        + remarked(_undone(write_move(read_move(move))) + ply.ejection, game, count)
        + (f" {ply.score}" if ply.score else "")
        for count, (move, ply) in reversed(list(enumerate(plies, 1)))
    ]
    return "\n".join([*_tags(game), *_wrapped([braced(game.comments.get(0, "")), *(words or ["*"])])]) + "\n"


def read_reversed(text: str, ruleset: Ruleset) -> Sequence[GameText]:
    """Return the games of texts written backwards, with their moves in forward order. Raise ParseError."""
    games: list[GameText] = []
    draft = _AbaloneDraft()
    undone: list[str] = []

    def close() -> None:
        nonlocal draft
        count = len(undone)
        marks = {count + 1 - place: mark for place, mark in draft.marks.items()}
        comments = {count + 1 - place: said for place, said in draft.comments.items()}
        if 0 in draft.comments:
            comments[0] = comments.pop(count + 1)
        draft.marks, draft.comments = marks, comments
        games.append(draft.game(reversed(undone)))
        draft = _AbaloneDraft()
        undone.clear()

    last = 0
    for piece in _pieces(text, _WORD):
        if isinstance(piece, _Tag):
            if draft.is_begun:
                close()
            draft.take(piece, ruleset.rules, text)
        elif isinstance(piece, _Comment):
            draft.comment(len(undone), piece.text)
        elif (found := _BACKWARDS.fullmatch(piece.text)) is not None:
            last = int(found[1])
            draft.is_begun = True
        else:
            draft.is_begun = True
            word, mark = split_mark(piece.text)
            if word and not _DROPPED.fullmatch(word):
                if not last:
                    hint = "write the number before each move: …-3. g5g4 -3. c3c2"
                    raise ParseError("not a game written backwards", text=text, index=piece.at, hint=hint)
                undone.append(_undone(_read_move(word, piece.at, text)))
            draft.mark(len(undone), mark)
    if draft.is_begun or draft.is_tagged:
        close()
    return games


FORMATS: Final = (
    GameFormat(
        "aba-pro", titled(branched(read_linear)), branching(write_linear), "moves in Aba-Pro coordinates, numbered"
    ),
    GameFormat(
        "aba-pro-table",
        titled(branched(read_table, inner=read_linear), is_table=True),
        branching(write_table),
        "a numbered row for each pair of moves",
    ),
    GameFormat(
        "aba-pro-reversed", titled(read_reversed), write_reversed, "from the last move back: …-3. g5g4 -3. c3c2"
    ),
    REVERSIBLE,
)
