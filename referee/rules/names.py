"""Name matching: case, accents and hyphens do not matter, and typos get suggestions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

MAX_SUGGESTIONS: Final = 3
"""Largest number of suggested names."""
MAX_LENGTH: Final = 80
"""Longer texts get no suggestions."""

_LIGATURES: Final = str.maketrans({"œ": "oe", "æ": "ae", "ß": "ss"})
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Words:
    """Further names, in French or of other communities, in addition to those in `Rules`.

    `variants` are keyed by variant name, `terms` (pieces, marks, kinds of moves) by the English word. Every input of a
    family, variant or side accepts these names too; case, accents and hyphens do not matter.
    """

    family: tuple[str, ...] = ()
    sides: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By language code, the translation of each English word and sentence that the family shows to people. In a
    sentence, `{}` stands for a value.
    """


def words(name: str) -> tuple[str, ...]:
    """Split a name into words without accents and case: `Étoile de Noël` gives etoile, de, noel."""
    if name.isascii():
        return tuple(_WORD.findall(name.lower()))
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_LIGATURES))
    return tuple(_WORD.findall("".join(sign for sign in plain if not unicodedata.combining(sign))))


@lru_cache(4096)
def fold(name: str) -> str:
    """Return the form that all spellings of one name share."""
    return "".join(words(name))


def distance(word: str, other: str) -> int:
    """Return the edit distance of two words: letters added, omitted, changed, or exchanged with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for line, letter in enumerate(word, 1):
        earlier, before, row = before, row, [line]
        for column, sign in enumerate(other, 1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != sign))
            if line > 1 and column > 1 and (letter, word[line - 2]) == (other[column - 2], sign):
                cost = min(cost, earlier[column - 2] + 1)
            row.append(cost)
    return row[-1]


def _max_typos(length: int) -> int:
    """Return the number of typos allowed in a word of this length."""
    return 0 if length < 3 else 1 if length < 6 else 2


def _apart(given: tuple[str, ...], name: tuple[str, ...]) -> int | None:
    """Return the number of typos between a text and a name, word by word; None if the name is not a plausible match.

    A text with only some words of the name counts as 10 typos. Words that differ in a digit are different words.
    """
    if len(given) == len(name):
        total = 0
        for word, other in zip(given, name, strict=True):
            slips = distance(word, other)
            has_digits = any(sign.isdigit() for sign in word + other)
            if slips > (0 if has_digits else _max_typos(max(len(word), len(other)))):
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
    """Return the known names that a text may stand for, the nearest first; empty if none is near.

    `others` maps known names to further names. Part of a name suffices if few names contain it.
    """
    if len(given) > MAX_LENGTH:
        return ()
    typed, ranked = words(given), []
    for name in known:
        spellings = (name, *(others or {}).get(name, ()))
        ways = [far for spelling in spellings if (far := _apart(typed, words(spelling))) is not None]
        if ways:
            ranked.append((min(ways), name))
    slips = [name for far, name in sorted(ranked, key=lambda entry: entry[0]) if far < 10]
    parts = [name for far, name in ranked if far == 10]
    return tuple((slips or (parts if len(parts) <= MAX_SUGGESTIONS else []))[:MAX_SUGGESTIONS])
