"""Searches of the archive as SQL: filters become conditions, positions and first moves are looked up in their index.

SQLite keeps no statistics here, so this module excludes unsuitable indexes: a column in `unindexed` form only filters
rows found by another index. PostgreSQL decides by its statistics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ARRAY, ColumnElement, FromClause, Integer, Select, bindparam, func, or_, select, union_all
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.errors import BadValueError
from arena.store.archive import positions
from arena.store.archive.archived_game import MAX_OPENING_PLIES, WINNERS, opening_key
from arena.store.archive.line import games_of
from arena.store.base.engine import table_of
from arena.store.base.models import Analysis, ArchiveGame, ArchiveName
from arena.store.games.analyses import AnalysisFilter

MAX_COMPARED = 5000
"""Maximum number of games with a common opening that are read to compare moves beyond the index."""
SEATS = (ArchiveGame.first_id, ArchiveGame.second_id)
MAX_INLINE_IDS = 100
"""From this length on, a list of ids is sent to the database as one parameter."""
MAX_SERIAL = 2**31 - 1

Serials = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ArchiveSearch:
    """A search; None or empty matches anything.

    `player` is part of either name, `moves` the first moves in canonical notation, `key` a position key. `number` is
    the serial or the number in the collection, `winner` may be `none`. Days are numbers such as 20260731, lengths are
    plies; both bounds are inclusive.
    """

    id: str | None = None
    family: str | None = None
    variant: str | None = None
    player: str | None = None
    first: str | None = None
    second: str | None = None
    number: str | None = None
    winner: str | None = None
    source: str | None = None
    termination: str | None = None
    min_plies: int | None = None
    max_plies: int | None = None
    since: int | None = None
    until: int | None = None
    moves: tuple[str, ...] = ()
    key: int | None = None
    name: str | None = None
    """A player's whole name, on either side."""
    analysed: AnalysisFilter | None = None
    """Filter on the analysis; None also matches games that were not analysed."""


class Matches:
    """The games that match a search, for counting and selecting. Raises BadValueError.

    `among` limits them to these serials, `by` to analysed games with that figure, `pool` to games played here in a
    rating pool.
    """

    def __init__(
        self,
        session: Session,
        search: ArchiveSearch,
        *,
        among: Serials | None = None,
        by: str = "",
        pool: str | None = None,
    ) -> None:
        self._session, self._search, self._by = session, search, by
        self._is_sqlite = session.get_bind().dialect.name == "sqlite"
        self.is_scan = False
        """Set this if most games match, so that SQLite scans all of them in sort order."""
        self._named = list(_named(session, search, pool))
        self._seats = list(_seats(session, search))
        self._among = _indexed(session, search, among)
        if len(search.moves) > MAX_OPENING_PLIES:
            self._among = self._beginning_with(search.moves)

    def count(self) -> int:
        """Count the matching games."""
        found = self.select(col(ArchiveGame.serial)).subquery()
        return self._session.scalar(select(func.count()).select_from(found)) or 0

    def unindexed(self, column: Any) -> ColumnElement[Any]:
        """Return the column as an expression for which SQLite uses no index."""
        return column + 0 if self._is_sqlite else column  # type: ignore[no-any-return]

    def select(self, *columns: Any) -> Select[Any]:
        """Select these columns of the matching games."""
        is_found = self._among is not None or bool(self._by) or self._search.analysed is not None
        is_free = not (is_found or self.is_scan)
        rest = list(self._conditions(is_free=is_free))
        seats = self._seats
        if is_free and seats:  # one query per side, so that SQLite uses the index of each; each game once
            first, second = (self._is_in(side, seats[0]) for side in SEATS)
            rest += [self._is_on_a_side(names) for names in seats[1:]]
            not_first = ~self._is_in(ArchiveGame.first_id, seats[0], is_free=False)
            return select(
                union_all(
                    select(*columns).where(first, *rest), select(*columns).where(second, not_first, *rest)
                ).subquery()
            )
        rest += map(self._is_on_a_side, seats)
        return select(*columns).select_from(self._tables()).where(*rest)

    def _tables(self) -> FromClause:
        """Return the tables to select from, joined with the found serials and the analyses if needed."""
        games: Any = table_of(ArchiveGame)
        if self._among is not None:
            numbers = self._table(self._among.tolist())
            games = numbers.join(games, col(ArchiveGame.serial) == numbers.c.value)
        if self._by or self._search.analysed is not None:
            games = games.join(Analysis, col(Analysis.game_id) == col(ArchiveGame.game_id))
        return games  # type: ignore[no-any-return]

    def _table(self, numbers: list[int]) -> Any:
        """Return the numbers as a table with the column `value`."""
        if self._is_sqlite:
            return func.json_each(json.dumps(numbers)).table_valued("value")
        return func.unnest(bindparam(None, numbers, ARRAY(Integer))).table_valued("value").render_derived()

    def _is_in(self, column: Any, numbers: list[int], *, is_free: bool = True) -> ColumnElement[bool]:
        value = col(column)
        return (value if is_free else self.unindexed(value)).in_(
            numbers if len(numbers) < MAX_INLINE_IDS else select(self._table(numbers).c.value)
        )

    def _is_on_a_side(self, names: list[int]) -> ColumnElement[bool]:
        return or_(*(self._is_in(side, names, is_free=False) for side in SEATS))

    def _conditions(self, *, is_free: bool) -> Iterator[ColumnElement[bool]]:
        """Yield all conditions but those on either side; with `is_free` SQLite may use any index."""
        search, game = self._search, ArchiveGame
        if search.id:
            yield col(game.game_id) == search.id
        if search.number:
            yield _numbered(search.number)
        for column, numbers in self._named:
            yield self._is_in(column, numbers, is_free=is_free)
        if search.winner:
            yield col(game.winner) == WINNERS.index(None if search.winner == "none" else search.winner)
        since = search.since if search.since is None and search.until is None else max(1, search.since or 0)
        for bounded, low, high in ((game.plies, search.min_plies, search.max_plies), (game.day, since, search.until)):
            value = col(bounded) if is_free else self.unindexed(col(bounded))
            if low is not None:
                yield value >= min(low, MAX_SERIAL)
            if high is not None:
                yield value <= min(high, MAX_SERIAL)
        if search.analysed:
            yield from search.analysed.conditions
        if self._by:
            yield col(getattr(Analysis, self._by)).is_not(None)

    def _beginning_with(self, moves: Sequence[str]) -> Serials:
        """Return the matching games that begin with all these moves. Raises BadValueError for too many candidates."""
        if (count := self.count()) > MAX_COMPARED:
            raise BadValueError(
                f"{count} games begin with the first {MAX_OPENING_PLIES} of these moves; add more filters"
            )
        chosen = sorted(self._session.scalars(self.select(col(ArchiveGame.serial))))
        kept = [game.serial for game in games_of(self._session, chosen) if game.moves[: len(moves)] == tuple(moves)]
        return np.array(kept, np.int64)


