"""Openings of a tournament: the start of each pair of games. Drawing is deterministic, so it can be repeated."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeAlias

from cachetools import LRUCache, cached

from referee.game.openings import Opening, is_dealt, openings
from referee.game.starts import NoFairStartError, fair_openings
from referee.tournament.document import Document, read
from referee.tournament.part import SettingsError

MAX_OPENINGS = 500
"""Openings drawn for one tournament at most, or all of its book; later pairs start over with the first."""
MAX_DRAWN = 64
"""Number of cached draws."""
MAX_DEALS = 20_000
"""The same limit for deals; every pair of games gets a deal of its own."""

Draw: TypeAlias = Callable[[Document, int], Sequence[Opening]]
"""A function that returns the first N openings of a tournament. It needs the kernel, so servers run it in a process."""


def size(document: Document, players: int) -> int:
    """Return how many openings a tournament of `players` bots can use at most."""
    pairs = document.system.count_openings(document, players)
    if not document.opening_lines and is_dealt(document.ruleset, document.openings):
        return max(1, min(pairs * players * (players - 1) // 2, MAX_DEALS))
    return max(1, min(pairs, max(MAX_OPENINGS, len(document.opening_lines))))


def needs_kernel(document: Document, count: int) -> bool:
    """Return whether drawing `count` openings needs the rules' kernel, which is slow to load."""
    if document.opening_lines:
        return True
    is_auto = document.openings == "auto" and count > 1 and not document.ruleset.variant.is_dealt
    return is_auto or document.openings.startswith("random")


def has_positions(document: Document) -> bool:
    """Return whether some games start from a position to be set up, and not from the variant's start."""
    if not document.opening_lines:
        return document.openings.startswith(("setups", "fair"))
    drawn = draw(document, len(document.opening_lines))
    return any(one.position or one.variant != document.ruleset.variant.name for one in drawn)


def check(document: Document) -> None:
    """Check that the openings can be drawn, without loading a kernel unless the document has opening lines.

    Raises SettingsError.
    """
    if document.opening_lines:
        draw(document, len(document.opening_lines))
    elif document.openings.startswith("random"):
        if not re.fullmatch(r"random:([0-9]|[1-5][0-9]|60)(:\d{1,10})?", document.openings, re.ASCII):
            raise SettingsError("write random:PLIES or random:PLIES:SEED, with at most 60 plies", "openings")
    else:
        draw(document, 1)


def draw_afresh(document: Document, count: int) -> tuple[Opening, ...]:
    """Return the first `count` openings. Raises SettingsError for an invalid source or line."""
    ruleset, text = document.ruleset, "\n".join(document.opening_lines)
    try:
        if not text and document.openings.startswith("fair:"):
            known = fair_openings(ruleset, _bound(document.openings), document.seed)
            return tuple(known[number % len(known)] for number in range(count))
        return tuple(openings(ruleset, document.openings, count, document.seed, text or None))
    except NoFairStartError as error:
        raise SettingsError(f"{error}; {error.hint}", "openings") from None
    except ValueError as error:
        raise SettingsError(str(error), "opening_lines" if text else "openings") from None


def draw_json(document: Mapping[str, Any], count: int) -> tuple[Opening, ...]:
    """Draw the first `count` openings of a document that is given as plain data; helper processes call this."""
    return draw_afresh(read(document), count)


def key_of(document: Document, count: int, _: object = None) -> tuple[str, int]:
    """Return what the first `count` openings depend on."""
    fields = {"family", "variant", "rule_options", "openings", "opening_lines", "seed"}
    return json.dumps(document.model_dump(mode="json", include=fields), sort_keys=True), count


@cached(LRUCache(MAX_DRAWN), key_of, Lock())
def draw(document: Document, count: int, compute: Draw = draw_afresh) -> Sequence[Opening]:
    """Return the first `count` openings as `compute` does; they are cached. Raises SettingsError."""
    return compute(document, count)


def _bound(source: str) -> float:
    """Return the largest advantage allowed by `fair:BOUND`. Raises ValueError."""
    match = re.fullmatch(r"fair:(0?\.\d{1,4})", source, re.ASCII)
    if not match or not 0 < float(match[1]) <= 0.5:
        raise ValueError("write fair:BOUND, the share of points a side may be ahead, as in fair:0.05")
    return float(match[1])
