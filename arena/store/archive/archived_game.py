"""One archived game: players, rules, moves, result, and the text it was imported from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from arena.documents.archive import HERE
from arena.store.archive.positions import PositionEntries
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
        """Return the rules by which the game was played."""
        return load(self.family).settle(self.variant, self.options)

    def states(self) -> States:
        """Return every position as one row, from the start on. Raises ValueError for an unreadable move."""
        ruleset = self.ruleset()
        kernel, notation, config = ruleset.rules.kernel, ruleset.rules.notation, ruleset.config
        start = ruleset.read(self.position or None)
        found = np.empty((len(self.moves) + 1, len(start)), start.dtype)
        found[0] = start
        codes = _CODES.setdefault(self.family, {})
        for ply, move in enumerate(self.moves):
            code = codes.get(move)
            if code is None:
                code = notation.read_move(move, found[ply], config)
                if notation.write_move(code) == move:  # only canonical texts mean the same move in every position
                    codes[move] = code
            kernel.play(found[ply], config, code, found[ply + 1])
        return found

    @property
    def plies(self) -> int:
        """Length in plies."""
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
    found: dict[int, PositionEntries] = {}
    alike: dict[str, list[int]] = {}
    for place, game in enumerate(games):
        alike.setdefault(f"{game.family} {game.variant} {sorted(game.options.items())}", []).append(place)
    for places in alike.values():
        ruleset = games[places[0]].ruleset()
        states = [games[place].states() for place in places]
        keys = keys_of(ruleset, np.concatenate(states))
        ends = np.cumsum([len(one) for one in states])[:-1]
        for place, mine in zip(places, np.split(keys, ends), strict=True):
            found[place] = _entries(games[place], mine)
    return [found[place] for place in range(len(games))]


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
    found = _DAY.match(text.strip())
    if not found:
        return 0
    year, month, day = (int(part) if part and part.isdecimal() else 0 for part in found.groups())
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
