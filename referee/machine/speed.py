"""How fast this process is: leaves of a tree of moves it counts in a second, by the clock on the wall.

What else the machine does meanwhile is in it: whoever is measured while all slots play is as fast as it will be. Clocks
that are to be worth the same everywhere are scaled by it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from referee.game.spec import LEAST_SCALE, MOST_SCALE, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.rules import families, load
from referee.rules.perft import perft

DEPTH = 3
"""Of the tree: a call takes less than a millisecond, and interpreted rules take no seconds."""
MEASURED_S = 0.3
FRESH_S = 3600.0
"""For so long a process is as fast as it was."""
REFERENCE = 920_000_000
"""Leaves per second of the machine for which clocks are written: a core of an ordinary server of 2023."""


@dataclass(slots=True)
class _Measured:
    leaves: float = 0.0
    until_s: float = 0.0


_here = _Measured()


def measure() -> float:
    """Leaves per second, of the first family there is. Compiles its kernel where that is still to be done."""
    ruleset = load(families()[0]).settle()
    start = ruleset.read()
    perft(ruleset, start, 1)
    leaves, begin = 0, time.perf_counter()
    while (passed_s := time.perf_counter() - begin) < MEASURED_S:
        leaves += perft(ruleset, start, DEPTH)
    _here.leaves, _here.until_s = leaves / passed_s, time.monotonic() + FRESH_S
    return _here.leaves


def lately() -> float:
    """What was measured here lately; measured now where that is too long ago."""
    return _here.leaves if time.monotonic() < _here.until_s else measure()


def scaled(game: PlannedGame) -> PlannedGame:
    """The game with the clocks it has on this machine, where its spec wants them scaled and both bots think here."""
    spec = game.spec
    if not spec.scale_clocks or spec.first.place or spec.second.place:
        return game
    leaves = lately()
    scale = round(min(MOST_SCALE, max(LEAST_SCALE, REFERENCE / leaves if leaves else MOST_SCALE)), 2)
    return replace(game, spec=_with_clocks(spec, scale))


def _with_clocks(spec: GameSpec, scale: float) -> GameSpec:
    def clock(control: TimeControl) -> TimeControl:
        base_ms, increment_ms = round(control.base_ms * scale), round(control.increment_ms * scale)
        return replace(control, base_ms=max(1, base_ms) if control.base_ms else 0, increment_ms=increment_ms)

    def bot(one: BotSpec) -> BotSpec:
        return replace(one, time=clock(one.time)) if one.time else one

    return replace(spec, time=clock(spec.time), first=bot(spec.first), second=bot(spec.second), clock_scale=scale)
