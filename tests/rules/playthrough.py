"""Writes the playthrough of a family as text: boards, legal moves as numbers and words, moves, outcomes.

A change of the rules then shows as a readable difference. The files are next to the rules; write them again with:

    python -m tests.rules.playthrough [FAMILY ...]
"""

from __future__ import annotations

import random
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from referee.rules import families, load
from referee.rules.position import Position
from referee.rules.rules import Rules, Variant
from referee.rules.text_board import draw

SHOWN = 4
"""Plies shown with board and legal moves in the first variant of a group."""
MAX_PLIES = 400
"""Plies after which a random game is stopped."""


def path(family: str) -> Path:
    """Return the path of a family's playthrough."""
    load(family)
    return Path(str(sys.modules[f"referee.rules.{family}"].__file__)).parent / "playthrough.txt"


def groups(rules: Rules) -> list[list[Variant]]:
    """Group the variants that differ only in their start."""
    found: dict[str, list[Variant]] = {}
    for variant in rules.variants:
        found.setdefault(repr((sorted(variant.options.items()), variant.params)), []).append(variant)
    return list(found.values())


def _wrapped(head: str, words: list[str]) -> str:
    return textwrap.fill(
        f"{head} {' '.join(words)}", 110, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )


def _shown(position: Position) -> Iterator[str]:
    rules = position.ruleset.rules
    yield draw(position.board, rules.pieces)
    yield f"position {position}"
    if position.outcome is None:
        yield f"to move: {position.side}"
    else:
        yield f"outcome: {position.outcome.winner} by {position.outcome.reason}"
    if rules.announce is not None and (word := rules.announce(position.state, position.ruleset.config)):
        yield f"announced: {word}"
    words = [f"{move}={position.display(move)}" for move in position.moves]
    yield _wrapped(f"{len(words)} legal moves:", words) if words else "no legal moves"


def _game(position: Position, rng: random.Random) -> Iterator[str]:
    for ply in range(SHOWN):
        if position.outcome is not None or not position.moves:
            return
        move = position.moves[rng.randrange(len(position.moves))]
        yield f"\nply {ply + 1}: {position.side} plays {position.display(move)}\n"
        position = position.play(move)
        yield from _shown(position)
    played = []
    while position.outcome is None and len(played) < MAX_PLIES:
        move = position.moves[rng.randrange(len(position.moves))]
        played.append(position.display(move))
        position = position.play(move)
    if played:
        yield "\n" + _wrapped(f"then {len(played)} plies:", played) + "\n"
        yield from _shown(position)


def playthrough(family: str) -> str:
    """Return the whole text, which is the same at every call."""
    rules = load(family)
    lines = [
        f"# {rules.title}, rules version {rules.version}: a playthrough with moves drawn at random from a fixed seed",
        f"# Written by: python -m tests.rules.playthrough {family}",
    ]
    for group in groups(rules):
        for place, variant in enumerate(group):
            ruleset = rules.settle(variant.name)
            options = " ".join(f"{name}={value}" for name, value in variant.options.items())
            lines += ["", f"== {variant.name} {options}".rstrip(), ""]
            start = Position.start(ruleset)
            lines += _shown(start)
            if place == 0:
                lines += _game(start, random.Random(f"{family} {variant.name}"))
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> None:
    """Write the files of these families, or of all."""
    for family in names or families():
        path(family).write_text(playthrough(family), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
