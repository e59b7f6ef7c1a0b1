"""Books of openings: different starts that a strong search finds level, the same ones for the same seed.

A book is a text that people can write as well: `referee.game.openings.file_openings` reads it. Refuses to know the
search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from referee.game.openings import Opening, random_openings, setup_openings
from referee.rules.position import Position
from referee.rules.rules import Ruleset

TRIES = 40
"""How many candidates are looked at for one opening that is kept, at most."""
ROOM = 200
"""And how many more for a small book."""


class BookError(ValueError):
    """A book that cannot be made as asked; the message says what to change."""


@dataclass(frozen=True, slots=True)
class BookLine:
    """One opening of a book and its score, in hundredths for the side to move (None: not searched). `evidence` is what
    else speaks for it."""

    opening: Opening
    score: int | None
    evidence: str = ""


def end_of(ruleset: Ruleset, opening: Opening) -> Position:
    """The position an opening leads to."""
    settled = ruleset.rules.settle(opening.variant, {**ruleset.overrides, **dict(opening.options)})
    return Position.start(settled, opening.position).play_all(opening.moves)


def candidates(ruleset: Ruleset, plies: int, seed: int, setups: str | None) -> Iterator[Opening]:
    """Openings, until the game has no more. Raises ValueError where there are none at all."""
    taken, wanted, is_exhausted = 0, 32, False
    while not is_exhausted:
        if setups is not None:
            found = setup_openings(ruleset, setups, wanted, seed)[taken:]
            found = [_prolonged(ruleset, one, plies, seed + taken + place) for place, one in enumerate(found)]
        else:
            drawn = random_openings(ruleset, plies, wanted, seed)
            is_exhausted = len(set(drawn)) < wanted  # then they repeat
            found = list(dict.fromkeys(drawn))[taken:]
        yield from found
        taken, wanted = wanted, 2 * wanted


def _prolonged(ruleset: Ruleset, opening: Opening, plies: int, seed: int) -> Opening:
    """A set-up with some random moves played from it."""
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
    """`count` openings that lead to different positions, each within `margin` hundredths for either side.

    `score_of` a position: hundredths for the side to move; without it nothing is searched. Deterministic by seed.
    Raises BookError when there are too few.
    """
    if plies == 0 and setups is None:
        raise BookError("a book without plies holds the start alone; take --plies 4, or --setups")
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
        if looked_at >= TRIES * count + ROOM:
            break
    raise BookError(
        f"only {len(lines)} of {count} openings among {looked_at} are different and within {margin} hundredths; "
        "widen --margin, or take more --plies"
    )


def write_book(lines: list[BookLine], ruleset: Ruleset, *, heading: list[str]) -> str:
    """The text of a book, which `referee.game.openings.file_openings` reads."""
    return "\n".join([*(f"# {line}" for line in heading), *(_written(line, ruleset) for line in lines), ""])


def _written(line: BookLine, ruleset: Ruleset) -> str:
    opening = line.opening
    start = opening.position or (opening.variant if opening.variant != ruleset.variant.name else "")
    moves = " ".join(opening.moves)
    words = f"{start} ; {moves}" if start and moves else start or moves
    remarks = [*([f"{line.score:+d}"] if line.score is not None else []), *([line.evidence] if line.evidence else [])]
    return f"{words}  # {'; '.join(remarks)}" if remarks else words
