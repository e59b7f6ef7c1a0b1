"""The starts of Pijersi: the standard one, the families of numbered setups, and random deals.

A side's rows are two texts of cubes: row a (six cubes), row b (three cubes, the stack on b4, three cubes), written for
White from left to right.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cache
from itertools import permutations

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.pijersi.state import is_swapping
from referee.rules.rules import Phase, Value, Variant

TRIPLETS = ("RPS", "RSP", "PRS", "PSR", "SRP", "SPR")
FAMILIES = {"pijersi-24": 24, "pijersi-36": 36, "pijersi-1296": 1296, "pijersi-8100": 8100}
DEALT = ("half-random", "full-random")
STANDARD = "s-p-r-s-p-r-/p-r-s-wwr-s-p-/6/7/6/P-S-R-WWS-R-P-/R-P-S-R-P-S- w 0 1"

_COMPLETIONS = ((2, 0, 1), (2, 1, 0), (1, 0, 2), (1, 2, 0))
"""Right triplet of pijersi-24 for the left one XYZ: ZXY, ZYX, YXZ, YZX."""

_NUMBERED = re.compile(r"#([0-9]{1,9}|random)(?:/([0-9]{1,9}|random))?")
_CUBES = "RRRRPPPPSSSSWW"

Rows = tuple[str, str, str, str]
"""Row a, the left part of row b, its stack (bottom first), the right part of row b."""


@cache
def wings() -> tuple[str, ...]:
    """Return the 90 arrangements of two rocks, two papers and two scissors, in the order R < P < S."""
    order = "RPS"
    found = {"".join(wing) for wing in permutations("RRPPSS")}
    return tuple(sorted(found, key=lambda wing: [order.index(cube) for cube in wing]))


def _reordered(triplet: str, order: tuple[int, ...]) -> str:
    return "".join(triplet[place] for place in order)


def rows(family: str, number: int) -> Rows:
    """Return White's rows of setup `number` in a family of numbered setups (see "Variants" in RULES.md)."""
    if family == "pijersi-8100":
        left, right = wings()[number % 90], wings()[number // 90]
        return left[:3] + right[:3], left[3:], "WW", right[3:]
    if family == "pijersi-1296":
        first, second, third, fourth = (TRIPLETS[number // 6**place % 6] for place in range(4))
        return first + second, third, "WW", fourth
    left = TRIPLETS[number % 6]
    right = TRIPLETS[number // 6] if family == "pijersi-36" else _reordered(left, _COMPLETIONS[number // 6])
    # Rows a and b form triangles. Row b is half a cell further left, so its order differs between left and right.
    return left + right, _reordered(left, (1, 2, 0)), "WW", _reordered(right, (2, 0, 1))


def dealt_rows(rng: random.Random) -> Rows:
    """Return rows with all cubes of a side shuffled; a wise in the stack goes below any other cube."""
    cubes = list(_CUBES)
    rng.shuffle(cubes)
    low, top = cubes[12:]
    if top == "W":
        low, top = top, low
    return "".join(cubes[:6]), "".join(cubes[6:9]), low + top, "".join(cubes[9:12])


def position_of(white: Rows, black: Rows) -> str:
    """Return the position string: White's rows, and Black's rotated by 180 degrees."""

    def single(cubes: str) -> str:
        return "".join(f"{cube}-" for cube in cubes)

    front, left, stack, right = white
    near = f"{single(left)}{stack}{single(right)}/{single(front)}"
    front, left, stack, right = black
    far = f"{single(front[::-1])}/{single(right[::-1])}{stack}{single(left[::-1])}"
    return f"{far.lower()}/6/7/6/{near} w 0 1"


_ROW = re.compile(r"[RPSWrpsw][RPSWrpsw-]|[1-7]")


def rows_of(position: str) -> tuple[Rows | None, Rows | None]:
    """Return the rows of White and Black, each seen from its own side.

    A side gets None unless all its cubes are in its own two rows with a stack in the middle, and the rows between are
    empty.
    """
    cells = [_ROW.findall(row) for row in position.split(" ", maxsplit=1)[0].split("/")]
    if len(cells) != 7 or any(row not in (["6"], ["7"]) for row in cells[2:5]):
        return None, None
    near = [cells[6], cells[5]]
    far = [[cell.upper() for cell in row[::-1]] for row in cells[:2]]
    return _dealt(near), _dealt(far)


def _dealt(cells: list[list[str]]) -> Rows | None:
    front, back = cells
    if [len(front), len(back)] != [6, 7] or any(cell[1:] != "-" for cell in (*front, *back[:3], *back[4:])):
        return None
    found = tuple("".join(cell[0] for cell in part) for part in (front, back[:3], back[4:]))
    if not back[3].isalpha() or sorted("".join(found) + back[3]) != sorted(_CUBES):
        return None
    return found[0], found[1], back[3], found[2]


def is_setup(position: str) -> bool:
    """Return whether all cubes of both sides are in their own rows, in any order."""
    return None not in rows_of(position)


def is_mirrored(position: str) -> bool:
    """Return whether Black's rows are White's rotated by 180 degrees."""
    white, black = rows_of(position)
    return white == black


@cache
def _numbers(family: str) -> Mapping[Rows, int]:
    return {rows(family, number): number for number in range(FAMILIES[family])}


def numbers(position: str) -> dict[str, list[int | str]]:
    """Return the number of a setup in each of `FAMILIES`, by family: `[N]` if Black mirrors White, else `["N/M"]`.

    The list is empty if the setup is not in the family.
    """
    white, black = rows_of(position)
    by_family: dict[str, list[int | str]] = {}
    for family in FAMILIES:
        own, other = (_numbers(family).get(side) if side else None for side in (white, black))
        by_family[family] = [] if own is None or other is None else [own if own == other else f"{own}/{other}"]
    return by_family


def permutations_of(position: str) -> tuple[str, ...]:
    """Return the position with rock, paper and scissors permuted in all six ways, the position itself first."""
    board, space, rest = position.partition(" ")
    tables = (str.maketrans("RPSrps", triplet + triplet.lower()) for triplet in TRIPLETS)
    return tuple(board.translate(table) + space + rest for table in tables)


def _number(text: str, family: str, name: str, index: int) -> int:
    if text == "random" or int(text) >= FAMILIES[family]:
        last = FAMILIES[family] - 1
        raise ParseError(f"no setup {text} in {family}", text=name, index=index, hint=f"numbers are 0..{last}")
    return int(text)


def _numbered(name: str) -> Variant | None:
    """Return the variant of a name F, F#N or F#N/M, where F is one of `FAMILIES`; else None. Raise ParseError."""
    family, sign, _ = name.partition("#")
    if family not in FAMILIES:
        return None
    if not sign:
        return Variant(name, position_of(rows(family, 0), rows(family, 0)), note="number 0; write NAME#N or NAME#N/M")
    match = _NUMBERED.fullmatch(name, len(family))
    if match is None:
        hint = f"write {family}#N, or {family}#N/M for a different Black"
        raise ParseError("unreadable setup number", text=name, index=len(family) + 1, hint=hint)
    white = _number(match[1], family, name, match.start(1))
    if match[2] is None:
        return Variant(f"{family}#{white}", position_of(rows(family, white), rows(family, white)))
    black = _number(match[2], family, name, match.start(2))
    return Variant(f"{family}#{white}/{black}", position_of(rows(family, white), rows(family, black)))


def _deal(name: str, rng: random.Random, note: str = "") -> Variant:
    white = dealt_rows(rng)
    return Variant(
        name, position_of(white, white if name == "half-random" else dealt_rows(rng)), note=note, is_dealt=True
    )


_SAMPLE = "a sample with a fixed seed: every pair of games gets a new deal"

VARIANTS = (
    Variant("standard", STANDARD, note="the setup of the rulebook"),
    *(variant for family in FAMILIES if (variant := _numbered(family))),
    *(_deal(name, random.Random(f"pijersi {name}"), _SAMPLE) for name in DEALT),
)


def resolve(name: str, options: Mapping[str, Value]) -> Variant | None:
    """Return the variant of a name, numbered or listed; None if it is unknown. Raise ParseError."""
    return _numbered(name) or next((variant for variant in VARIANTS if variant.name == name), None)


def draw(name: str, rng: random.Random) -> Variant:
    """Return a random start; a name that stands for one start returns that start.

    Names of random starts are `half-random`, `full-random` and, for each F of `FAMILIES`, F and F#random (Black mirrors
    White) and F#random/random (Black is drawn by itself). Raise UnknownNameError, and ParseError for a number out of
    range.
    """
    if name in DEALT:
        return _deal(name, rng)
    family, sign, _ = name.partition("#")
    if family in FAMILIES:
        given = name if sign else f"{name}#random"
        while given.endswith("random") or "#random" in given:
            given = given.replace("random", str(rng.randrange(FAMILIES[family])), 1)
        name = given
    start = resolve(name, {})
    if start is None:
        known = (*(variant.name for variant in VARIANTS), *(f"{family}#random/random" for family in FAMILIES))
        raise UnknownNameError("setup of pijersi", name, known)
    return start


def _begin(position: str) -> str:
    return f"{position} swap"


PHASE = Phase("swap phase", rule="swap_phase", announced_by="SwapPhase", holds=is_swapping, begin=_begin)
