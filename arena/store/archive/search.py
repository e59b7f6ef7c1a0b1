"""Searches of the archive as SQL: filters become conditions; positions and first moves are looked up in the position
index.

SQLite has no statistics of these tables, so this module excludes unsuitable indexes: a column in `unindexed` form only
filters rows found by another index. PostgreSQL chooses the index by its statistics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ARRAY, ColumnElement, FromClause, Integer, Select, cast, func, or_, select, union_all
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.analysis import FIGURES
from arena.documents.archive import ArchiveQuery
from arena.errors import BadValueError
from arena.store.archive import positions
from arena.store.archive.archived_game import MAX_OPENING_PLIES, WINNERS, day_of, games_of, opening_key
from arena.store.base.engine import table_of
from arena.store.base.tables.analyses import Analysis
from arena.store.base.tables.archive import ArchiveGame, ArchiveName
from arena.store.games import analyses

MAX_COMPARED = 5000
"""Maximum number of games with a common opening that are read to compare moves beyond the index."""
SEATS = (ArchiveGame.first_id, ArchiveGame.second_id)
MAX_INLINE_IDS = 100
"""From this length on, a list of ids is sent to the database as one parameter."""
FIRST_SCAN = 4096
"""How many games are read first when games are scanned for those of a position."""
MAX_SERIAL = 2**31 - 1

Serials = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSearch:
    """A query whose variant, position and moves were parsed by the rules of its family."""

    query: ArchiveQuery = field(default_factory=ArchiveQuery)
    key: int | None = None
    """The key of the position."""
    first_moves: tuple[str, ...] = ()
    """The moves in canonical notation."""


class Matches:
    """The games that match a search, for counting and selecting. Raises BadValueError.

    `among` limits the games to these serials, `pool` to those played here in a rating pool. In a search sorted by a
    figure of the analysis, games without that figure do not match.
    """

    def __init__(
        self,
        session: Session,
        search: ArchiveSearch,
        *,
        among: Serials | None = None,
        pool: str | None = None,
    ) -> None:
        self._session, self._query = session, (query := search.query)
        self._by = query.sort if query.sort in FIGURES else ""
        self._since, self._until = read_day(query.since, "since", 0), read_day(query.until, "until", 9999)
        self._is_sqlite = session.get_bind().dialect.name == "sqlite"
        self.is_scan = False
        """Set this if many games match: then all games are scanned in sort order."""
        self._named = list(_named(session, query, pool))
        self._seats = list(_seats(session, query))
        self._among = _indexed(session, search, among)
        if len(search.first_moves) > MAX_OPENING_PLIES:
            self._among = self._beginning_with(search.first_moves)
            del self._found  # cached by the comparison for the former serials

    def count(self, limit: int | None = None) -> int:
        """Count the matching games, up to `limit`."""
        found = self.select(col(ArchiveGame.serial)).limit(limit).subquery()
        return self._session.scalar(select(func.count()).select_from(found)) or 0

    def page(self, query: Select[Any], offset: int, limit: int) -> list[int]:
        """Return `limit` serials from `offset` on. `query` selects serials in sort order."""
        if self._among is None or not self.is_scan:
            return list(self._session.scalars(query.offset(offset).limit(limit)))
        wanted, read = offset + limit, FIRST_SCAN
        while True:
            scanned = np.fromiter(self._session.scalars(query.limit(read)), np.int64)
            serials = scanned[np.isin(scanned, self._among)]
            if len(serials) >= wanted or len(scanned) < read:
                return serials[offset:wanted].tolist()  # type: ignore[no-any-return]
            # Fast growth: few queries, also if the matches are at the end.
            read *= 8

    def unindexed(self, column: Any) -> ColumnElement[Any]:
        """Return the column as an expression for which SQLite uses no index."""
        return column + 0 if self._is_sqlite else column  # type: ignore[no-any-return]

    def select(self, *columns: Any) -> Select[Any]:
        """Select these columns of the matching games."""
        is_found = self._among is not None or bool(self._by) or self._query.is_about_analysis
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
        if self._among is not None and not self.is_scan:
            numbers = self._table(self._found)
            games = numbers.join(games, col(ArchiveGame.serial) == numbers.c.value)
        if self._by or self._query.is_about_analysis:
            games = games.join(Analysis, col(Analysis.game_id) == col(ArchiveGame.game_id))
        return games  # type: ignore[no-any-return]

    @cached_property
    def _found(self) -> str:
        """The serials that the position index found, separated by commas; built once, as a query uses them often."""
        return _written([] if self._among is None else self._among.tolist())

    def _table(self, numbers: str) -> Any:
        """Return comma-separated numbers as a table with the column `value`."""
        if self._is_sqlite:
            return func.json_each(f"[{numbers}]").table_valued("value")
        # Pass the numbers as one text: the driver would write an array number by number.
        array = cast(func.string_to_array(numbers, ","), ARRAY(Integer))
        return func.unnest(array).table_valued("value").render_derived()

    def _is_in(self, column: Any, numbers: list[int], *, is_free: bool = True) -> ColumnElement[bool]:
        value = col(column)
        return (value if is_free else self.unindexed(value)).in_(
            numbers if len(numbers) < MAX_INLINE_IDS else select(self._table(_written(numbers)).c.value)
        )

    def _is_on_a_side(self, names: list[int]) -> ColumnElement[bool]:
        return or_(*(self._is_in(side, names, is_free=False) for side in SEATS))

    def _conditions(self, *, is_free: bool) -> Iterator[ColumnElement[bool]]:
        """Yield all conditions, except those on a player of either side; with `is_free` SQLite may use any index."""
        search, game = self._query, ArchiveGame
        if search.id:
            yield col(game.game_id) == search.id
        if search.number:
            yield _numbered(search.number.strip().removeprefix("#"))
        for column, numbers in self._named:
            yield self._is_in(column, numbers, is_free=is_free)
        if search.result:
            yield col(game.winner) == WINNERS.index(None if search.result == "none" else search.result)
        # Day 0 is an unknown day: such a game matches no bound.
        since = None if self._since is None and self._until is None else max(1, self._since or 0)
        for bounded, order, low, high in (
            (game.plies, "length", search.min_plies, search.max_plies),
            (game.day, "date", since, self._until),
        ):
            is_in_order = self.is_scan and search.sort == order  # then the bounds limit the scan
            value = col(bounded) if is_free or is_in_order else self.unindexed(col(bounded))
            if low is not None:
                yield value >= min(low, MAX_SERIAL)
            if high is not None:
                yield value <= min(high, MAX_SERIAL)
        yield from analyses.conditions(search)
        if self._by:
            yield col(getattr(Analysis, self._by)).is_not(None)

    def _beginning_with(self, moves: Sequence[str]) -> Serials:
        """Return the matching games that begin with all these moves. Raises BadValueError for too many candidates."""
        if self.count(MAX_COMPARED + 1) > MAX_COMPARED:
            raise BadValueError(
                f"more than {MAX_COMPARED:,} games begin with the first {MAX_OPENING_PLIES} of these moves;"
                " add more filters"
            )
        chosen = sorted(self._session.scalars(self.select(col(ArchiveGame.serial))))
        kept = [game.serial for game in games_of(self._session, chosen) if game.moves[: len(moves)] == tuple(moves)]
        return np.array(kept, np.int64)


def _written(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _indexed(session: Session, search: ArchiveSearch, among: Serials | None) -> Serials | None:
    """Return the serials found by the position index, ascending; None if the search does not use it."""
    keys = [search.key] if search.key is not None else []
    keys += [opening_key(search.first_moves[:MAX_OPENING_PLIES])] if search.first_moves else []
    for key in keys:
        found = positions.look_up(session, key).games()
        among = found if among is None else np.intersect1d(among, found, assume_unique=True)
    return among


def _named(session: Session, search: ArchiveQuery, pool: str | None) -> Iterator[tuple[Any, list[int]]]:
    """Yield the columns that contain ids of names, each with the ids that the search allows."""
    game = ArchiveGame
    if search.family or search.variant:
        yield game.variant_id, _variants(session, search.family, search.variant)
    for column, kind, name in (
        (game.source_id, "source", search.source or None),
        (game.termination_id, "termination", search.ending or None),
        (game.pool_id, "pool", pool),
    ):
        if name is not None:
            yield column, _numbers_of(session, kind, col(ArchiveName.name) == name)
    for side, part in zip(SEATS, (search.first, search.second), strict=True):
        if part:
            yield side, _containing(session, part)


def _seats(session: Session, search: ArchiveQuery) -> Iterator[list[int]]:
    """Yield lists of name ids. In a matching game, a player of each list is on one of the sides."""
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
    """Return the condition that a game has this number in its collection or as its serial."""
    is_labelled = col(ArchiveGame.label) == number
    if number.isascii() and number.isdecimal() and 0 < int(number) <= MAX_SERIAL:
        return or_(is_labelled, col(ArchiveGame.serial) == int(number))
    return is_labelled


def read_day(text: str | None, name: str, rest: int) -> int | None:
    """Parse a day, month or year into a day number (20030731). Raises BadValueError.

    With `rest` 9999 a month or year stands for its last day, with 0 for its first.
    """
    if not text or not text.strip():
        return None
    day = day_of(text)
    parts = text.strip().count("-")
    is_whole = parts == (day % 10_000 > 0) + (day % 100 > 0)  # false if the month or the day does not exist
    if not day or not is_whole or not re.fullmatch(r"\d{4}(-\d\d?(-\d\d?)?)?", text.strip()):
        raise BadValueError(f"invalid day {text[:40]!r}", field=name, hint="write 2003-07-31, 2003-07 or 2003")
    if rest and not day % 100:
        day += 99 if day % 10_000 else rest
    return day
