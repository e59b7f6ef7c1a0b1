"""Read access to archived games: lines for lists, and whole games, imported or played here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import zstandard
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.archive import ArchiveItem
from arena.store.archive.archived_game import WINNERS, ArchivedGame, of_record
from arena.store.base.engine import BATCH, batched
from arena.store.base.models import ArchiveGame, ArchiveName, ArchiveText, Record
from arena.store.games.commit import unpack


def date_of(day: int) -> str:
    """Format a day such as 20030700 as far as it is known: `2003-07`."""
    parts = (f"{day // 10_000:04}", f"{day // 100 % 100:02}", f"{day % 100:02}")
    return "-".join(part for part in parts if int(part))


def lines_of(session: Session, serials: Sequence[int]) -> list[ArchiveItem]:
    """Return the list entries of the games with these serials, in this order; unknown serials are omitted."""
    games = {
        game.serial: game for game in session.scalars(select(ArchiveGame).where(col(ArchiveGame.serial).in_(serials)))
    }
    names = names_of(
        session,
        (
            number
            for game in games.values()
            for number in (game.variant_id, game.first_id, game.second_id, game.termination_id, game.source_id)
        ),
    )
    return [_line(games[serial], names) for serial in serials if serial in games]


def names_of(session: Session, numbers: Iterable[int]) -> dict[int, str]:
    """Return the names in `archive_names` with these ids."""
    return {
        number or 0: name
        for part in batched(sorted(set(numbers)))
        for number, name in session.execute(
            select(col(ArchiveName.id), col(ArchiveName.name)).where(col(ArchiveName.id).in_(part))
        )
    }


def _line(game: ArchiveGame, names: Mapping[int, str]) -> ArchiveItem:
    family, _, variant = names[game.variant_id].partition(" ")
    return ArchiveItem(
        serial=game.serial,
        number=game.label or str(game.serial),
        id=game.game_id,
        family=family,
        variant=variant,
        first=names[game.first_id],
        second=names[game.second_id],
        winner=WINNERS[game.winner],
        termination=names[game.termination_id],
        source=names[game.source_id],
        plies=game.plies,
        date=date_of(game.day),
    )


def games_of(session: Session, serials: Sequence[int]) -> list[ArchivedGame]:
    """Return the whole games in this order; unknown serials are omitted."""
    found: dict[int, ArchivedGame] = {}
    for start in range(0, len(serials), BATCH):
        portion = serials[start : start + BATCH]
        query = (
            select(col(ArchiveGame.serial), col(ArchiveGame.label), col(ArchiveText.data), col(Record.data))
            .outerjoin(ArchiveText, col(ArchiveText.serial) == col(ArchiveGame.serial))
            .outerjoin(Record, col(Record.game_id) == col(ArchiveGame.game_id))
        )
        for serial, label, text, record in session.execute(query.where(col(ArchiveGame.serial).in_(portion))):
            if text:
                data = json.loads(zstandard.ZstdDecompressor().decompress(text))
                game = ArchivedGame(**{**data, "moves": tuple(data["moves"])})
            elif record:
                game = of_record(unpack(record))
            else:
                continue
            found[serial] = replace(game, serial=serial, number=label or str(serial))
    return [found[serial] for serial in serials if serial in found]
