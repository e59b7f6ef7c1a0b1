"""Gauntlet: a round robin of one bot, the challenger, against all others."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from referee.tournament.formats.round_robin import RoundRobin
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document


class Gauntlet(RoundRobin):
    """The first bot plays all others. A round has one match."""

    name = "gauntlet"
    title = "gauntlet"
    purpose = "one challenger, the first bot, plays all other bots"
    has_challenger = True
    example_entries = """
[entries]
bots = ["greedy", "random", "alphabeta"]   # the first is the challenger; a name is its newest active version
# newest = true                    # further bots: the newest version of every bot
"""

    def shape(self, players: int) -> tuple[int, int]:
        """Return one match in a round, and a round for each opponent."""
        return (0, 0) if players < 2 else (1, players - 1)

    def round(self, players: int, number: int) -> list[tuple[int, int]]:
        """Return the match against opponent `number` (counted from 0)."""
        return [(0, number + 1)]

    def count_matches(self, players: int, gone: Collection[int], number: int) -> int:
        """Return how many opponents are left from round `number` on; none if the challenger has gone."""
        return 0 if 0 in gone else sum(seat not in gone for seat in range(number + 1, players))

    def faults(self, document: Document) -> Iterator[Misfit]:
        """Yield a fault if a query finds the bots and none is named."""
        if document.entries.has_query and not document.entries.bots:
            yield Misfit("entries.bots", "the first bot named is the challenger", "name it")


FORMAT = Gauntlet()
