"""Start arrays: the fixed ones, and the numbered orders of the back row."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import factorial, prod

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.rules import Value, Variant

ROWS = 10_080
"""The number of different orders of the back row's letters."""

LETTERS = "BBKMNNQR"

STANDARD = "rnbqkbnm/pppppppp/8/8/8/8/PPPPPPPP/MNBQKBNR w 0 1"
PURE: dict[str, Value] = {}
MACKAY: dict[str, Value] = {"chameleon_leap_combines": False}
CLASSICAL: dict[str, Value] = {"immobilizer": "classical", "suicide": True, "stalemate": "loss"}

SYMMETRIC = "random-symmetric"
ASYMMETRIC = "random-asymmetric"


def _orders(letters: str) -> int:
    """Return the number of different orders of these letters."""
    return factorial(len(letters)) // prod(factorial(letters.count(letter)) for letter in set(letters))


def row(index: int) -> str:
    """Return back row number `index`, 0..ROWS-1, in the alphabetical list of the different orders of `LETTERS`."""
    left, order = LETTERS, ""
    while left:
        for letter in sorted(set(left)):
            rest = left.replace(letter, "", 1)
            if index < _orders(rest):
                order, left = order + letter, rest
                break
            index -= _orders(rest)
    return order


def array(white: int, black: int) -> str:
    """Return the position with White's back row no. `white` and Black's no. `black`."""
    return f"{row(black).lower()}/pppppppp/8/8/8/8/PPPPPPPP/{row(white)} w 0 1"


VARIANTS: tuple[Variant, ...] = (
    Variant("standard", STANDARD, PURE, note="the kings face each other"),
    Variant(
        "vchess",
        "rnbkqbnm/pppppppp/8/8/8/8/PPPPPPPP/MNBQKBNR w 0 1",
        PURE,
        note="the array of vchess: half-turn symmetric, White's king on e1",
    ),
    Variant(
        "wikipedia",
        "rnbqkbnm/pppppppp/8/8/8/8/PPPPPPPP/MNBKQBNR w 0 1",
        PURE,
        note="half-turn symmetric, White's king on d1",
    ),
    Variant(SYMMETRIC, array(0, 0), PURE, note="both sides have back row number `index`"),
    Variant(ASYMMETRIC, array(0, 0), PURE, note="back rows number `index_white` and `index_black`"),
    Variant("mackay", STANDARD, MACKAY, note="standard array; a chameleon that leaps captures leapers only"),
    Variant("classical", STANDARD, CLASSICAL, note="standard array; no neutralising, suicide, stalemate loses"),
)


def _number(text: str, start: int, name: str) -> int:
    """Return the number of a back row, which begins at `start` of `name`. Raise ParseError."""
    if text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < ROWS:
        return int(text)
    raise ParseError(
        "not the number of a back row", text=name, index=start, hint=f"write a number from 0 to {ROWS - 1}"
    )


def _numbered(base: str, numbers: Mapping[str, Value]) -> Variant:
    """Return a start of a random variant by the number of its back row: one for both sides, or White's and Black's."""
    rows = [int(number) for number in numbers.values()]
    return Variant(f"{base}#{'/'.join(map(str, rows))}", array(rows[0], rows[-1]), numbers)


def resolve(name: str, options: Mapping[str, Value]) -> Variant | None:
    """Return a random variant with the numbers of its back rows in its name, so that every start has its own name.

    `random-symmetric` takes the option `index` or is written `random-symmetric#1234`; `random-asymmetric` takes
    `index_white` and `index_black` or is written `random-asymmetric#77/9000`. Return None for every other name. Raise
    ParseError for an unknown number, or one that contradicts an option.
    """
    base, mark, numbers = name.partition("#")
    names = {SYMMETRIC: ("index",), ASYMMETRIC: ("index_white", "index_black")}.get(base)
    if names is None:
        return None
    if not mark:
        if not any(option in options for option in names):
            return None
        return _numbered(base, {option: options.get(option, 0) for option in names})
    parts, start = numbers.split("/"), len(base) + 1
    if len(parts) != len(names):
        form = f"{SYMMETRIC}#1234" if len(names) == 1 else f"{ASYMMETRIC}#77/9000"
        raise ParseError(f"{base} takes {len(names)} numbers", text=name, index=start, hint=f"write {form}")
    preset: dict[str, Value] = {}
    for option, part in zip(names, parts, strict=True):
        preset[option] = _number(part, start, name)
        if options.get(option, preset[option]) != preset[option]:
            problem = f"the number contradicts option {option} = {options[option]}"
            raise ParseError(problem, text=name, index=start, hint="omit one of them")
        start += len(part) + 1
    return _numbered(base, preset)


def draw(name: str, rng: random.Random) -> Variant:
    """Return a random start of a random variant, as `resolve` names it; return any other variant unchanged.

    Raise UnknownNameError for an unknown variant.
    """
    if name == SYMMETRIC:
        name = f"{SYMMETRIC}#{rng.randrange(ROWS)}"
    elif name == ASYMMETRIC:
        name = f"{ASYMMETRIC}#{rng.randrange(ROWS)}/{rng.randrange(ROWS)}"
    start = resolve(name, {})
    for variant in VARIANTS:
        if start is None and variant.name == name:
            start = variant
    if start is None:
        raise UnknownNameError("variant of baroque", name, tuple(variant.name for variant in VARIANTS))
    return start
