"""Statistics about the results of a finished tournament, computed once and stored with it."""

from __future__ import annotations

from collections.abc import Callable

from arena.store import Store
from arena.tournaments.settings import SettingsError
from arena.tournaments.standing import standing


def keep(store: Store, tournament_id: int) -> None:
    """Compute and store the findings: half a second for 100 bots. Raises NotFoundError, SettingsError."""
    from referee.ratings.cycle import analyse_cycles

    table = standing(store, tournament_id)
    found = analyse_cycles(table.results, table.sided, seed=tournament_id)
    store.tournaments.keep_findings(tournament_id, found.as_json() if found else {})


def keep_missing(store: Store, must_stop: Callable[[], bool] = lambda: False) -> int:
    """Compute missing findings of tournaments that another version of this program finished; return how many."""
    count = 0
    for tournament_id in store.tournaments.without_findings():
        if must_stop():
            break
        try:
            keep(store, tournament_id)
        except SettingsError:  # a document of another version of this program
            store.tournaments.keep_findings(tournament_id, {})
        count += 1
    return count
