"""`python -m tests.badbots`: the table of faults and verdicts; `--soak N`: N hostile games and what they leave."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace

from referee.sandbox import open_sandbox
from tests.badbots import match
from tests.badbots.catalogue import FAULTS


def main() -> int:
    """Print the table, or soak; exit code 1 when a verdict was wrong or something was left over."""
    parser = argparse.ArgumentParser(prog="python -m tests.badbots", description=__doc__)
    parser.add_argument("--sandbox", default="none", choices=("auto", "bwrap", "landlock", "rlimits", "none"))
    parser.add_argument("--soak", type=int, default=0, metavar="N", help="play N games with all faults in turn")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="only these")
    arguments = parser.parse_args()
    sandbox = open_sandbox(arguments.sandbox)
    faults = [fault for fault in FAULTS if not arguments.faults or fault.name in arguments.faults]
    with tempfile.TemporaryDirectory() as folder, match.roster(sandbox) as roster:
        tempfile.tempdir = folder  # so that files left over can be counted
        is_confined = sandbox.name == "bwrap"
        return (
            soak(arguments.soak, faults, roster, is_confined) if arguments.soak else table(faults, roster, is_confined)
        )


def table(faults: list, roster: match.Roster, is_confined: bool) -> int:
    """One line per fault: what it cost, whom, after how long, and what was allowed."""
    match.play_honestly(roster)
    print(f"sandbox {roster.sandbox.name}")
    print(f"{'fault':<26} {'termination':<17} {'loser':<8} {'seconds':>7} {'allowed':>7} {'clearing':>8}")
    wrong = 0
    for fault in faults:
        verdict = match.judge(fault, roster)
        complaint = match.complaint(fault, verdict, is_confined) or match.is_late(fault, verdict)
        wrong += bool(complaint)
        loser = {"first": "bad", "second": "honest"}.get(verdict.record.loser or "", "nobody")
        allowed = fault.limit_ms / 1000 + match.SLACK_S
        print(
            f"{fault.name:<26} {verdict.record.termination:<17} {loser:<8} {verdict.seconds:>7.3f} {allowed:>7.3f} "
            f"{verdict.clearing_s:>8.3f}  {complaint}".rstrip(),
            flush=True,
        )
    print(f"{len(faults)} faults, {wrong} wrong; an honest opponent loses by resigning where the fault is harmless")
    return 1 if wrong else 0


def soak(games: int, faults: list, roster: match.Roster, is_confined: bool) -> int:
    """Play many hostile games in one process and compare what it holds before and after."""
    for fault in faults[:8]:
        match.judge(fault, roster)
    begin, before = time.monotonic(), match.Trace.take()
    terminations: Counter[str] = Counter()
    wrong = 0
    for number in range(games):
        fault = faults[number % len(faults)]
        verdict = match.judge(fault, roster, number)
        terminations[verdict.record.termination] += 1
        if complaint := match.complaint(fault, verdict, is_confined):
            wrong += 1
            print(f"game {number}, {fault.name}: {complaint}")
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {games}", end="", file=sys.stderr)
    after = match.Trace.take()
    print(
        f"{games} hostile games in {time.monotonic() - begin:.0f} s, sandbox {roster.sandbox.name}, "
        f"{wrong} wrong verdicts"
    )
    print(", ".join(f"{name} {count}" for name, count in terminations.most_common()))
    print(f"{'':<12} {'before':>10} {'after':>10}")
    print(f"{'RSS, MB':<12} {before.resident_bytes / 1e6:>10.1f} {after.resident_bytes / 1e6:>10.1f}")
    for name in ("descriptors", "processes", "files"):
        print(f"{name:<12} {getattr(before, name):>10} {getattr(after, name):>10}")
    grown = after.resident_bytes - before.resident_bytes
    is_clean = replace(before, resident_bytes=0) == replace(after, resident_bytes=0)
    return 0 if is_clean and not wrong and grown < 20_000_000 else 1


sys.exit(main())
