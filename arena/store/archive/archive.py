"""The archive: games people imported, and those played here, numbered together, found by anything they have.

What it shows of a game is in `archive_games`; imported games are kept whole beside it, those played here have their
records. Neither rating nor tournament knows of it, and all of it that is not an imported game follows from the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, false, func, select, tuple_
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.archive import positions
from arena.store.archive.archived_game import WINNERS, ArchivedGame, entries_of
from arena.store.archive.entry import (
    SERIALS,
    NewGame,
    add_positions,
    advance,
    counter,
    insert_games,
    known,
    packed,
    set_counter,
    withdraw,
)
from arena.store.archive.explorer import Explorer
from arena.store.archive.line import ArchiveLine, games_of, lines_of, names_of
from arena.store.archive.search import MAX_SERIAL, Matches, Search
from arena.store.base.engine import BATCH, Sessions, fetch
from arena.store.base.errors import BadValueError, NotFoundError
from arena.store.base.models import Analysis, ArchiveGame, ArchiveName, Game, Record
from arena.store.base.page import DEFAULT_LIMIT
from arena.store.games.analyses import BY_ANALYSIS

FOLLOWED = "archive-followed"
"""The counter of the commit number up to which games played here are in the archive."""
SORTS = {"number": ArchiveGame.serial, "date": ArchiveGame.day, "length": ArchiveGame.plies}
"""What lists can be sorted by, and the column it is."""
SCANNED = 4
"""From one game in so many on, SQLite finds a page sooner by the order than by the filters."""


@dataclass(frozen=True, slots=True)
class Found:
    """Part of the games that match, and how many match in all; `next` is the serial to go on behind."""

    games: list[ArchiveLine]
    total: int
    next: int | None = None


@dataclass(frozen=True, slots=True)
class Meeting:
    """Games of the same two people in the same variant that ended alike. Days are 0 where none is known."""

    family: str
    first: str
    second: str
    winner: str | None
    games: int
    since: int
    until: int
    serial: int
    """The first of them."""


class Archive:
    """The archive of a database."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self.explorer = Explorer(sessions)

    # -- what comes in -------------------------------------------------------------------------------------------------

    def add(self, games: Iterable[ArchivedGame]) -> int:
        """Keep imported games; how many of them were new. Games that are there, by their id, are left as they are."""
        added = 0
        source = iter(games)
        while portion := [game for _, game in zip(range(BATCH), source, strict=False)]:
            unknown = self._unknown(portion)
            new = [
                NewGame(game, entries, packed(game)) for game, entries in zip(unknown, entries_of(unknown), strict=True)
            ]
            if new:
                with self._sessions.writing() as session:
                    added += insert_games(session, new)
        return added

    def _unknown(self, games: Sequence[ArchivedGame]) -> list[ArchivedGame]:
        """Those that are not there, each once."""
        with self._sessions.reading() as session:
            there = known(session, [game.id for game in games])
        return list({game.id: game for game in games if game.id not in there}.values())

    def to_follow(self, limit: int) -> tuple[int, list[tuple[int, bytes]]]:
        """Up to which commit number games are there, and the next ones: (commit number, stored record)."""
        with self._sessions.reading() as session:
            after = counter(session, FOLLOWED)
            query = (
                select(col(Game.commit_number), col(Record.data))
                .join(Record, col(Record.game_id) == col(Game.id))
                .where(col(Game.commit_number) > after)
                .order_by(col(Game.commit_number))
                .limit(limit)
            )
            return after, [(row[0] or 0, row[1]) for row in session.execute(query)]

    def follow(self, after: int, upto: int, games: Sequence[NewGame]) -> bool:
        """Take in the games committed behind `after` up to `upto`; False when somebody else has done so meanwhile.

        One that was undone and played again gets a number of its own; the former one is no longer found.
        """
        with self._sessions.writing() as session:
            if advance(session, FOLLOWED, 0) != after:
                session.rollback()
                return False
            withdraw(session, known(session, [new.game.id for new in games]))
            insert_games(session, games)
            set_counter(session, FOLLOWED, upto)
        return True

    def forget_positions(self) -> int:
        """Make the index of positions empty, to be filled again by `index`; the last serial that this concerns."""
        with self._sessions.writing() as session:
            last = advance(session, SERIALS, 0)
            positions.clear(session)
        return last

    def index(self, first: int, last: int, games: Sequence[NewGame]) -> None:
        """The positions of games that are there, with serials from `first` to `last`."""
        with self._sessions.writing() as session:
            advance(session, SERIALS, 0)
            add_positions(session, first, last, {new.game.serial: new.entries for new in games})

    def between(self, first: int, last: int) -> list[ArchivedGame]:
        """The games with serials from `first` to `last`, whole."""
        with self._sessions.reading() as session:
            return games_of(session, range(first, last + 1))

    # -- what is looked for --------------------------------------------------------------------------------------------

    def search(
        self,
        search: Search,
        *,
        sort: str = "number",
        is_falling: bool = False,
        limit: int = DEFAULT_LIMIT,
        after: int | None = None,
        offset: int = 0,
    ) -> Found:
        """The games that match, from behind the one with serial `after`. Raises BadValueError."""
        if sort not in (*SORTS, *BY_ANALYSIS):
            raise BadValueError(f"games cannot be sorted by {sort!r}; by {', '.join((*SORTS, *BY_ANALYSIS))}")
        by = sort if sort in BY_ANALYSIS else ""
        key = col(getattr(Analysis, by)) if by else col(SORTS[sort])
        with self._sessions.reading() as session:
            matches = Matches(session, search, by=by)
            total = matches.count()
            matches.is_scan = SCANNED * total >= counter(session, SERIALS)
            query = _page(session, matches, key, is_falling=is_falling, after=after)
            chosen = list(session.scalars(query.offset(offset if after is None else 0).limit(limit + 1)))
            games = lines_of(session, chosen[:limit])
        return Found(games, total, chosen[limit - 1] if 0 < limit < len(chosen) else None)

    def count(self, search: Search) -> int:
        """How many games match."""
        with self._sessions.reading() as session:
            return Matches(session, search).count()

    def find(self, search: Search, *, limit: int | None = None, offset: int = 0) -> list[ArchivedGame]:
        """The games that match, whole, in the order of their numbers."""
        with self._sessions.reading() as session:
            query = _page(session, Matches(session, search), col(ArchiveGame.serial))
            return games_of(session, list(session.scalars(query.offset(offset).limit(limit))))

    def line(self, serial: int) -> ArchiveLine:
        """A game by its number in the archive. Raises NotFoundError."""
        with self._sessions.reading() as session:
            found = lines_of(session, [serial]) if 0 < serial <= MAX_SERIAL else []
        if not found:
            raise NotFoundError("game of the archive", str(serial))
        return found[0]

    def get(self, serial: int) -> ArchivedGame:
        """A game, whole, by its number in the archive. Raises NotFoundError."""
        with self._sessions.reading() as session:
            found = games_of(session, [serial])
        if not found:
            raise NotFoundError("game of the archive", str(serial))
        return found[0]

    def serial_of(self, game_id: str) -> int | None:
        """The number in the archive of a game played here, or of an imported one."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(ArchiveGame.serial)).where(col(ArchiveGame.game_id) == game_id))

    def of_player(self, name: str) -> list[Meeting]:
        """Add up the games of somebody by the whole name, in the order of the first of each kind."""
        game = ArchiveGame
        with self._sessions.reading() as session:
            columns = (game.first_id, game.second_id, game.variant_id, game.winner, game.day, game.serial)
            found = Matches(session, Search(name=name)).select(*map(col, columns)).subquery().c
            alike = (found.first_id, found.second_id, found.variant_id, found.winner)
            days = (func.min(func.nullif(found.day, 0)), func.max(found.day))
            query = select(*alike, func.count(), *days, func.min(found.serial)).group_by(*alike)
            rows = fetch(session, query.order_by(func.min(found.serial)))
            names = names_of(session, (number for row in rows for number in row[:3]))
        return [
            Meeting(
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

    def sources(self) -> list[tuple[str, str, str, int]]:
        """(source, family, variant, games) of all there is."""
        pair = (col(ArchiveGame.source_id), col(ArchiveGame.variant_id))
        with self._sessions.reading() as session:
            rows = fetch(session, select(*pair, func.count()).group_by(*pair))
            names = names_of(session, (number for row in rows for number in row[:2]))
        found = []
        for source, variant, count in rows:
            family, _, name = names[variant].partition(" ")
            found.append((names[source], family, name, count))
        return sorted(found)

    def names(self, kind: str) -> tuple[str, ...]:
        """The different words of a kind (`player`, `variant`, `termination`, `source`), to suggest near ones."""
        with self._sessions.reading() as session:
            return tuple(sorted(session.scalars(select(col(ArchiveName.name)).where(col(ArchiveName.kind) == kind))))


def _page(
    session: Session, matches: Matches, key: Any, *, is_falling: bool = False, after: int | None = None
) -> Select[Any]:
    """The serials of matches in the order of a column, those alike in it by serial; from behind the serial `after`."""
    found = matches.select(col(ArchiveGame.serial).label("serial"), key.label("key")).subquery().c
    order = (found.key if matches.is_scan else matches.unindexed(found.key), found.serial)
    query = select(found.serial).order_by(*(column.desc() if is_falling else column for column in order))
    if after is None:
        return query
    last = session.execute(select(*order).where(found.serial == min(after, MAX_SERIAL))).one_or_none()
    if last is None:
        return query.where(false())
    place = tuple_(*order)
    return query.where(place < tuple(last) if is_falling else place > tuple(last))
