"""What is looked for in the archive, as SQL: filters are conditions, positions and first moves come from their index.

SQLite keeps no statistics here, so this module says which index it takes. A part of a condition in `_unindexed` form
filters what another one has found. PostgreSQL decides by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ARRAY, ColumnElement, FromClause, Integer, Select, bindparam, func, or_, select, union_all
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import positions
from arena.store.analyses import AnalysisFilter
from arena.store.archive_line import games_of
from arena.store.archived_game import OPENING, WINNERS, opening_key
from arena.store.errors import BadValueError
from arena.store.models import Analysis, ArchiveGame, ArchiveName

AFTER_OPENING = 5000
"""So many games that begin alike may be read to compare more moves than the index has."""
MAX_SERIAL = 2**31 - 1

Serials = npt.NDArray[np.int64]
_Column = Callable[[Any], ColumnElement[Any]]
_Names = list[int] | Select[int | None]


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for; None or empty = anything. `player` is part of either name, `moves` the first moves in
    canonical text, `key` a position's key. `number` is that of the archive or of the collection, `winner` may be
    `none`; days are numbers such as 20260731, lengths plies, both ends included."""

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
    shortest: int | None = None
    longest: int | None = None
    since: int | None = None
    until: int | None = None
    moves: tuple[str, ...] = ()
    key: int | None = None
    name: str | None = None
    """A player's whole name, on either side."""
    analysed: AnalysisFilter | None = None
    """What the analysis of a game must say; without one games that were not analysed are meant too."""


class Matches:
    """The games that match a search, to be counted and selected. Raises BadValueError.

    `among`: only these serials, ascending; `by`: only games that were analysed, for a figure of the analysis;
    `is_scan`: most games match, so the database had best go through all of them in the order asked for.
    """

    def __init__(
        self, session: Session, search: Search, *, among: Serials | None = None, by: str = "", pool: str | None = None
    ) -> None:
        self._session, self._search, self._by, self._pool = session, search, by, pool
        self._is_sqlite = session.get_bind().dialect.name == "sqlite"
        self._among = _indexed(session, search, among)
        self.is_scan = False
        if len(search.moves) > OPENING:
            self._among = self._beginning_with(search.moves)

    def count(self) -> int:
        """Count them."""
        found = self.select(col(ArchiveGame.serial)).subquery()
        return self._session.scalar(select(func.count()).select_from(found)) or 0

    def plain(self, column: Any) -> ColumnElement[Any]:
        """A column by whose index SQLite may go."""
        return column  # type: ignore[no-any-return]

    def unindexed(self, column: Any) -> ColumnElement[Any]:
        """A number by whose index SQLite does not go."""
        return column + 0 if self._is_sqlite else column  # type: ignore[no-any-return]

    def select(self, *columns: Any) -> Select[Any]:
        """These columns of them."""
        is_found = self._among is not None or bool(self._by) or self._search.analysed is not None
        column = self.unindexed if is_found or self.is_scan else self.plain
        rest = list(_conditions(self._session, self._search, self._pool, column))
        rest += [col(getattr(Analysis, self._by)).is_not(None)] if self._by else []
        seats = list(_seats(self._session, self._search))
        if is_found or self.is_scan or not seats:
            rest += [or_(_seat("first_id", names, column), _seat("second_id", names, column)) for names in seats]
            return select(*columns).select_from(self._tables()).where(*rest)
        (names, *others) = seats
        rest += [or_(_seat("first_id", more, column), _seat("second_id", more, column)) for more in others]
        return select(
            union_all(  # SQLite goes by the index of each seat, and takes a game once
                select(*columns).where(_seat("first_id", names, column), *rest),
                select(*columns).where(
                    _seat("second_id", names, column), ~_seat("first_id", names, self.unindexed), *rest
                ),
            ).subquery()
        )

    def _tables(self) -> FromClause:
        """The games, found by serial or by analysis if there is such."""
        games: Any = ArchiveGame.__table__  # type: ignore[attr-defined]
        if self._among is not None:
            numbers = _numbers(self._among, is_sqlite=self._is_sqlite)
            games = numbers.join(games, col(ArchiveGame.serial) == numbers.c.value)
        if self._by or self._search.analysed is not None:
            games = games.join(Analysis, col(Analysis.game_id) == col(ArchiveGame.game_id))
        return games  # type: ignore[no-any-return]

    def _beginning_with(self, moves: Sequence[str]) -> Serials:
        """The games that begin with these moves, of those found by the first of them. Raises BadValueError."""
        if (count := self.count()) > AFTER_OPENING:
            raise BadValueError(f"{count} games begin with the first {OPENING} of these moves; narrow the search")
        chosen = sorted(self._session.scalars(self.select(col(ArchiveGame.serial))))
        kept = [game.serial for game in games_of(self._session, chosen) if game.moves[: len(moves)] == tuple(moves)]
        return np.array(kept, np.int64)


