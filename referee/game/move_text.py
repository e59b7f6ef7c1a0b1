"""Canonical move texts met so far and their codes: they never depend on the position, so each is read once."""

from __future__ import annotations

from functools import cache

from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.history import LineOfPlay

_MOST_TEXTS = 500_000


class MoveTexts:
    """The texts of one family, both ways: `codes` by text as the bots send it, `names` by code.

    Bounded by the moves there are on a board. Look into the tables first; `read` and `write` fill them.
    """

    def __init__(self, family: str) -> None:
        self.codes: dict[bytes, int] = {}
        self.names: dict[int, str] = {}
        self._notation = load(family).notation

    def code(self, text: str | None, line: LineOfPlay) -> int | None:
        """The same as `read`, from the table where it is there."""
        found = self.codes.get(text.encode()) if text else None
        return self.read(text, line) if found is None else found

    def read(self, text: str | None, line: LineOfPlay) -> int | None:
        """The code of a move as a bot wrote it, in this position; None for what is no move."""
        try:
            code = self._notation.read_move(text or "", line.state, line.ruleset.config)
        except ParseError:
            return None
        if text == self._notation.write_move(code):
            if len(self.codes) > _MOST_TEXTS:
                self.codes.clear()
            self.codes[text.encode()] = code
        return code

    def write(self, code: int) -> str:
        """The canonical text of a code."""
        name = self.names[code] = self._notation.write_move(code)
        return name


@cache
def move_texts(family: str) -> MoveTexts:
    """The texts this process has met of a family. Raises UnknownNameError."""
    return MoveTexts(family)
