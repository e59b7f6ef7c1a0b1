"""`arena warmup`: compile the kernels and the solver into the cache, so that later commands start without delay."""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from typing import TYPE_CHECKING

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from referee.machine.warmup import Warmed


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "families", metavar="FAMILY", type=argument.family, nargs="*", help="compile only these families (default: all)"
    )
    parser.add_argument(
        "--jobs",
        metavar="COUNT",
        type=argument.positive,
        help="compile COUNT families at once (default: one per processor)",
    )
    parser.add_argument("--bots", action="store_true", help="also compile the searches of the sample bots")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compile the families, several at once; print a line for each one that is done."""
    from referee.machine.pool import SlotPool
    from referee.machine.warmup import warm_with_solver
    from referee.rules import families, load

    names = list(dict.fromkeys(arguments.families)) or list(families())
    for name in names:
        load(name)
    started = time.perf_counter()
    jobs = min(arguments.jobs or os.cpu_count() or 1, len(names))
    done = []
    with SlotPool(jobs) as pool:  # processes, not threads: the compiler holds one lock
        for warmed in as_completed([pool.submit(warm_with_solver, name) for name in names]):
            done.append(warmed.result())
            _tell(done[-1])
    if arguments.bots:
        warm_bots(names, jobs)
    seconds = time.perf_counter() - started
    compiled = sum(warmed.compiled for warmed in done)
    families_json = [asdict(warmed) for warmed in sorted(done, key=lambda warmed: warmed.family)]
    ending = f"{compiled} functions compiled" if compiled else "nothing to compile"
    Printer(arguments).result(
        {"families": families_json, "compiled": compiled, "seconds": seconds},
        lambda: output.text(f"{ending}: {len(done)} families ready in {seconds:.1f} s"),
        "families",
    )
    return Exit.DONE


def _tell(warmed: Warmed) -> None:
    what = f"{warmed.compiled} functions compiled" if warmed.compiled else "nothing to compile"
    output.note(f"{warmed.family:<10} {what}, {warmed.cached} from the cache, {warmed.seconds:.1f} s")


def warm_bots(names: list[str], jobs: int) -> None:
    """Let the sample bots compile their searches, `jobs` families at once; print a line for each bot and family.

    Raises CommandError with the error of a bot whose search cannot be compiled.
    """
    with ThreadPoolExecutor(jobs) as pool:
        for name, seconds in zip(names, pool.map(_warm_bots, names), strict=True):
            output.note(f"{name:<10} sample bots ready, {seconds:.1f} s")


def _warm_bots(family: str) -> float:
    from referee.machine.sample_warmup import SAMPLES, have_all_warm

    def tell(what: str) -> None:
        if " " not in what:
            output.note(f"{family:<10} compiling what {what} calls ...")

    started = time.perf_counter()
    if problem := have_all_warm(family, tell=tell, names=SAMPLES.values()):
        raise CommandError(f"the sample bots of {family} cannot be compiled: {problem[-400:]}", Exit.FAILED)
    return time.perf_counter() - started
