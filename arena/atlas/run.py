"""Carries out a plan: games of the sample search against itself, in processes of their own, resumable at any moment.

In the folder of a run are `plan.json`, and `games.ndjson`: a line for each start and strength whose games are done,
appended as they end. A line that was not finished is cut off when the run goes on. At the end the lines are put into
the order of the plan, so the file has the same bytes whatever happened and however many processes there were.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.atlas.plan import Plan, PlanError, Start, starts_of
from referee import helper
from referee.pool import JobError, WorkerLostError

GAMES, PLAN = "games.ndjson", "plan.json"
PROGRAM = "bots.training.selfplay"
ATTEMPTS = 3
"""So often a lot is handed out whose worker is lost."""


class RunError(PlanError):
    """A run that cannot go on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `left_s` is None before there is a pace."""

    done: int
    total: int
    games: int
    left_s: float | None


@dataclass(frozen=True, slots=True)
class Lot:
    """All games of one start at one strength."""

    start: Start
    nodes: int

    @property
    def key(self) -> str:
        """Its name in the file."""
        return f"{self.nodes} {self.start.name}"


def lots_of(plan: Plan) -> list[Lot]:
    """Everything to play, strength by strength: an interrupted run has all starts at the lower ones."""
    starts = starts_of(plan)
    return [Lot(start, nodes) for nodes in plan.nodes for start in starts]


def run(
    plan: Plan,
    folder: Path,
    executor: Executor,
    at_once: Callable[[], int],
    tell: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Play what is not played yet, `at_once` lots of it at a time (`programs`, or the slots of a cluster).

    Raises RunError for a folder of another plan, or a program that fails.
    """
    lots = lots_of(plan)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(plan, folder)
    known = read_games(folder)
    missing = [lot for lot in lots if lot.key not in known]
    began, done = time.monotonic(), len(lots) - len(missing)
    if missing:
        with open(folder / GAMES, "a", encoding="utf-8") as file:
            for number, line in enumerate(_played(plan, missing, executor, at_once), 1):
                file.write(line)
                file.flush()
                left = (time.monotonic() - began) / number * (len(missing) - number)
                tell(Progress(done + number, len(lots), (done + number) * plan.games, left))
        known = read_games(folder)
    _put_in_order(folder, [{"key": lot.key, "games": known[lot.key]} for lot in lots])


def read_games(folder: Path) -> dict[str, list[Any]]:
    """The games of a run by the keys of their lots, as `bots.training.selfplay` tells them; what is half written is cut off."""
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
        raise RunError(
            f"{file} is damaged: {error}", hint="take the broken line out, or begin in another folder"
        ) from None


def read_claimed(folder: Path) -> Plan:
    """The plan of a run. Raises RunError."""
    try:
        return Plan.model_validate_json((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError(
            f"no run of an atlas in {folder}", hint="`arena atlas run PLAN.toml --out DIR` makes one"
        ) from None


def _claim(plan: Plan, folder: Path) -> None:
    if (folder / PLAN).exists():
        if read_claimed(folder).digest != plan.digest:
            raise RunError(f"{folder} has the games of another plan", hint="take another folder with --out")
        return
    _replace(folder / PLAN, plan.model_dump_json(indent=1) + "\n")


def _put_in_order(folder: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    _replace(folder / GAMES, "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f"{file.name}.new")
    with open(fresh, "w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(fresh, file)


def _task(plan: Plan, lot: Lot) -> str:
    task = {
        "key": lot.key,
        "family": plan.family,
        "variant": lot.start.variant,
        "options": lot.start.options,
        "nodes": lot.nodes,
        "plies": plan.random_plies,
        "max_plies": plan.max_plies,
        "seeds": [f"{plan.seed} {lot.start.name} {number}" for number in range(plan.games)],
    }
    return json.dumps(task) + "\n"


class _Program:
    """One process that plays lots."""

    def __init__(self) -> None:
        self._process = helper.start(PROGRAM, stdin=helper.PIPE, stdout=helper.PIPE)

    def play(self, task: str) -> str:
        """The line of a lot. Raises RunError when the program ends before."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.write(task.encode())
            self._process.stdin.flush()
            line = self._process.stdout.readline().decode()
            if line.endswith("\n"):
                return line
        raise RunError(f"{PROGRAM} ended in the games of {json.loads(task)['key']}", hint="its last words are above")

    @property
    def is_there(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it."""
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()


_mine = threading.local()
"""`program`: that of this thread, or of a cluster's slot. It ends with its input, that is, with this process."""
_begun: set[_Program] = set()


def play_lot(task: str) -> str:
    """The line of a lot, played by a program kept for further ones. Raises RunError when it ends before."""
    program: _Program | None = getattr(_mine, "program", None)
    if program is not None and not program.is_there:  # a slot that is cleared ends what it began
        program.close()
        _begun.discard(program)
        program = None
    if program is None:
        program = _mine.program = _Program()
        _begun.add(program)
    return program.play(task)


@contextmanager
def programs(slots: int) -> Iterator[Executor]:
    """So many programs on this machine; none is left behind."""
    pool = ThreadPoolExecutor(slots)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        while _begun:
            _begun.pop().close()


def _played(plan: Plan, lots: Sequence[Lot], executor: Executor, at_once: Callable[[], int]) -> Iterator[str]:
    """The lines of lots as they are done. Raises RunError."""
    waiting, running = deque(lots), dict[Future[str], Lot]()
    lost: Counter[str] = Counter()
    try:
        while waiting or running:
            while waiting and len(running) < at_once():
                lot = waiting.popleft()
                running[executor.submit(play_lot, _task(plan, lot))] = lot
            for future in wait(running, timeout=1, return_when=FIRST_COMPLETED).done:
                lot = running.pop(future)
                try:
                    yield future.result()
                except CancelledError:  # it had not begun when the scheduler was lost
                    waiting.append(lot)
                except WorkerLostError as error:
                    lost[lot.key] += 1
                    if lost[lot.key] == ATTEMPTS:
                        raise RunError(f"{lot.key}: {error}, for the third time", hint="look at its log") from None
                    waiting.append(lot)
                except JobError as error:
                    raise RunError(str(error), hint="look at the log of the worker") from None
    finally:
        for future in running:
            future.cancel()
