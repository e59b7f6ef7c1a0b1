"""`arena atlas run|report|show`: measure how fair the starts of a family are."""

from __future__ import annotations

import argparse
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.local import self_play
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import ListOutput, Printer, output_form
from referee.machine.cores import usable_cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.features.atlas.run import AtlasProgress
    from referee.game.starts import StartFigures


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    plan: Path = positional("plan of the atlas", "PLAN.toml")
    out: Path = option("folder of the run", metavar="DIR", default=MISSING)
    concurrency: int | None = option(
        "number of processes (default: one for each processor)", metavar="COUNT", type=argument.positive
    )
    executor: str = self_play.executor_option("whose workers play them")


@dataclass(frozen=True, kw_only=True)
class ReportArguments(ListOutput):
    output: str = output_form("csv", meanings={"json": "one document with every start"})
    folder: Path = positional("folder of the run", "DIR")
    csv: Path | None = option("write the table for publication, with symmetric starts pooled", metavar="FILE")
    limit: int = option("list COUNT starts", metavar="COUNT", type=argument.positive, default=20)


@dataclass(frozen=True, kw_only=True)
class AtlasArguments(ListOutput):
    family: str = positional("family of games", "FAMILY", type=argument.family)
    limit: int = option("list COUNT starts", metavar="COUNT", type=argument.positive, default=20)


def add(parser: argparse.ArgumentParser) -> None:
    add = Actions(parser).add
    add(
        "run",
        _run,
        "play the games of a plan; the same command continues an interrupted run",
        "arena atlas run arena/features/atlas/plans/tablut.toml --out runs/tablut",
        "arena atlas run plan.toml --out runs/mine --concurrency 8",
        "arena atlas run plan.toml --out runs/mine --executor dask://10.0.0.1:8786",
    )
    add(
        "report",
        _report,
        "print the first side's advantage in each start of a run",
        "arena atlas report runs/tablut",
        "arena atlas report runs/pijersi --csv pijersi.csv",
    )
    add("show", _show, "print the published atlas of a family", "arena atlas show tablut")


def _run(arguments: RunArguments) -> None:
    from arena.features.atlas.plan import read_plan
    from arena.features.atlas.run import programs, run

    plan = read_plan(text_input.read_text(arguments.plan))
    if arguments.executor != "local":
        with self_play.cluster_executor(arguments.executor) as (executor, at_once):
            run(plan, arguments.out, executor, at_once, _show_progress)
    else:
        slots = arguments.concurrency or usable_cores()
        argument.refuse_concurrency(slots)
        with programs(slots) as executor:
            run(plan, arguments.out, executor, lambda: slots, _show_progress)
    output.note(f"all games are in {arguments.out}; evaluate them with `arena atlas report {arguments.out}`")


def _show_progress(progress: AtlasProgress) -> None:
    left = "" if progress.left_s is None else f", about {max(1, round(progress.left_s / 60))} min left"
    is_last = progress.done == progress.total
    output.progress(f"{progress.games:,} games, {progress.done} of {progress.total} batches{left}", is_last=is_last)


def _report(arguments: ReportArguments) -> None:
    from arena.features.atlas.report import describe, report, to_csv

    evaluated = report(arguments.folder)
    if arguments.csv:
        arguments.csv.write_text(to_csv(evaluated), encoding="utf-8")
        output.note(f"{len(evaluated.pooled)} lines written to {arguments.csv}")

    def show() -> None:
        if not arguments.csv:
            output.text(*map(describe, evaluated.spreads))
            _table(evaluated.pooled, arguments.limit)

    Printer(arguments).result(evaluated.as_json(), show, "starts")


def _show(arguments: AtlasArguments) -> None:
    from dataclasses import asdict

    from referee.game.starts import published

    starts = published(arguments.family)
    if not starts:
        raise CommandError(
            f"no published atlas of {arguments.family}; measure one with `arena atlas run PLAN.toml --out DIR`",
            Exit.NOT_FOUND,
        )
    Printer(arguments).result(
        {"starts": [asdict(start) for start in starts]}, lambda: _table(starts, arguments.limit), "starts"
    )


def _table(starts: Sequence[StartFigures], limit: int) -> None:
    """Print the starts as measured at the greatest number of nodes for each move, the fairest first."""
    from arena.features.atlas.report import STARTS

    strongest = max(start.nodes for start in starts)
    chosen = sorted((start for start in starts if start.nodes == strongest), key=lambda start: abs(start.shrunk))
    output.text(f"at {strongest} nodes for each move, the fairest first; + favours the first side")
    output.table(STARTS, chosen[:limit])
    if len(chosen) > limit:
        output.note(f"{limit} of {len(chosen)} starts; more with --limit")
