"""`arena atlas run|report|show`: measure how fair the starts of a family are."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.local import laboratory
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.atlas.report import StartFigures
    from arena.atlas.run import AtlasProgress


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    run = actions.add(
        "run",
        _run,
        "play the games of a plan; the same command continues an interrupted run",
        "arena atlas run arena/atlas/plans/tablut.toml --out runs/tablut",
        "arena atlas run plan.toml --out runs/mine --concurrency 8",
        "arena atlas run plan.toml --out runs/mine --executor dask://10.0.0.1:8786",
    )
    run.add_argument("plan", type=Path, metavar="PLAN.toml", help="plan of the atlas")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the run")
    run.add_argument(
        "--concurrency",
        type=argument.positive,
        metavar="COUNT",
        help="number of processes (default: one for each processor)",
    )
    laboratory.add_executor(run, "whose workers play them")

    report = actions.add(
        "report",
        _report,
        "print the first side's advantage in each start of a run",
        "arena atlas report runs/tablut",
        "arena atlas report runs/pijersi --csv pijersi.csv",
    )
    report.add_argument("folder", type=Path, metavar="DIR", help="folder of the run")
    report.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the table for publication, with symmetric starts pooled"
    )
    report.add_argument(
        "--limit", type=argument.positive, default=20, metavar="COUNT", help="list COUNT starts (default 20)"
    )
    add_output(report, meanings={"json": "one document with every start"})

    show = actions.add("show", _show, "print the published atlas of a family", "arena atlas show tablut")
    show.add_argument("family", metavar="FAMILY", type=argument.family, help="family of games")
    show.add_argument(
        "--limit", type=argument.positive, default=20, metavar="COUNT", help="list COUNT starts (default 20)"
    )
    add_output(show)


def _run(arguments: argparse.Namespace) -> int:
    from arena.atlas.plan import read_plan
    from arena.atlas.run import programs, run

    plan = read_plan(text_input.read_text(arguments.plan))
    if arguments.executor != "local":
        with laboratory.cluster_executor(arguments.executor) as (executor, at_once):
            run(plan, arguments.out, executor, at_once, _show_progress)
    else:
        slots = arguments.concurrency or len(os.sched_getaffinity(0))
        argument.refuse_concurrency(slots)
        with programs(slots) as executor:
            run(plan, arguments.out, executor, lambda: slots, _show_progress)
    output.note(f"all games are in {arguments.out}; evaluate them with: arena atlas report {arguments.out}")
    return Exit.DONE


def _show_progress(progress: AtlasProgress) -> None:
    left = "" if progress.left_s is None else f", about {max(1, round(progress.left_s / 60))} min left"
    is_last = progress.done == progress.total
    output.progress(f"{progress.games:,} games, {progress.done} of {progress.total} batches{left}", is_last=is_last)


def _report(arguments: argparse.Namespace) -> int:
    from arena.atlas.report import describe, report, to_csv

    found = report(arguments.folder)
    if arguments.csv:
        arguments.csv.write_text(to_csv(found), encoding="utf-8")
        output.note(f"{len(found.pooled)} lines written to {arguments.csv}")

    def show() -> None:
        if not arguments.csv:
            output.text(*map(describe, found.spreads))
            _table(found.pooled, arguments.limit)

    Printer(arguments).result(found.as_json(), show, "starts")
    return Exit.DONE


def _show(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from arena.atlas.published import published

    found = published(arguments.family)
    if not found:
        raise CommandError(
            f"no published atlas of {arguments.family}; measure one with: arena atlas run", Exit.NOT_FOUND
        )
    Printer(arguments).result(
        {"starts": [asdict(one) for one in found]}, lambda: _table(found, arguments.limit), "starts"
    )
    return Exit.DONE


def _table(starts: Sequence[StartFigures], limit: int) -> None:
    """Print the starts as measured at the greatest number of nodes for each move, the fairest first."""
    strongest = max(one.nodes for one in starts)
    chosen = sorted((one for one in starts if one.nodes == strongest), key=lambda one: abs(one.shrunk))
    rows = [
        [
            *(one.variant, str(one.games), f"{one.first}/{one.draw}/{one.second}", f"{one.advantage:+z.1%}"),
            *(f"{one.low:+z.1%} to {one.high:+z.1%}", f"{one.shrunk:+z.1%}"),
            *(
                f"{one.shrunk_low:+z.1%} to {one.shrunk_high:+z.1%}",
                f"{one.elo:+d} ±{one.elo_error}",
                f"{one.plies:.0f}",
            ),
        ]
        for one in chosen[:limit]
    ]
    output.text(f"at {strongest} nodes for each move, the fairest first; + favours the first side")
    names = ("start", "games", "W/D/L", "raw", "95 %", "shrunk", "shrunk 95 %", "elo", "plies")
    output.table(names, rows, numbers=names[1:], drop=("plies", "elo", "95 %", "raw"))
    if len(chosen) > limit:
        output.note(f"{limit} of {len(chosen)} starts; more with --limit")
