"""Elements of all notations of whole games: tags such as `[Rule.goal "four"]`, marks and comments of moves, and the
draft of a game while it is read.

Each notation decides where tags may occur, which ones it knows and what else a game's text has.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from referee.rules.core import ParseError, value_text
from referee.rules.rules import GameText, Rules, Value
from referee.rules.tokens import NAME, TextToken, escaped, escaped_tag, folded

RULE: Final = "Rule."
"""Prefix of tags for rule options."""
FINAL: Final = "FinalPosition"
"""The tag with which the notation `reversible` begins: no other notation can read such a game."""
OWN_TAGS: Final = frozenset({"variant", "position", "fen", "result", FINAL.lower()})
"""Tags that have a meaning in every notation, in lower case."""
RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
"""The first side won, the second side won, a draw, unknown or unfinished."""

WIDTH: Final = 100
"""Maximum line length of the running text."""
MARKS: Final = ("!!", "??", "!?", "?!", "!", "?")
"""Brilliant, blunder, interesting, dubious, good, mistake."""
_NUMBERED_MARKS: Final = {"$1": "!", "$2": "?", "$3": "!!", "$4": "??", "$5": "!?", "$6": "?!"}
"""Numeric annotation glyphs of chess (NAG) that rate a move; all others are ignored."""
_DASHES: Final = str.maketrans(
    {"\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u00d7": "x"}
)


def plain(word: str) -> str:
    """Replace typographic dashes and crosses by `-` and `x`; the length stays the same."""
    return word.translate(_DASHES)


def write_tag(name: str, value: str) -> str:
    """Return `[name "value"]` with quotes, backslashes and control characters in the value escaped."""
    return f'[{name} "{escaped_tag(value)}"]'


def tag_lines(game: GameText, *, own: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of a game's tags, and of those of the tags `own` of its notation that have a value.

    Raise ValueError for a tag of the game that has a meaning of its own.
    """
    return [write_tag(name, value) for name, value in (*other_tags(game), *(tag for tag in own if tag[1]))]


def other_tags(game: GameText) -> list[tuple[str, str]]:
    """Return the tags that only describe a game, with names that can be written. Raise ValueError as `tag_lines`."""
    tags = []
    for name, value in game.tags.items():
        if name.lower() in OWN_TAGS or name.startswith(RULE):
            raise ValueError(f'invalid tag name "{name}": it has a meaning of its own')
        written = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        tags.append((written if re.fullmatch(NAME, written) else f"Tag_{written}", value))
    return tags


def rule_tags(options: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Return a tag `Rule.NAME` with its value for each option."""
    return [(RULE + name, value_text(value)) for name, value in options.items()]


def placed(error: ParseError, text: str, index: int) -> ParseError:
    """Convert an error in a part of `text` that begins at `index` to an error in the whole text."""
    return ParseError(error.problem, text=text, index=index + error.index, hint=error.hint)


def braced(comment: str) -> str:
    """Return a comment in braces, inner braces escaped; an empty comment gives an empty text."""
    return "{" + escaped(comment, "{}") + "}" if comment else ""


def annotated(moves: Sequence[str], marks: Mapping[int, str], remarks: Mapping[int, str]) -> list[str]:
    """Return the texts of moves, each with its mark and what follows it."""
    return [
        f"{move}{marks.get(ply, '')} {remarks[ply]}" if ply in remarks else move + marks.get(ply, "")
        for ply, move in enumerate(moves, 1)
    ]


def wrapped(words: Iterable[str]) -> list[str]:
    """Return the lines of words, broken at blanks."""
    text = " ".join(word for word in words if word)
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


@dataclass(kw_only=True)
class Remarks:
    """Annotations of a game that is being read, by ply; see `GameText`."""

    marks: dict[int, str] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)

    def mark(self, ply: int, word: str) -> None:
        """Store the mark (`!?`, `$5`) of a ply. Marks that do not rate a move are ignored."""
        word = _NUMBERED_MARKS.get(word, word)[:2]
        if word in MARKS and ply:
            self.marks[ply] = word

    def take_marks(self, marks: Mapping[int, Iterable[TextToken]]) -> None:
        """Store the marks of several plies."""
        for ply, signs in marks.items():
            for sign in signs:
                self.mark(ply, sign.text)

    def comment(self, ply: int, text: str) -> None:
        """Append a comment, as it is written, to those of a ply."""
        if said := folded(text):
            before = self.comments.get(ply, "")
            self.comments[ply] = f"{before} {said}" if before else said


@dataclass
class Draft(Remarks):
    """The tags and annotations of a game read so far; notations extend it with their own state."""

    variant: str = ""
    options: dict[str, Value] = field(default_factory=dict)
    position: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    result: str = "*"
    unread: int = 0
    """Number of variations that became comments."""

    def take_rule(self, name: str, value: str, rules: Rules) -> None:
        """Store the option of a tag `Rule.<option>`. Raise UnknownNameError for an unknown option or value."""
        option = rules.option(name.removeprefix(RULE))
        self.options[option.name] = option.read(value)

    def game(self, moves: Iterable[str]) -> GameText:
        return GameText(
            tuple(moves),
            self.variant,
            self.options,
            self.position,
            self.tags,
            self.result,
            self.marks,
            self.comments,
            unread=self.unread,
        )
