"""The seeding of a tournament's entries, and pairs of bots that a Swiss or a knockout keeps apart.

Formats know seats, documents know names: what a document says of single bots reaches a format as fields of its seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import Field

from referee.tournament.match import Seed
from referee.tournament.part import Part
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document

SeedingRule = Literal["rating", "entry", "random"]
SEEDINGS: Mapping[str, str] = {
    "rating": "by the ratings at the start",
    "entry": "in the order of the entries",
    "random": "drawn from the tournament's seed",
}
"""How entries are seeded, in words."""
SAME_OWNER = "same owner"
"""The line of `forbidden_pairs` that keeps all bots of one owner apart."""
_BETWEEN = " - "
BotName = Annotated[str, Field(min_length=1, max_length=2000)]
"""A bot as `entries.bots` names it."""
FindSeat: TypeAlias = Callable[[str], int | None]
"""Returns the seat of a bot that a document names; None if it does not take part."""


class SeededSettings(Part):
    """Settings that all formats with a seeding share."""

    seeding: SeedingRule = "rating"
    """Order of the seeds: by the pool's ratings at the start (`rating`), in the order of `entries`, best first
    (`entry`), or drawn from `seed` (`random`). Equal ratings keep the order of `entries`; in a local run all are equal.
    """
    forbidden_pairs: list[Annotated[str, Field(min_length=1, max_length=4000)]] = Field(default=[], max_length=1000)
    """Pairs that must not meet: `zeta - theta`, or `same owner` for all bots of one owner. A Swiss never pairs them; a
    knockout keeps them apart in its first round if possible.
    """

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The forbidden pairs of named bots; invalid lines are left out."""
        return [pair for line in self.forbidden_pairs if (pair := _pair(line))]

    def faults(self, document: Document, table: str) -> Iterator[Misfit]:
        """Yield a fault for each forbidden pair that is not one, and for each bot that is not entered."""
        for line in self.forbidden_pairs:
            pair = _pair(line)
            if line != SAME_OWNER and pair is None:
                problem, hint = f"invalid pair {line[:60]!r}", f'write "zeta{_BETWEEN}theta", or "{SAME_OWNER}"'
                yield Misfit(f"{table}.forbidden_pairs", problem, hint)
            elif pair and pair[0] == pair[1]:
                yield Misfit(f"{table}.forbidden_pairs", f"{pair[0]} never meets itself", "name two bots")
        yield from unknown_bots(document, f"{table}.forbidden_pairs", (name for pair in self.pairs for name in pair))

    def without(self, names: Iterable[str]) -> Self:
        """Return the table without what it says of these bots, which no longer take part."""
        gone = set(names)
        kept = [line for line in self.forbidden_pairs if not gone & set(_pair(line) or ())]
        return self.model_copy(update={"forbidden_pairs": kept})

    def keep_apart(self, seeds: Sequence[Seed], find: FindSeat, owners: Mapping[int, Hashable]) -> list[Seed]:
        """Return the seeds with the opponents that each must not meet. `owners` has an owner for each seat."""
        apart: dict[int, set[int]] = {seed.number: set() for seed in seeds}
        for first, second in ((find(bot), find(rival)) for bot, rival in self.pairs):
            if first in apart and second in apart and first != second:
                apart[first].add(second)
                apart[second].add(first)
        if SAME_OWNER in self.forbidden_pairs and owners:  # only a server knows owners
            for seat, rivals in apart.items():
                rivals |= {other for other in apart if other != seat and owners[other] == owners[seat]}
        return [replace(seed, forbidden=frozenset(apart[seed.number])) for seed in seeds]


def _pair(line: str) -> tuple[str, str] | None:
    """Parse `zeta - theta`."""
    first, separator, second = line.partition(_BETWEEN)
    return (first.strip(), second.strip()) if separator and first.strip() and second.strip() else None


def labels_of(bot: str) -> tuple[str, ...]:
    """Return the names by which a document may call an entry: as it is written, and `NAME` of `NAME=BOT`."""
    name, separator, _ = bot.partition("=")
    return (bot, name) if separator else (bot,)


def unknown_bots(document: Document, field: str, names: Iterable[str]) -> Iterator[Misfit]:
    """Yield a fault for each bot that is not entered by name; a query may enter any bot."""
    if document.entries.has_query:
        return
    for name in dict.fromkeys(names):
        if name not in document.entries.labels:
            yield Misfit(field, f"{name} is not in entries.bots", "write it there in the same way")


def order_of_seats(document: Document, strengths: Sequence[float]) -> list[int]:
    """Return the places of the entries in the document, best seed first; `strengths` are their ratings."""
    places, rule = range(len(strengths)), document.system.seeding(document)
    if rule == "rating":
        return sorted(places, key=lambda place: -strengths[place])
    # The text of the seed must not change: it decides the seats of runs that continue.
    return Random(f"seeding {document.seed}").sample(places, len(places)) if rule == "random" else list(places)
