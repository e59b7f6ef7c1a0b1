"""Standings of a tournament, cached while its state is unchanged; new results are added to the earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

from cachetools import LRUCache

from arena.documents.standings import RulesItem
from arena.documents.tournament import TournamentItem
from arena.store import Store
from arena.tournaments.standing import add_results, by_points, standing
from arena.tournaments.stored_tournament import StoredTournament
from referee.ratings.meetings import Comparison
from referee.rules import load
from referee.rules.core import SIDES
from referee.tournament.part import SettingsError
from referee.tournament.ranking import Scores, StandingTable

CACHE_SIZE = 8
"""Number of cached tournaments; one of 200 bots takes some megabytes."""


@dataclass(frozen=True)
class TournamentStandings:
    """A tournament with the standings that follow from its current results.

    `endings` counts the results by termination, `restarted` the games that were dispatched more than once.
    `ends` has the first and the last rated game of each version and pool.
    """

    tournament: TournamentItem
    standing: StandingTable
    endings: Mapping[str, int]
    ends: Mapping[tuple[int, str], tuple[str, str]]
    restarted: int
    state: tuple[Any, ...] = field(compare=False)
    """What all of this follows from: equal states mean equal standings."""
    rules: Sequence[RulesItem] = ()
    """Results by variant and options; empty if all games use the same rules."""

    @property
    def is_final(self) -> bool:
        """True once all games are done."""
        return self.tournament.is_over

    @property
    def findings(self) -> Mapping[str, Any] | None:
        """Statistical findings of a finished tournament; None before its end, or with too few bots."""
        return self.tournament.findings or None if self.tournament.state == "finished" else None

    @cached_property
    def comparison(self) -> Comparison | None:
        """Scores between all bots, compared with the scores that their strengths predict; None before the end."""
        standing = self.standing
        return Comparison(standing.results, standing.strengths, standing.sided) if self.is_final else None


class StandingsCache:
    """Cache of recently read standings; an entry is valid while the state of its tournament is unchanged."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._kept: LRUCache[int, TournamentStandings] = LRUCache(size)
        self._sums: LRUCache[int, _Sums] = LRUCache(size)
        self._lock = Lock()

    def read(self, stored: StoredTournament) -> TournamentStandings:
        # Read the state before the results: if the tournament is over, all results are then complete.
        state, tournament_id = _state(stored), stored.tournament.id
        with self._lock:
            standings = self._kept.get(tournament_id)
            sums = self._sums.setdefault(tournament_id, _Sums())
        if standings is None or standings.state != state:
            with sums.lock:
                # Under the lock to the end: another thread would add to the sums from which the table is computed.
                standings = _build(stored, sums.read(stored), state)
        with self._lock:
            self._kept[tournament_id] = standings
        return standings


class _Sums:
    """The sums of the results of a tournament that were read so far; hold `lock` while you use them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._scores, self._undone = Scores(), 0

    def read(self, stored: StoredTournament) -> Scores:
        """Add the new results, or read all again if any was undone since the last call; return the sums."""
        if stored.undone != self._undone:
            self._scores, self._undone = Scores(), stored.undone
        add_results(stored, self._scores)
        return self._scores


def _state(stored: StoredTournament) -> tuple[Any, ...]:
    """Return the state of a tournament for comparison: equal states mean equal standings."""
    over = [stored.counts.get(state, 0) for state in ("finished", "void", "cancelled")]
    results = stored.store.results.last_commit_of(stored.tournament.id), stored.undone
    return stored.tournament, stored.listed, over, sum(stored.counts.values()), results


def _build(stored: StoredTournament, scores: Scores, state: tuple[Any, ...]) -> TournamentStandings:
    try:
        table = standing(stored, scores)
    except SettingsError:
        table = by_points(stored, scores)
    rules = by_rules(stored.store, stored.tournament)
    return TournamentStandings(
        stored.tournament, table, dict(scores.endings), dict(scores.ends), scores.restarted, state, rules
    )


def by_rules(store: Store, tournament: TournamentItem) -> tuple[RulesItem, ...]:
    """Return the results by variant and options; empty if all games use the same rules."""
    settings = tournament.settings
    if settings.get("sides") != "random" and not any(
        handicap.get("rule_options") for handicap in settings.get("handicaps", ())
    ):
        return ()
    rules = load(tournament.family)
    results: dict[str, RulesItem] = {}
    for variant, options, winner, count in store.counts.by_options(tournament.id):
        line = results.setdefault(
            f"{variant} {options}", RulesItem(variant, options, 0, dict.fromkeys(map(str.lower, rules.sides), 0), 0)
        )
        won, draws = dict(line.won), line.draws
        if winner in SIDES:
            won[rules.settle(variant, options).sides[SIDES.index(winner)].lower()] += count
        else:
            draws += count
        results[f"{variant} {options}"] = replace(line, games=line.games + count, won=won, draws=draws)
    return tuple(results.values())
