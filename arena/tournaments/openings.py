"""The book of a tournament: where its pairs of games start, the same for whoever draws it, drawn again on demand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from arena.atlas.published import NoFairStartError, fair_openings
from arena.tournaments import swiss
from arena.tournaments.settings import Document, SettingsError
from referee.openings import Opening, is_dealt, openings
from referee.rules import load

BOOK = 500
"""The most openings of one tournament; later pairs start over with the first."""
DEALS = 20_000
"""The same of deals, of which every pair of games gets one of its own."""

Draw: TypeAlias = Callable[[Document, int], Sequence[Opening]]
"""Gives the first so many openings of a tournament. Drawing needs the kernel: a server does it in another process."""


def size(document: Document, players: int) -> int:
    """How many openings a tournament of so many players has use for."""
    pairs = (document.games + 1) // 2
    if document.format == "swiss":
        pairs *= document.rounds or swiss.default_rounds(players)
    elif document.format == "knockout":
        pairs = (pairs + document.knockout.tiebreak_pairs) * max(1, (players - 1).bit_length())
    elif document.format == "ladder":
        # How often two of them will meet, and some more: the same two meet rarely.
        pairs = 1 + (document.ladder.games or 20_000) // max(1, players)
    elif document.format == "race":
        pairs = document.race.games // 2
    elif document.format == "sprt":
        pairs = document.sprt.games // 2
    if not document.opening_lines and is_dealt(document.ruleset, document.openings):
        return max(1, min(pairs * players * (players - 1) // 2, DEALS))
    return max(1, min(pairs, BOOK))


def needs_kernel(document: Document, count: int) -> bool:
    """Whether drawing so many openings takes the rules' kernel, which is slow to load."""
    if document.opening_lines:
        return True
    is_auto = document.openings == "auto" and count > 1 and not document.ruleset.variant.is_dealt
    return is_auto or document.openings.startswith("random")


def has_positions(document: Document) -> bool:
    """Whether games begin from positions that must be set up: not from the variant's start, nor by moves from it."""
    if not document.opening_lines:
        return document.openings.startswith(("setups", "fair"))
    drawn = draw(document, min(len(document.opening_lines), BOOK))
    return any(one.position or one.variant != document.ruleset.variant.name for one in drawn)


def check(document: Document) -> None:
    """Look whether the openings can be drawn, without loading a kernel unless the organiser wrote lines.

    Raises SettingsError.
    """
    if document.opening_lines:
        draw(document, min(len(document.opening_lines), BOOK))
    elif document.openings.startswith("random"):
        if not re.fullmatch(r"random:([0-9]|[1-5][0-9]|60)(:\d{1,10})?", document.openings, re.ASCII):
            raise SettingsError("write random:PLIES or random:PLIES:SEED, with at most 60 plies", "openings")
    else:
        draw(document, 1)


def draw(document: Document, count: int) -> tuple[Opening, ...]:
    """The first `count` openings. Raises SettingsError for a source or a line that cannot be used."""
    fields = {"family", "variant", "rule_options", "openings", "opening_lines", "seed"}
    return _draw(json.dumps(document.model_dump(mode="json", include=fields), sort_keys=True), count)


@lru_cache(maxsize=64)
def _draw(source: str, count: int) -> tuple[Opening, ...]:
    given = json.loads(source)
    ruleset = load(given["family"]).settle(given["variant"], given["rule_options"])
    text = "\n".join(given["opening_lines"])
    try:
        if not text and given["openings"].startswith("fair:"):
            known = fair_openings(ruleset, _bound(given["openings"]), given["seed"])
            return tuple(known[number % len(known)] for number in range(count))
        return tuple(openings(ruleset, given["openings"], count, given["seed"], text or None))
    except NoFairStartError as error:
        raise SettingsError(f"{error}; {error.hint}", "openings") from None
    except ValueError as error:
        raise SettingsError(str(error), "opening_lines" if text else "openings") from None


def _bound(source: str) -> float:
    """How far from even the starts of `fair:BOUND` may be. Raises ValueError."""
    found = re.fullmatch(r"fair:(0?\.\d{1,4})", source, re.ASCII)
    if not found or not 0 < float(found[1]) <= 0.5:
        raise ValueError("write fair:BOUND, the share of points a side may be ahead, as in fair:0.05")
    return float(found[1])
