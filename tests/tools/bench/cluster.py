"""Games over a cluster: 1, 2 and 4 workers of one slot each beside local pools of as many slots, in the same run.

Games between two instant bots in C: short ones, to measure what a game costs beside its moves, and usual ones; and
usual ones between bots that think.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.cluster.game_runner import BundlePlace, play_bundled
from referee.game.record import read_record
from referee.game.spec import Adjudication, PlannedGame
from referee.machine.pool import SlotPool
from tests.tools.bench.figure import Figure
from tests.tools.bench.overhead import build, specs

FAMILY = "loa"
SHORT, USUAL = 20, 200
"""How many plies games have."""
THINKS_MS = 1
"""How long bots that think do so about a ply."""
TIMEOUT_S = 120.0


def pairs(folder: Path, count: int, plies: int = SHORT, thinks_ms: int = 0) -> list[list[PlannedGame]]:
    """Pairs of games of so many plies, for each of which a bot keeps its core busy so long."""
    games = []
    for spec in specs(FAMILY, folder, 2 * count, thinks_ms):
        first, second = (replace(bot, command=(*bot.command, "busy")) for bot in (spec.first, spec.second))
        if thinks_ms:
            spec = replace(spec, first=first, second=second)
        games.append(PlannedGame.of(replace(spec, adjudication=Adjudication(max_plies=plies), pair=spec.sequence // 2)))
    return [games[number : number + 2] for number in range(0, len(games), 2)]


def rate(executor: Executor, slots: int, pairs: Sequence[list[PlannedGame]], place: BundlePlace) -> float:
    """Games per second, twice as many jobs out as there are slots, as the arena does it."""
    todo = deque(pairs)
    warm = [executor.submit(play_bundled, todo.popleft(), place, True) for _ in range(2 * slots)]
    for future in warm:
        future.result()
    begin, games = time.perf_counter(), 0
    out: set[Future[Any]] = set()
    while True:
        while todo and len(out) < 2 * slots:
            out.add(executor.submit(play_bundled, todo.popleft(), place, True))
        if not out:
            return games / (time.perf_counter() - begin)
        done, out = wait(out, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
            games += 2


def checked(event: dict[str, Any]) -> None:
    """See that a game was played to its end."""
    if event["event"] == "finish":
        assert len(read_record(event["record"]).moves) in (SHORT, USUAL), event


def cpu_s(pids: Sequence[int]) -> float:
    """CPU seconds of processes so far: arena, scheduler and workers, without slots and bots."""
    ticks = [Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13] for pid in pids]
    return sum(int(tick) for pair in ticks for tick in pair) / os.sysconf("SC_CLK_TCK")


@contextmanager
def command(*words: str, until: str) -> Iterator[tuple[str, int]]:
    """A running `arena …`: the last word of the line in which it says that it is ready, and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "ARENA_ALLOW_WEAK_SANDBOX": "1"},
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if until in line:
                yield line.split()[-1], process.pid
                return
        raise RuntimeError(f"arena {words[0]} ended with {process.wait()}; run it by hand to see why")
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)


def run(quick: bool) -> Iterator[Figure]:
    """Throughput and the overhead of a game, over the cluster and in a local pool."""
    from arena.cluster.executor import ClusterExecutor
    from arena.cluster.wire_config import address_of

    repeats = 1 if quick else 4
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        build(folder)
        place = BundlePlace(str(folder / "bundles"), str(folder / "unpacked"))
        url, scheduler = stack.enter_context(command("scheduler", "--port", "0", until="dask://"))
        pids = [os.getpid(), scheduler]
        executor = ClusterExecutor(address_of(url), on_event=checked)
        stack.callback(executor.shutdown, cancel_futures=True)
        present = 0
        for workers in (1, 2) if quick else (1, 2, 4):
            for number in range(present, workers):
                words = ["--scheduler", url, "--slots", "1", "--data", str(folder / f"worker-{number}")]
                line = ["worker", *words, "--sandbox", "none", "--no-warm"]
                pids.append(stack.enter_context(command(*line, until="ready"))[1])
            present = workers
            deadline = time.monotonic() + TIMEOUT_S
            while executor.size < workers and time.monotonic() < deadline:
                time.sleep(0.1)
            jobs = pairs(folder, (20 if quick else 200) + 2 * workers)
            pool = SlotPool(workers, on_event=checked)
            local = far = 0.0
            for _ in range(repeats):  # by turns, so that both meet the same neighbours
                local = max(local, rate(pool, workers, jobs, place))
                far = max(far, rate(executor, workers, jobs, place))
            usual = pairs(folder, (10 if quick else 500) + 2 * workers, USUAL)
            rates, spent_ms = [], []
            for _ in range(repeats):
                before = cpu_s(pids[:1])
                near = rate(pool, workers, usual, place)
                middle = cpu_s(pids)
                near_ms = cpu_s(pids[:1]) - before
                rates.append((near, rate(executor, workers, usual, place)))
                spent_ms.append([1e3 * spent_s / (2 * len(usual)) for spent_s in (near_ms, cpu_s(pids) - middle)])
            thinking = pairs(folder, (4 if quick else 20) + 2 * workers, USUAL, THINKS_MS)
            slow = [(rate(pool, workers, thinking, place), rate(executor, workers, thinking, place)) for _ in (1, 2)]
            pool.shutdown()
            title = f"{workers} worker{'s' if workers > 1 else ''}, games of {SHORT} plies"
            beside = f"local pool of {workers}"
            near, best = (max(pair_of_rates) for pair_of_rates in zip(*rates, strict=True))
            longer = title.replace(str(SHORT), str(USUAL))
            yield Figure("cluster", longer, best, "games/s", beside, near, ">= 0.9 x")
            near, best = (max(pair_of_rates) for pair_of_rates in zip(*slow, strict=True))
            busy = f"{longer}, {THINKS_MS} ms of a core each"
            yield Figure("cluster", busy, best, "games/s", beside, near, ">= 0.9 x")
            yield Figure("cluster", title, far, "games/s", beside, local)
            spent, here = 1e3 * workers / far, 1e3 * workers / local
            yield Figure("cluster", f"{title}: a game in its slot", spent, "ms", beside, here)
            yield Figure("cluster", f"{title}: overhead", spent - here, "ms/game")
            here_ms, cpu_ms = (min(pair_of_rates) for pair_of_rates in zip(*spent_ms, strict=True))
            yield Figure("cluster", f"{longer}: CPU outside of slots", cpu_ms, "ms/game", beside, here_ms)
            # Where slots share the cores with all else: 0.9 = (game + here_ms) / (game + cpu_ms).
            enough = max(0.0, 9 * cpu_ms - 10 * here_ms)
            yield Figure(
                "cluster", f"{title.partition(',')[0]}: 0.9 x where a game takes a core longer than", enough, "ms"
            )
