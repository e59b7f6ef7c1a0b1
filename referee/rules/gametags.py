"""Elements of all notations of whole games: tags such as `[Rule.goal "four"]`, marks and comments of moves, and the
draft of a game while it is read.

Each notation decides where tags may occur, which ones it knows and what else a game's text has.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import GameText, Rules, Ruleset, State, Value

NAME: Final = r"[A-Za-z][A-Za-z0-9_.-]*"
"""Regular expression for the name of a tag."""
RULE: Final = "Rule."
"""Prefix of tags for rule options."""
RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
"""The first side won, the second side won, a draw, unknown or unfinished."""


MARK: Final = r"[!?]{1,3}"
"""Regular expression for an annotator's mark after a move."""
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


def split_mark(word: str) -> tuple[str, str]:
    """Split a move word into the move and its mark."""
    rest = word.rstrip("!?")
    return rest, word[len(rest) :]


def unescape(quoted: str) -> str:
    """Return the value of a tag from its quoted text, in which a backslash escapes the next character."""
    return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)


def write_tag(name: str, value: str) -> str:
    """Return `[name "value"]` with quotes and backslashes in the value escaped; name and line ends stay unchanged."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def placed(error: ParseError, text: str, index: int) -> ParseError:
    """Convert an error in a part of `text` that begins at `index` to an error in the whole text."""
    return ParseError(error.problem, text=text, index=index + error.index, hint=error.hint)


def step(ruleset: Ruleset, state: State, move: int) -> State | None:
    """Return the position after a move, or None if the board does not allow it. Limits and repetition are ignored."""
    kernel, config = ruleset.rules.kernel, ruleset.config
    buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    count = kernel.legal(state, config, buffer)
    moves = memoryview(buffer)  # type: ignore[arg-type]
    place = bisect_left(moves, move, 0, count)
    if place == count or moves[place] != move:
        return None
    after = np.empty_like(state)
    kernel.play(state, config, move, after)
    return after


def braced(comment: str) -> str:
    """Return a comment in braces, with inner braces as parentheses; an empty comment gives an empty text."""
    return "{" + comment.replace("{", "(").replace("}", ")") + "}" if comment else ""


def remarked(word: str, game: GameText, ply: int) -> str:
    """Return `word`, the text of the move at `ply`, followed by its mark and, in braces, its comment."""
    return " ".join(part for part in (word + game.marks.get(ply, ""), braced(game.comments.get(ply, ""))) if part)


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

    def comment(self, ply: int, text: str) -> None:
        """Append a comment to those of a ply, on one line."""
        words = " ".join([self.comments.get(ply, ""), *text.split()]).strip()
        if words:
            self.comments[ply] = words


@dataclass
class Draft(Remarks):
    """The tags and annotations of a game read so far; notations extend it with their own state."""

    variant: str = ""
    options: dict[str, Value] = field(default_factory=dict)
    position: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    result: str = "*"

    def take_rule(self, name: str, value: str, rules: Rules) -> None:
        """Store the option of a tag `Rule.<option>`. Raise UnknownNameError for an unknown option or value."""
        option = rules.option(name.removeprefix(RULE))
        self.options[option.name] = option.read(value)

    def game(self, moves: Iterable[str]) -> GameText:
        """Return the game with these canonical moves."""
        return GameText(
            tuple(moves),
            self.variant,
            self.options,
            self.position,
            self.tags,
            self.result,
            self.marks,
            self.comments,
        )
