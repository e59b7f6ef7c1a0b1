"""Size, duration and disk space of a tournament before its creation, and the settings of a longer one.

Time classes are names for time controls by the estimated duration of a game. This module alone defines their bounds.
The estimate is the time on both clocks plus 40 increments for each, or 80 times a fixed move time. The base of `20/60`
(60 s for 20 moves) counts twice. Games with limits of depth or nodes have no clock; they are a class of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.game.spec import TimeControl, read_time_control
from referee.rules.core import ParseError
from referee.tournament.document import Document
from referee.tournament.part import SettingsError

MOVES = 40
"""Moves per side in the estimate, as in the clocks of bots (`protocol.capabilities.MOVES_OF_A_GAME`)."""
GAME_BYTES = 4_000
"""Space of a game without its record, measured in SQLite: its rows, those of the archive, and their indexes."""
PLY_BYTES = 18
"""Space of a ply in a record, if no similar game is known."""
UNTIMED = "untimed"


@dataclass(frozen=True, slots=True)
class TimeClass:
    """A time class: games estimated to take less than `below_s` seconds (None: no bound) that fit no earlier class."""

    name: str
    below_s: float | None

    @property
    def words(self) -> str:
        """The upper bound of the class in words."""
        if self.below_s is None:
            return "longer"
        return f"below {self.below_s:g} s" if self.below_s < 120 else f"below {self.below_s / 60:g} min"


TIME_CLASSES = (
    TimeClass("lightning", 10),
    TimeClass("bullet", 60),
    TimeClass("blitz", 600),
    TimeClass("rapid", 3600),
    TimeClass("classical", None),
)
NAMES = (*(pace.name for pace in TIME_CLASSES), UNTIMED)


def estimated_seconds(control: TimeControl, moves: float = MOVES) -> float | None:
    """Return the estimated duration of a game with `moves` moves per side, in seconds; None without a clock."""
    if control.kind == "clock":
        periods = math.ceil(moves / control.moves) if control.moves else 1
        return 2 * (periods * control.base_ms + moves * control.increment_ms) / 1000
    return 2 * moves * control.base_ms / 1000 if control.kind == "movetime" else None


def time_class_of(control: TimeControl) -> str:
    length = estimated_seconds(control)
    if length is None:
        return UNTIMED
    return next(pace.name for pace in TIME_CLASSES if pace.below_s is None or length < pace.below_s)


def time_class_in(settings: Mapping[str, Any]) -> str:
    """Return the class of a tournament by its settings; empty without a valid time control."""
    try:
        return time_class_of(read_time_control(str(settings.get("time_control", ""))))
    except ParseError:
        return ""


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of games of a tournament, `least` to `most` (None: no end), their duration and space in the database.

    `game_s` are the seconds of a game that uses all its time, with `moves` moves of each side; None without a clock.
    `usual_s` are the seconds that similar games took; None without such games. `record_bytes` is the size of a record.
    """

    least: int
    most: int | None
    game_s: float | None
    moves: float = MOVES
    usual_s: float | None = None
    record_bytes: float = 2 * MOVES * PLY_BYTES

    @property
    def disk_bytes(self) -> int | None:
        """Space of all games; None without an end."""
        return None if self.most is None else round(self.most * (GAME_BYTES + self.record_bytes))

    def seconds(self, slots: int) -> float | None:
        """Return how long all games take on this number of slots if each uses all its time; None if unknown."""
        return self._all(self.game_s, slots)

    def usual(self, slots: int) -> float | None:
        """Return how long all games take if each takes as long as similar games did; None if unknown."""
        return self._all(self.usual_s, slots)

    def _all(self, each_s: float | None, slots: int) -> float | None:
        return None if self.most is None or each_s is None else self.most * each_s / max(1, slots)


def extent(
    document: Document,
    players: int,
    plies: float | None = None,
    usual_s: float | None = None,
    record_bytes: float | None = None,
) -> Extent:
    """Return the extent of a tournament of `players` bots.

    `plies` is the mean length of games of the variant, `record_bytes` the mean size of their records, `usual_s` their
    mean duration with this time control, if known.
    """
    least, most = document.system.count_games(document, players)
    moves = MOVES if plies is None else plies / 2
    size = 2 * moves * PLY_BYTES if record_bytes is None else record_bytes
    return Extent(least, most, estimated_seconds(document.control, moves), moves, usual_s, size)


def extended(document: Document, players: int, *, to: int | None = None, amount: int | None = None) -> dict[str, Any]:
    """Return the settings of a longer tournament: up to `to`, or by `amount`, in the unit that its format counts.

    Raises SettingsError.
    """
    if (to is None) == (amount is None):
        raise SettingsError("write either `to`, the new length, or `amount`, the number to add", "to")
    field, given = ("to", to) if to is not None else ("amount", amount or 0)
    if not given or not 1 <= given <= 1_000_000:
        raise SettingsError("must be between 1 and 1,000,000", field)
    known = document.system.length(document, players)
    count = given if field == "to" else known.count + given
    if count <= known.count:
        more = known.count + known.step
        raise SettingsError(
            f"must be more than its {known.count} {known.unit}; write {more} or more, or +N to add N", field
        )
    if (count - known.count) % known.step:
        raise SettingsError("must be even: games are played in pairs", field)
    settings = document.as_json()
    (settings[known.table] if known.table else settings)[known.key] = count
    return settings
