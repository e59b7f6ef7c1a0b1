"""Classes of time controls: how long a game may take, in one word. The one place that says where a class ends.

By the estimated seconds of a whole game: both clocks with 40 increments each (of `20/60` the base twice), or 80 moves
of a fixed time. Games with limits of depth or nodes have no clock and are a class of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.rules.core import ParseError
from referee.spec import TimeControl, read_time_control

MOVES = 40
"""Moves per side of the game that is estimated."""


@dataclass(frozen=True, slots=True)
class TimeClass:
    """A class: games estimated at `below_s` seconds or more belong to the next one (None: there is no next one)."""

    name: str
    below_s: float | None

    @property
    def words(self) -> str:
        """The bound in words."""
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
    """The estimated length of a game of so many moves of each side; None without a clock."""
    if control.kind == "clock":
        periods = math.ceil(moves / control.moves) if control.moves else 1
        return 2 * (periods * control.base_ms + moves * control.increment_ms) / 1000
    return 2 * moves * control.base_ms / 1000 if control.kind == "movetime" else None


def time_class_of(control: TimeControl) -> str:
    """The class of a time control."""
    length = seconds(control)
    if length is None:
        return UNTIMED
    return next(pace.name for pace in TIME_CLASSES if pace.below_s is None or length < pace.below_s)


def time_class_in(settings: Mapping[str, Any]) -> str:
    """The class of a tournament by its settings; empty where they name no time control that can be read."""
    try:
        return time_class_of(read_time_control(str(settings.get("time_control", ""))))
    except ParseError:
        return ""
