"""Games on their way into the archive: rows, words, serials and positions, within the session of who adds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import zstandard
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import positions
from arena.store.archive_columns import GENERATION, WINNERS
from arena.store.archived_game import ArchivedGame
from arena.store.engine import BATCH, table_of
from arena.store.models import ArchiveGame, ArchiveName, ArchiveText, Counter
from arena.store.positions import Entries, joined

SERIALS = "archive"
"""The counter of serials: the last one given out."""


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game on its way into the archive, with its index entries; `text` None for one that has a record here."""

    game: ArchivedGame
    entries: Entries = field(default_factory=lambda: joined([]))
    text: bytes | None = None


def packed(game: ArchivedGame) -> bytes:
    """An imported game as it is kept."""
    data = {one.name: getattr(game, one.name) for one in fields(game) if one.name != "serial"}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=6).compress(text.encode())


def known(session: Session, ids: Sequence[str]) -> set[str]:
    """Those of these ids that are in the archive."""
    return set(session.scalars(select(col(ArchiveGame.game_id)).where(col(ArchiveGame.game_id).in_(ids))))


def insert_games(session: Session, games: Sequence[NewGame]) -> int:
    """New rows with the next serials, their texts and positions; how many. Those that are there meanwhile are left."""
    last = advance(session, SERIALS, 0)
    there = known(session, [new.game.id for new in games])
    games = [new for new in games if new.game.id not in there]
    if not games:
        return 0
    advance(session, SERIALS, len(games))
    ids = _name_ids(session, games)
    serials = range(last + 1, last + 1 + len(games))
    rows = [_row(new.game, serial, ids) for serial, new in zip(serials, games, strict=True)]
    session.execute(insert(table_of(ArchiveGame)), rows)
    texts = [{"serial": n, "data": new.text} for n, new in zip(serials, games, strict=True) if new.text is not None]
    if texts:
        session.execute(insert(table_of(ArchiveText)), texts)
    add_positions(session, serials[0], serials[-1], {n: new.entries for n, new in zip(serials, games, strict=True)})
    return len(games)


def _row(game: ArchivedGame, serial: int, ids: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    return {
        "serial": serial,
        "game_id": game.id,
        "label": game.number[:80],
        "winner": WINNERS.index(game.winner),
        "plies": game.plies,
        "day": game.day,
        "is_withdrawn": False,
        **{column: ids[kind, name] for column, kind, name in _words(game)},
    }


def _words(game: ArchivedGame) -> tuple[tuple[str, str, str], ...]:
    """(column, kind, name) of what a game shares with others."""
    return (
        ("variant_id", "variant", f"{game.family} {game.variant}"),
        ("first_id", "player", game.first),
        ("second_id", "player", game.second),
        ("termination_id", "termination", game.termination),
        ("source_id", "source", game.source),
    )


def _name_ids(session: Session, games: Sequence[NewGame]) -> dict[tuple[str, str], int]:
    wanted = {(kind, name) for new in games for _, kind, name in _words(new.game)}
    columns = (col(ArchiveName.kind), col(ArchiveName.name), col(ArchiveName.id))

    def numbers() -> dict[tuple[str, str], int]:
        names = sorted({name for _, name in wanted})
        rows = [
            row
            for start in range(0, len(names), BATCH)
            for row in session.execute(select(*columns).where(columns[1].in_(names[start : start + BATCH])))
        ]
        return {(row[0], row[1]): row[2] or 0 for row in rows}

    if missing := sorted(wanted - numbers().keys()):
        session.execute(insert(table_of(ArchiveName)), [{"kind": kind, "name": name} for kind, name in missing])
    return numbers()


def add_positions(session: Session, first: int, last: int, entries: Mapping[int, Entries]) -> None:
    """Have games, by serial from `first` to `last`, found by their positions."""
    counts = [len(one.keys) for one in entries.values()]
    whole = joined(list(entries.values()))
    serials = np.repeat(np.array(list(entries), dtype=np.int64), counts)
    positions.add_part(session, first, last, Entries(whole.keys, serials, whole.tags))


def withdraw(session: Session, ids: Iterable[str]) -> None:
    """Results that were undone: their rows are found no longer, and their ids are free for what was played instead."""
    for game_id in ids:
        serial = session.scalar(select(col(ArchiveGame.serial)).where(col(ArchiveGame.game_id) == game_id))
        session.execute(
            update(ArchiveGame)
            .where(col(ArchiveGame.game_id) == game_id)
            .values(game_id=f"withdrawn-{serial}", is_withdrawn=True)
        )
        advance(session, GENERATION, 1)


def counter(session: Session, name: str) -> int:
    """The value of a counter."""
    return session.scalar(select(col(Counter.value)).where(col(Counter.name) == name)) or 0


def advance(session: Session, name: str, by: int) -> int:
    """A counter's value with so many more; until the end of the transaction nobody else changes it."""
    value = col(Counter.value)
    change = update(Counter).where(col(Counter.name) == name).values(value=value + by).returning(value)
    found = session.scalar(change)
    if found is None:
        with suppress(IntegrityError), session.begin_nested():  # somebody else begins it at the same moment
            session.execute(insert(table_of(Counter)), [{"name": name, "value": 0}])
        found = session.scalar(change)
    assert found is not None
    return found


def set_counter(session: Session, name: str, value: int) -> None:
    """Give a counter that there is another value."""
    session.execute(update(Counter).where(col(Counter.name) == name).values(value=value))
