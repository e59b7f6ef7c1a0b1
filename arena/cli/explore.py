"""`arena explore FAMILY`: what was played in a position, of the archive here or of a server's."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from arena.cli import choice, output, remote
from arena.cli.database import add_database, open_store, settings_of
from arena.cli.exit import CommandError, Exit
from arena.cli.query_options import add_options, read_options
from arena.documents.explorer import ExplorerQuery

LINE = ("variant", "position", "moves")
"""The fields of the query that name the position; the others choose games."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("family", metavar="FAMILY", type=choice.family)
    add_options(parser, ExplorerQuery, without=())
    remote.add_server(parser)
    add_database(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the moves, the most played first."""
    asked = read_options(arguments, ExplorerQuery, without=())
    if arguments.server:
        found = remote.client(arguments).get(f"/explorer/{arguments.family}", **asked)
    else:
        found = _here(arguments, asked)
    if arguments.json:
        output.document(found)
        return Exit.DONE
    output.text(f"{found['family']} {found['variant']}, {found['side']} to move: {found['position']}")
    if not found["games"]:
        output.note("no game of the archive had this position")
        return Exit.DONE
    numbers = ("games", "first", "draw", "second", "score", "rating", "performance", "best")
    rows = [_row(one["shown"], one) for one in found["moves"]]
    output.table(
        ("move", *numbers[:-1], "last", "best"),
        [*rows, _row("all", found)],
        numbers=numbers,
        drop=("performance", "last", "rating", "best"),
    )
    output.note("score and rating (mean mu today): of the side to move; see a game with arena archive show --number N")
    return Exit.DONE


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


def _here(arguments: argparse.Namespace, asked: Mapping[str, Any]) -> dict[str, Any]:
    from contextlib import closing

    from arena.services.arena import Arena
    from arena.services.explorer import explore
    from arena.validation import plain

    settings = settings_of(arguments)
    if arguments.token:
        raise CommandError("--token is for a server; name it with --server")
    with closing(open_store(settings)) as store:
        found: dict[str, Any] = plain(explore(Arena(store, settings), arguments.family, ExplorerQuery(**asked)))
    return found
