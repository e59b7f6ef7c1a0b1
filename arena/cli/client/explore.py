"""`arena explore FAMILY`: what was played in a position, of the archive here or of a server's."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from arena.cli.source import remote
from arena.cli.source.database import add_database, open_store, settings_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit

_FIELDS = ("variant", "position", "moves", *argument.EXPLORER_FILTERS)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("family", metavar="FAMILY", type=argument.family)
    parser.add_argument("--variant", metavar="V", help="a variant of the family (default: its first)")
    parser.add_argument("--position", metavar="P", help="a position, however the board is turned (default: the start)")
    parser.add_argument("--moves", metavar='"M1 M2 …"', help="moves from there")
    argument.add_explorer_filters(parser)
    remote.add_server(parser)
    add_database(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the moves, the most played first."""
    given = {name: getattr(arguments, name) for name in _FIELDS}
    asked = {name: None if value == "" else value for name, value in given.items()}
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

    from arena.api.schemas.explorer import ExplorerResponse
    from arena.services.arena import Arena
    from arena.services.explorer import ExplorerRequest, explore

    settings = settings_of(arguments)
    if arguments.token:
        raise CommandError("--token is for a server; name it with --server")
    with closing(open_store(settings)) as store:
        found = explore(Arena(store, settings), ExplorerRequest(arguments.family, **asked))
    return ExplorerResponse.model_validate(found).model_dump(mode="json")
