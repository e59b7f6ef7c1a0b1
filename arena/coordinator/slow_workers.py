"""Notices a worker on which bots search slower than elsewhere: throttled, or with more to do than its games.

What is compared is the nodes per second of one bot with those of the same bot on other workers, as bots count nodes
differently. A game in which they were less than `1 - tolerance` of the median elsewhere speaks against its worker, any
other for it; of a worker that is no slower than that, at most half of the games speak against it. A stake on the next
one speaking against it, again and again, reaches `EVIDENCE_THRESHOLD` with a chance of at most its inverse, however long it plays
(Ville's inequality), as far as medians of few games are right: `python -m tests.bench.throttle` says how far. Refuses
to know executors and the database.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from referee.record import GameRecord
from referee.spec import GameSpec

EVIDENCE_THRESHOLD = 1000
"""How much a stake has to become: false alarms are rarer than one in so many workers."""
STAKES = (0.1, 0.3, 0.6)
"""Shares of the wealth that are staked each time; as much begins with each."""
MIN_GAMES_ELSEWHERE = 5
"""So many games of a bot on other workers make a median."""
MAX_GAMES_PER_BOT = 100
"""So many of its latest games are kept of each bot."""
MAX_BOTS = 2000
"""So many bots are known, in each kind of game: those that played last."""
MIN_THINKING_MS = 20.0
"""Who thought for less in a game is not measured by it."""

Speed = tuple[object, float]
"""A bot in a kind of game, and the logarithm of the nodes per second it searched."""


@dataclass(slots=True)
class _Worker:
    wealth: list[float] = field(default_factory=lambda: [1.0] * len(STAKES))
    differences: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_GAMES_PER_BOT))
    """Of its games: by how much bots were faster, as a logarithm."""


class SlowWorkerDetector:
    """`tolerance`: a worker may be slower than the others by that share, more than 0 and less than 1."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._bound = math.log(1 - tolerance)
        self._known: dict[object, deque[tuple[str, float]]] = {}
        """Of each bot in each kind of game: on which worker, and how fast."""
        self._workers: dict[str, _Worker] = defaultdict(_Worker)

    def add(self, worker: str, speeds: Sequence[Speed], among: Container[str]) -> str:
        """Look at the speeds of a game that a worker has brought; `among` are the workers it is compared with.

        Why the worker is too slow; empty while it is not known to be.
        """
        differences = [one for bot, speed in speeds if (one := self._difference(worker, bot, speed, among)) is not None]
        if not differences:
            return ""
        # Twice the bound at most: whatever one bot says of its nodes, that alone speaks against nobody.
        edge = -2 * self._bound
        mean = sum(max(-edge, min(edge, one)) for one in differences) / len(differences)
        mine = self._workers[worker]
        mine.differences.append(sum(differences) / len(differences))
        sign = 1 if mean < self._bound else -1
        mine.wealth = [wealth * (1 + sign * stake) for wealth, stake in zip(mine.wealth, STAKES, strict=True)]
        if sum(mine.wealth) < EVIDENCE_THRESHOLD * len(STAKES):
            return ""
        found = self._workers.pop(worker).differences
        return (
            f"bots search at {100 * math.exp(median(found)):.0f} % of their speed elsewhere (median of its last "
            f"{len(found)} games), and may not be below {100 * (1 - self._tolerance):.0f} %"
        )

    def _difference(self, worker: str, bot: object, speed: float, among: Container[str]) -> float | None:
        """How much faster a bot was than elsewhere; None where too little is known. From now on this is known too."""
        known = self._known.pop(bot, None) or deque(maxlen=MAX_GAMES_PER_BOT)
        self._known[bot] = known  # the last one now
        if len(self._known) > MAX_BOTS:
            del self._known[next(iter(self._known))]
        elsewhere = [found for other, found in known if other != worker and other in among]
        known.append((worker, speed))
        return speed - median(elsewhere) if len(elsewhere) >= MIN_GAMES_ELSEWHERE else None


def speeds_of(spec: GameSpec, record: GameRecord) -> Iterator[Speed]:
    """How fast each side searched, where it says so, searched here, and a clock made it matter."""
    for place, (bot, control) in enumerate(zip((spec.first, spec.second), spec.controls, strict=True)):
        if bot.place or control.move_ms is None:
            continue
        own = [ply for number, ply in enumerate(record.plies) if number % 2 == place and ply.nodes and not ply.book]
        spent_ms = sum(ply.ms for ply in own)
        if spent_ms >= MIN_THINKING_MS:
            # A slower machine that gave its bots as much more time is as good as the others.
            speed = math.log(sum(ply.nodes or 0 for ply in own) / spent_ms * record.clock_scale)
            yield (bot.name, bot.options, control, spec.family, spec.variant), speed
