"""What engines without clocks are told, and what comes of it: `python -m tests.engines.matrix [--games 200]`.

Every engine here is a model: a habit of being late, in games that take no time, refereed by the code that referees all
others. A cell has the least, middle and greatest move time it was told (ms), its share of the time that an engine with
clocks and the same manager used, and its losses on time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from referee.spec import read_time_control
from tests.engines.modelled import Habit, Match, match, normal, now_and_then, steady

CONTROLS = ("1+0.05", "2+0.1", "10+0.1", "60+0.6", "0.5/move", "1/move", "10/move")
HABITS = (
    Habit("clockless, never late"),
    Habit("clockless, 5 ms late", steady(5)),
    Habit("15 ms late, never checked", steady(15)),
    Habit("30 ms late, checked", steady(30), found_ms=40),
    Habit("30±5 ms late, checked", normal(30, 5), found_ms=40),
    Habit("60 ms late, checked", steady(60), found_ms=70),
    Habit("40±10 ms late, checked", normal(40, 10), found_ms=60),
    Habit("slow starter: 0.8 s, checked", steady(10), first_ms=400, found_first_ms=450),
    Habit("10 ms late, now and then 200", now_and_then(10, 200), found_ms=20),
    Habit("needs 5 s", least_ms=5000),
)


def cell(found: Match) -> str:
    """One match in a few words."""
    told = sorted(found.offered_ms)
    times = f"{told[0]}/{told[len(told) // 2]}/{told[-1]}" if told else "-"
    return f"{times} {found.share:.0%} {found.lost}"


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines.matrix")
    parser.add_argument("--games", type=int, default=200)
    games: int = parser.parse_args(argv).games
    width = 27
    sys.stdout.write(" " * 32 + "".join(f"{control:<{width}}" for control in CONTROLS) + "\n")
    for habit in HABITS:
        cells = [cell(match(habit, read_time_control(control), games)) for control in CONTROLS]
        sys.stdout.write(f"{habit.name:<32}" + "".join(f"{text:<{width}}" for text in cells) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
