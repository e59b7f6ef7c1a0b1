"""The kernels of the rules: `arena perft` counts leaves, `playouts` plays random games, `warmup` compiles."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import MISSING, asdict, dataclass
from typing import TYPE_CHECKING

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option, positional
from arena.cli.terminal.interrupt import interruptible
from arena.cli.terminal.printer import Output, Printer
from arena.cli.terminal.rules_arguments import PositionArguments
from referee.machine.cores import usable_cores

if TYPE_CHECKING:
    from referee.machine.warmup import Warmed


@dataclass(frozen=True, kw_only=True)
class PerftArguments(PositionArguments, Output):
    depth: int = option("count leaves at this depth", metavar="PLIES", type=argument.whole, default=MISSING)
    divide: bool = option("show the leaves below each move", default=False)


def perft(arguments: PerftArguments) -> None:
    """Count the leaves and print the result. Repetition and limits are ignored; a finished position has no children."""
    import numpy as np

    from referee.rules.per_family import perft as count

    start = arguments.start()
    ruleset, depth = start.ruleset, arguments.depth
    kernel, config = ruleset.rules.kernel, ruleset.config
    count(ruleset, start.state, 1)  # compiles, or loads from the cache: not part of the time
    parts: dict[str, int] = {}
    started = time.perf_counter()
    if arguments.divide and depth > 0:
        buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
        for code in buffer[: kernel.legal(start.state, config, buffer)].tolist():
            after = np.empty_like(start.state)
            kernel.play(start.state, config, code, after)
            parts[ruleset.rules.notation.write_move(code)] = interruptible(count, ruleset, after, depth - 1)
        nodes = sum(parts.values())
    else:
        nodes = interruptible(count, ruleset, start.state, depth)
    seconds = time.perf_counter() - started
    speed = nodes / seconds if seconds else 0.0
    parts = dict(sorted(parts.items()))
    lines = [f"{move}: {below:,}" for move, below in parts.items()]
    lines.append(f"{nodes:,} leaves at depth {depth} in {seconds:.3f} s, {speed:,.0f} per second")
    Printer(arguments).result(
        {"nodes": nodes, "seconds": seconds, "nodes_per_second": speed, "divide": parts}, lambda: output.text(*lines)
    )


MAX_PLIES = 10_000
"""The default limit of a random game: far above what any family's random games last."""


@dataclass(frozen=True, kw_only=True)
class PlayoutsArguments(PositionArguments, Output):
    games: int = option("number of games to play", metavar="COUNT", type=argument.positive, default=MISSING)
    seed: int = option(
        "seed of the random moves; the same seed gives the same games", metavar="SEED", type=argument.whole, default=1
    )
    max_plies: int = option("limit of a game", metavar="PLIES", type=argument.positive, default=MAX_PLIES)


def playouts(arguments: PlayoutsArguments) -> None:
    """Play the games and print the results. Repetition is ignored; at the limit of plies a game stays unfinished."""
    import numpy as np

    from referee.rules.position import outcome_of

    ruleset = arguments.settle()
    state, kernel, config = ruleset.read(arguments.position), ruleset.rules.kernel, ruleset.config
    rng = np.array([arguments.seed], dtype=np.uint64)
    # Of a copy of `rng`: the games begin with the numbers of the seed.
    kernel.playout(state, config, rng.copy(), 1)  # compiles, or loads from the cache: not part of the time
    codes: Counter[int] = Counter()
    plies = 0
    started = time.perf_counter()
    for number in range(arguments.games):
        code, length = kernel.playout(state, config, rng, arguments.max_plies)
        codes[int(code)] += 1
        plies += int(length)
        if number % 1000 == 999:
            output.progress(f"{number + 1:,} of {arguments.games:,} games")
    seconds = time.perf_counter() - started
    output.progress("")
    results = {"first": 0, "second": 0, "draw": 0, "unfinished": 0}
    reasons: Counter[str] = Counter()
    for code, count in codes.items():
        outcome = outcome_of(ruleset, code)
        results[outcome.winner if outcome else "unfinished"] += count
        if outcome:
            reasons[outcome.reason.value] += count
    speed = plies / seconds if seconds else 0.0
    lines = (
        f"{arguments.games:,} games, {plies:,} plies in {seconds:.3f} s, {speed:,.0f} plies per second",
        f"plies per game {plies / arguments.games:.1f}, seed {arguments.seed}",
        ", ".join(f"{word} {count:,}" for word, count in results.items()),
        ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common()) or "no game finished",
    )
    Printer(arguments).result(
        {
            "games": arguments.games,
            "plies": plies,
            "seconds": seconds,
            "plies_per_second": speed,
            "results": results,
            "reasons": dict(sorted(reasons.items())),
            "seed": arguments.seed,
        },
        lambda: output.text(*lines),
    )


@dataclass(frozen=True, kw_only=True)
class WarmupArguments(Output):
    families: tuple[str, ...] = positional(
        "compile only these families (default: all)", "FAMILY", type=argument.family, default=()
    )
    jobs: int | None = option(
        "compile COUNT families at once (default: one per processor)", metavar="COUNT", type=argument.positive
    )
    bots: bool = option("also compile the searches of the sample bots", default=False)


def warmup(arguments: WarmupArguments) -> None:
    """Compile the families, several at once; print a line for each one that is done."""
    from referee.machine.pool import SlotPool
    from referee.machine.warmup import warm_with_solver
    from referee.rules import families, load

    names = list(dict.fromkeys(arguments.families)) or list(families())
    for name in names:
        load(name)
    started = time.perf_counter()
    jobs = min(arguments.jobs or usable_cores(), len(names))
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

    def tell(step: str) -> None:
        if " " not in step:
            output.note(f"{family:<10} compiling what {step} calls ...")

    started = time.perf_counter()
    if problem := have_all_warm(family, tell=tell, names=SAMPLES.values()):
        raise CommandError(f"the sample bots of {family} cannot be compiled: {problem[-400:]}", Exit.FAILED)
    return time.perf_counter() - started
