"""`arena leaderboard FAMILY`: show the ratings of a family on a server."""

from __future__ import annotations

import argparse
from typing import Any

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import add_options, read_options
from arena.documents.page import MAX_LIMIT
from arena.documents.rating import LeaderboardQuery


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "family", metavar="FAMILY", type=argument.family, help='family of games; "arena rules list" shows them'
    )
    add_options(parser, LeaderboardQuery)
    parser.add_argument(
        "--limit", metavar="COUNT", type=argument.positive, default=50, help="list at most COUNT versions (default 50)"
    )
    remote.add_server(parser)
    add_output(parser, "csv")


def run(arguments: argparse.Namespace) -> int:
    """Print the leaderboard, best first."""
    client = remote.client(arguments)
    path = f"/leaderboards/{arguments.family}"
    filters = read_options(arguments, LeaderboardQuery)
    head = client.get(path, **filters, limit=min(arguments.limit, MAX_LIMIT))
    lines = list(head["items"])
    while head["next"] and len(lines) < arguments.limit:
        left = min(arguments.limit - len(lines), MAX_LIMIT)
        head = client.get(path, **filters, limit=left, after=head["next"])
        lines += head["items"]
    Printer(arguments).result({**head, "items": lines}, lambda: _show(head, lines), "items")
    return Exit.DONE


def _show(head: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    if not lines:
        output.note(f"no rated games in {head['pool']} yet; pools: {', '.join(head['pools'])}")
        return
    numbers = ("#", "rating", "mu", "±2σ", "games", "W", "D", "L", "score", "forfeits")
    output.table(
        ("#", "bot", "rating", "mu", "±2σ", "games", "W", "D", "L", "score", "forfeits", ""),
        [
            [
                "-" if line["rank"] is None else str(line["rank"]),
                line["name"],
                f"{line['conservative']:z.2f}",
                f"{line['mu']:z.2f}",
                f"{2 * line['sigma']:.2f}",
                *(str(line[key]) for key in ("games", "wins", "draws", "losses")),
                f"{100 * line['score']:.1f} %",
                str(line["forfeits"]),
                "provisional" if line["is_provisional"] else "",
            ]
            for line in lines
        ],
        numbers=numbers,
        drop=("mu", "D", "L", "W", "forfeits", "score", "±2σ"),
    )
    output.note(
        f"rating = mu - 3 sigma; provisional below {head['needed_games']} games or above sigma {head['needed_sigma']:g}"
    )
