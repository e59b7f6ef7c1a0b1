"""What the referee adds to a move: two instant bots in C replay a 200-ply game, beside a bare loop over their pipes."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from referee.game.spec import Adjudication, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.play.slot import open_slot, play_games
from referee.rules import load
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.sandbox.reaper import descendants
from tests.tools.bench.figure import Figure

HERE = Path(__file__).parent
PLIES = 200
SIGNAL = 4
"""Games must take more than this part of a start, which varies by some hundredths, to be told from it."""
FLOOR = "a bare loop in C over the pipes"


def build(folder: Path) -> None:
    """Compile the C programs into `folder`. Raises RuntimeError without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        raise RuntimeError("no C compiler; install gcc to measure the referee's overhead")
    for name in ("instant", "pingpong", "floor"):
        subprocess.run([compiler, "-O2", "-pthread", "-o", str(folder / name), str(HERE / f"{name}.c")], check=True)


def fixed_game(family: str) -> list[str]:
    """A legal game of 200 plies from the start that nothing ends."""
    ruleset = load(family).settle()
    for seed in range(10_000):
        rng, position = random.Random(seed), Position.start(ruleset)
        moves: list[str] = []
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
    first, second = (
        BotSpec(f"instant-{side}", (str(folder / "instant"), str(side), str(moves), str(thinks_ms))) for side in (0, 1)
    )
    return [
        GameSpec(
            family,
            load(family).variants[0].name,
            first,
            second,
            time=TimeControl("clock", 100_000, 1000),
            adjudication=Adjudication(max_plies=PLIES),
            sequence=number,
        )
        for number in range(games)
    ]


def slot(family: str, folder: Path, games: int, core: int, thinks_ms: int = 0) -> tuple[float, float]:
    """Play in this process pinned to `core`: (CPU µs per move of referee and both bots, moves per wall second)."""
    os.sched_setaffinity(0, {core})
    todo = [PlannedGame.of(spec) for spec in specs(family, folder, games + 2, thinks_ms)]
    with open_slot():
        for game in todo[:2]:
            (record,) = play_games([game])
            assert len(record.moves) == PLIES
        pids = [os.getpid(), *descendants(os.getpid())]
        cpu, begin = cpu_ns(pids), time.perf_counter()
        for game in todo[2:]:
            play_games([game])
        seconds, used = time.perf_counter() - begin, cpu_ns(pids) - cpu
    return used / 1e3 / (games * PLIES), games * PLIES / seconds


