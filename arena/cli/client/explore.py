"""`arena explore`: show the moves played in a position of the archive of this machine, or of a server's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.cli.source.source import SourceArguments, open_source
from arena.cli.terminal import argument, output
from arena.cli.terminal.fields import filters, positional
from arena.cli.terminal.printer import ListOutput, Printer, read_document
from arena.cli.terminal.rules_arguments import FAMILY
from arena.documents.archive import ExplorerQuery, PlayedFigures, PlayedMoveItem
from arena.documents.columns import MOVES


@dataclass(frozen=True, kw_only=True)
class ExploreArguments(SourceArguments, ListOutput):
    family: str = positional(FAMILY, "FAMILY", type=argument.family)
    filters: Mapping[str, Any] = filters(ExplorerQuery)


def run(arguments: ExploreArguments) -> None:
    """Print the moves played in a position, the most played first."""
    with open_source(arguments) as source:
        explored = source.explore(arguments.family, ExplorerQuery(**arguments.filters))
    Printer(arguments).result(explored, lambda: _show_moves(explored), "moves")


def _show_moves(explored: Mapping[str, Any]) -> None:
    output.text(f"{explored['family']} {explored['variant']}, {explored['side']} to move: {explored['position']}")
    if not explored["games"]:
        output.note("no game of the archive had this position")
        return
    total = read_document(PlayedFigures, explored)
    output.table(MOVES, [*(read_document(PlayedMoveItem, move) for move in explored["moves"]), total])
    if not explored["total_exact"]:
        output.note(f"figures of the latest {explored['games']:,} games; more had this position")
    output.note(
        "score and rating (mean mu today): of the side to move; see a game with `arena archive show --number N`"
    )
