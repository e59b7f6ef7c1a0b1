"""Takes the games that were played here into the archive, in the order of their commits, and indexes all games anew.

Idempotent: up to which commit games are there stands in the database, and two that follow at once do no harm. Refuses
to know when that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.log import logger
from arena.store import Store
from arena.store.archive.archived_game import ArchivedGame, entries_of, of_record
from arena.store.archive.entry import NewArchivedGame
from arena.store.games.commit import unpack

PORTION = 100
"""Games a transaction."""


Prepare = Callable[[Sequence[bytes]], list[NewArchivedGame]]
"""Stored records as games of the archive, with their positions."""


def follow(store: Store, must_stop: Callable[[], bool] = lambda: False, prepare: Prepare | None = None) -> int:
    """Take in all that is new; how many games."""
    taken = 0
    while not must_stop():
        after, records = store.archive.to_follow(PORTION)
        if not records:
            break
        games = (prepare or prepared)([data for _, data in records])
        if store.archive.follow(after, records[-1][0], games):
            taken += len(games)
    return taken


def prepared(records: Sequence[bytes]) -> list[NewArchivedGame]:
    """Stored records as games of the archive, with their positions."""
    return with_entries([of_record(unpack(data)) for data in records])


def with_entries(games: Sequence[ArchivedGame]) -> list[NewArchivedGame]:
    """Games with their positions; those that the rules do not understand are found by everything else."""
    try:
        return [NewArchivedGame(game, entries) for game, entries in zip(games, entries_of(games), strict=True)]
    except ValueError:
        if len(games) > 1:
            return [new for game in games for new in with_entries([game])]
        logger("archive").warning("no positions", game=games[0].id)
        return [NewArchivedGame(games[0])]


def rebuild(store: Store, tell: Callable[[int], None] = lambda done: None) -> int:
    """Make the index of positions anew from all games; how many. Games whose turn has not come are not found by it."""
    last, count = store.archive.forget_positions(), 0
    for first in range(1, last + 1, PORTION):
        upto = min(last, first + PORTION - 1)
        games = with_entries(store.archive.between(first, upto))
        store.archive.index(first, upto, games)
        count += len(games)
        tell(count)
    return count
