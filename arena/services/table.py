"""The tables of a tournament: its standings, and everybody against everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from arena.services.arena import Arena
from arena.store.models import Tournament
from arena.store.results import Result
from arena.tournaments import crosstable
from arena.tournaments.settings import SettingsError
from arena.tournaments.standing import StandingTable, by_points, standing
from referee.ratings.standings import forfeits

OVER = ("finished", "cancelled")
"""States in which a tournament's tables are final, unless it is extended."""


@dataclass(frozen=True)
class Table:
    """A tournament with its results as of now, and the standings that follow from them."""

    tournament: Tournament
    results: Sequence[Result]
    standing: StandingTable

    @property
    def is_final(self) -> bool:
        """Whether all games are done."""
        return self.tournament.state in OVER

    @cached_property
    def forfeits(self) -> Counter[str]:
        """How many games each bot lost by its own fault."""
        return forfeits(self.results)

    @cached_property
    def rows(self) -> list[crosstable.Row]:
        """The crosstable, in the order of the standings."""
        return crosstable.rows(self.results, self.standing.lines)


def read(arena: Arena, tournament_id: int) -> Table:
    """The tables of a tournament as of now. Raises NotFoundError."""
    # The state is read before the results: when it says "over", all results are there.
    tournament = arena.store.tournaments.get(tournament_id)
    results = arena.store.results.of(tournament_id=tournament_id)
    try:
        found = standing(arena.store, tournament_id)
    except SettingsError:
        found = by_points(arena.store, tournament_id, results)
    return Table(tournament, results, found)
