"""`arena explore FAMILY`: show the moves played in a position, from the local archive or from a server's."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from arena.cli.source.source import add_source, open_source
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import add_options, read_options
from arena.documents.explorer import ExplorerQuery


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "family", metavar="FAMILY", type=argument.family, help='family of games; "arena rules list" shows them'
    )
    add_options(parser, ExplorerQuery, without=())
    add_source(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the moves played in a position, the most played first."""
    query = ExplorerQuery(**read_options(arguments, ExplorerQuery, without=()))
    with open_source(arguments) as source:
        found = source.explore(arguments.family, query)
    Printer(arguments).result(found, lambda: _show(found), "moves")
    return Exit.DONE


def _show(found: Mapping[str, Any]) -> None:
    output.text(f"{found['family']} {found['variant']}, {found['side']} to move: {found['position']}")
    if not found["games"]:
        output.note("no game of the archive had this position")
        return
    numbers = ("games", "first", "draw", "second", "score", "rating", "performance", "best")
    rows = [_row(one["shown"], one) for one in found["moves"]]
    output.table(
        ("move", *numbers[:-1], "last", "best"),
        [*rows, _row("all", found)],
        numbers=numbers,
        drop=("performance", "last", "rating", "best"),
    )
    if not found["total_exact"]:
        output.note(f"figures of the latest {found['games']:,} games; more had this position")
    output.note("score and rating (mean mu today): of the side to move; see a game with arena archive show --number N")


def _row(name: str, figures: Mapping[str, Any]) -> list[str]:
    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else form.format(value)

    return [
        name,
        *(str(figures[key]) for key in ("games", "first", "draw", "second")),
        shown(figures["score"], "{:.1%}"),
        shown(figures["rating"], "{:z.1f}"),
        shown(figures["performance"], "{:z.1f}"),
        figures["last"] or "-",
        str(figures["best"]["serial"]) if figures["best"] else "-",
    ]
