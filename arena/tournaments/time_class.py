"""Time classes: names for time controls by the estimated duration of a game. This module alone defines their bounds.

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

MOVES = 40
"""Moves per side in the estimate."""


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
UNTIMED = "untimed"
NAMES = (*(pace.name for pace in TIME_CLASSES), UNTIMED)


def seconds(control: TimeControl, moves: float = MOVES) -> float | None:
    """Return the estimated duration of a game with `moves` moves per side, in seconds; None without a clock."""
    if control.kind == "clock":
        periods = math.ceil(moves / control.moves) if control.moves else 1
        return 2 * (periods * control.base_ms + moves * control.increment_ms) / 1000
    return 2 * moves * control.base_ms / 1000 if control.kind == "movetime" else None


def time_class_of(control: TimeControl) -> str:
    """Return the name of the class of a time control."""
    length = seconds(control)
    if length is None:
        return UNTIMED
    return next(pace.name for pace in TIME_CLASSES if pace.below_s is None or length < pace.below_s)


def time_class_in(settings: Mapping[str, Any]) -> str:
    """Return the class of a tournament by its settings; empty without a valid time control."""
    try:
        return time_class_of(read_time_control(str(settings.get("time_control", ""))))
    except ParseError:
        return ""
