"""The archive: imported games and games played here, numbered together and searchable by all their properties.

The searchable columns are in `archive_games`. Imported games are also stored whole, in `archive_texts`; games played
here have their records. Ratings and tournaments do not depend on the archive. If it is lost, all of it except the
imported games can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, false, func, select, tuple_
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.analysis import FIGURES
from arena.documents.archive import MAX_COUNTED, ArchiveItem, ArchivePage, ArchiveQuery, ArchiveSource
from arena.errors import NotFoundError
from arena.store.archive import positions
from arena.store.archive.archived_game import WINNERS, ArchivedGame, games_of, lines_of, names_of
from arena.store.archive.entry import (
    SERIAL_COUNTER,
    NewArchivedGame,
    add_positions,
    advance,
    counter,
    indexed,
    insert_games,
    known,
    set_counter,
    withdraw,
)
from arena.store.archive.explorer import Explorer
from arena.store.archive.search import MAX_SERIAL, ArchiveSearch, Matches
from arena.store.base.engine import Repository, Sessions, batched, fetch
from arena.store.base.page import read_cursor, write_cursor
from arena.store.base.tables.analyses import Analysis
from arena.store.base.tables.archive import ArchiveGame, ArchiveName
from arena.store.base.tables.games import Game, Record

FOLLOWED_COUNTER = "archive-followed"
"""Name of the counter with the last commit number whose game is in the archive."""
SORTS = {"number": ArchiveGame.serial, "date": ArchiveGame.day, "length": ArchiveGame.plies}
"""Sort keys of lists, each with its column."""
SCAN_RATIO = 4
"""Games are scanned in sort order if at least one of this many games matches, or if more games match than are counted:
the scan then finds a page sooner than an index of a filter.
"""


@dataclass(frozen=True, slots=True)
class ArchivedPairing:
    """The number of games with the same players, variant and result; their first and last day (0: unknown)."""

    family: str
    first: str
    second: str
    winner: str | None
    games: int
    since: int
    until: int
    serial: int
    """Serial of the first of these games."""


class Archive(Repository):
    """All games with a result, imported or played here, with the index of their positions."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self.explorer = Explorer(sessions)

    # -- additions -----------------------------------------------------------------------------------------------------

    def add(self, games: Iterable[ArchivedGame]) -> int:
        """Store imported games and return how many were new. Games with a known id are left unchanged."""
        return sum(self.add_indexed(indexed(portion)) for portion in batched(games))

    def add_indexed(self, games: Iterable[NewArchivedGame]) -> int:
        """Store imported games with the positions that `indexed` has computed; return how many were new.

        Each portion is one transaction, so that an import that was killed continues where it ended.
        """
        added = 0
        for portion in batched(games):
            with self._sessions.reading() as session:
                # Asked before the write, as importing a text again is usual and must not lock out other writers.
                there = known(session, [new.game.id for new in portion])
            if unknown := list({new.game.id: new for new in portion if new.game.id not in there}.values()):
                with self._sessions.writing() as session:
                    added += insert_games(session, unknown)
        return added

    def to_follow(self, limit: int) -> tuple[int, list[tuple[int, bytes]]]:
        """Return the commit number of the last archived result, and the next results as (commit number, record)."""
        with self._sessions.reading() as session:
            after = counter(session, FOLLOWED_COUNTER)
            query = (
                select(col(Game.commit_number), col(Record.data))
                .join(Record, col(Record.game_id) == col(Game.id))
                .where(col(Game.commit_number) > after)
                .order_by(col(Game.commit_number))
                .limit(limit)
            )
            return after, [(row[0] or 0, row[1]) for row in session.execute(query)]

    def follow(self, after: int, upto: int, games: Sequence[NewArchivedGame]) -> bool:
        """Archive the games with commit numbers from `after` + 1 to `upto`; return False if another process was faster.

        A game that was undone and played again gets a new serial; the former row is deleted.
        """
        with self._sessions.writing() as session:
            if advance(session, FOLLOWED_COUNTER, 0) != after:
                # Also frees the counter's row: the block would commit its unchanged value.
                session.rollback()
                return False
            withdraw(session, known(session, [new.game.id for new in games]))
            insert_games(session, games)
            set_counter(session, FOLLOWED_COUNTER, upto)
        return True

    def forget_positions(self) -> int:
        """Clear the position index, to be rebuilt by `index`; return the last serial to index."""
        with self._sessions.writing() as session:
            last = advance(session, SERIAL_COUNTER, 0)
            positions.clear(session)
        return last

    def index(self, first: int, last: int, games: Sequence[NewArchivedGame]) -> None:
        """Index the positions of archived games with serials from `first` to `last`."""
        with self._sessions.writing() as session:
            advance(session, SERIAL_COUNTER, 0)
            add_positions(session, first, last, {new.game.serial: new.entries for new in games})

    def between(self, first: int, last: int) -> list[ArchivedGame]:
        """Return the whole games with serials from `first` to `last`."""
        with self._sessions.reading() as session:
            return games_of(session, range(first, last + 1))

    # -- searches ------------------------------------------------------------------------------------------------------

    def search(self, search: ArchiveSearch, *, offset: int = 0) -> ArchivePage:
        """Return one page of the matching games. Raises BadValueError."""
        query = search.query
        key = col(getattr(Analysis, query.sort)) if query.sort in FIGURES else col(SORTS[query.sort])
        after = read_cursor(query.after, int)
        with self._sessions.reading() as session:
            matches = Matches(session, search)
            total = matches.count(MAX_COUNTED + 1)
            is_exact = total <= MAX_COUNTED
            matches.is_scan = not is_exact or SCAN_RATIO * total >= counter(session, SERIAL_COUNTER)
            rows = _page(session, matches, key, is_falling=query.order == "falling", after=after[0] if after else None)
            chosen = matches.page(rows, 0 if after else offset, query.limit + 1)
            games = lines_of(session, chosen[: query.limit])
        is_more = 0 < query.limit < len(chosen)
        cursor = write_cursor(chosen[query.limit - 1]) if is_more else None
        return ArchivePage(games, min(total, MAX_COUNTED), is_exact, cursor)

    def count(self, search: ArchiveSearch) -> int:
        """Return the number of matching games."""
        with self._sessions.reading() as session:
            return Matches(session, search).count()

    def find(self, search: ArchiveSearch, *, limit: int | None = None, offset: int = 0) -> list[ArchivedGame]:
        """Return the matching games with all their data, ordered by serial."""
        with self._sessions.reading() as session:
            query = _page(session, Matches(session, search), col(ArchiveGame.serial))
            return games_of(session, list(session.scalars(query.offset(offset).limit(limit))))

    def line(self, serial: int) -> ArchiveItem:
        """Return the list entry of a game by its serial. Raises NotFoundError."""
        with self._sessions.reading() as session:
            found = lines_of(session, [serial]) if 0 < serial <= MAX_SERIAL else []
        if not found:
            raise NotFoundError("archived game", serial)
        return found[0]

    def get(self, serial: int) -> ArchivedGame:
        """Return a whole game by its serial. Raises NotFoundError."""
        with self._sessions.reading() as session:
            found = games_of(session, [serial])
        if not found:
            raise NotFoundError("archived game", serial)
        return found[0]

    def serial_of(self, game_id: str) -> int | None:
        """Return the serial of a game, played here or imported; None if it is not archived."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(ArchiveGame.serial)).where(col(ArchiveGame.game_id) == game_id))

    def of_player(self, name: str) -> list[ArchivedPairing]:
        """Count the games of the player with exactly this name, by both players, variant and result.

        These groups are ordered by their first game.
        """
        game = ArchiveGame
        with self._sessions.reading() as session:
            columns = (game.first_id, game.second_id, game.variant_id, game.winner, game.day, game.serial)
            matching = (
                Matches(session, ArchiveSearch(query=ArchiveQuery(name=name))).select(*map(col, columns)).subquery().c
            )
            alike = (matching.first_id, matching.second_id, matching.variant_id, matching.winner)
            days = (func.min(func.nullif(matching.day, 0)), func.max(matching.day))
            query = select(*alike, func.count(), *days, func.min(matching.serial)).group_by(*alike)
            rows = fetch(session, query.order_by(func.min(matching.serial)))
            names = names_of(session, (number for row in rows for number in row[:3]))
        return [
            ArchivedPairing(
                family=names[variant].partition(" ")[0],
                first=names[first],
                second=names[second],
                winner=WINNERS[winner],
                games=games,
                since=since or 0,
                until=until,
                serial=serial,
            )
            for first, second, variant, winner, games, since, until, serial in rows
        ]

    def sources(self) -> list[ArchiveSource]:
        """Return the number of games of each collection and variant."""
        pair = (col(ArchiveGame.source_id), col(ArchiveGame.variant_id))
        with self._sessions.reading() as session:
            rows = fetch(session, select(*pair, func.count()).group_by(*pair))
            names = names_of(session, (number for row in rows for number in row[:2]))
        counts = []
        for source, variant, count in rows:
            family, _, name = names[variant].partition(" ")
            counts.append((names[source], family, name, count))
        return [ArchiveSource(*row) for row in sorted(counts)]

    def names(self, kind: str) -> tuple[str, ...]:
        """Return all names of a kind (`player`, `variant`, `termination`, `source`), to suggest similar ones."""
        with self._sessions.reading() as session:
            return tuple(sorted(session.scalars(select(col(ArchiveName.name)).where(col(ArchiveName.kind) == kind))))


def _page(
    session: Session, matches: Matches, key: Any, *, is_falling: bool = False, after: int | None = None
) -> Select[Any]:
    """Select the serials of the matching games, ordered by `key`, then by serial; start after the serial `after`."""
    matching = matches.select(col(ArchiveGame.serial).label("serial"), key.label("key")).subquery().c
    order = (matching.key if matches.is_scan else matches.unindexed(matching.key), matching.serial)
    query = select(matching.serial).order_by(*(column.desc() if is_falling else column for column in order))
    if after is None:
        return query
    last = session.execute(select(*order).where(matching.serial == min(after, MAX_SERIAL))).one_or_none()
    if last is None:
        return query.where(false())
    place = tuple_(*order)
    return query.where(place < tuple(last) if is_falling else place > tuple(last))
