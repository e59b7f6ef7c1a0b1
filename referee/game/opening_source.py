"""What is written behind a book of openings: `FILE;order=random;plies=8`. Nothing is read here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

Order = Literal["sequential", "random"]
_HINT = "write FILE;order=sequential or random;plies=N"


@dataclass(frozen=True, slots=True)
class OpeningSource:
    """A file or another word for openings, the order of a file's lines, and how many plies of each are played."""

    place: str
    order: Order = "sequential"
    plies: int | None = None


def read_source(text: str) -> OpeningSource:
    """Read the settings behind a source. Raises ValueError naming the one that is wrong."""
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
            raise ValueError(f"--openings: {part.strip()!r} is no setting; {_HINT}")
    if parts and not os.path.isfile(place):
        raise ValueError(f"--openings: order and plies are of a file, and there is no file {place!r}; {_HINT}")
    return OpeningSource(place, order, plies)
