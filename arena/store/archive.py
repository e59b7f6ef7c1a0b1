"""The archive: games people imported, and those played here, numbered together, found by anything they have.

What it shows of a game is in `archive_games`; imported games are kept whole beside it, those played here have their
records. Neither rating nor tournament knows of it, and all of it that is not an imported game follows from the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlmodel import col

from arena.store import positions
from arena.store.analyses import BY_ANALYSIS, by_figure
from arena.store.archive_columns import ArchiveColumns
from arena.store.archive_entry import (
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
from arena.store.archive_line import ArchiveLine, games_of, line_at, lines_of
from arena.store.archive_search import Search, matching
from arena.store.archived_game import ArchivedGame, entries_of
from arena.store.engine import BATCH, Sessions
from arena.store.errors import BadValueError, NotFoundError
from arena.store.explorer import Explorer
from arena.store.models import ArchiveGame, Game, Record
from arena.store.page import DEFAULT_LIMIT

Places = npt.NDArray[np.integer[Any]]
FOLLOWED = "archive-followed"
"""The counter of the commit number up to which games played here are in the archive."""
SORTS = {"number": "", "date": "day", "length": "plies"}
"""What lists can be sorted by, and the column it is; the number is the order they are in."""


@dataclass(frozen=True, slots=True)
class Found:
    """Part of the games that match, and how many match in all; `next` is the serial to go on behind."""

    games: list[ArchiveLine]
    total: int
    next: int | None = None


class Archive:
    """The archive of a database."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._columns = ArchiveColumns()
        self.explorer = Explorer(sessions, self._columns)

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
            self.merge()
        return added

    def _unknown(self, games: Sequence[ArchivedGame]) -> list[ArchivedGame]:
        """Those that are not there, each once."""
        with self._sessions.reading() as session:
            there = known(session, [game.id for game in games])
        return list({game.id: game for game in games if game.id not in there}.values())

    def merge(self) -> None:
        """Make few parts of the many that additions leave."""
        while positions.merge(self._sessions):
            pass

    def to_follow(self, limit: int) -> tuple[int, list[tuple[int, bytes]]]:
        """Up to which commit number games are there, and the next ones: (commit number, stored record)."""
        with self._sessions.reading() as session:
            after = counter(session, FOLLOWED)
            query = (
                select(col(Game.committed), col(Record.data))
                .join(Record, col(Record.game_id) == col(Game.id))
                .where(col(Game.committed) > after)
                .order_by(col(Game.committed))
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
            add_positions(session, first, last, {new.game.serial: new.entries for new in games})
        self.merge()

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
        with self._sessions.reading() as session:
            view = self._columns.view(session)
            mask = matching(session, view, search)
            order: Places = np.arange(len(mask))
            if sort in BY_ANALYSIS:
                order = np.array(by_figure(session, sort), dtype=np.int64) - 1
                order = order[order < len(mask)]
            elif SORTS[sort]:
                order = view.order(SORTS[sort])
            places = order[mask[order]]
            if is_falling:
                places = places[::-1]
            total = len(places)
            if after is not None:
                behind = np.flatnonzero(places == after - 1)
                offset = int(behind[0]) + 1 if len(behind) else total
            chosen = [int(place) for place in places[offset : offset + limit]]
            games = lines_of(session, view, chosen)
        is_more = offset + len(chosen) < total
        return Found(games, total, chosen[-1] + 1 if is_more and chosen else None)

    def count(self, search: Search) -> int:
        """How many games match."""
        with self._sessions.reading() as session:
            return int(np.count_nonzero(matching(session, self._columns.view(session), search)))

    def find(self, search: Search, *, limit: int | None = None, offset: int = 0) -> list[ArchivedGame]:
        """The games that match, whole, in the order of their numbers."""
        with self._sessions.reading() as session:
            places = np.flatnonzero(matching(session, self._columns.view(session), search))
            stop = None if limit is None else offset + limit
            return games_of(session, [int(place) + 1 for place in places[offset:stop]])

    def line(self, serial: int) -> ArchiveLine:
        """A game by its number in the archive. Raises NotFoundError."""
        with self._sessions.reading() as session:
            view = self._columns.view(session)
            if not 1 <= serial <= view.count:
                raise NotFoundError("game of the archive", str(serial))
            return lines_of(session, view, [serial - 1])[0]

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

    def of_player(self, name: str) -> list[ArchiveLine]:
        """All games of somebody by the whole name, in the order of their numbers, without ids."""
        with self._sessions.reading() as session:
            view = self._columns.view(session)
            places = np.flatnonzero(matching(session, view, Search(name=name)))
        return [line_at(view, int(place)) for place in places]

    def sources(self) -> list[tuple[str, str, str, int]]:
        """(source, family, variant, games) of all there is."""
        with self._sessions.reading() as session:
            view = self._columns.view(session)
        columns = [view.columns[name][view.is_in] for name in ("source_id", "variant_id")]
        pairs, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
        found = []
        for (source, variant), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            family, _, name = view.names["variant"].by_number[variant].partition(" ")
            found.append((view.names["source"].by_number[source], family, name, count))
        return sorted(found)

    def names(self, kind: str) -> tuple[str, ...]:
        """The different words of a kind (`player`, `variant`, `termination`, `source`), to suggest near ones."""
        with self._sessions.reading() as session:
            names = self._columns.view(session).names[kind]
        return tuple(sorted(names.by_number.copy().values()))
