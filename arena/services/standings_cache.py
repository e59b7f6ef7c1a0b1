"""Standings and crosstable of a tournament, cached while the state of the tournament is unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

from cachetools import LRUCache

from arena.documents.standings import RulesItem
from arena.documents.tournament import TournamentItem
from arena.store import Store
from arena.store.games.results import FinishedGame
from arena.tournaments import crosstable
from arena.tournaments.settings import SettingsError
from arena.tournaments.standing import StandingTable, by_points, standing
from referee.ratings.meetings import Comparison
from referee.ratings.standings import forfeits
from referee.rules import load
from referee.rules.core import SIDES

CACHE_SIZE = 8
"""Number of cached tournaments; one with 10,000 games takes some megabytes."""


@dataclass(frozen=True)
class TournamentStandings:
    """A tournament with its current results and the standings that follow from them."""

    tournament: TournamentItem
    results: Sequence[FinishedGame]
    standing: StandingTable
    rules: Sequence[RulesItem] = ()
    """Results by set of rules; empty if all games use the same rules."""

    @property
    def is_final(self) -> bool:
        """True once all games are done."""
        return self.tournament.is_over

    @property
    def findings(self) -> Mapping[str, Any] | None:
        """Statistical findings of a finished tournament; None before its end, and with few bots."""
        return self.tournament.findings or None if self.tournament.state == "finished" else None

    @cached_property
    def comparison(self) -> Comparison | None:
        """Scores of all pairs compared with those expected from their strengths; None before the end."""
        standing = self.standing
        return Comparison(standing.results, standing.strengths, standing.sided) if self.is_final else None

    @cached_property
    def rows(self) -> list[crosstable.Row]:
        """The crosstable, in the order of the standings."""
        return crosstable.rows(self.results, self.standing.lines)

    def block(self, rows: slice, columns: slice) -> list[crosstable.Row]:
        """Return some rows and columns of the crosstable; the whole one takes long with many bots."""
        order = self.standing.lines
        return crosstable.rows(self.results, order[rows], order[columns])


class StandingsCache:
    """Cache of recently read standings; an entry is valid while the state of its tournament is unchanged."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._kept: LRUCache[int, tuple[tuple[Any, ...], TournamentStandings]] = LRUCache(size)
        self._lock = Lock()

    def read(self, store: Store, tournament_id: int) -> TournamentStandings:
        """Return the current standings. Raises NotFoundError."""
        # Read the state before the results: if the tournament is over, all results are then complete.
        tournament = store.tournaments.get(tournament_id)
        state = _state(store, tournament)
        with self._lock:
            before, standings = self._kept.get(tournament_id, (None, None))
        if standings is None or before != state:
            standings = _build(store, tournament)
        with self._lock:
            self._kept[tournament_id] = state, standings
        return standings


def _state(store: Store, tournament: TournamentItem) -> tuple[Any, ...]:
    """Return the state of a tournament for comparison: equal states mean equal standings."""
    counts = store.games.counts(tournament.id)
    over = [counts.pop(state, 0) for state in ("finished", "void", "cancelled")]
    results = store.results.last_commit_of(tournament.id), store.results.undone()
    entries = store.tournaments.entries(tournament.id)
    return tournament, entries, over, sum(counts.values()), results


def _build(store: Store, tournament: TournamentItem) -> TournamentStandings:
    outlines, results = store.results.with_outlines(tournament.id)
    try:
        found = standing(store, tournament.id, outlines)
    except SettingsError:
        found = by_points(store, tournament.id, results)
    lost = forfeits(results)
    lines = tuple(replace(line, forfeits=lost[line.name]) for line in found.lines)
    return TournamentStandings(tournament, results, replace(found, lines=lines), by_rules(store, tournament))


def by_rules(store: Store, tournament: TournamentItem) -> tuple[RulesItem, ...]:
    """Return the results by set of rules; empty if all games use the same rules."""
    settings = tournament.settings
    if settings.get("sides") != "random" and not any(one.get("rule_options") for one in settings.get("handicaps", ())):
        return ()
    rules = load(tournament.family)
    found: dict[str, RulesItem] = {}
    for variant, options, winner, count in store.results.by_options(tournament.id):
        line = found.setdefault(
            f"{variant} {options}", RulesItem(variant, options, 0, dict.fromkeys(map(str.lower, rules.sides), 0), 0)
        )
        won, draws = dict(line.won), line.draws
        if winner in SIDES:
            won[rules.settle(variant, options).sides[SIDES.index(winner)].lower()] += count
        else:
            draws += count
        found[f"{variant} {options}"] = replace(line, games=line.games + count, won=won, draws=draws)
    return tuple(found.values())
