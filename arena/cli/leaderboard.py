"""`arena leaderboard FAMILY`: the ratings of a server."""

from __future__ import annotations

import argparse

from arena.cli import choice, output, remote
from arena.cli.exit import Exit
from arena.cli.query_options import add_options, read_options
from arena.documents.page import MAX_LIMIT
from arena.documents.rating import LeaderboardQuery


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("family", metavar="FAMILY", type=choice.family)
    add_options(parser, LeaderboardQuery)
    parser.add_argument("--limit", metavar="N", type=choice.positive, default=50, help="at most so many (default 50)")
    remote.add_server(parser, has_ndjson=True, has_csv=True)


def run(arguments: argparse.Namespace) -> int:
    """Print it, best first."""
    client = remote.client(arguments)
    path = f"/leaderboards/{arguments.family}"
    filters = read_options(arguments, LeaderboardQuery)
    head = client.get(path, **filters, limit=min(arguments.limit, MAX_LIMIT))
    lines = list(head["items"])
    while head["next"] and len(lines) < arguments.limit:
        left = min(arguments.limit - len(lines), MAX_LIMIT)
        head = client.get(path, **filters, limit=left, after=head["next"])
        lines += head["items"]
    if arguments.ndjson:
        for line in lines:
            output.item(line)
        return Exit.DONE
    if arguments.output == "csv":
        output.csv(lines)
        return Exit.DONE
    if arguments.json:
        output.document({**head, "items": lines})
        return Exit.DONE
    if not lines:
        output.note(f"no rated games in {head['pool']} yet; pools: {', '.join(head['pools'])}")
        return Exit.DONE
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
    return Exit.DONE
