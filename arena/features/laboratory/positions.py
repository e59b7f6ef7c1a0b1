"""Positions labelled with the score of a bot and the result of their game, as columns in memory and in files.

A folder of positions has `shard-0001.npz` … and `schema.json`: the columns, the origin, and a checksum of every shard.
No two positions are equal up to the symmetries of the board. Self-play games for positions are planned in batches: each
batch becomes one shard. A batch depends only on the settings with their seed, and its number.
"""

from __future__ import annotations

import hashlib
import json
import random
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data_folder import unfinished
from arena.features.laboratory.parameter import LaboratoryError
from referee.game.openings import Opening, openings
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, PlannedGame
from referee.rules.core import Kind
from referee.rules.rules import Ruleset
from referee.rules.symmetry import Keys, keys_of
from referee.tournament.document import Document
from referee.tournament.ledger import planned_games
from referee.tournament.match import PlannedMatch

SCHEMA = "schema.json"
FORMAT = 1
COLUMNS: Mapping[str, tuple[str, str]] = {
    "state": ("", "state of the position in the representation of the family's kernel, one a row"),
    "side": ("0 first, 1 second", "side to move"),
    "score": ("centipawns", "score of the bot, for the side to move"),
    "result": ("-1 lost, 0 drawn, 1 won", "result of the game for the side to move"),
    "game": ("from 0", "number of the game in the run"),
    "ply": ("plies", "plies played before the position, opening included"),
}
"""Unit and description of each column."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions in columns of equal length (see `COLUMNS`)."""

    state: npt.NDArray[Any]
    side: npt.NDArray[np.int8]
    score: npt.NDArray[np.int32]
    result: npt.NDArray[np.int8]
    game: npt.NDArray[np.int32]
    ply: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.state)

    def take(self, rows: npt.NDArray[Any] | slice) -> Positions:
        """Select rows by number, mask or slice."""
        return Positions(*(getattr(self, one.name)[rows] for one in fields(self)))

    @classmethod
    def join(cls, parts: Sequence[Positions]) -> Positions:
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))


def positions_of(ruleset: Ruleset, record: GameRecord, game: int) -> Positions:
    """Return the positions of a finished game that have a score; none if neither the rules nor adjudication decided the
    game.
    """
    rules, config = ruleset.rules, ruleset.config
    state = ruleset.read(record.position)
    states, rows = [], []
    is_sound = record.kind in (Kind.RULES, Kind.ADJUDICATION)
    for number, (move, ply) in enumerate(zip(record.moves, record.plies, strict=True) if is_sound else ()):
        side = rules.side(state, config)
        if ply.score is not None:
            points = record.points[side]
            states.append(state)
            rows.append((side, ply.score, round(2 * points) - 1, game, number))
        after = np.empty_like(state)
        rules.kernel.play(state, config, rules.notation.read_move(move, state, config), after)
        state = after
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), 5)
    return Positions(
        np.array(states, dtype=rules.kernel.DTYPE).reshape(len(rows), rules.kernel.STATE_SIZE),
        columns[:, 0].astype(np.int8),
        columns[:, 1].astype(np.int32),
        columns[:, 2].astype(np.int8),
        columns[:, 3].astype(np.int32),
        columns[:, 4].astype(np.int16),
    )


