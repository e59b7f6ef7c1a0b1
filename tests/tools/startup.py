"""`python -m tests.tools.startup`: milliseconds from a bot's spawn to its first line, in every sandbox.

The bot is the smallest there is, so that what is measured is the sandbox. `measure()` is for benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from referee.game.spec import BotLimits
from referee.sandbox import LEVELS, Launch, Sandbox, assess, open_sandbox
from referee.sandbox.child import Child
from referee.sandbox.watchdog import Watchdog

BOUND_MS = 15
"""What the sandbox may cost per start of a bot on an idle machine."""
_BOT = ("/bin/sh", "-c", "echo ready; read line")


@dataclass(frozen=True, slots=True)
class Cost:
    """The best and the median of many starts, in milliseconds, and the best less that of a bare start."""

    name: str
    best_ms: float
    median_ms: float
    over_ms: float

    @property
    def is_fit(self) -> bool:
        """Whether it costs less than it may."""
        return self.over_ms < BOUND_MS


def start_ms(sandbox: Sandbox | None) -> float:
    """Start once; all the work from the command to the first line. None: the command alone."""
    begin = time.perf_counter()
    launch = sandbox.confine(_BOT, None, BotLimits()) if sandbox else Launch(_BOT)
    child = Child(launch, BotLimits(), Watchdog())
    try:
        poll = select.poll()
        poll.register(child.stdout, select.POLLIN)
        poll.poll(10_000)
        if os.read(child.stdout, 64) != b"ready\n":
            raise RuntimeError(f"the bot did not start: {os.read(child.stderr, 1000)!r}")
        return 1000 * (time.perf_counter() - begin)
    finally:
        child.end()


def kinds_of(names: Iterable[str]) -> dict[str, Sandbox | None]:
    """What to measure: `bare`, then every level that works here, with control groups where there are any."""
    kinds: dict[str, Sandbox | None] = {"bare": None}
    for name in names:
        if assess(name).works:
            kinds[name] = open_sandbox(name, uses_groups=False)
            grouped = open_sandbox(name)
            if grouped.cgroup_parent:
                kinds[f"{name} + control group"] = grouped
    return kinds


def measure(rounds: int = 40, names: Iterable[str] = LEVELS) -> list[Cost]:
    """Start every kind in turn, `rounds` times over, so that a busy moment of the machine hits all alike."""
    kinds = kinds_of(names)
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, sandbox in kinds.items():
            times[kind].append(start_ms(sandbox))
    bare = min(times["bare"])
    return [Cost(kind, min(taken), median(taken), min(taken) - bare) for kind, taken in times.items()]


def main() -> int:
    """Print the table; exit code 1 when a level costs too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, metavar="N")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    costs = measure(arguments.rounds)
    if arguments.json:
        rows = [
            {"name": cost.name, "best_ms": cost.best_ms, "median_ms": cost.median_ms, "over_ms": cost.over_ms}
            for cost in costs
        ]
        print(json.dumps({"rounds": arguments.rounds, "bound_ms": BOUND_MS, "levels": rows}))
    else:
        print(f"from the command to the first line, {arguments.rounds} rounds, ms")
        print(f"{'sandbox':<26} {'best':>7} {'median':>7} {'over bare':>10} {'ratio':>7}")
        for cost in costs:
            ratio = cost.best_ms / costs[0].best_ms
            print(f"{cost.name:<26} {cost.best_ms:>7.2f} {cost.median_ms:>7.2f} {cost.over_ms:>10.2f} {ratio:>7.1f}")
        print(f"allowed over a bare start: {BOUND_MS} ms")
    return 0 if all(cost.is_fit for cost in costs if cost.name.startswith("bwrap")) else 1


if __name__ == "__main__":
    sys.exit(main())
