"""What the referee adds to a move: two instant bots in C replay a 200-ply game, beside the bare pipe round trip."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from referee.play import play
from referee.roster import Roster
from referee.rules import load
from referee.rules.position import Position
from referee.sandbox import Sandbox
from referee.spec import Adjudication, BotSpec, GameSpec, PlannedGame, TimeControl
from tests.bench.figure import Figure

HERE = Path(__file__).parent
PLIES = 200


def build(folder: Path) -> None:
    """Compile the C programs into `folder`. Raises RuntimeError without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        raise RuntimeError("no C compiler; install gcc to measure the referee's overhead")
    for name in ("instant", "pingpong"):
        subprocess.run([compiler, "-O2", "-pthread", "-o", str(folder / name), str(HERE / f"{name}.c")], check=True)


def fixed_game(family: str) -> list[str]:
    """A legal game of 200 plies from the start that nothing ends."""
    ruleset = load(family).settle()
    for seed in range(10_000):
        rng, position, moves = random.Random(seed), Position.start(ruleset), []
        while len(moves) < PLIES and position.outcome is None:
            move = position.moves[rng.randrange(len(position.moves))]
            moves.append(ruleset.rules.notation.write_move(move))
            position = position.play(move)
        if len(moves) == PLIES:
            return moves
    raise RuntimeError(f"no game of {PLIES} plies of {family}")


def specs(family: str, folder: Path, games: int, thinks_ms: int = 0) -> list[GameSpec]:
    """Games between two bots that replay one game, at once or after so long a pause before each move."""
    moves = folder / f"{family}.txt"
    if not moves.exists():
        moves.write_text("\n".join(fixed_game(family)))
    one, two = (
        BotSpec(f"instant-{side}", (str(folder / "instant"), str(side), str(moves), str(thinks_ms))) for side in (0, 1)
    )
    return [
        GameSpec(
            family,
            load(family).variants[0].name,
            one,
            two,
            time=TimeControl("clock", 100_000, 1000),
            adjudication=Adjudication(max_plies=PLIES),
            sequence=number,
        )
        for number in range(games)
    ]


def slot(family: str, folder: Path, games: int, core: int, thinks_ms: int = 0) -> tuple[float, float]:
    """Play in this process pinned to `core`: (CPU µs per move of referee and both bots, moves per wall second)."""
    os.sched_setaffinity(0, {core})
    todo = specs(family, folder, games + 2, thinks_ms)
    with Roster(Sandbox("none")) as roster:
        for spec in todo[:2]:
            assert len(play(PlannedGame.of(spec), roster).moves) == PLIES
        pids = [os.getpid(), *(bot.process.pid for bot in roster.idle if bot.process.pid)]
        cpu, begin = cpu_ns(pids), time.perf_counter()
        for spec in todo[2:]:
            play(PlannedGame.of(spec), roster)
        seconds, used = time.perf_counter() - begin, cpu_ns(pids) - cpu
    return used / 1e3 / (games * PLIES), games * PLIES / seconds


def cpu_ns(pids: Iterable[int]) -> int:
    """What these processes have used of the processors."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids)


def floor(folder: Path, core: int) -> tuple[float, float]:
    """The bare round trip in C, both ends on `core`: (CPU µs, trips per second)."""
    line = ["taskset", "-c", str(core), str(folder / "pingpong"), "50000"]
    wall, cpu = map(float, subprocess.run(line, capture_output=True, check=True, text=True).stdout.split())
    return cpu, 1e6 / wall


def run(quick: bool) -> Iterator[Figure]:
    """Overhead in one slot, and in as many slots as cores."""
    cores = sorted(os.sched_getaffinity(0))
    games = 20 if quick else 100
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        for family in ("loa", "abalone"):
            specs(family, folder, 1)
            best: tuple[float, float, float, float] | None = None
            for _ in range(2 if quick else 5):
                base_cpu, base_rate = floor(folder, cores[0])
                ((cpu, rate),) = slots(family, folder, games, cores[:1])
                if best is None or cpu < best[0]:
                    best = (cpu, rate, base_cpu, base_rate)
            assert best is not None
            cpu, rate, base_cpu, base_rate = best
            trip = "bare pipe round trip in C"
            yield Figure("referee", f"{family}: CPU per move, both bots included", cpu, "µs", trip, base_cpu, "<= 35")
            yield Figure("referee", f"{family}: one game slot", rate, "moves/s", trip, base_rate, ">= 30,000")
            if len(cores) > 1:
                runs = [slots(family, folder, games, cores) for _ in range(1 if quick else 3)]
                many = max(sum(rate for _, rate in run) for run in runs)
                yield Figure(
                    "referee", f"{family}: {len(cores)} slots on {len(cores)} cores", many, "moves/s", "one slot", rate
                )


def slots(family: str, folder: Path, games: int, cores: list[int], thinks_ms: int = 0) -> list[tuple[float, float]]:
    """`slot` in a process on each of these cores at the same time."""
    line = [sys.executable, "-m", "tests.bench.overhead", family, str(folder), str(games)]
    processes = [
        subprocess.Popen([*line, str(core), str(thinks_ms)], stdout=subprocess.PIPE, text=True) for core in cores
    ]
    found = []
    for process in processes:
        output = process.communicate(timeout=300)[0].split()
        found.append((float(output[0]), float(output[1])))
    return found


if __name__ == "__main__":
    print(*slot(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])))
