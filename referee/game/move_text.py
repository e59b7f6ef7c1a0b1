"""Tables of canonical move texts and their codes. No code depends on a position, so each text is parsed once."""

from __future__ import annotations

from functools import cache

from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.history import LineOfPlay

_MAX_TEXTS = 500_000


class MoveTexts:
    """The move texts of one family: the table `codes` maps texts to codes, `names` maps codes to texts.

    The number of different moves bounds both tables. Callers look in the tables first; `read` and `write` add to them.
    """

    def __init__(self, family: str) -> None:
        self.codes: dict[bytes, int] = {}
        self.names: dict[int, str] = {}
        self._notation = load(family).notation

    def code(self, text: str | None, line: LineOfPlay) -> int | None:
        """Return the code of a text: from the table, or by `read`."""
        found = self.codes.get(text.encode()) if text else None
        return self.read(text, line) if found is None else found

    def read(self, text: str | None, line: LineOfPlay) -> int | None:
        """Return the code of a bot's move in this position; None if the text is not a move."""
        try:
            code = self._notation.read_move(text or "", line.state, line.ruleset.config)
        except ParseError:
            return None
        if text == self._notation.write_move(code):
            if len(self.codes) > _MAX_TEXTS:
                self.codes.clear()
            self.codes[text.encode()] = code
        return code

    def write(self, code: int) -> str:
        """Return the canonical text of a code."""
        name = self.names[code] = self._notation.write_move(code)
        return name


@cache
def move_texts(family: str) -> MoveTexts:
    """Return the `MoveTexts` of a family, the same object for the whole process. Raises UnknownNameError."""
    return MoveTexts(family)
