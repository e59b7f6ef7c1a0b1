"""The tokenizer of all notations of whole games, and the table of what differs between them.

It knows lines of words (titles, sentences), column titles and ruled lines, tags, comments, move numbers, results,
marks, and parentheses, and it never raises: what a notation does not have is a token `BAD`. Nothing prepares a text
before it, so a bracket within a comment or a title within a variation is only a part of them. The time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

NAME: Final = r"[A-Za-z][A-Za-z0-9_.-]*"
"""Regular expression for the name of a tag."""
MARK: Final = r"[!?]{1,3}"
"""Regular expression for an annotator's mark after a move."""
NEVER: Final = r"(?!)"

_TAG: Final = re.compile(rf'\[[ \t]*({NAME})\s+"((?:[^"\\]|\\.)*)"\s*\]', re.DOTALL)
_LINE_TAG: Final = re.compile(rf'#[ \t]*\[[ \t]*({NAME})[ \t]+"((?:[^"\\]|\\.)*)"[ \t]*\][ \t]*')
COLON_TAG: Final = re.compile(r"\s*([A-Za-z][A-Za-z-]*):(.*)", re.ASCII | re.DOTALL)
_ENDING: Final = re.compile(
    r"(?:[^\W\d_]{1,20}[ \t]{1,4})?"
    r"(?:resigns|resigned|resign|wins|won|loses|lost|abandonne|gagne|perd)\b[.!]*|---(?!\S)",
    re.IGNORECASE,
)
_BLANK: Final = re.compile(r"(?:[^\S\r\n]|\|)+")
_NEWLINE: Final = re.compile(r"\r\n?|\n")
_LINE: Final = re.compile(r"[^\r\n]*")
_DIGITS: Final = re.compile(r"[0-9]+")
_RESULTS: Final = {"1/2": "1/2-1/2", "½-½": "1/2-1/2", "½": "1/2-1/2"}


class TokenKind(Enum):
    TITLE = "a line that may be the title of a game"
    PROSE = "a line of a sentence"
    HEADING = "column titles, a ruled line: nothing to read"
    TAG = "a tag: its name, and its value"
    SETUP = "what stands before the moves in this notation alone"
    COMMENT = "a comment, without its brackets"
    OPEN = "the beginning of a variation"
    CLOSE = "the end of a variation"
    NUMBER = "the number of a move; its value is the dots"
    RESULT = "the result of a game"
    ENDING = "words that tell a result: resigns, White wins"
    MARK = "a mark of the move before it"
    SKIPPED = "a word without a meaning, such as a score"
    WORD = "a move"
    ASIDE = "a sign after which the moves, up to the next number, are not those of the game"
    AGAIN = "a sign after which all moves of the game are written once more, for machines"
    BAD = "a character that this notation does not have at this place"


class TextToken(NamedTuple):
    """A token: its kind, its text, where it begins and ends, its value, and whether it is the first in its line."""

    kind: TokenKind
    text: str
    start: int
    end: int
    value: str = ""
    is_first: bool = False

    @property
    def ordinal(self) -> int:
        """The value of a number: 0 for dots alone, -1 for a number that no game has."""
        return (int(self.text) if len(self.text) < 9 else -1) if self.text else 0

    @property
    def is_one(self) -> bool:
        """True for the number of the first move of the side that begins: `1.`, not `1...`."""
        return self.ordinal == 1 and self.value in ("", ".")


Lines: TypeAlias = Callable[[str, bool, bool], TokenKind | None]
"""A function that says what a whole line is: TITLE, PROSE, HEADING, or None if it has tokens.

Its arguments are the line, whether it begins a paragraph, and whether it is below a title.
"""


