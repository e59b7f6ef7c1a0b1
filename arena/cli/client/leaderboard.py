"""`arena leaderboard FAMILY`: the ratings of a server."""

from __future__ import annotations

import argparse
from typing import Any

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "family", metavar="FAMILY", type=argument.family, help='family of games; "arena rules list" shows them'
    )
    parser.add_argument("--pool", metavar="POOL", help="rating pool of the family (default: the family's own)")
    parser.add_argument("--retired", action="store_true", help="also list retired versions")
    parser.add_argument(
        "--limit", metavar="COUNT", type=argument.positive, default=50, help="list at most COUNT versions (default 50)"
    )
    remote.add_server(parser)
    add_output(parser, "csv")


def run(arguments: argparse.Namespace) -> int:
    """Print it, best first."""
    client = remote.client(arguments)
    retired = True if arguments.retired else None
    path = f"/leaderboards/{arguments.family}"
    head = client.get(path, pool=arguments.pool, retired=retired, limit=min(arguments.limit, 200))
    lines = list(head["items"])
    while head["next"] and len(lines) < arguments.limit:
        left = min(arguments.limit - len(lines), 200)
        head = client.get(path, pool=arguments.pool, retired=retired, limit=left, after=head["next"])
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
