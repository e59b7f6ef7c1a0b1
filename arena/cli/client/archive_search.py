"""The arguments that choose games of the archive, and what they ask for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import argument

if TYPE_CHECKING:
    from arena.services.archive import ArchiveSearchForm


def add_search(parser: argparse.ArgumentParser) -> None:
    """What to look for."""
    parser.add_argument("--id", metavar="ID", help="the id of one game")
    parser.add_argument("--family", metavar="F", type=argument.family)
    parser.add_argument("--variant", metavar="V")
    parser.add_argument("--player", metavar="NAME", help="part of either player's name")
    parser.add_argument("--first", metavar="NAME", help="part of the name of who moved first")
    parser.add_argument("--second", metavar="NAME", help="part of the other name")
    parser.add_argument("--name", metavar="NAME", help="the whole name of either player")
    parser.add_argument("--number", metavar="N", help="the number in the archive, or in its collection")
    parser.add_argument("--result", choices=("first", "second", "draw", "none"), help="who won; none: nobody, as known")
    parser.add_argument("--ending", metavar="T", help="the termination, such as resigned")
    parser.add_argument("--source", metavar="FILE", help="the file it was imported from; arena: played here")
    parser.add_argument("--min-plies", type=argument.whole, metavar="N", help="at least so many plies")
    parser.add_argument("--max-plies", type=argument.whole, metavar="N", help="at most so many plies")
    parser.add_argument("--since", metavar="DAY", help="the first day: 2003-07-31, 2003-07 or 2003")
    parser.add_argument("--until", metavar="DAY", help="the last day")
    parser.add_argument("--moves", metavar='"M1 M2 …"', help="the first moves (needs --family)")
    parser.add_argument(
        "--position", metavar="P", help="a position that occurred, however the board is turned (needs --family)"
    )
    analysed = parser.add_argument_group("of games that were analysed (arena analyse)")
    analysed.add_argument(
        "--blunders", type=argument.whole, metavar="N", help="at least so many blunders of both sides"
    )
    analysed.add_argument("--max-blunders", type=argument.whole, metavar="N", help="at most so many")
    analysed.add_argument(
        "--accuracy", type=argument.whole, metavar="N", help="the less accurate side has at least this"
    )
    analysed.add_argument("--max-accuracy", type=argument.whole, metavar="N", help="it has at most this")
    analysed.add_argument(
        "--min-turning-points", type=argument.whole, metavar="N", help="at least so many turning points"
    )
    analysed.add_argument("--blown-win", choices=("yes", "no"), help="whether a won game was not won")


def asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the arguments ask for, by name; None is anything."""
    from arena.services.archive import SEARCH_FIELDS

    return {name: getattr(arguments, name) for name in SEARCH_FIELDS}


def query_of(arguments: argparse.Namespace) -> ArchiveSearchForm:
    """The same for the service."""
    from arena.services.archive import ArchiveSearchForm

    return ArchiveSearchForm(**asked(arguments))
