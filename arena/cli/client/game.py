"""Games of a server, what their bots wrote, and the ratings: `arena game`, `logs` and `leaderboard`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import MISSING, dataclass
from typing import Any

from arena.cli.client.route_command import RouteCommand, add_commands
from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import output
from arena.cli.terminal.fields import NOT_FILTERS, Actions, option, positional
from arena.cli.terminal.printer import Output, Printer, read_document
from arena.documents.columns import LEADERBOARD
from arena.documents.game import GameQuery
from arena.documents.rating import LeaderboardLine, LeaderboardQuery
from arena.documents.words import Side
from arena.plain_text import escaped

_RESULTS = {"first": "1-0", "second": "0-1", "draw": "½-½"}


def add_game(parser: argparse.ArgumentParser) -> None:
    add_commands(Actions(parser), _COMMANDS)


def _show_game(game: dict[str, Any]) -> None:
    from arena.cli.terminal.game_view import meanings  # loads the rules of all families

    _tell(game)
    output.text(*meanings([game["termination"]]))
    for step in game["ratings"]:
        output.text(f"{step['name']}: mu {step['mu_before']:z.2f} -> {step['mu']:z.2f}, sigma {step['sigma']:.2f}")
    if game["record"]:
        output.text("", " ".join(game["record"]["moves"]))


def _tell(game: dict[str, Any]) -> None:
    result = _RESULTS.get(game["winner"], game["state"])
    why = f"  {game['termination']}" if game["termination"] else ""
    detail = f": {game['detail']}" if game["detail"] else ""
    output.text(
        f"{game['first']} - {game['second']}  {result}{why}{detail}",
        f"{game['family']} {game['variant']}, tournament {game['tournament_id']}, game {game['id']}",
    )


def _event(event: dict[str, Any]) -> None:
    if event["event"] == "ply":
        _ply(event)
        return
    _tell(event["game"])
    for ply in event.get("plies", []):
        _ply(ply)


def _ply(ply: dict[str, Any]) -> None:
    score = f"  {ply['score'] / 100:+z.2f}" if ply["score"] is not None else ""
    output.text(f"{ply['ply']:>4}  {ply['move']}  {ply['ms'] or 0:.0f} ms{score}")


_COMMANDS = (
    RouteCommand(
        "show",
        "GET /games/{game}",
        "show a game with its result",
        ("arena game show 0123456789abcdef",),
        show=_show_game,
    ),
    RouteCommand(
        "watch",
        "GET /games/{game}/stream",
        "print the moves of a game as they are played",
        ("arena game watch 0123456789abcdef",),
        show=_event,
    ),
    RouteCommand(
        "download",
        "GET /games/{game}/record",
        "download the record of a game, for arena replay",
        (
            "arena game download 0123456789abcdef --output-file game.json",
            "arena game download 0123456789abcdef | arena replay -",
        ),
        forms={"json": "application/json", "text": "text/plain"},
    ),
    RouteCommand(
        "export",
        "GET /games",
        "export the records of all games, or of those that match these options",
        (
            "arena game export --family loa --output-file loa.ndjson",
            "arena game export --bot mybot --termination-class forfeit --since 2026-11-01 --output text",
            "arena game export --family loa -o csv > loa.csv",
        ),
        query=GameQuery,
        without=NOT_FILTERS,
        forms=remote.RECORDS,
    ),
)


@dataclass(frozen=True, kw_only=True)
class LogsArguments(ServerArguments, Output):
    game: str = positional("id of the game", "GAME")
    side: Side = option("side of your bot: first or second", default=MISSING)
    raw: bool = option("print control characters as they are (default: as escapes such as \\x1b)", default=False)


def logs(arguments: LogsArguments) -> None:
    """Print the tail of the log. A pager or a terminal behind a pipe obeys control characters, hence the escapes."""
    answer = remote.client(arguments).get(f"/games/{arguments.game}/logs/{arguments.side}")

    def show() -> None:
        if answer["log"] and arguments.raw:
            sys.stdout.write(answer["log"])
        elif answer["log"]:
            output.text(escaped(answer["log"].replace("\r\n", "\n").rstrip("\n")))
        else:
            output.note(f"{answer['name']} wrote nothing to standard error")

    Printer(arguments).result(answer, show)


def _show_leaderboard(board: dict[str, Any]) -> None:
    lines = [read_document(LeaderboardLine, line) for line in board["items"]]
    if not lines:
        output.note(f"no rated games in {board['pool']} yet; pools: {', '.join(board['pools'])}")
        return
    has_elo = any(line.elo is not None for line in lines)
    output.table([column for column in LEADERBOARD if has_elo or column.key != "elo"], lines)
    output.note(
        f"rating = mu - 3 sigma; provisional below {board['needed_games']} games or above sigma "
        f"{board['needed_sigma']:g}"
    )


leaderboard = RouteCommand(
    "leaderboard",
    "GET /leaderboards/{family}",
    query=LeaderboardQuery,
    items="items",
    limit=50,
    show=_show_leaderboard,
)