def _indexed(session: Session, search: Search, among: Serials | None) -> Serials | None:
    """What the index of positions finds, ascending; None if it is not asked."""
    keys = [search.key] if search.key is not None else []
    keys += [opening_key(search.moves[:OPENING])] if search.moves else []
    for key in keys:
        found = np.unique(positions.look_up(session, key).serials)
        among = found if among is None else np.intersect1d(among, found, assume_unique=True)
    return among


def _numbers(numbers: Serials, *, is_sqlite: bool) -> Any:
    """A table of one column, `value`."""
    if is_sqlite:
        return func.json_each(json.dumps(numbers.tolist())).table_valued("value")
    value = bindparam(None, numbers.tolist(), ARRAY(Integer))
    return func.unnest(value).table_valued("value").render_derived()


def _seats(session: Session, search: Search) -> Iterator[_Names]:
    """The names that must be on either side."""
    if search.name:
        yield numbers_of(session, "player", search.name)
    if search.player:
        yield _containing(search.player)


def _seat(side: str, names: _Names, column: _Column) -> ColumnElement[bool]:
    return column(col(getattr(ArchiveGame, side))).in_(names)


def _containing(part: str) -> Select[int | None]:
    is_in = col(ArchiveName.folded).contains(part.casefold(), autoescape=True)
    return select(col(ArchiveName.id)).where(col(ArchiveName.kind) == "player", is_in)


def numbers_of(session: Session, kind: str, *names: str) -> list[int]:
    """The numbers of names that there are."""
    query = select(col(ArchiveName.id)).where(col(ArchiveName.kind) == kind, col(ArchiveName.name).in_(names))
    return [number or 0 for number in session.scalars(query)]


def _conditions(session: Session, search: Search, pool: str | None, column: _Column) -> Iterator[ColumnElement[bool]]:
    """All but what is asked of both seats."""
    game = ArchiveGame
    if search.id:
        yield col(game.game_id) == search.id
    if search.number:
        yield _numbered(search.number)
    if search.family or search.variant:
        yield column(col(game.variant_id)).in_(_variants(session, search.family, search.variant))
    exact = (("source", search.source or None), ("termination", search.termination or None), ("pool", pool))
    for kind, name in exact:
        if name is not None:
            yield column(col(getattr(game, f"{kind}_id"))).in_(numbers_of(session, kind, name))
    for side, part in (("first_id", search.first), ("second_id", search.second)):
        if part:
            yield _seat(side, _containing(part), column)
    if search.winner:
        yield col(game.winner) == WINNERS.index(None if search.winner == "none" else search.winner)
    yield from _bounds(column(col(game.plies)), search.shortest, search.longest)
    if search.since is not None or search.until is not None:
        yield from _bounds(column(col(game.day)), max(1, search.since or 0), search.until)
    if search.analysed:
        yield from search.analysed.conditions


def _variants(session: Session, family: str | None, variant: str | None) -> list[int]:
    query = select(col(ArchiveName.id), col(ArchiveName.name)).where(col(ArchiveName.kind) == "variant")
    found = [(number or 0, *name.partition(" ")) for number, name in session.execute(query)]
    return [number for number, its, _, name in found if family in (None, "", its) and variant in (None, "", name)]


def _bounds(column: ColumnElement[Any], low: int | None, high: int | None) -> Iterator[ColumnElement[bool]]:
    if low is not None:
        yield column >= min(low, MAX_SERIAL)
    if high is not None:
        yield column <= min(high, MAX_SERIAL)


def _numbered(number: str) -> ColumnElement[bool]:
    """What a number may mean: that in a collection, that in the archive."""
    is_labelled = col(ArchiveGame.label) == number
    if number.isascii() and number.isdecimal() and 0 < int(number) <= MAX_SERIAL:
        return or_(is_labelled, col(ArchiveGame.serial) == int(number))
    return is_labelled
