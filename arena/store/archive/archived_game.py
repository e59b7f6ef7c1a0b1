"""Archived games: players, rules, moves, result, and the text a game was imported from; lines of lists, and whole
games, imported or played here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
import zstandard
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.archive import HERE, ArchiveItem
from arena.store.archive.positions import PositionEntries
from arena.store.base.engine import BATCH, batched
from arena.store.base.tables.archive import ArchiveGame, ArchiveName, ArchiveText
from arena.store.base.tables.games import Record
from arena.store.games.commit import unpack
from referee.game.record import GameRecord, Ply
from referee.rules import load
from referee.rules.core import Termination, Winner
from referee.rules.rules import Ruleset, States, Value
from referee.rules.symmetry import Keys, keys_of

MAX_OPENING_PLIES = 12
"""Maximum number of indexed first moves; each prefix of a game has an index entry."""
WINNERS: tuple[Winner | None, ...] = (None, "first", "second", "draw")
"""Winners by their number in `ArchiveGame.winner`."""
_CODES: dict[str, dict[str, int]] = {}
"""Cache of move codes by family and canonical move text."""
_DAY = re.compile(r"(\d{4})(?:[-./](\d{1,2}|\?\?))?(?:[-./](\d{1,2}|\?\?))?")


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """An archived game. `position` is the start position, `winner` is None if unknown, `text` the imported text."""

    id: str
    family: str
    variant: str
    options: Mapping[str, Value]
    position: str
    moves: tuple[str, ...]
    first: str
    second: str
    winner: Winner | None
    termination: str
    number: str = ""
    source: str = ""
    format: str = ""
    text: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    serial: int = 0
    """The game's number in the whole archive; 0 if it is not stored."""

    def ruleset(self) -> Ruleset:
        return load(self.family).settle(self.variant, self.options)

    def states(self) -> States:
        """Return every position as one row, from the start on. Raises ValueError for an unreadable move."""
        ruleset = self.ruleset()
        kernel, notation, config = ruleset.rules.kernel, ruleset.rules.notation, ruleset.config
        start = ruleset.read(self.position or None)
        states = np.empty((len(self.moves) + 1, len(start)), start.dtype)
        states[0] = start
        codes = _CODES.setdefault(self.family, {})
        for ply, move in enumerate(self.moves):
            code = codes.get(move)
            if code is None:
                code = notation.read_move(move, states[ply], config)
                if notation.write_move(code) == move:  # only canonical texts mean the same move in every position
                    codes[move] = code
            kernel.play(states[ply], config, code, states[ply + 1])
        return states

    @property
    def plies(self) -> int:
        return len(self.moves)

    @property
    def day(self) -> int:
        """Day of play as a number such as 20260731, with zeros for unknown parts."""
        return day_of(next((self.tags[name] for name in ("Date", "date", "UTCDate") if self.tags.get(name)), ""))

    def record(self) -> GameRecord:
        """Convert the game to the arena's own record, without times and scores of the moves."""
        termination = Termination(self.termination)
        final = self.states()[-1]
        day = self.tags.get("Date") or self.tags.get("date") or ""
        return GameRecord(
            id=self.id,
            family=self.family,
            variant=self.variant,
            options=self.options,
            position=self.position,
            first=self.first,
            second=self.second,
            winner=self.winner,
            termination=termination,
            kind=termination.kind,
            moves=self.moves,
            plies=tuple(Ply() for _ in self.moves),
            started=day,
            finished=day,
            event=self.source,
            final_position=self.ruleset().write(final),
            detail=f"game {self.number} of {self.source}" if self.source else "",
        )


def entries_of(games: Sequence[ArchivedGame]) -> list[PositionEntries]:
    """Return the entries of each game for the position index: its positions and its first moves, with serial 0.

    Pass several games at a time: most of the work is per set of rules, not per game. Raises ValueError.
    """
    by_place: dict[int, PositionEntries] = {}
    alike: dict[str, list[int]] = {}
    for place, game in enumerate(games):
        alike.setdefault(f"{game.family} {game.variant} {sorted(game.options.items())}", []).append(place)
    for places in alike.values():
        ruleset = games[places[0]].ruleset()
        states = [games[place].states() for place in places]
        keys = keys_of(ruleset, np.concatenate(states))
        ends = np.cumsum([len(rows) for rows in states])[:-1]
        for place, mine in zip(places, np.split(keys, ends), strict=True):
            by_place[place] = _entries(games[place], mine)
    return [by_place[place] for place in range(len(games))]


def _entries(game: ArchivedGame, keys: Keys) -> PositionEntries:
    tags = np.zeros(len(keys), np.uint32)
    tags[:-1] = keys[1:] >> np.uint64(32)
    openings = [opening_key(game.moves[: count + 1]) for count in range(min(MAX_OPENING_PLIES, game.plies))]
    both = np.concatenate([keys, np.array(openings, np.uint64)])
    more = np.concatenate([tags, np.zeros(len(openings), np.uint32)])
    return PositionEntries(both, np.zeros(len(both), np.int64), more)


def opening_key(moves: Sequence[str]) -> int:
    """Hash a game's first moves in canonical notation to eight bytes, independent of the start position."""
    text = " ".join(moves)
    return int.from_bytes(blake2b(text.encode(), digest_size=8, person=b"opening").digest())


def day_of(text: str) -> int:
    """Parse a date, year first, into a number: `2003-07` is 20030700. Return 0 for an invalid date."""
    match = _DAY.match(text.strip())
    if not match:
        return 0
    year, month, day = (int(part) if part and part.isdecimal() else 0 for part in match.groups())
    if not (1 <= month <= 12):
        month = day = 0
    return 10_000 * year + 100 * month + (day if 1 <= day <= 31 else 0)


def of_record(record: GameRecord) -> ArchivedGame:
    """Convert the record of a game played here to an archived game."""
    day = (record.finished or record.started)[:10]
    return ArchivedGame(
        id=record.id,
        family=record.family,
        variant=record.variant,
        options=record.options,
        position=record.position,
        moves=record.moves,
        first=record.first,
        second=record.second,
        winner=record.winner,
        termination=record.termination.value,
        source=HERE,
        tags={"Date": day} if day else {},
    )


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
    games: dict[int, ArchivedGame] = {}
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
            games[serial] = replace(game, serial=serial, number=label or str(serial))
    return [games[serial] for serial in serials if serial in games]
