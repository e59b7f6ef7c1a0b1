"""Lines of words in the texts of games: titles such as `Marguerite irlandaise`, which may name a variant, sentences,
and the titles of columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from referee.rules import gametable
from referee.rules.names import fold, words
from referee.rules.rules import Rules
from referee.rules.tokens import Lines, TokenKind

TITLE: Final = "Title"
"""Tag for the title of a game; several lines are joined."""
NUMBER: Final = "Number"
"""Tag for the number of a game in its collection, which titles may contain too."""
MAX_TITLE_LENGTH: Final = 200

_CELL: Final = re.compile(r"(?<![^\W_A-Z])[A-La-l](?:1[0-2]|[1-9])(?![0-9])")
_LABEL: Final = re.compile(r"[A-Ga-g][1-9]{1,2}\s*:")
_MOVE: Final = re.compile(r"[A-La-l](?:1[0-2]|[1-9])[-–—x:=.!]*[A-La-l](?:1[0-2]|[1-9])|[A-Za-z0-9]/[A-Za-z0-9]+/")
_PLAIN_WORD: Final = re.compile(r"[\"'«“‘(]*[^\W\d_]+(?:['’-][^\W\d_]+)*[\"'»”’).,:;!?]*")
_RULED_SIGNS: Final = 4
"""Signs of a ruled line, at least: `---` is a move in one notation."""
_PART: Final = re.compile(r"\s[-–—]\s|[,;:()|]")
_NUMBER: Final = re.compile(r"(?:\b(?:partie|game|no|nr|n)\b\W*|(?<!\w)#\s*|№\s*)([0-9]{1,9})\b", re.IGNORECASE)
_LEADING: Final = re.compile(r"(?:(?:n[or]?\s*[°º.]?|#|№)\s*)?([0-9]{1,9})(?!\w)[-–—:.,)\s]*", re.IGNORECASE)


def looks_like_title(line: str) -> bool:
    """Return whether a line consists of words: it starts with a capital and has no cell name, tag, comment or `|`."""
    words_of_it = line.strip().lstrip("«»“”\"' ")
    if not words_of_it[:1].isupper() or len(words_of_it) > MAX_TITLE_LENGTH or _LABEL.match(words_of_it):
        return False
    return sum(map(str.isalpha, words_of_it)) > 2 and not re.search(r"[{}\[\];|]", line) and not _CELL.search(line)


def variant_in(title: str, rules: Rules) -> str:
    """Return the variant that a title names, or "".

    The variant's name must be the title or one of its parts; a name of several words may be anywhere in the title.
    """
    for part in (title, *_PART.split(title)):
        if named := rules.variant_named(part):
            return named
    said = words(title)
    for variant in rules.variants:
        for name in (variant.name, *rules.words.variants.get(variant.name, ())):
            wanted = words(name)
            starts = range(len(said) - len(wanted) + 1) if len(wanted) > 1 else ()
            if any(said[start : start + len(wanted)] == wanted for start in starts):
                return variant.name
    return ""


def line_kinds(rules: Rules, moves: tuple[str, ...] = ()) -> Lines:
    """Return the function that says what a line outside brackets is.

    `moves` are words of the notation, such as `pass`, that are no title even alone in a line.
    """

    def kind(line: str, is_free: bool, is_below_title: bool) -> TokenKind | None:
        if not line.strip():
            return None
        if gametable.is_ruled(line) and sum(not sign.isspace() for sign in line) >= _RULED_SIGNS:
            return TokenKind.HEADING
        if gametable.is_heading(line, rules) or ("|" in line and _is_row_of_names(line, moves)):
            return TokenKind.HEADING
        if (is_below_title and is_number(line)) or _is_title(line, rules, moves, is_free=is_free):
            return TokenKind.TITLE
        return TokenKind.PROSE if is_free and is_prose(line, moves) else None

    return kind


def _is_row_of_names(line: str, moves: tuple[str, ...]) -> bool:
    """Return whether the cells of a line are words, as the names of the players are."""
    cells = [cell.strip() for cell in line.split("|") if cell.strip()]
    are_words = all(_PLAIN_WORD.match(cell) and cell.lower() not in moves for cell in cells)
    return len(cells) > 1 and are_words and not _CELL.search(line)


def is_prose(line: str, moves: tuple[str, ...] = ()) -> bool:
    """Return whether a line consists of words, none of them a move."""
    given = line.split()
    plain = sum(1 for word in given if _PLAIN_WORD.fullmatch(word) and word.lower() not in moves)
    return plain >= 3 and 2 * plain >= len(given) and not re.search(r"[{}\[\]|]", line) and not _MOVE.search(line)


def _is_title(line: str, rules: Rules, moves: tuple[str, ...], *, is_free: bool) -> bool:
    """Return whether a line outside brackets is a title: it names a variant or, if `is_free`, looks like a title."""
    if len(line) > MAX_TITLE_LENGTH:
        return False
    line = line.strip()
    folded = fold(line)
    if not folded or folded in moves or all(fold(word) in rules.folded_sides for word in line.split()):
        return False
    numbered = _LEADING.match(line)
    rest = line[numbered.end() :] if numbered else line
    if rules.variant_named(line) or rules.variant_named(rest) or (looks_like_title(rest) and variant_in(rest, rules)):
        return True
    return is_free and looks_like_title(line)


def is_number(line: str) -> bool:
    """Return whether a line is the number of a game and nothing else. 1 is excluded: it may number the first move."""
    found = _LEADING.fullmatch(line.strip())
    return found is not None and int(found[1]) != 1


def number_in(titles: Sequence[str]) -> str:
    """Return the number of a game in its collection that its titles state, or ""."""
    if number := _NUMBER.search(" / ".join(titles)):
        return number[1]
    leading = next(filter(None, map(_LEADING.match, titles)), None)
    return leading[1] if leading else ""
