"""Slow workers, found by a sequential test: they are throttled or overloaded, so that bots search slower there.

Bots count nodes differently. Therefore the nodes per second of each bot are compared with those of the same bot on
other workers. A game below `1 - tolerance` of the median elsewhere is evidence against its worker, any other game is
evidence for it. On a worker within the tolerance at most half of the games are evidence against it. The test (an
e-process) bets a share of its wealth on each next game; the wealth reaches `EVIDENCE_THRESHOLD` by chance with a
probability of at most its inverse, however long the worker plays (Ville's inequality). The bound is approximate, as
medians of few games are; `python -m tests.tools.bench.throttle` measures it.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from referee.game.record import GameRecord
from referee.game.spec import GameSpec

EVIDENCE_THRESHOLD = 1000
"""Wealth at which a worker is slow: its inverse bounds the share of false alarms (type I error)."""
STAKES = (0.1, 0.3, 0.6)
"""Shares of the wealth that are bet on each game; the initial wealth is divided equally among them."""
MIN_GAMES_ELSEWHERE = 5
"""Fewest games of a bot on other workers from which a median is computed."""
MAX_GAMES_PER_BOT = 100
"""Latest games that are kept of each bot."""
MAX_BOTS = 2000
"""Maximum number of bots whose speeds are kept: the last ones to play. A bot counts once per kind of game."""
MIN_THINKING_MS = 20.0
"""Shortest thinking time of a bot in a game that counts."""

Speed = tuple[object, float]
"""A bot in a kind of game, and the natural logarithm of its nodes per second."""


@dataclass(slots=True)
class _Worker:
    wealth: list[float] = field(default_factory=lambda: [1.0] * len(STAKES))
    differences: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_GAMES_PER_BOT))
    """Logarithm of the bots' speed in each game relative to their speed elsewhere."""


class SlowWorkerDetector:
    """The sequential tests of all workers. A worker may be slower than the others by the share `tolerance` (0 to 1)."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._bound = math.log(1 - tolerance)
        self._known: dict[object, deque[tuple[str, float]]] = {}
        """For each bot in each kind of game: the worker and the speed of its latest games."""
        self._workers: dict[str, _Worker] = defaultdict(_Worker)

    def add(self, worker: str, speeds: Sequence[Speed], among: Container[str]) -> str:
        """Add the speeds of one game of a worker; compare them with those on the workers in `among`.

        Returns why the worker is too slow, or an empty string.
        """
        differences = [
            difference
            for bot, speed in speeds
            if (difference := self._difference(worker, bot, speed, among)) is not None
        ]
        if not differences:
            return ""
        # Clip each difference at twice the bound: false node counts of one bot alone must not convict a worker.
        edge = -2 * self._bound
        mean = sum(max(-edge, min(edge, difference)) for difference in differences) / len(differences)
        mine = self._workers[worker]
        mine.differences.append(sum(differences) / len(differences))
        sign = 1 if mean < self._bound else -1
        # Large stakes find a great difference soon and small ones a slight difference at all: the bettor divides the
        # wealth.
        mine.wealth = [wealth * (1 + sign * stake) for wealth, stake in zip(mine.wealth, STAKES, strict=True)]
        if sum(mine.wealth) < EVIDENCE_THRESHOLD * len(STAKES):
            return ""
        slower = self._workers.pop(worker).differences
        return (
            f"bots search at {100 * math.exp(median(slower)):.0f} % of their speed elsewhere (median of its last "
            f"{len(slower)} games), and may not be below {100 * (1 - self._tolerance):.0f} %"
        )

    def _difference(self, worker: str, bot: object, speed: float, among: Container[str]) -> float | None:
        """Return the logarithm of a bot's speed relative to its speed elsewhere; None if it has too few games there.

        Also store this speed for later comparisons.
        """
        known = self._known.pop(bot, None) or deque(maxlen=MAX_GAMES_PER_BOT)
        self._known[bot] = known  # move it to the end
        if len(self._known) > MAX_BOTS:
            del self._known[next(iter(self._known))]
        elsewhere = [measured for other, measured in known if other != worker and other in among]
        known.append((worker, speed))
        # The median: a single slow worker among the others must not make this one look fast.
        return speed - median(elsewhere) if len(elsewhere) >= MIN_GAMES_ELSEWHERE else None


def speeds_of(spec: GameSpec, record: GameRecord) -> Iterator[Speed]:
    """Yield the speed of each side whose bot is local, reports nodes and plays with a clock."""
    for place, (bot, control) in enumerate(zip((spec.first, spec.second), spec.controls, strict=True)):
        if bot.place or control.move_ms is None:
            continue
        own = [ply for number, ply in enumerate(record.plies) if number % 2 == place and ply.nodes and not ply.book]
        spent_ms = sum(ply.ms for ply in own)
        if spent_ms >= MIN_THINKING_MS:
            # On a slower machine clocks are scaled: scale the speed too, so that machines are comparable.
            speed = math.log(sum(ply.nodes or 0 for ply in own) / spent_ms * record.clock_scale)
            yield (bot.name, bot.options, control, spec.family, spec.variant), speed
