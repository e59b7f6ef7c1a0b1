"""A condition of a problem: a limit on a count over all moves of the winning side, such as the marbles moved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.rules import Counters, Ruleset

MAX_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class Condition:
    """The limit `most` on a counter of the family (`referee.rules.rules.Counters`), written `marbles<=7`."""

    counter: str
    most: int

    @classmethod
    def read(cls, text: str) -> Condition:
        """Parse a condition. Raise ParseError."""
        found = re.fullmatch(r"\s*([a-z_]+)\s*<=\s*([0-9]{1,5})\s*", text)
        if found is None or int(found[2]) > MAX_COUNT:
            raise ParseError(
                "invalid condition", text=text, hint=f"expected COUNTER<=NUMBER, at most {MAX_COUNT}, as in marbles<=7"
            )
        return cls(found[1], int(found[2]))

    def index(self, ruleset: Ruleset) -> int:
        """Return the index of the counter in `COUNTERS` of the family's kernel. Raise UnknownNameError."""
        rules = ruleset.rules
        known = cast(Counters, rules.kernel).COUNTERS if hasattr(rules.kernel, "COUNTERS") else ()
        if self.counter not in known:
            raise UnknownNameError(f"condition of {rules.family}", self.counter, tuple(known))
        return known.index(self.counter)

    def __str__(self) -> str:
        return f"{self.counter}<={self.most}"
