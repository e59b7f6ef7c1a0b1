"""What the results of a finished tournament say beyond strengths, found once and kept with it."""

from __future__ import annotations

from collections.abc import Callable

from arena.store import Store
from arena.tournaments.settings import SettingsError
from arena.tournaments.standing import standing


def keep(store: Store, tournament_id: int) -> None:
    """Find and store it: half a second for a hundred bots. Raises NotFoundError, SettingsError."""
    from referee.ratings.cycle import analyse_cycles

    table = standing(store, tournament_id)
    found = analyse_cycles(table.results, table.sided, seed=tournament_id)
    store.tournaments.keep_findings(tournament_id, found.as_json() if found else {})


def keep_missing(store: Store, must_stop: Callable[[], bool] = lambda: False) -> int:
    """The same for tournaments that were finished by another program, which are as many as this returns."""
    count = 0
    for tournament_id in store.tournaments.without_findings():
        if must_stop():
            break
        try:
            keep(store, tournament_id)
        except SettingsError:  # a document of another time
            store.tournaments.keep_findings(tournament_id, {})
        count += 1
    return count
