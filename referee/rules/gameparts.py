"""The games of a text as they are written: cut into parts, then the moves of each, with the remarks in their order.

What the words mean is up to `referee.rules.gametext` and to the notations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from referee.rules.core import ParseError
from referee.rules.tokens import TextToken, TokenKind

_MOVE_LIKE: Final = re.compile(r"[0-9(]|^pass$", re.IGNORECASE)
_BEFORE_MOVES: Final = (TokenKind.TITLE, TokenKind.PROSE, TokenKind.TAG, TokenKind.SETUP)


@dataclass
class TokenLine:
    """The moves of a game or of a variation as they are written, with the remarks in their order.

    A remark is a comment, or a line in parentheses; before it stand as many moves as its number says.
    """

    index: int = 0
    end: int = 0
    words: list[TextToken] = field(default_factory=list)
    marks: dict[int, list[TextToken]] = field(default_factory=dict)
    remarks: list[tuple[int, str | TokenLine]] = field(default_factory=list)
    result: str = ""
    has_number: bool = False
    is_strange: bool = False
    """Whether it has what no variation has."""

    def mark(self, token: TextToken) -> None:
        """Add a mark to the last move."""
        self.marks.setdefault(len(self.words), []).append(token)

    def leave_out_sign(self, ply: int, shown: str) -> None:
        """Leave the exclamation mark out that a notation itself writes at the end of a move: `c3-d3!` captures."""
        marks = self.marks.get(ply, [])
        if marks and marks[0].start == self.words[ply - 1].end and shown.endswith("!"):
            marks[0] = marks[0]._replace(text=marks[0].text.removeprefix("!"))


@dataclass
class GamePart(TokenLine):
    """The part of a text that is one game, not yet understood."""

    text: str = ""
    titles: list[str] = field(default_factory=list)
    tags: list[TextToken] = field(default_factory=list)
    setup: list[TextToken] = field(default_factory=list)
    numbers: list[tuple[int, TextToken]] = field(default_factory=list)
    ending: str = ""
    asides: int = 0
    """Number of variations that the notation writes in a way that is not read."""
    is_again: bool = False
    """Whether the moves are those of the second list."""
    is_aside: bool = False
    """Whether the moves that follow are not those of the game."""
    is_below_words: bool = False
    """Whether a line of words is between the last move and the next one."""
    is_filled: bool = False
    """Whether anything but comments was read."""

    @property
    def first(self) -> int:
        """The index of the first move, or of the end."""
        return self.words[0].start if self.words else self.end

    def keep_asides_as_comments(self) -> None:
        """Turn all lines in parentheses into comments, for notations without variations."""
        self.remarks = [
            (count, said if isinstance(said, str) else self.text[said.index : said.end]) for count, said in self.remarks
        ]


def cut(tokens: Iterable[TextToken]) -> Iterator[list[TextToken]]:
    """Yield the tokens of each game of a text.

    A game begins with the move number one, or with tags, titles or a setup below moves, or after a result. What is
    above moves that continue the numbers of the game, such as a sentence between them, begins none.
    """
    part: list[TextToken] = []
    above, depth = -1, 0
    has_moves = is_over = is_placed = has_numbers = False
    for token in tokens:
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        start = -1
        if depth <= 0 and token.kind in _BEFORE_MOVES:
            if (has_moves or is_over) and above < 0:
                above, is_placed = len(part), False
            is_placed = is_placed or token.kind is TokenKind.SETUP or token.text.lower() in ("position", "fen")
        elif depth <= 0 and token.kind in (TokenKind.NUMBER, TokenKind.WORD, TokenKind.RESULT, TokenKind.SKIPPED):
            if above >= 0 and _begins(part[above:], token, is_placed, is_told=has_numbers and not is_over):
                start = above
            elif has_moves and token.kind is TokenKind.NUMBER and token.is_one:
                start = len(part)
            elif is_over and token.is_first and token.kind is not TokenKind.RESULT:
                start = len(part)
            above = -1
            if start >= 0:
                yield part[:start]
                part, has_moves, is_over, has_numbers = part[start:], False, False, False
            # A word without a digit is not a move, so a game that cannot be read is not cut into several.
            is_move = token.kind is TokenKind.WORD and _MOVE_LIKE.search(token.text) is not None
            has_moves = has_moves or is_move or token.kind is TokenKind.SKIPPED
            is_over = is_over or token.kind is TokenKind.RESULT
            has_numbers = has_numbers or (token.kind is TokenKind.NUMBER and bool(token.text))
        part.append(token)
    if above >= 0 and any(token.kind in (TokenKind.TAG, TokenKind.SETUP) for token in part[above:]):
        yield part[:above]
        part = part[above:]
    yield part


def _begins(above: Sequence[TextToken], token: TextToken, is_placed: bool, *, is_told: bool) -> bool:
    """Return whether a game begins with the tokens `above`, which follow moves; `token` is the next of its own.

    If the moves before it have numbers and no result (`is_told`), a title alone begins no moves without a number:
    people write sentences between the moves of one game.
    """
    kinds = {above_token.kind for above_token in above}
    is_headed = not kinds.isdisjoint((TokenKind.TAG, TokenKind.SETUP))
    if token.kind is TokenKind.NUMBER:
        is_first = token.ordinal == 1 and TokenKind.TITLE in kinds
        return token.is_one or is_placed or "-" in token.value or is_first or (is_headed and token.ordinal in (0, 1))
    if token.kind is TokenKind.RESULT or is_told:
        return is_headed
    return kinds != {TokenKind.PROSE}


def parse(tokens: Sequence[TextToken], text: str, hint: str) -> GamePart:
    """Return the game of the tokens of one game. Raise ParseError for one that may not stand where it is."""
    part = GamePart(text=text, index=tokens[0].start if tokens else 0, end=tokens[-1].end if tokens else len(text))
    lines: list[TokenLine] = [part]
    for token in tokens:
        if token.kind is TokenKind.COMMENT:
            if not part.is_aside:
                lines[-1].remarks.append((len(lines[-1].words), token.text))
        elif token.kind is TokenKind.OPEN:
            lines.append(TokenLine(token.start))
            part.is_filled = True
        elif token.kind is TokenKind.CLOSE:
            if len(lines) == 1:
                problem = "unreadable game text: a parenthesis without its beginning"
                raise ParseError(problem, text=text, index=token.start, hint=hint)
            aside = lines.pop()
            aside.end = token.end
            lines[-1].remarks.append((len(lines[-1].words), aside))
        elif len(lines) > 1:
            _within(lines[-1], token)
        elif token.kind in _BEFORE_MOVES:
            _above(part, token)
        else:
            _in_game(part, token, hint)
    if len(lines) > 1:
        problem = "unreadable game text: a parenthesis without its end"
        raise ParseError(problem, text=text, index=lines[1].index, hint="close it with )")
    return part


def _within(line: TokenLine, token: TextToken) -> None:
    if token.kind is TokenKind.WORD:
        line.words.append(token)
        line.is_strange = line.is_strange or bool(line.result)
    elif token.kind is TokenKind.MARK:
        line.mark(token)
    elif token.kind is TokenKind.RESULT:
        line.result = token.text
    elif token.kind is TokenKind.NUMBER:
        line.has_number = line.has_number or bool(token.text)
    elif token.kind is not TokenKind.SKIPPED:
        line.is_strange = True


def _above(part: GamePart, token: TextToken) -> None:
    """Add a token that belongs above the moves. Raise ParseError for a tag below them."""
    part.is_filled = part.is_filled or token.kind is not TokenKind.PROSE
    if token.kind in (TokenKind.TITLE, TokenKind.PROSE):
        part.is_below_words = bool(part.words)
        if token.kind is TokenKind.TITLE and not part.words:
            part.titles.append(token.text)
        else:
            part.remarks.append((len(part.words), token.text))
    elif part.words:
        hint = "begin the next game with the move number 1, or write a comment"
        raise ParseError("this is within a game", text=part.text, index=token.start, hint=hint)
    elif token.kind is TokenKind.TAG:
        part.tags.append(token)
    else:
        part.setup.append(token)


def _in_game(part: GamePart, token: TextToken, hint: str) -> None:
    """Add a token of the moves. Raise ParseError for one that cannot be read."""
    if token.kind is TokenKind.NUMBER:
        part.is_aside, part.is_below_words = part.is_aside and not token.text, False
        part.numbers.append((len(part.words), token))
    elif token.kind is TokenKind.ASIDE:
        part.is_aside, part.asides = True, part.asides + 1
    elif token.kind is TokenKind.AGAIN:
        if not part.is_again:
            part.words.clear()
        part.is_again = True
    elif not part.is_aside:
        part.is_filled = True
        if token.kind is TokenKind.MARK:
            part.mark(token)
            return
        if token.kind is TokenKind.WORD and part.words and _is_aside(token, part.words[-1]):
            said = token._replace(text=token.text[1:-1], start=token.start + 1, end=token.end - 1)
            words = [said] if said.text.strip() else []
            part.remarks.append((len(part.words), TokenLine(token.start, token.end, words)))
            return
        _check(part, token, hint)
        if token.kind is TokenKind.WORD:
            part.words.append(token)
        elif token.kind is TokenKind.RESULT:
            part.result = token.text
        elif token.kind is TokenKind.ENDING:
            part.ending = token.text


def _is_aside(token: TextToken, before: TextToken) -> bool:
    """Return whether a word in parentheses is a variation: swaps, `(a1b7)`, stand only before all other moves."""
    return token.text.startswith("(") and token.text.find(")") == len(token.text) - 1 and before.text[0] != "("


def _check(part: GamePart, token: TextToken, hint: str) -> None:
    """Raise ParseError for a token that cannot stand here."""
    text, index, next_game = part.text, token.start, "begin the next game with tags, or on a line of its own"
    if token.kind is TokenKind.BAD:
        hint = {"{": "close the comment with }", "[": 'write tags as [Name "value"]'}.get(token.text, hint)
        raise ParseError("unreadable game text", text=text, index=index, hint=hint)
    if token.kind is TokenKind.RESULT and part.result:
        raise ParseError("a second result", text=text, index=index, hint=next_game)
    if token.kind is TokenKind.ENDING and not part.words:
        raise ParseError("not a move", text=text, index=index, hint=hint)
    if token.kind is TokenKind.WORD and (part.result or part.ending):
        raise ParseError("a move after the end of the game", text=text, index=index, hint=next_game)
    if token.kind is TokenKind.WORD and part.is_below_words:
        hint = "number them, or begin the next game with tags"
        raise ParseError("moves without a number below a line of words", text=text, index=index, hint=hint)
