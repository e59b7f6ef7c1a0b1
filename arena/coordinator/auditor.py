"""The audit of cluster workers: a sample of their records is verified by the rules before it is committed.

A worker with a wrong record is quarantined: its later results are void, and its earlier ones are verified and voided
where they are wrong. The audit log shows whether this is finished, so that the next coordinator can continue. A worker
on which bots run slower than elsewhere is quarantined too, but its results stay.

Slow workers are found by a sequential test: they are throttled or overloaded, so that bots search slower there. Bots
count nodes differently, so the nodes per second of each bot are compared with those of the same bot on other workers. A
game below `1 - tolerance` of the median elsewhere is evidence against its worker, any other game is evidence for it. On
a worker within the tolerance at most half of the games are evidence against it. The test (an e-process) bets a share of
its wealth on each next game; the wealth reaches `EVIDENCE_THRESHOLD` by chance with a probability of at most its
inverse, however long the worker plays (Ville's inequality). The bound is approximate, as medians of few games are;
`python -m tests.tools.bench.throttle` measures it.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from arena.coordinator.context import CoordinatorContext
from arena.events.messages import GameAborted
from arena.log import logger
from arena.offload import OffloadProcess
from arena.store.people.audit import QUARANTINED, THROTTLED, VERIFIED
from referee.game.record import GameRecord
from referee.game.spec import GameSpec, PlannedGame
from referee.game.unplayed import void_record
from referee.machine.pool import JobError, WorkerLostError
from referee.rules.core import Kind, Termination
from referee.verify.verification import problem_of

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


BATCH_GAMES = 200
"""Games of a quarantined worker that are verified in one turn."""


class VerifierProcess:
    """Verifies records in a separate process, as the kernels of the rules would block a server."""

    def __init__(self) -> None:
        self._process = OffloadProcess()
        self.close = self._process.close
        self._log = logger("coordinator")

    def problem(self, line: str | bytes, spec: GameSpec, game_id: str) -> str:
        """Return what is wrong with a record; empty if nothing is, or if the verification itself fails."""
        try:
            return self._process.call(problem_of, line, spec, game_id)
        except (JobError, WorkerLostError) as error:
            # A fault of this machine must not quarantine a worker: the record counts as if it had not been chosen.
            self._log.error("verification failed", game=game_id, error=str(error))
            return ""


class ResultAuditor:
    """Verifies the first record of each worker and a random share of the others (0: none at all). Used in one thread.

    Bots may be slower on a worker than elsewhere by a tolerance; 0 disables this check. Both are settings.
    """

    def __init__(self, context: CoordinatorContext, verifier: VerifierProcess) -> None:
        self._store, self._bus, self._executor = context.store, context.bus, context.executor
        self._owner, self._metrics, self._verifier = context.owner, context.metrics, verifier
        self._share, tolerance = context.settings.verify_sample_rate, context.settings.slow_worker_tolerance
        self._throttle = SlowWorkerDetector(tolerance) if tolerance else None
        self._known: set[str] = set()
        """Workers with at least one verified record."""
        self._quarantined: dict[str, str] = {}
        """Quarantined workers, and why: the fault of a record, or how slow the worker is."""
        self._suspects: deque[tuple[str, int]] = deque()
        """Workers whose earlier results are to be verified, and the commit number of the last verified result."""
        self._unnoted: list[tuple[str, str]] = []
        """Entries for the audit log: `QUARANTINED` or `THROTTLED`, and the worker."""
        self._log = logger("coordinator")

    def audit(self, game: PlannedGame, record: GameRecord) -> GameRecord:
        """Return the record of a game as it may be committed: void if its worker is quarantined."""
        worker = record.worker
        if worker not in self._quarantined and record.kind is not Kind.VOID and self._is_chosen(worker):
            self._verify(worker, game, record)
        if why := self._quarantined.get(worker):
            void = void_record(game, Termination.WORKER_WRONG, f"its worker was quarantined: {why}")
            return replace(void, worker=worker)
        if record.kind is not Kind.VOID:
            self._time(worker, game, record)
        return record

    def resume(self) -> None:
        """Quarantine the workers whose audit an earlier coordinator has not finished. Raises StoreUnavailableError."""
        for line in self._store.audit.unfinished(QUARANTINED, VERIFIED):
            worker = str(line.detail["worker"])
            if worker not in self._quarantined:
                self._suspect(worker, str(line.detail["problem"]))

    def reverify(self) -> set[int]:
        """Verify the next batch of results of quarantined workers; return the tournaments with games to play again.

        Raises StoreUnavailableError; the next call then repeats the batch.
        """
        while self._unnoted:
            # Removed once it is written: an outage of the database must not lose the entry.
            self._note(*self._unnoted[-1])
            self._unnoted.pop()
        if not self._suspects:
            return set()
        worker, after = self._suspects[0]
        wrong: dict[str, str] = {}
        count, last = 0, after
        for number, game_id, line, spec in self._store.results.with_plans(worker=worker, after=after):
            last, count = number, count + 1
            if problem := self._verifier.problem(line, spec, game_id):
                wrong[game_id] = problem
            if count >= BATCH_GAMES:
                break
        undone = self._store.results.undo(wrong, self._owner)
        if count < BATCH_GAMES:
            # Before the worker is forgotten: after an outage of the database here, the batch is repeated.
            self._note(VERIFIED, worker)
        self._suspects.popleft()
        if count >= BATCH_GAMES:
            # To the end, so that every suspect gets its turn.
            self._suspects.append((worker, last))
        else:
            self._log.info("worker's games verified", worker=worker)
        for game_id in undone:
            self._metrics.voids.labels(Termination.WORKER_WRONG.value).inc()
            self._log.warning("result void", game=game_id, worker=worker, problem=wrong[game_id])
            self._bus.publish(GameAborted(game=game_id))
        return {self._store.games.get(game_id).tournament_id for game_id in undone}

    def close(self) -> None:
        """End the process that verifies."""
        self._verifier.close()

    def _is_chosen(self, worker: str) -> bool:
        if worker in self._known:
            # Without a seed: no worker may foresee which of its records are verified.
            return random.random() < self._share
        self._known.add(worker)
        return self._share > 0

    def _verify(self, worker: str, game: PlannedGame, record: GameRecord) -> None:
        problem = self._verifier.problem(record.line(), game.spec, game.id)
        self._metrics.verified.labels("wrong" if problem else "right").inc()
        if not problem:
            return
        self._log.error("worker quarantined", worker=worker, game=game.id, problem=problem)
        self._suspect(worker, f"game {game.id}: {problem}")
        self._unnoted.append((QUARANTINED, worker))

    def _time(self, worker: str, game: PlannedGame, record: GameRecord) -> None:
        """Quarantine the worker if bots are too slow on it. The result stays, as both bots were equally slow."""
        if self._throttle is None:
            return
        present = self._present()
        if worker not in present:  # it has left, or the worker of the game is unknown
            return
        if problem := self._throttle.add(worker, list(speeds_of(game.spec, record)), present):
            self._log.error("worker quarantined", worker=worker, game=game.id, problem=problem)
            self._quarantine(worker, problem)
            self._unnoted.append((THROTTLED, worker))

    def _present(self) -> Container[str]:
        """Return the active workers. Departed workers are ignored, so that the remaining ones are not compared with
        stale data.
        """
        workers = self._executor.describe().workers if hasattr(self._executor, "describe") else ()
        return {one.id for one in workers if one.is_fit} - self._quarantined.keys()

    def _suspect(self, worker: str, problem: str) -> None:
        """Quarantine a worker, and schedule the verification of its earlier results."""
        self._quarantine(worker, problem)
        self._suspects.append((worker, 0))

    def _quarantine(self, worker: str, problem: str) -> None:
        self._quarantined[worker] = problem
        if hasattr(self._executor, "quarantine"):
            self._executor.quarantine(worker, problem)

    def _note(self, action: str, worker: str) -> None:
        self._store.audit.note(action, f"worker:{worker}", worker=worker, problem=self._quarantined[worker])
