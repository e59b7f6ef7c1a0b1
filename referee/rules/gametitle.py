"""Titles above the games of a text: lines such as `Marguerite irlandaise`, which may name a variant.

`titled` extends the reader of a notation so that it accepts titled games, as web pages and files contain them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final, TypeAlias

from referee.rules import gametable
from referee.rules.core import ParseError
from referee.rules.gametags import placed, write_tag
from referee.rules.names import fold, words
from referee.rules.rules import GameText, Rules, Ruleset

Reader: TypeAlias = Callable[[str, Ruleset], Sequence[GameText]]

TITLE: Final = "Title"
"""Tag for the title of a game; several lines are joined."""
NUMBER: Final = "Number"
"""Tag for the number of a game in its collection, which titles may contain too."""
MAX_TITLE_LENGTH: Final = 200

_CELL: Final = re.compile(r"(?<![^\W_A-Z])[A-La-l](?:1[0-2]|[1-9])(?![0-9])")
_LABEL: Final = re.compile(r"[A-Ga-g][1-9]{1,2}\s*:")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
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


@dataclass
class _Section:
    """Titles and the text below them, up to the next titles: from `start` to `end` of the whole text."""

    start: int
    end: int = 0
    titles: list[str] = field(default_factory=list)


def _depths(text: str, brackets: str) -> Iterator[tuple[str, int]]:
    """Yield each line with the number of brackets open at its start."""
    depth, signs = 0, set(brackets)
    for line in text.splitlines(keepends=True):
        yield line, depth
        if not signs.isdisjoint(line):
            bare = _QUOTED.sub("", line)
            opened = sum(map(bare.count, brackets[::2])) - sum(map(bare.count, brackets[1::2]))
            depth = max(0, depth + opened)


def _without_headings(text: str, rules: Rules, brackets: str) -> str:
    """Replace column titles and the ruled lines below them by blanks; all other characters keep their place."""
    found, is_below = [], False
    for line, depth in _depths(text, brackets):
        is_below = depth == 0 and (gametable.is_heading(line, rules) or (is_below and gametable.is_ruled(line)))
        found.append(re.sub(r"[^\r\n]", " ", line) if is_below else line)
    return "".join(found)


def _sections(text: str, rules: Rules, moves: tuple[str, ...], brackets: str, *, is_table: bool) -> Iterator[_Section]:
    section, is_free, at = _Section(0), True, 0
    lines = list(_depths(text, brackets))
    for (line, depth), (below, _) in zip_longest(lines, lines[1:], fillvalue=("", 0)):
        # Column titles precede a table directly; an empty line separates other titles from it.
        is_alone = is_free and not (is_table and below.strip())
        is_below = bool(section.titles) and not text[section.start : at].strip()
        if depth == 0 and ((is_below and is_number(line)) or _is_title(line, rules, moves, is_free=is_alone)):
            if text[section.start : at].strip():
                section.end = at
                yield section
                section = _Section(at)
            section.titles.append(line.strip())
            section.start = at + len(line)
            is_free = True
        else:
            is_free = not line.strip()
        at += len(line)
    section.end = len(text)
    yield section


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


def titled(
    read: Reader,
    *,
    tag: Callable[[str], str] = lambda variant: write_tag("Variant", variant) + "\n",
    moves: tuple[str, ...] = (),
    brackets: str = "{}[]",
    is_table: bool = False,
) -> Reader:
    """Extend a reader with titles, which precede a game at the start of the text or after an empty line.

    If a title names a variant, `tag` returns the text that states it in the notation. `moves` are words of the
    notation, such as `pass`, that are not titles even alone in a line. `brackets` are the brackets within which no line
    is a title. With `is_table` the reader handles column titles itself, so an empty line must separate a title that
    names no variant from the table below it; otherwise column titles are removed. Lines of words after the last game
    become a comment on its last move.
    """

    def read_titled(text: str, ruleset: Ruleset) -> Sequence[GameText]:
        games: list[GameText] = []
        for section in _sections(text, ruleset.rules, moves, brackets, is_table=is_table):
            if not section.titles:
                games += _placed_read(read, text, section, "", ruleset)
            elif text[section.start : section.end].strip():
                games += _under_titles(read, text, section, ruleset, tag)
            elif games:
                last = len(games[-1].moves)
                said = " ".join([games[-1].comments.get(last, ""), *section.titles]).strip()
                games[-1] = replace(games[-1], comments={**games[-1].comments, last: said})
            else:
                hint = "write the moves below it"
                raise ParseError("a title without a game", text=text, index=0, hint=hint)
        return games

    def read_pasted(text: str, ruleset: Ruleset) -> Sequence[GameText]:
        try:
            return read_titled(_without_headings(text, ruleset.rules, brackets), ruleset)
        except ParseError as error:
            raise placed(error, text, 0) from None

    return read_titled if is_table else read_pasted


def _placed_read(read: Reader, text: str, section: _Section, before: str, ruleset: Ruleset) -> list[GameText]:
    """Return the games of a section, read with the text `before` put in front. Raise ParseError, located in `text`."""
    try:
        return list(read(before + text[section.start : section.end], ruleset))
    except ParseError as error:
        at = section.start + max(0, error.index - len(before))
        raise ParseError(error.problem, text=text, index=at, hint=error.hint) from None


def _under_titles(
    read: Reader, text: str, section: _Section, ruleset: Ruleset, tag: Callable[[str], str]
) -> list[GameText]:
    title = " / ".join(section.titles)
    variant = next((found for line in section.titles if (found := variant_in(line, ruleset.rules))), "")
    if variant:
        ruleset = ruleset.rules.settle(variant, ruleset.overrides)
    games = _placed_read(read, text, section, tag(variant) if variant else "", ruleset)
    if not games:
        raise ParseError("a title without a game", text=text, index=section.start, hint="write the moves below it")
    tags = dict(games[0].tags)
    tags.setdefault(TITLE, title)
    if number := _NUMBER.search(title) or next(filter(None, map(_LEADING.match, section.titles)), None):
        tags.setdefault(NUMBER, number[1])
    games[0] = replace(games[0], tags=tags)
    return [game if game.variant or not variant else replace(game, variant=variant) for game in games]
