"""Carry out a plan: self-play games of the sample search, in processes of their own, resumable at any moment.

The folder of a run holds `plan.json` and `games.ndjson`. A line has all games of one start at one strength. A torn last
line is cut off when the run continues. At the end the lines are sorted in the order of the plan, so the file has the
same bytes after any interruption and with any number of processes.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.data_folder import replace_file
from arena.features.atlas.plan import AtlasPlan, PlanError, Start, starts_of
from referee.machine import helper
from referee.machine.pool import JobError, WorkerLostError

GAMES, PLAN = "games.ndjson", "plan.json"
PROGRAM = "bots.training.selfplay"
MAX_ATTEMPTS = 3
"""A batch whose worker is lost is played this often."""


class RunError(PlanError):
    """A run that cannot continue."""


@dataclass(frozen=True, slots=True)
class AtlasProgress:
    """Progress of a run. `left_s` is the estimated time left; None before there is an estimate."""

    done: int
    total: int
    games: int
    left_s: float | None


@dataclass(frozen=True, slots=True)
class AtlasBatch:
    """All games of one start at one strength."""

    start: Start
    nodes: int

    @property
    def key(self) -> str:
        """Key of the batch's line in `games.ndjson`."""
        return f"{self.nodes} {self.start.name}"


def batches_of(plan: AtlasPlan) -> list[AtlasBatch]:
    """List all batches of a plan, strength by strength, so that an interrupted run has finished the first strengths."""
    starts = starts_of(plan)
    return [AtlasBatch(start, nodes) for nodes in plan.nodes for start in starts]


def run(
    plan: AtlasPlan,
    folder: Path,
    executor: Executor,
    at_once: Callable[[], int],
    report_progress: Callable[[AtlasProgress], None] = lambda progress: None,
) -> None:
    """Play the missing batches, `at_once` at a time, in an executor (`programs`, or the slots of a cluster).

    Raises RunError for a folder of another plan, or a program that fails.
    """
    batches = batches_of(plan)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(plan, folder)
    known = read_games(folder)
    missing = [batch for batch in batches if batch.key not in known]
    began, done = time.monotonic(), len(batches) - len(missing)
    if missing:
        with open(folder / GAMES, "a", encoding="utf-8") as file:
            for number, line in enumerate(_played(plan, missing, executor, at_once), 1):
                file.write(line)
                file.flush()
                left = (time.monotonic() - began) / number * (len(missing) - number)
                report_progress(AtlasProgress(done + number, len(batches), (done + number) * plan.games, left))
        known = read_games(folder)
    lines = [json.dumps({"key": batch.key, "games": known[batch.key]}, separators=(",", ":")) for batch in batches]
    replace_file(folder / GAMES, "".join(f"{line}\n" for line in lines))


def read_games(folder: Path) -> dict[str, list[Any]]:
    """Read the games of a run by batch key, as `bots.training.selfplay` writes them. A torn last line is cut off."""
    file = folder / GAMES
    if not file.exists():
        return {}
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with open(file, "r+b") as opened:
            opened.truncate(len(whole))
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
        return {line["key"]: line["games"] for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{file} is damaged: {error}", hint="delete the broken line, or choose another folder") from None


def read_claimed(folder: Path) -> AtlasPlan:
    """Read the plan of a run. Raises RunError."""
    try:
        return AtlasPlan.model_validate_json((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError(f"no atlas run in {folder}", hint="`arena atlas run PLAN.toml --out DIR` creates one") from None


def _claim(plan: AtlasPlan, folder: Path) -> None:
    if (folder / PLAN).exists():
        if read_claimed(folder).digest != plan.digest:
            raise RunError(f"{folder} holds the games of another plan", hint="choose another folder with --out")
        return
    replace_file(folder / PLAN, plan.model_dump_json(indent=1) + "\n")


def _task(plan: AtlasPlan, batch: AtlasBatch) -> str:
    task = {
        "key": batch.key,
        "family": plan.family,
        "variant": batch.start.variant,
        "options": batch.start.options,
        "nodes": batch.nodes,
        "plies": plan.random_plies,
        "max_plies": plan.max_plies,
        "seeds": [f"{plan.seed} {batch.start.name} {number}" for number in range(plan.games)],
    }
    return json.dumps(task) + "\n"


class _Program:
    """A process that plays batches."""

    def __init__(self) -> None:
        self._process = helper.start(PROGRAM, stdin=helper.PIPE, stdout=helper.PIPE)

    def play(self, task: str) -> str:
        """Play a batch and return its line of `games.ndjson`. Raises RunError if the program ends early."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.write(task.encode())
            self._process.stdin.flush()
            line = self._process.stdout.readline().decode()
            if line.endswith("\n"):
                return line
        raise RunError(
            f"{PROGRAM} ended during the games of {json.loads(task)['key']}",
            hint="the program's error messages are above",
        )

    @property
    def is_there(self) -> bool:
        """True while the process runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Kill and reap the process."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()


_local = threading.local()
"""Attribute `program`: the program of this thread or cluster slot. It ends with this process, which holds its input."""
_started: set[_Program] = set()


def play_batch(task: str) -> str:
    """Play a batch in this thread's program, which then waits for the next one; return its line. Raises RunError."""
    program: _Program | None = getattr(_local, "program", None)
    if program is not None and not program.is_there:  # clearing a slot ends the programs it started
        program.close()
        _started.discard(program)
        program = None
    if program is None:
        program = _local.program = _Program()
        _started.add(program)
    return program.play(task)


@contextmanager
def programs(slots: int) -> Iterator[Executor]:
    """Yield an executor of `slots` programs on this machine; all are killed at the end."""
    pool = ThreadPoolExecutor(slots)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        while _started:
            _started.pop().close()


def _played(
    plan: AtlasPlan, batches: Sequence[AtlasBatch], executor: Executor, at_once: Callable[[], int]
) -> Iterator[str]:
    """Yield the lines of batches as they finish. Raises RunError."""
    waiting, running = deque(batches), dict[Future[str], AtlasBatch]()
    lost: Counter[str] = Counter()
    try:
        while waiting or running:
            while waiting and len(running) < at_once():
                batch = waiting.popleft()
                running[executor.submit(play_batch, _task(plan, batch))] = batch
            for future in wait(running, timeout=1, return_when=FIRST_COMPLETED).done:
                batch = running.pop(future)
                try:
                    yield future.result()
                except CancelledError:  # the scheduler was lost before the batch began
                    waiting.append(batch)
                except WorkerLostError as error:
                    lost[batch.key] += 1
                    if lost[batch.key] == MAX_ATTEMPTS:
                        raise RunError(f"{batch.key}: {error}, at attempt {MAX_ATTEMPTS}", hint="see its log") from None
                    waiting.append(batch)
                except JobError as error:
                    raise RunError(str(error), hint="see the log of the worker") from None
    finally:
        for future in running:
            future.cancel()
