"""The present standings of a stored tournament, and the statistics of a finished one, computed once and stored
with it.
"""

from __future__ import annotations

from collections.abc import Callable

from arena.store import Store
from arena.tournaments.stored_tournament import StoredTournament
from referee.rules import families
from referee.tournament.document import Document
from referee.tournament.document_tables import EntrySettings
from referee.tournament.match import Seed
from referee.tournament.part import SettingsError
from referee.tournament.ranking import Scores, StandingTable, rank

BATCH = 10_000
"""Results read at once: a million objects at once would let the garbage collector stop all threads for a second."""


def add_results(stored: StoredTournament, scores: Scores) -> None:
    """Add to the sums of a tournament the results that are newer."""
    is_complete = False
    while not is_complete:
        results = stored.store.results.after_commit(stored.tournament.id, scores.last, BATCH)
        scores.extend(results)
        is_complete = len(results) < BATCH


def standing(stored: StoredTournament, scores: Scores | None = None) -> StandingTable:
    """Return the present table of a tournament. `scores` are the sums of its results, if they are known.

    Raises SettingsError for an unreadable document.
    """
    document = stored.document
    if scores is None:
        scores = Scores()
        add_results(stored, scores)
    system, seeds = document.system, stored.seeds
    games = stored.games if system.needs_games else []
    names = {entry.seat: entry.name for entry in stored.entries}
    versions = {entry.seat: entry.version_id for entry in stored.entries}
    lines = rank(document, seeds, games, names, versions, scores=scores)
    decision = system.decision(document, seeds, games)
    total = system.total(document, seeds, games, stored.tournament.planned_games)
    return StandingTable(tuple(lines), system.tie_breaks, scores, decision, names, total)


def by_points(stored: StoredTournament, scores: Scores) -> StandingTable:
    """Return the table of a tournament with an unreadable document (stored by another version), ranked by points."""
    plain = Document(name="-", family=families()[0], entries=EntrySettings(all=True))
    entries = [entry for entry in stored.listed if entry.withdrawn is None or entry.version_id in scores.players]
    seeds = [Seed(seat, entry.withdrawn is not None) for seat, entry in enumerate(entries)]
    names = {seat: entry.name for seat, entry in enumerate(entries)}
    versions = {seat: entry.version_id for seat, entry in enumerate(entries)}
    lines = tuple(rank(plain, seeds, [], names, versions, scores=scores))
    return StandingTable(lines, plain.system.tie_breaks, scores, total=stored.tournament.planned_games)


def keep_findings(store: Store, tournament_id: int) -> None:
    """Compute and store the findings: half a second for 100 bots. Raises NotFoundError, SettingsError."""
    from referee.ratings.cycle import analyse_cycles

    table = standing(StoredTournament.get(store, tournament_id))
    found = analyse_cycles(table.results, table.sided, seed=tournament_id)
    store.tournaments.keep_findings(tournament_id, found.as_json() if found else {})


def keep_missing_findings(store: Store, must_stop: Callable[[], bool] = lambda: False) -> int:
    """Compute missing findings of tournaments that another version of this program finished; return how many."""
    count = 0
    for tournament_id in store.tournaments.without_findings():
        if must_stop():
            break
        try:
            keep_findings(store, tournament_id)
        except SettingsError:  # a document of another version of this program
            store.tournaments.keep_findings(tournament_id, {})
        count += 1
    return count
