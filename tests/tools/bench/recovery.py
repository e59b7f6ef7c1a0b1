"""Recovery of both topologies: seconds from SIGKILL of a process to the end of a game that began afterwards.

What was killed is started again after a second, as by systemd. One worker plays, so that nobody plays in its place.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from arena.errors import StoreError
from tests.e2e.drill.scaled import Scaled
from tests.e2e.drill.stage import Embedded, Stage
from tests.tools.bench.figure import Figure

LEASE_S = 10.0
"""The default."""
PAUSE_MS = 80
"""How long a move takes: games of 20 plies last about 2 s."""
GAMES = 1000
TIMEOUT_S = 120.0
PAGES = "pages"
STANDBY = "standby"


class Solo(Scaled):
    """The scaled topology with one worker."""

    players = ("worker-1",)


def run(quick: bool) -> Iterator[Figure]:
    """Figures of every process of both topologies; of a referee also with a standby."""
    repeats = 1 if quick else 3
    for kind in (Embedded, Solo):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)  # bots have users of their own
            with kind(Path(folder), can_mount=False, lease_s=LEASE_S) as stage:
                stage.contest.time_control = "100+0.1"
                stage.contest.submit(PAUSE_MS)
                stage.contest.create(GAMES, 1)
                yield from _figures(stage, repeats)


def _figures(stage: Stage, repeats: int) -> Iterator[Figure]:
    _next_game(stage, time.time())
    for target in list(stage.supervisor.services):
        spent = [_page(stage) if target == PAGES else _game(stage, target) for _ in range(repeats)]
        until = "a page" if target == PAGES else "a new game's end"
        yield from _spread(f"{stage.name}: {target} killed, {until}", spent, "< 10")
    if isinstance(stage, Solo):
        spent = [_taken_over(stage) for _ in range(repeats)]
        yield from _spread(f"{stage.name}: referee killed, a standby acts", spent, f"< {3 * LEASE_S:g}")


def _spread(name: str, spent: list[float], goal: str) -> Iterator[Figure]:
    yield Figure("recovery", f"{name}, median", median(spent), "s", goal=goal)
    yield Figure("recovery", f"{name}, slowest", max(spent), "s", goal=goal)


def _game(stage: Stage, target: str) -> float:
    time.sleep(1.0)  # the wait for the game before ends with it
    commit, begin = stage.store.results.last_commit(), time.time()
    stage.supervisor.services[target].signal(signal.SIGKILL)
    return _next_game(stage, begin, commit) - begin


def _page(stage: Stage) -> float:
    begin = time.time()
    stage.supervisor.services[PAGES].signal(signal.SIGKILL)
    _until(lambda: not stage.is_ready())
    _until(stage.is_ready)
    return time.time() - begin


def _taken_over(stage: Stage) -> float:
    """Seconds until a standby acts; it is the only referee afterwards and then hands over to another one."""
    service = stage.supervisor.services[stage.referee]
    standby = stage.service(STANDBY, *stage.second())
    _until(lambda: '"standing by"' in stage.log(STANDBY))
    begin = time.time()
    service.is_held = True
    service.signal(signal.SIGKILL)
    _until(lambda: '"acting"' in stage.log(STANDBY))
    spent = time.time() - begin
    stage.supervisor.stop(standby.name)
    (standby.log).unlink()
    service.is_held = False
    _next_game(stage, time.time())
    return spent


def _next_game(stage: Stage, begin: float, commit: int = 0) -> float:
    """Wait until the result of a game that began later is in the database; when it was seen there."""

    def is_there() -> bool:
        with contextlib.suppress(StoreError):
            (number,) = stage.contest.numbers
            games = stage.store.results.committed(number, commit, 100)
            return any(game.started_at is not None and game.started_at.timestamp() > begin for game in games)
        return False

    _until(is_there)
    return time.time()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no recovery within {TIMEOUT_S:g} s")
        time.sleep(0.05)
