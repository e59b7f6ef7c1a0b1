"""What notations of whole games share: tags as `[Rule.goal "four"]`, marks, comments, a game while it is read.

Where tags may stand, which of them are known and what else is a game's text is for each notation to say.
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
"""What the name of a tag looks like."""
RULE: Final = "Rule."
"""What the name of a tag for a rule option begins with."""
RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
"""The first side won, the second won, a draw, unknown or unfinished."""


MARK: Final = r"[!?]{1,3}"
"""What an annotator's mark looks like behind a move."""
MARKS: Final = ("!!", "??", "!?", "?!", "!", "?")
"""Brilliant, blunder, interesting, dubious, good, mistake."""
_NUMBERED_MARKS: Final = {"$1": "!", "$2": "?", "$3": "!!", "$4": "??", "$5": "!?", "$6": "?!"}
"""As numbers, after the custom of chess; others say nothing of a move."""
_DASHES: Final = str.maketrans(
    {"\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u00d7": "x"}
)


def plain(word: str) -> str:
    """A word with the dashes and crosses of typesetters as those of the keyboard; none of its letters moves."""
    return word.translate(_DASHES)


def split_mark(word: str) -> tuple[str, str]:
    """A move word without its mark, and the mark."""
    rest = word.rstrip("!?")
    return rest, word[len(rest) :]


def unescape(quoted: str) -> str:
    """The value of a tag from what stands between its quotes: a backslash stands for the character after it."""
    return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)


def write_tag(name: str, value: str) -> str:
    """`[name "value"]`, with quotes and backslashes escaped; the name and line ends in the value stay as they are."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def placed(error: ParseError, text: str, index: int) -> ParseError:
    """The error of a piece of `text` that begins at `index`, as an error of the whole."""
    return ParseError(error.problem, text=text, index=index + error.index, hint=error.hint)


def step(ruleset: Ruleset, state: State, move: int) -> State | None:
    """The position after a move; None if it is not legal on the board. Limits and repetition are not asked."""
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
    """A comment in braces, without any in it; nothing for none."""
    return "{" + comment.replace("{", "(").replace("}", ")") + "}" if comment else ""


def remarked(word: str, game: GameText, ply: int) -> str:
    """A move with its mark and, in braces, its comment."""
    return " ".join(part for part in (word + game.marks.get(ply, ""), braced(game.comments.get(ply, ""))) if part)


@dataclass(kw_only=True)
class Remarks:
    """What annotators said of a game that is being read, by ply; see `GameText`."""

    marks: dict[int, str] = field(default_factory=dict)
    comments: dict[int, str] = field(default_factory=dict)

    def mark(self, ply: int, word: str) -> None:
        """Keep a mark (`!?`, `$5`) of a ply; a number that says nothing of a move is left out, and none is none."""
        word = _NUMBERED_MARKS.get(word, word)[:2]
        if word in MARKS and ply:
            self.marks[ply] = word

    def comment(self, ply: int, text: str) -> None:
        """Keep a comment on a ply, behind others that it has, on one line."""
        words = " ".join([self.comments.get(ply, ""), *text.split()]).strip()
        if words:
            self.comments[ply] = words


@dataclass
class Draft(Remarks):
    """What the tags of a game have said so far; a notation adds what it must remember besides."""

    variant: str = ""
    options: dict[str, Value] = field(default_factory=dict)
    position: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    result: str = "*"

    def take_rule(self, name: str, value: str, rules: Rules) -> None:
        """Keep the option of a tag `Rule.<option>`. Raises UnknownNameError for an option or value there is not."""
        option = rules.option(name.removeprefix(RULE))
        self.options[option.name] = option.read(value)

    def game(self, moves: Iterable[str]) -> GameText:
        """The game with these canonical moves."""
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
