"""Whether the searching sample bots keep their clocks: most of an hour on two cores.

    python -m tests.tools.timekeeping [--games 1000] [--tc 1+0.05] [--concurrency 2] [--busy 2] [--bot champion]
        [--out DIR] [FAMILY …]

Alpha-beta, or another sample, plays Monte Carlo tree search, the games shared out among the families. A loss on time is
shown with the move, the time it took and how late the referee itself woke up meanwhile (`lag`): a large lag is the
machine's fault.
--busy starts so many processes that do nothing but keep a core busy meanwhile. With --out an interrupted run goes on.
Ends with 1 when anything but the rules decided a game.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bots.sdk import families
from tests.bots.runs import UNEXPECTED, command, run, warm


def slowest(game: dict[str, Any]) -> str:
    """The last move made, and the longest of the game: milliseconds taken, charged, and the referee's lag."""
    plies = game["plies"] or [{"ms": 0, "charged_ms": 0, "lag_ms": 0}]
    longest = max(plies, key=lambda ply: float(ply["ms"] or 0))
    return ", ".join(f"{name} {ply}" for name, ply in (("last", plies[-1]), ("longest", longest)))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.timekeeping")
    parser.add_argument("family", nargs="*", default=[], help="default: all of them")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--tc", default="1+0.05")
    parser.add_argument("--concurrency", default="2")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="with N cores otherwise busy")
    parser.add_argument("--bot", default="alphabeta", metavar="SAMPLE", help="that plays mcts")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(argv)
    with busy(given.busy):
        return measure(given)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes spin meanwhile."""
    spinning = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def measure(given: argparse.Namespace) -> int:
    """Play, and tell what was late; 1 when anything but the rules decided a game."""
    wanted = given.family or families()
    games_each = max(2, given.games // len(wanted) // 2 * 2)
    played = failed = late = 0
    warm(wanted)
    for family in wanted:
        words = command(given.bot, "mcts", family, "--games", str(games_each), "--tc", given.tc)
        words += ["--openings", "random:2:1", "--concurrency", given.concurrency]
        games = run(words, given.out / family if given.out else None)
        wrong = [game for game in games if game["termination"] in UNEXPECTED]
        played, failed = played + len(games), failed + len(wrong)
        late += sum(game["termination"] == "time" for game in wrong)
        moves = [ply for game in games for ply in game["plies"]]
        lag = max((float(ply["lag_ms"] or 0) for ply in moves), default=0.0)
        longest = max((float(ply["ms"] or 0) for ply in moves), default=0.0)
        sys.stdout.write(
            f"{family}: {len(games)} games, {len(moves)} moves, longest {longest:.0f} ms, "
            f"lag at most {lag:.0f} ms, {len(wrong)} not decided by the rules\n"
        )
        for game in wrong:
            sys.stdout.write(f"  {game['id']}: {game['winner']} won, {game['termination']}; {slowest(game)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{played} games, {late} lost on time, {failed} not decided by the rules\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
