"""Names as people type them: case, accents and hyphens do not matter, and a near name is one slip of the pen away.

Refuses to know what the names stand for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

NEAR: Final = 3
"""Names suggested at most."""
LONGEST: Final = 80
"""A longer text is no slip of any name."""

_LIGATURES: Final = str.maketrans({"œ": "oe", "æ": "ae", "ß": "ss"})
_WORD: Final = re.compile(r"[^\W_]+")


def words(name: str) -> tuple[str, ...]:
    """The words of a name without accents and case: `Étoile de Noël` is etoile, de, noel."""
    if name.isascii():
        return tuple(_WORD.findall(name.lower()))
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_LIGATURES))
    return tuple(_WORD.findall("".join(sign for sign in plain if not unicodedata.combining(sign))))


@lru_cache(4096)
def fold(name: str) -> str:
    """What two spellings of one name share."""
    return "".join(words(name))


def distance(one: str, other: str) -> int:
    """Letters added, left out, changed, or exchanged with their neighbour, between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for line, letter in enumerate(one, 1):
        earlier, before, row = before, row, [line]
        for column, sign in enumerate(other, 1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != sign))
            if line > 1 and column > 1 and (letter, one[line - 2]) == (other[column - 2], sign):
                cost = min(cost, earlier[column - 2] + 1)
            row.append(cost)
    return row[-1]


def _slips(length: int) -> int:
    """How many slips a word of so many letters may have."""
    return 0 if length < 3 else 1 if length < 6 else 2


def _apart(given: tuple[str, ...], name: tuple[str, ...]) -> int | None:
    """How far a text is from a name, word by word; None where it can hardly have been meant.

    A name of which only some words were typed is 10 away; words that differ in a digit are different words.
    """
    if len(given) == len(name):
        total = 0
        for one, other in zip(given, name, strict=True):
            slips = distance(one, other)
            has_digits = any(sign.isdigit() for sign in one + other)
            if slips > (0 if has_digits else _slips(max(len(one), len(other)))):
                break
            total += slips
        else:
            return total
    slips = distance("".join(given), "".join(name))
    if slips <= 1 and len("".join(name)) > 3 and not any(sign.isdigit() for sign in "".join(given + name)):
        return slips
    if given and len("".join(given)) > 2 and set(given) < set(name):
        return 10
    return None


def nearest(given: str, known: Iterable[str], others: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """The names that a text may have been meant as, the nearest first; none where there is no telling.

    `others` are further names of the known ones. Part of a name is enough where it belongs to few names.
    """
    if len(given) > LONGEST:
        return ()
    typed, found = words(given), []
    for name in known:
        spellings = (name, *(others or {}).get(name, ()))
        ways = [far for one in spellings if (far := _apart(typed, words(one))) is not None]
        if ways:
            found.append((min(ways), name))
    slips = [name for far, name in sorted(found, key=lambda each: each[0]) if far < 10]
    parts = [name for far, name in found if far == 10]
    return tuple((slips or (parts if len(parts) <= NEAR else []))[:NEAR])