class SeenPositions:
    """Set of positions, in which symmetric positions count as equal."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        self._keys: Keys = np.empty(0, dtype=np.uint64)

    def add(self, found: Positions) -> Positions:
        """Add positions; return, in order, those that the set did not have, each once."""
        keys = keys_of(self._ruleset, found.state) if len(found) else self._keys[:0]
        _, first = np.unique(keys, return_index=True)
        rows = np.sort(first)
        rows = rows[~np.isin(keys[rows], self._keys)]
        self._keys = np.concatenate([self._keys, keys[rows]])
        return found.take(rows)


def write_shard(path: Path, positions: Positions) -> str:
    """Write positions to a file atomically and return its SHA-256. Equal positions give equal bytes."""
    with unfinished(path) as fresh:
        with open(fresh, "wb") as file:
            np.savez_compressed(file, **{one.name: getattr(positions, one.name) for one in fields(positions)})
        fresh.replace(path)
    return sha256_of(path)


def read_shard(path: Path, sha256: str) -> Positions:
    """Read the positions of a file. Raises LaboratoryError if it is damaged or its checksum differs."""
    hint = "generate the folder again"
    if not path.is_file() or sha256_of(path) != sha256:
        raise LaboratoryError(f"{path}: not the shard that {SCHEMA} describes", hint=hint)
    try:
        with np.load(path) as kept:
            return Positions(**{name: kept[name] for name in COLUMNS})
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise LaboratoryError(f"{path}: {error}", hint=hint) from None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def schema(origin: Mapping[str, Any], positions: Positions, shards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Build the content of `schema.json`. `origin` says where the positions come from; the types of the columns are
    those of `positions`.
    """
    columns = [
        {
            "name": name,
            "type": getattr(positions, name).dtype.name,
            "shape": list(getattr(positions, name).shape[1:]),
            "unit": unit,
            "meaning": meaning,
        }
        for name, (unit, meaning) in COLUMNS.items()
    ]
    count = sum(shard["positions"] for shard in shards)
    return {"format": FORMAT, **origin, "positions": count, "fields": columns, "shards": list(shards)}


def read_schema(folder: Path) -> dict[str, Any]:
    """Read the schema of a folder of positions. Raises LaboratoryError."""
    hint = "`arena datagen --out DIR` creates such a folder"
    try:
        data = json.loads((folder / SCHEMA).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise LaboratoryError(f"no positions in {folder}", hint=hint) from None
    needed = {"format", "family", "variant", "options", "shards", "positions"}
    if not isinstance(data, dict) or needed - data.keys() or data["format"] != FORMAT:
        raise LaboratoryError(f"{folder / SCHEMA}: written by another version of the program", hint=hint)
    return data


def read_positions(folder: Path) -> Positions:
    """Read all positions of a folder. Raises LaboratoryError."""
    shards = read_schema(folder)["shards"]
    if not shards:
        raise LaboratoryError(f"no positions in {folder} yet", hint="run the same `arena datagen` command again")
    return Positions.join([read_shard(folder / shard["file"], shard["sha256"]) for shard in shards])


OPENING_PLIES = range(2, 10)
"""Lengths of the random openings, each in equally many games. Without them the search would repeat few games."""


def games_of_shard(document: Document, bot: BotSpec, number: int, size: int) -> list[PlannedGame]:
    """Plan the games of a shard, numbered from `number * size` on. The bot plays itself under the names of the entries.

    Raises LaboratoryError if every game ends within its opening.
    """
    games = []
    bots = {seat: replace(bot, name=name) for seat, name in enumerate(document.entries.bots)}
    match = PlannedMatch(1, 0, 1, games=1)
    for place, opening in enumerate(_openings(document, number, size)):
        event = f"datagen {document.seed} {number * size + place}"
        (game,) = planned_games(document, event, [opening], bots, [match], sequence=0, pair=0)
        games.append(PlannedGame.of(replace(game.spec, sequence=place + 1, pair=place + 1)))
    return games


def _openings(document: Document, number: int, size: int) -> list[Opening]:
    seed = random.Random(f"datagen {document.seed} {number}").getrandbits(31)
    drawn: list[Opening] = []
    problem = ""
    for place, plies in enumerate(OPENING_PLIES):
        count = size // len(OPENING_PLIES) + (place < size % len(OPENING_PLIES))
        try:
            drawn += openings(document.ruleset, f"random:{plies}:{seed}", count, seed) if count else []
        except ValueError as error:  # every game ends within so few plies
            problem = str(error)
    if not drawn:
        raise LaboratoryError(f"no openings: {problem}", hint="choose another variant")
    return drawn
