"""`arena game show|watch|download|export`: show one game of a server, or fetch the records of many."""

from __future__ import annotations

import argparse
from typing import Any

from arena.cli.client.tournament import FORMS as EXPORTS
from arena.cli.source import remote
from arena.cli.terminal import output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import NOT_FILTERS, add_options, read_options
from arena.documents.game import GameQuery

FORMS = {"json": "application/json", "text": "text/plain"}
_RESULTS = {"first": "1-0", "second": "0-1", "draw": "½-½"}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = Actions(parser)
    show = actions.add("show", _show, "show a game with its result", "arena game show 0123456789abcdef")
    watch = actions.add(
        "watch", _watch, "print the moves of a game as they are played", "arena game watch 0123456789abcdef"
    )
    download = actions.add(
        "download",
        _download,
        "download the record of a game, for arena replay",
        "arena game download 0123456789abcdef --output-file game.json",
        "arena game download 0123456789abcdef | arena replay -",
    )
    remote.add_file(download, FORMS)
    export = actions.add(
        "export",
        _export,
        "export the records of all games, or of those that match these options",
        "arena game export --family loa --output-file loa.ndjson",
        "arena game export --bot mybot --termination-class forfeit --since 2026-11-01 --output text",
        "arena game export --family loa -o csv > loa.csv",
    )
    add_options(export, GameQuery, without=NOT_FILTERS)
    remote.add_file(export, EXPORTS)
    remote.add_server(export)
    for command in (show, watch, download):
        command.add_argument("id", metavar="ID", help="id of the game")
        remote.add_server(command)
    for command in (show, watch):
        add_output(command)


def _show(arguments: argparse.Namespace) -> int:
    found = remote.client(arguments).get(f"/games/{arguments.id}")
    Printer(arguments).result(found, lambda: _show_game(found))
    return Exit.DONE


def _show_game(found: dict[str, Any]) -> None:
    _tell(found)
    for step in found["ratings"]:
        output.text(f"{step['name']}: mu {step['mu_before']:z.2f} -> {step['mu']:z.2f}, sigma {step['sigma']:.2f}")
    if found["record"]:
        output.text("", " ".join(found["record"]["moves"]))


def _tell(game: dict[str, Any]) -> None:
    result = _RESULTS.get(game["winner"], game["state"])
    why = f"  {game['termination']}" if game["termination"] else ""
    detail = f": {game['detail']}" if game["detail"] else ""
    output.text(
        f"{game['first']} - {game['second']}  {result}{why}{detail}",
        f"{game['family']} {game['variant']}, tournament {game['tournament_id']}, game {game['id']}",
    )


def _watch(arguments: argparse.Namespace) -> int:
    remote.follow(arguments, f"/games/{arguments.id}/stream", _event)
    return Exit.DONE


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


def _download(arguments: argparse.Namespace) -> int:
    remote.save(arguments, f"/games/{arguments.id}/record", FORMS)
    return Exit.DONE


def _export(arguments: argparse.Namespace) -> int:
    remote.save(arguments, "/games", EXPORTS, **read_options(arguments, GameQuery, without=NOT_FILTERS))
    return Exit.DONE
