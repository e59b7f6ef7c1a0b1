"""What is looked for in the archive, and which games that is: filters in memory, positions and first moves by index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import positions
from arena.store.analyses import AnalysisFilter, serials
from arena.store.archive_columns import WINNERS, Mask, Numbers, View, among
from arena.store.archive_line import games_of
from arena.store.archived_game import OPENING, opening_key
from arena.store.errors import BadValueError
from arena.store.models import ArchiveGame

AFTER_OPENING = 5000
"""So many games that begin alike may be read to compare more moves than the index has."""


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


def matching(session: Session, view: View, search: Search) -> Mask:
    """Which games match, by place. Raises BadValueError."""
    mask = view.is_in.copy()
    if search.id:
        _keep(mask, session.scalars(select(col(ArchiveGame.serial)).where(col(ArchiveGame.game_id) == search.id)))
    if search.number:
        _keep(mask, _numbered(session, search.number))
    for condition in _conditions(view, search):
        mask &= condition
    if search.analysed:
        _keep(mask, serials(session, search.analysed))
    if search.moves:
        moves = search.moves[:OPENING]
        _keep(mask, positions.look_up(session, opening_key(moves)).serials)
    if search.key is not None:
        _keep(mask, positions.look_up(session, search.key).serials)
    if len(search.moves) > OPENING:
        _keep(mask, _beginning_with(session, search.moves, np.flatnonzero(mask)))
    return mask


def _keep(mask: Mask, serials: Iterable[int]) -> None:
    """Leave of a mask what these serials say."""
    places = (serials if isinstance(serials, np.ndarray) else np.fromiter(serials, np.int64)) - 1
    kept = np.zeros_like(mask)
    kept[places[places < len(mask)]] = True
    mask &= kept


def _conditions(view: View, search: Search) -> Iterable[Mask]:
    columns, size = view.columns, _size(view)

    def named(kind: str, column: str, numbers: Iterable[int]) -> Mask:
        return among(columns[column], numbers, size)

    players, variants = view.names["player"], view.names["variant"]
    if search.family or search.variant:
        chosen = variants.numbers(lambda name: _is_variant(name, search.family, search.variant))
        yield named("variant", "variant_id", chosen)
    for kind, wanted in (("source", search.source), ("termination", search.termination)):
        if wanted:
            yield named(kind, f"{kind}_id", view.names[kind].numbers(wanted.__eq__))
    if search.player:
        numbers = players.containing(search.player)
        yield named("player", "first_id", numbers) | named("player", "second_id", numbers)
    if search.name:
        numbers = players.numbers(search.name.__eq__)
        yield named("player", "first_id", numbers) | named("player", "second_id", numbers)
    for side, part in (("first", search.first), ("second", search.second)):
        if part:
            yield named("player", f"{side}_id", players.containing(part))
    if search.winner:
        yield columns["winner"] == WINNERS.index(None if search.winner == "none" else search.winner)
    yield from _bounds(columns["plies"], search.shortest, search.longest)
    if search.since is not None or search.until is not None:
        yield columns["day"] > 0
        yield from _bounds(columns["day"], search.since, search.until)


def _size(view: View) -> int:
    """More than any number of a name."""
    return 1 + max((max(names.by_number, default=0) for names in view.names.values()), default=0)


def _is_variant(name: str, family: str | None, variant: str | None) -> bool:
    its_family, _, its_variant = name.partition(" ")
    return family in (None, "", its_family) and variant in (None, "", its_variant)


def _bounds(column: Numbers, low: int | None, high: int | None) -> Iterable[Mask]:
    if low is not None:
        yield column >= low
    if high is not None:
        yield column <= high


def _numbered(session: Session, number: str) -> list[int]:
    """The games a number may mean: of the archive, of a collection."""
    found = list(session.scalars(select(col(ArchiveGame.serial)).where(col(ArchiveGame.label) == number)))
    return [*found, int(number)] if number.isascii() and number.isdecimal() and 0 < int(number) < 2**31 else found


def _beginning_with(session: Session, moves: Sequence[str], places: Iterable[int]) -> list[int]:
    """The serials of games that begin with these moves, of games that may. Raises BadValueError for too many."""
    chosen = [int(place) + 1 for place in places]
    if len(chosen) > AFTER_OPENING:
        raise BadValueError(f"{len(chosen)} games begin with the first {OPENING} of these moves; narrow the search")
    return [game.serial for game in games_of(session, chosen) if game.moves[: len(moves)] == tuple(moves)]