@dataclass(frozen=True)
class Grammar:
    """The differences of a notation; all patterns are regular expressions without groups.

    `comment` are the brackets of comments, `line_comment` is the sign of comments to the end of the line; with
    `has_line_tags` such comments may hold tags, `# [Name "value"]`. `colon_tags` are the names of tags of the form
    `[name:value]`. `word` is a move without its mark, `skipped` a word without a meaning, such as a score. `bare` is
    the number of a move without dots; with `has_rows` it stands only at the start of a line. `log` begins the log of a
    program, which fills the rest of the text. `hint` tells how moves are written.
    """

    hint: str
    comment: str = "{}"
    line_comment: str = ";"
    has_line_tags: bool = False
    colon_tags: frozenset[str] = frozenset()
    word: str = r"[^\s{}\[\]();|!?$]+(?:[!?]+[^\s{}\[\]();|!?$]+)*"
    skipped: str = NEVER
    bare: str = r"[0-9]{1,6}(?=[\s|]|$)"
    has_rows: bool = False
    has_results: bool = True
    setup: str = NEVER
    aside: str = NEVER
    again: str = NEVER
    log: str = NEVER

    @cached_property
    def scanner(self) -> re.Pattern[str]:
        """The pattern of a token that begins neither a comment nor a tag."""
        results = r"1-0|0-1|1/2-1/2|½-½|1/2|½|\*" if self.has_results else NEVER
        return re.compile(
            rf"""(?P<SETUP>{self.setup})
              | (?P<AGAIN>{self.again})
              | (?P<ASIDE>{self.aside})
              | (?P<RESULT>{results})(?=[\s{{}}\[\]();|,]|$)
              | (?P<NUMBER>{self.bare}|[0-9]{{1,9}}(?:\.\)|\.+|…)|[0-9]{{1,9}}:(?=\s)|[0-9]{{1,3}}\)|\.{{2,}}|…)
              | (?P<MARK>\$[0-9]{{1,3}}|{MARK})
              | (?P<SKIPPED>{self.skipped})(?=[\s{{}}\[\]();|!?]|$)
              | (?P<WORD>{self.word})
              | (?P<OPEN>\()
              | (?P<CLOSE>\))
            """,
            re.VERBOSE,
        )

    @cached_property
    def log_start(self) -> re.Pattern[str]:
        """The pattern of `log`."""
        return re.compile(self.log)


def tokens(text: str, grammar: Grammar, lines: Lines) -> Iterator[TextToken]:
    return _Tokenizer(text, grammar, lines).run()


