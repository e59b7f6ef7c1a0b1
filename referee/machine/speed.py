"""The speed of this process: perft leaves per second of wall-clock time.

Other programs on the machine lower the speed, so measure while all slots play. The clocks of a game are scaled by the
speed if its spec asks for that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from referee.game.spec import MAX_SCALE, MIN_SCALE, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.rules import families, load
from referee.rules.per_family import perft

DEPTH = 3
"""Depth of the perft tree: a call takes less than a millisecond, and interpreted rules take no seconds."""
MEASURED_S = 0.3
FRESH_S = 3600.0
"""Seconds for which a measurement is valid."""
REFERENCE = 920_000_000
"""Leaves per second of the reference machine for time controls: a core of an ordinary server of 2023."""


@dataclass(slots=True)
class _Measured:
    leaves: float = 0.0
    until_s: float = 0.0


_here = _Measured()


def measure() -> float:
    """Measure perft leaves per second in the first family; compiles its kernel if necessary."""
    ruleset = load(families()[0]).settle()
    start = ruleset.read()
    perft(ruleset, start, 1)
    leaves, begin = 0, time.perf_counter()
    # Wall-clock time, since what other programs take away is to be measured too.
    while (passed_s := time.perf_counter() - begin) < MEASURED_S:
        leaves += perft(ruleset, start, DEPTH)
    _here.leaves, _here.until_s = leaves / passed_s, time.monotonic() + FRESH_S
    return _here.leaves


def lately() -> float:
    """Return the last measurement, or measure now if it is too old."""
    return _here.leaves if time.monotonic() < _here.until_s else measure()


def scaled(game: PlannedGame) -> PlannedGame:
    """Return the game with its clocks scaled to this machine, if its spec asks for that and both bots run here."""
    spec = game.spec
    if not spec.scale_clocks or spec.first.place or spec.second.place:
        return game
    leaves = lately()
    scale = round(min(MAX_SCALE, max(MIN_SCALE, REFERENCE / leaves if leaves else MAX_SCALE)), 2)
    return replace(game, spec=_with_clocks(spec, scale))


def _with_clocks(spec: GameSpec, scale: float) -> GameSpec:
    def clock(control: TimeControl) -> TimeControl:
        base_ms, increment_ms = round(control.base_ms * scale), round(control.increment_ms * scale)
        return replace(control, base_ms=max(1, base_ms) if control.base_ms else 0, increment_ms=increment_ms)

    def bot(player: BotSpec) -> BotSpec:
        return replace(player, time=clock(player.time)) if player.time else player

    return replace(spec, time=clock(spec.time), first=bot(spec.first), second=bot(spec.second), clock_scale=scale)
