"""The settings that follow an opening book's path: `FILE;order=random;plies=8`. The book itself is not read here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

Order = Literal["sequential", "random"]
_HINT = "write FILE;order=sequential or random;plies=N"


@dataclass(frozen=True, slots=True)
class OpeningSource:
    """A book's path (or `auto`, `random:4` …), the order of its lines, and the number of plies used of each line."""

    place: str
    order: Order = "sequential"
    plies: int | None = None


def read_source(text: str) -> OpeningSource:
    """Parse an opening source. Raises ValueError naming the invalid setting."""
    if os.path.exists(text):
        return OpeningSource(text)
    place, *parts = text.split(";")
    order: Order = "sequential"
    plies: int | None = None
    for part in parts:
        name, _, value = part.strip().partition("=")
        if name == "order" and value in ("sequential", "random"):
            order = "random" if value == "random" else "sequential"
        elif name == "plies" and value.isdecimal() and 0 < int(value) <= 999:
            plies = int(value)
        else:
            raise ValueError(f"--openings: unknown setting {part.strip()!r}; {_HINT}")
    if parts and not os.path.isfile(place):
        raise ValueError(f"--openings: order and plies need a file, and {place!r} does not exist; {_HINT}")
    return OpeningSource(place, order, plies)