class _Tokenizer:
    """The place of `tokens` in a text, and what is above the current line."""

    def __init__(self, text: str, grammar: Grammar, lines: Lines) -> None:
        self.text, self.grammar, self.lines = text, grammar, lines
        self.depth = 0
        self.is_first, self.is_free, self.is_below_title, self.has_moves = True, True, False, False
        # Where there is no further closing bracket, the end of a comment must not be searched at each opening one.
        self.last_closing = text.rfind(grammar.comment[1:]) if grammar.comment else -1

    def run(self) -> Iterator[TextToken]:
        text, index, is_blank = self.text, 0, True
        while index < len(text):
            if newline := _NEWLINE.match(text, index):
                self.is_free, self.is_below_title = self.is_free or is_blank, self.is_below_title and not is_blank
                self.is_first, is_blank, index = True, True, newline.end()
                continue
            if self.is_first and self.depth == 0:
                if self.grammar.log_start.match(text, index):
                    return
                line = self._whole_line(index)
                if line is not None:
                    index, is_blank = line.end, False
                    if line.kind is not TokenKind.HEADING:
                        yield line
                    continue
            if blank := _BLANK.match(text, index):
                index = blank.end()
                # The part of a line after its indentation may be a title, that after `|` only a cell.
                self.is_first = self.is_first and "|" not in blank[0]
                continue
            token = self._token(index, is_blank)
            self.is_first = self.is_free = self.is_below_title = is_blank = False
            index = token.end
            yield token

    def _whole_line(self, index: int) -> TextToken | None:
        """Return the token of a line that is one; None for a line of several tokens."""
        line = _LINE.match(self.text, index)
        assert line is not None
        begins = line[0].lstrip()[:1]
        if begins in self.grammar.comment[:1] + self.grammar.line_comment + "[(" and begins:
            self.is_first = False
            return None
        kind = self.lines(line[0], self.is_free, self.is_below_title)
        self.is_first = False
        if kind is None:
            return None
        self.is_free, self.is_below_title = True, kind is not TokenKind.HEADING
        return TextToken(kind, line[0].strip(), index, line.end(), is_first=True)

    def _token(self, index: int, is_first: bool) -> TextToken:
        text, grammar, sign = self.text, self.grammar, self.text[index]
        if sign == grammar.comment[:1] and index < self.last_closing:
            end = text.index(grammar.comment[1], index)
            return self._comment(text[index + 1 : end], index, end + 1, is_first)
        if sign == grammar.line_comment and (not grammar.has_line_tags or text[index - 1 : index] in " \t\r\n|()"):
            return self._line_comment(index, is_first)
        if sign == "[" and self.depth == 0 and (tag := _TAG.match(text, index)):
            self.has_moves = False
            return TextToken(TokenKind.TAG, tag[1], index, tag.end(), unescaped_tag(tag[2]), is_first)
        match = grammar.scanner.match(text, index)
        if match is None or match.end() == index:
            return TextToken(TokenKind.BAD, sign, index, index + 1, is_first=is_first)
        return self._scanned(match, is_first)

    def _comment(self, said: str, index: int, end: int, is_first: bool) -> TextToken:
        names = self.grammar.colon_tags
        if names and self.depth == 0 and (tag := COLON_TAG.fullmatch(said)):
            # After the moves only the known tags begin the next game: people write [Note: …] as a comment.
            if not self.has_moves or (is_first and tag[1].lower() in names):
                self.has_moves = False
                return TextToken(TokenKind.TAG, tag[1].lower(), index, end, tag[2], is_first)
        return TextToken(TokenKind.COMMENT, said, index, end, is_first=is_first)

    def _line_comment(self, index: int, is_first: bool) -> TextToken:
        line = _LINE.match(self.text, index)
        assert line is not None
        if self.grammar.has_line_tags and self.depth == 0:
            if tag := _LINE_TAG.fullmatch(line[0]):
                return TextToken(TokenKind.TAG, tag[1], index, line.end(), unescaped_tag(tag[2]), is_first)
            if line[0].startswith("#!"):
                return TextToken(TokenKind.SETUP, line[0], index, line.end(), is_first=is_first)
        said = line[0].lstrip(self.grammar.line_comment)
        return TextToken(TokenKind.COMMENT, said, index, line.end(), is_first=is_first)

    def _scanned(self, match: re.Match[str], is_first: bool) -> TextToken:
        kind, said, index, end = TokenKind[str(match.lastgroup)], match[0], match.start(), match.end()
        if kind is TokenKind.NUMBER:
            digits = _DIGITS.search(said)
            number = digits[0] if digits else ""
            dots = said.replace(number, "", 1)
            if dots == ")" and self.depth:
                end = index + len(number)
            elif dots or is_first or not self.grammar.has_rows:
                return TextToken(kind, number, index, end, dots.strip("):") or ("." if dots else ""), is_first)
            kind, said = TokenKind.WORD, number
        if kind is TokenKind.WORD and self.depth == 0:
            self.has_moves = True
            if ending := _ENDING.match(self.text, index):
                return TextToken(TokenKind.ENDING, ending[0], index, ending.end(), is_first=is_first)
        if kind is TokenKind.RESULT:
            said = _RESULTS.get(said, said)
        self.depth = max(0, self.depth + (kind is TokenKind.OPEN) - (kind is TokenKind.CLOSE))
        return TextToken(kind, said, index, end, is_first=is_first)


# What a notation cannot hold within a comment or a tag is written as a character reference: &#125; for }.

_REFERENCE: Final = re.compile(r"&#([0-9]{1,7});")
_UNSAFE: Final = r"&(?=#[0-9]{1,7};)|[\x00-\x1f\x7f-\x9f\u2028\u2029]"
_IN_TAGS: Final = re.compile(_UNSAFE)
_IN_COMMENTS: Final = re.compile(rf"{_UNSAFE}|[^\S ]|(?<= ) |\A | \Z")


def _referred(match: re.Match[str]) -> str:
    return "".join(f"&#{ord(sign)};" for sign in match[0])


def _meant(match: re.Match[str]) -> str:
    code = int(match[1])
    return match[0] if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)


def escaped(comment: str, brackets: str = "") -> str:
    """Return a comment as it is written on one line: `&#N;` stands for brackets, line ends and control characters."""
    comment = _IN_COMMENTS.sub(_referred, comment)
    for sign in brackets:
        comment = comment.replace(sign, f"&#{ord(sign)};")
    return comment


def folded(comment: str) -> str:
    """Return a comment as it was before `escaped`, its lines joined."""
    comment = " ".join(comment.split())
    return _REFERENCE.sub(_meant, comment) if "&#" in comment else comment


def escaped_tag(value: str) -> str:
    """Return the value of a tag with quotes, backslashes and control characters escaped."""
    return _IN_TAGS.sub(_referred, value).replace("\\", "\\\\").replace('"', '\\"')


def unescaped_tag(quoted: str) -> str:
    value = re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
    return _REFERENCE.sub(_meant, value) if "&#" in value else value
