"""`arena warmup`: compile the kernels into the cache once, so that no game and no command pays for it later.

Refuses to know any family, and how kernels are compiled.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from arena.cli import choice, output
from arena.cli.exit import CommandError, Exit


@dataclass(frozen=True, slots=True)
class Warmed:
    """What warming one family did: functions compiled now, functions found in the cache."""

    family: str
    compiled: int
    cached: int
    seconds: float


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("families", metavar="FAMILY", nargs="*", help="only these (default: all)")
    parser.add_argument(
        "--jobs", metavar="N", type=choice.positive, help="families at once (default: one per processor)"
    )
    parser.add_argument("--bots", action="store_true", help="also the searches of the sample bots")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Warm the families, several at once; a line per family as it is done."""
    from referee.rules import families, load

    names = list(dict.fromkeys(arguments.families)) or list(families())
    for name in names:
        load(name)
    started = time.perf_counter()
    jobs = min(arguments.jobs or os.cpu_count() or 1, len(names))
    done = []
    if jobs == 1:
        for name in names:
            done.append(warm(name))
            _tell(done[-1])
    else:
        # Processes, not threads: the compiler holds one lock. Ours alone answers Ctrl-C; the pool then ends the others.
        with multiprocessing.get_context("spawn").Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
            for warmed in pool.imap_unordered(warm, names):
                done.append(warmed)
                _tell(warmed)
    if arguments.bots:
        warm_bots(names, jobs)
    seconds = time.perf_counter() - started
    compiled = sum(warmed.compiled for warmed in done)
    if arguments.json:
        ordered = sorted(done, key=lambda warmed: warmed.family)
        output.document({"families": [asdict(warmed) for warmed in ordered], "compiled": compiled, "seconds": seconds})
    else:
        ending = f"{compiled} functions compiled" if compiled else "nothing was to compile"
        output.text(f"{ending}: {len(done)} families ready in {seconds:.1f} s")
    return Exit.DONE


def _tell(warmed: Warmed) -> None:
    what = f"{warmed.compiled} functions compiled" if warmed.compiled else "nothing to compile"
    output.note(f"{warmed.family:<10} {what}, {warmed.cached} from the cache, {warmed.seconds:.1f} s")


def warm_bots(names: list[str], jobs: int) -> None:
    """Let the sample bots compile their searches, `jobs` families at once; a line per family as it is done.

    Raises CommandError when one cannot: its own words are in the message.
    """
    with ThreadPoolExecutor(jobs) as pool:
        for name, seconds in zip(names, pool.map(_warm_bots, names), strict=True):
            output.note(f"{name:<10} sample bots ready, {seconds:.1f} s")


def _warm_bots(family: str) -> float:
    started = time.perf_counter()
    # Spawned, as always: nothing imports bots.
    line = [sys.executable, "-m", "bots.warm", family]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(f"the sample bots of {family} cannot be made ready: {done.stderr[-400:]}", Exit.FAILED)
    return time.perf_counter() - started


def warm(family: str) -> Warmed:
    """Call every function of a family's kernel once, as the program calls them."""
    import numpy as np

    from referee.rules import load

    started = time.perf_counter()
    ruleset = load(family).settle()
    kernel, config, state = ruleset.rules.kernel, ruleset.config, ruleset.read()
    moves = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    found = kernel.legal(state, config, moves)
    kernel.count(state, config)
    if found:
        kernel.play(state, config, int(moves[0]), np.empty_like(state))
    kernel.result(state, config, 1, 0)
    kernel.perft(state, config, 1)
    kernel.playout(state, config, np.array([1], dtype=np.uint64), 1)
    kernel.evaluate(state, config)
    statistics = [function.stats for function in vars(kernel).values() if hasattr(function, "stats")]
    return Warmed(
        family,
        compiled=sum(sum(each.cache_misses.values()) for each in statistics),
        cached=sum(sum(each.cache_hits.values()) for each in statistics),
        seconds=round(time.perf_counter() - started, 3),
    )
