"""Opening explorer: moves played in a position, their results, the players' strengths, and the best games.

The position index gives the games with a position; the archive's table gives their results. Nothing is stored for the
explorer, so nothing is lost or counted twice, and undone results disappear at once. Moves are distinguished by the
position they lead to, up to symmetry.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.archive import MAX_COUNTED, ArchiveItem, ArchiveQuery, ExplorerQuery
from arena.store.archive import positions
from arena.store.archive.archived_game import lines_of
from arena.store.archive.positions import PositionEntries
from arena.store.archive.search import MAX_SERIAL, ArchiveSearch, Matches
from arena.store.base.engine import Repository, fetch
from arena.store.base.tables.archive import ArchiveGame, ArchiveName
from arena.store.base.tables.bots import Version
from arena.store.base.tables.ratings import VersionRating
from referee.rules.core import Side

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(slots=True)
class ExplorerTally:
    """Counts of a group of games; `other` have no known result.

    Strengths are the mean mu of the rated players. `last` is the latest day of play, such as 20260731.
    """

    games: int = 0
    first: int = 0
    second: int = 0
    draw: int = 0
    other: int = 0
    rating: float | None = None
    """Mean strength of the side to move."""
    opposition: float | None = None
    """Mean strength of the other side."""
    last: int = 0
    best: ArchiveItem | None = None
    """The game of the two strongest players, the latest of several."""


@dataclass(frozen=True, slots=True)
class Explored:
    """A position: the games that reached it, and by tag (see `arena.store.archive.positions`) how they continued."""

    whole: ExplorerTally
    moves: Mapping[int, ExplorerTally]
    is_exact: bool
    """False if more games than are counted reached it; then the latest are counted."""


@dataclass(frozen=True, slots=True)
class _Games:
    """The columns of games that the explorer reads, ordered by serial."""

    serials: Numbers
    winner: Numbers
    day: Numbers
    first: Numbers
    """Id of the first player's name."""
    second: Numbers

    def taken(self, places: Any) -> _Games:
        """Return the games that indices, a slice or a mask select."""
        return _Games(*(getattr(self, name)[places] for name in self.__dataclass_fields__))


class Explorer(Repository):
    def explore(
        self, key: int, query: ExplorerQuery, tags: Collection[int], *, family: str, rated_in: str, side: Side
    ) -> Explored:
        """Count the games that reached the position with a key, and those that continued with each of these tags.

        `side` is the side to move. A game counts once in total, and once for each different position that followed.
        At most the latest `MAX_COUNTED` games count. Strengths are those of the query's pool, by default of `rated_in`.
        """
        pool = query.pool or rated_in
        with self._sessions.reading() as session:
            entries = positions.look_up(session, key)
            games = _games(session, family, query, entries.games(), pool)
            is_exact = len(games.serials) <= MAX_COUNTED
            games = games.taken(slice(-MAX_COUNTED, None))
            strengths = _strengths(session, pool, games)
            whole = _add_up(games, np.zeros(len(games.serials), np.int64), 1, strengths, side)
            following = np.array(sorted(tags), np.int64)
            pairs = _pairs(entries, games.serials, following)
            by_tag = _add_up(games.taken(pairs.games), pairs.tags, len(following), strengths, side)
            best = sorted({total.best for total in (*whole, *by_tag) if total.tally.games})
            lines = {line.serial: line for line in lines_of(session, best)}
        for entry in (*whole, *by_tag):
            entry.tally.best = lines.get(entry.best)
        moves = {
            tag: figures.tally for tag, figures in zip(following.tolist(), by_tag, strict=True) if figures.tally.games
        }
        return Explored(whole[0].tally, moves, is_exact)


def _games(session: Session, family: str, chosen: ExplorerQuery, serials: Numbers, rated_in: str) -> _Games:
    """Return the games that match the filter, by serial: the latest `MAX_COUNTED` and one more if there are more."""
    columns = (ArchiveGame.serial, ArchiveGame.winner, ArchiveGame.day, ArchiveGame.first_id, ArchiveGame.second_id)
    search = ArchiveSearch(
        query=ArchiveQuery(
            family=family, variant=chosen.variant, source=chosen.source, since=chosen.since, until=chosen.until
        )
    )
    first, second = col(ArchiveGame.first_id), col(ArchiveGame.second_id)
    conditions = []
    if chosen.bot:
        bots = _bots(session, chosen.bot)
        conditions.append(or_(first.in_(bots), second.in_(bots)))
    if chosen.rating is not None:
        strong = _rated(rated_in, col(ArchiveName.id)).where(col(VersionRating.mu) >= chosen.rating)
        conditions += [first.in_(strong), second.in_(strong)]
    rows: list[Any] = []
    latest, earlier = serials[-MAX_COUNTED - 1 :], serials[: -MAX_COUNTED - 1]
    for part in (latest, earlier) if len(earlier) else (latest,):
        if len(rows) <= MAX_COUNTED:  # mostly the latest are enough
            query = Matches(session, search, among=part, pool=chosen.pool).select(*map(col, columns)).where(*conditions)
            query = query.order_by(col(ArchiveGame.serial).desc()).limit(MAX_COUNTED + 1 - len(rows))
            rows += session.execute(query).all()
    table = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(columns)).reshape(-1, len(columns))
    return _Games(*table[np.argsort(table[:, 0])].T)