def cpu_ns(pids: Iterable[int]) -> int:
    """What these processes have used of the processors."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids)


def round_trip(folder: Path, core: int) -> tuple[float, float]:
    """The bare round trip in C, both ends on `core`: (CPU µs, trips per second)."""
    return _c_program(core, str(folder / "pingpong"), "50000")


def floor(moves: Path, core: int, games: int) -> tuple[float, float]:
    """The same moves asked of the same bots by a bare loop in C, all on `core`: (CPU µs per move, moves per second)."""
    folder = moves.parent
    return _c_program(core, str(folder / "floor"), str(folder / "instant"), str(moves), str(games))


def _c_program(core: int, *words: str) -> tuple[float, float]:
    """(CPU µs, how many a second) of what it does; it prints microseconds of wall and CPU."""
    line = ["taskset", "-c", str(core), *words]
    wall, cpu = map(float, subprocess.run(line, capture_output=True, check=True, text=True).stdout.split())
    return cpu, 1e6 / wall


def rules_us(family: str, folder: Path, games: int) -> float:
    """What the rules alone take for a move of that game, in CPU µs: legal moves, the move played, judged."""
    line = LineOfPlay(load(family).settle())
    codes = []
    for move in (folder / f"{family}.txt").read_text().split():
        codes.append(line.ruleset.rules.notation.read_move(move, line.state, line.ruleset.config))
        line.push(codes[-1])
    begin = time.process_time()
    for _ in range(games):
        line = LineOfPlay(load(family).settle())
        for code in codes:
            line.push(code)
    return 1e6 * (time.process_time() - begin) / (games * len(codes))


def whole(family: str, folder: Path, games: int) -> float | None:
    """CPU µs per move of `arena play`, all its processes together, what it takes to start aside.

    None where the games took so little that what a start varies by would drown it.
    """
    few = max(2, games // 8)
    start_s = _played_s(family, folder, few)
    games_s = _played_s(family, folder, games) - start_s
    return 1e6 * games_s / (PLIES * (games - few)) if games_s > start_s / SIGNAL else None


def _played_s(family: str, folder: Path, games: int) -> float:
    """CPU seconds of a run of so many games."""
    bots = [f"{name}={folder / 'instant'} -1 {folder / family}.txt" for name in ("one", "two")]
    words = ("--games", str(games), "--tc", "100+1", "--max-plies", str(PLIES), "--openings", "none")
    line = [sys.executable, "-m", "arena", "play", *bots, "--family", family, *words, "--sandbox", "none"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*line, "--affinity", "auto"], capture_output=True, check=True, text=True).stdout
    # Where a family counts plies without a capture, its game ends by that at the same ply.
    assert re.search(rf"^Terminations: (max-plies|no-ejection) {games}$", done, re.MULTILINE), done
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(quick: bool) -> Iterator[Figure]:
    """Overhead in one slot, in `arena play` as a whole, and in as many slots as cores."""
    cores = sorted(os.sched_getaffinity(0))
    games, repeats = (20, 2) if quick else (100, 5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        for family in ("loa", "abalone"):
            specs(family, folder, 1)
            base_cpu = cpu = all_cpu = rules = float("inf")
            base_rate = rate = 0.0
            for number in range(repeats):  # by turns, so that all meet the same neighbours
                bare = floor(folder / f"{family}.txt", cores[0], games)
                base_cpu, base_rate = min(base_cpu, bare[0]), max(base_rate, bare[1])
                (measured,) = slots(family, folder, games, cores[:1])
                cpu, rate = min(cpu, measured[0]), max(rate, measured[1])
                rules = min(rules, rules_us(family, folder, 10))
                if number < 2:  # it takes long
                    all_cpu = min(all_cpu, whole(family, folder, 2 * games) or all_cpu)
            yield Figure(
                "referee", f"{family}: CPU per move, both bots included", cpu, "µs", FLOOR, base_cpu, "<= 2.8 x"
            )
            own = cpu - base_cpu - rules
            yield Figure("referee", f"{family}: of it the rules", rules, "µs", "a slot", cpu)
            yield Figure("referee", f"{family}: of it what else the referee does", own, "µs", "a slot", cpu)
            if all_cpu < float("inf"):
                yield Figure(
                    "referee", f"{family}: `arena play` as a whole", all_cpu, "µs", FLOOR, base_cpu, "<= 2.8 x"
                )
                yield Figure("referee", f"{family}: the same", all_cpu, "µs", "a slot", cpu)
            yield Figure("referee", f"{family}: one game slot", rate, "moves/s", FLOOR, base_rate, ">= 30,000")
            if len(cores) > 1:
                runs = [slots(family, folder, games, cores) for _ in range(1 if quick else 3)]
                many = max(sum(rate for _, rate in run) for run in runs)
                title = f"{family}: {len(cores)} slots on {len(cores)} cores"
                goal = f">= {0.95 * len(cores):.1f} x"
                yield Figure("referee", title, many, "moves/s", "one slot", rate, goal)


def slots(family: str, folder: Path, games: int, cores: list[int], thinks_ms: int = 0) -> list[tuple[float, float]]:
    """`slot` in a process on each of these cores at the same time."""
    line = [sys.executable, "-m", "tests.tools.bench.overhead", family, str(folder), str(games)]
    processes = [
        subprocess.Popen([*line, str(core), str(thinks_ms)], stdout=subprocess.PIPE, text=True) for core in cores
    ]
    figures = []
    for process in processes:
        output = process.communicate(timeout=300)[0].split()
        figures.append((float(output[0]), float(output[1])))
    return figures


if __name__ == "__main__":
    print(*slot(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])))