def _indexed(session: Session, search: ArchiveSearch, among: Serials | None) -> Serials | None:
    """Return the serials found by the position index, ascending; None if the search does not use it."""
    keys = [search.key] if search.key is not None else []
    keys += [opening_key(search.moves[:MAX_OPENING_PLIES])] if search.moves else []
    for key in keys:
        found = np.unique(positions.look_up(session, key).serials)
        among = found if among is None else np.intersect1d(among, found, assume_unique=True)
    return among


def _named(session: Session, search: ArchiveSearch, pool: str | None) -> Iterator[tuple[Any, list[int]]]:
    """Yield the conditions by name: each column with its allowed ids."""
    game = ArchiveGame
    if search.family or search.variant:
        yield game.variant_id, _variants(session, search.family, search.variant)
    for column, kind, name in (
        (game.source_id, "source", search.source or None),
        (game.termination_id, "termination", search.termination or None),
        (game.pool_id, "pool", pool),
    ):
        if name is not None:
            yield column, _numbers_of(session, kind, col(ArchiveName.name) == name)
    for side, part in zip(SEATS, (search.first, search.second), strict=True):
        if part:
            yield side, _containing(session, part)


def _seats(session: Session, search: ArchiveSearch) -> Iterator[list[int]]:
    """Yield the ids of the names of which one must be on either side."""
    if search.name:
        yield _numbers_of(session, "player", col(ArchiveName.name) == search.name)
    if search.player:
        yield _containing(session, search.player)


def _containing(session: Session, part: str) -> list[int]:
    return _numbers_of(session, "player", col(ArchiveName.folded).contains(part.casefold(), autoescape=True))


def _numbers_of(session: Session, kind: str, condition: ColumnElement[bool]) -> list[int]:
    query = select(col(ArchiveName.id)).where(col(ArchiveName.kind) == kind, condition)
    return [number or 0 for number in session.scalars(query)]


def _variants(session: Session, family: str | None, variant: str | None) -> list[int]:
    query = select(col(ArchiveName.id), col(ArchiveName.name)).where(col(ArchiveName.kind) == "variant")
    found = [(number or 0, *name.partition(" ")) for number, name in session.execute(query)]
    return [number for number, its, _, name in found if family in (None, "", its) and variant in (None, "", name)]


def _numbered(number: str) -> ColumnElement[bool]:
    """Match a number in the collection, or a serial."""
    is_labelled = col(ArchiveGame.label) == number
    if number.isascii() and number.isdecimal() and 0 < int(number) <= MAX_SERIAL:
        return or_(is_labelled, col(ArchiveGame.serial) == int(number))
    return is_labelled