def _bots(session: Session, name: str) -> list[int]:
    query = select(col(ArchiveName.id), col(ArchiveName.name)).where(
        col(ArchiveName.kind) == "player", col(ArchiveName.folded).startswith(name, autoescape=True)
    )
    rows = session.execute(query)
    return [number or 0 for number, its in rows if its == name or its.startswith(f"{name} v")]


def _strengths(session: Session, pool: str, games: _Games) -> Floats:
    """Return the current mu of the players of the games, indexed by name id; nan without a rating in the pool."""
    found = np.full(1 + max(games.first.max(initial=0), games.second.max(initial=0)), np.nan)
    for number, mu in fetch(session, _rated(pool, col(ArchiveName.id), col(VersionRating.mu))):
        if number < len(found):
            found[number] = mu
    return found


def _rated(pool: str, *columns: Any) -> Select[Any]:
    """Return a query for these columns of the names and ratings of the players in a pool."""
    return (
        select(*columns)
        .join_from(ArchiveName, Version, col(Version.name) == col(ArchiveName.name))
        .join(VersionRating, col(VersionRating.version_id) == col(Version.id))
        .where(col(ArchiveName.kind) == "player", col(VersionRating.pool) == pool)
    )


class _Pairs(NamedTuple):
    """Pairs of a game and a position that followed in it, as indices of games and tags."""

    games: Numbers
    tags: Numbers


def _pairs(entries: PositionEntries, serials: Numbers, tags: Numbers) -> _Pairs:
    """Return, as indices of these ascending lists, the distinct pairs of serial and tag that the entries have."""
    near = entries.serials >= serials.min(initial=MAX_SERIAL)  # mostly far fewer: only the latest games count
    both = np.unique(entries.serials[near].astype(np.uint64) << np.uint64(32) | entries.tags[near])
    columns = [(both >> np.uint64(32)).astype(np.int64), (both & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    places = [np.searchsorted(known, mine) for known, mine in zip((serials, tags), columns, strict=True)]
    is_known = np.ones(len(both), np.bool_)
    for known, mine, place in zip((serials, tags), columns, places, strict=True):
        is_known &= place < len(known)
        is_known[is_known] = known[place[is_known]] == mine[is_known]
    return _Pairs(places[0][is_known], places[1][is_known])


class _Sum(NamedTuple):
    """A tally and the serial of its best game."""

    tally: ExplorerTally
    best: int


_SERIAL_BITS = 31
"""Bits reserved for the serial below the merit of a game."""


def _add_up(games: _Games, groups: Numbers, size: int, strengths: Floats, side: str) -> list[_Sum]:
    """Count the games of each group; `groups` gives the group of each game."""
    results = np.bincount(groups * 4 + games.winner, minlength=4 * size).reshape(size, 4)
    last, best = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    np.maximum.at(last, groups, games.day)
    merit, means = np.zeros(len(groups), np.int64), []
    for players in (games.first, games.second) if side == "first" else (games.second, games.first):
        mine = strengths[players]
        is_rated = ~np.isnan(mine)
        mine = np.nan_to_num(mine)
        # A whole number above the serial's bits, so that one maximum finds the strongest and, of equals, the latest
        # game.
        merit += ((mine + 100.0) * 1000).astype(np.int64)
        means.append((np.bincount(groups, mine, size).tolist(), np.bincount(groups, is_rated, size).tolist()))
    np.maximum.at(best, groups, np.maximum(merit, 0) << _SERIAL_BITS | games.serials)
    sums = []
    for group, (other, first, second, draw) in enumerate(results.tolist()):
        rating, opposition = (total[group] / rated[group] if rated[group] else None for total, rated in means)
        tally = ExplorerTally(
            other + first + second + draw, first, second, draw, other, rating, opposition, int(last[group])
        )
        sums.append(_Sum(tally, int(best[group]) & MAX_SERIAL))
    return sums
