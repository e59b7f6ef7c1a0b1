"""Opening books: different starts that a search finds balanced, reproducible by seed.

A book is a text that people can edit: `referee.game.openings.file_openings` reads it. Callers pass the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from referee.game.openings import Opening, end_of, random_openings, setup_openings
from referee.rules.position import Position
from referee.rules.rules import Ruleset

MAX_TRIES_PER_OPENING = 40
"""Candidates tried per opening kept, at most."""
EXTRA_TRIES = 200
"""Further candidates, so that small books succeed too."""


class BookError(ValueError):
    """A book that cannot be made as requested; the message says what to change."""


@dataclass(frozen=True, slots=True)
class BookLine:
    """One opening of a book. `score` is in centipawns for the side to move (None: not searched).

    `evidence` describes the results of games from this opening.
    """

    opening: Opening
    score: int | None
    evidence: str = ""


def candidates(ruleset: Ruleset, plies: int, seed: int, setups: str | None) -> Iterator[Opening]:
    """Yield openings until the rules have no more. Raises ValueError if the rules have no opening at all."""
    taken, wanted, is_exhausted = 0, 32, False
    while not is_exhausted:
        if setups is not None:
            openings = setup_openings(ruleset, setups, wanted, seed)[taken:]
            openings = [
                _prolonged(ruleset, opening, plies, seed + taken + place) for place, opening in enumerate(openings)
            ]
        else:
            drawn = random_openings(ruleset, plies, wanted, seed)
            is_exhausted = len(set(drawn)) < wanted  # then the openings repeat
            openings = list(dict.fromkeys(drawn))[taken:]
        yield from openings
        taken, wanted = wanted, 2 * wanted


def _prolonged(ruleset: Ruleset, opening: Opening, plies: int, seed: int) -> Opening:
    """Return the opening with `plies` random moves from its start, or unchanged if it starts from a given position."""
    if not plies or opening.position is not None:
        return opening
    settled = ruleset.rules.settle(opening.variant, {**ruleset.overrides, **dict(opening.options)})
    return replace(opening, moves=random_openings(settled, plies, 1, seed)[0].moves)


def make_book(
    ruleset: Ruleset,
    *,
    plies: int,
    count: int,
    seed: int,
    margin: int,
    score_of: Callable[[Position], int] | None,
    setups: str | None = None,
    on_line: Callable[[BookLine, int], None] = lambda line, looked_at: None,
) -> list[BookLine]:
    """Return `count` openings that lead to different positions, each within `margin` centipawns for both sides.

    `score_of` returns a position's score in centipawns for the side to move; without it nothing is searched.
    Deterministic by seed. Raises BookError if it finds too few openings.
    """
    if plies == 0 and setups is None:
        raise BookError("a book without plies contains only the start; pass --plies 4, or --setups")
    seen: set[bytes] = set()
    lines: list[BookLine] = []
    looked_at = 0
    for opening in candidates(ruleset, plies, seed, setups):
        looked_at += 1
        end = end_of(ruleset, opening)
        if end.key not in seen and end.outcome is None:
            seen.add(end.key)
            score = score_of(end) if score_of else None
            if score is None or abs(score) <= margin:
                lines.append(BookLine(opening, score))
                on_line(lines[-1], looked_at)
        if len(lines) == count:
            return lines
        if looked_at >= MAX_TRIES_PER_OPENING * count + EXTRA_TRIES:
            break
    raise BookError(
        f"only {len(lines)} of {count} openings found that are different and within {margin} centipawns, among "
        f"{looked_at} candidates; raise --margin or --plies"
    )


def write_book(lines: list[BookLine], ruleset: Ruleset, *, heading: list[str]) -> str:
    """Return the text of a book, which `referee.game.openings.file_openings` reads."""
    return "\n".join([*(f"# {line}" for line in heading), *(_written(line, ruleset) for line in lines), ""])


def _written(line: BookLine, ruleset: Ruleset) -> str:
    opening = line.opening
    start = opening.position or (opening.variant if opening.variant != ruleset.variant.name else "")
    moves = " ".join(opening.moves)
    words = f"{start} ; {moves}" if start and moves else start or moves
    remarks = [*([f"{line.score:+d}"] if line.score is not None else []), *([line.evidence] if line.evidence else [])]
    return f"{words}  # {'; '.join(remarks)}" if remarks else words
