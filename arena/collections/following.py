"""Archiving of games played here, in the order of their commits, and rebuilding of the position index.

The database stores the commit number of the last archived game. So archiving is idempotent, and two concurrent runs do
no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.log import logger
from arena.store import Store
from arena.store.archive.archived_game import ArchivedGame, entries_of, of_record
from arena.store.archive.entry import NewArchivedGame
from arena.store.games.commit import unpack

BATCH_SIZE = 100
"""Games per transaction."""


Prepare = Callable[[Sequence[bytes]], list[NewArchivedGame]]
"""A function that turns stored records into games of the archive with their positions."""


def follow(store: Store, must_stop: Callable[[], bool] = lambda: False, prepare: Prepare | None = None) -> int:
    """Archive all new games; return how many."""
    taken = 0
    while not must_stop():
        after, records = store.archive.to_follow(BATCH_SIZE)
        if not records:
            break
        games = (prepare or prepared)([data for _, data in records])
        if store.archive.follow(after, records[-1][0], games):
            taken += len(games)
    return taken


def prepared(records: Sequence[bytes]) -> list[NewArchivedGame]:
    """Return stored records as games of the archive with their positions."""
    return with_entries([of_record(unpack(data)) for data in records])


def with_entries(games: Sequence[ArchivedGame]) -> list[NewArchivedGame]:
    """Add positions to games. A game that cannot be replayed gets none, so searches by position miss it."""
    try:
        return [NewArchivedGame(game, entries) for game, entries in zip(games, entries_of(games), strict=True)]
    except ValueError:
        if len(games) > 1:
            return [new for game in games for new in with_entries([game])]
        logger("archive").warning("no positions", game=games[0].id)
        return [NewArchivedGame(games[0])]


def rebuild(store: Store, tell: Callable[[int], None] = lambda done: None) -> int:
    """Rebuild the position index from all games; return how many. Meanwhile, searches by position miss games
    that are not indexed yet.
    """
    last, count = store.archive.forget_positions(), 0
    for first in range(1, last + 1, BATCH_SIZE):
        upto = min(last, first + BATCH_SIZE - 1)
        games = with_entries(store.archive.between(first, upto))
        store.archive.index(first, upto, games)
        count += len(games)
        tell(count)
    return count
