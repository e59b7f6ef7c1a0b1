"""What notations of whole games share: tags as `[Rule.goal "four"]`, a game while it is read, moves on the board.

Where tags may stand, which of them are known and what else is a game's text is for each notation to say.
"""

from __future__ import annotations

import re
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
    if move not in buffer[: kernel.legal(state, config, buffer)]:
        return None
    after = np.empty_like(state)
    kernel.play(state, config, move, after)
    return after


@dataclass
class Draft:
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
        return GameText(tuple(moves), self.variant, self.options, self.position, self.tags, self.result)
