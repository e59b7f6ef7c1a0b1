"""`arena replay RECORD`: draw a game record move by move, print it, or verify it by the rules.

Reads a file with one JSON record or the result of `arena play --json`, an NDJSON file, or text records; `-` is stdin.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from arena.cli.terminal import output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.game_view import show_record
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from referee.game.record import GameRecord


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("record", metavar="RECORD", help="file of game records (JSON, NDJSON or text); - for stdin")
    parser.add_argument(
        "--game", metavar="ID|N", help="choose a game of a file by its id or its number from 1 (default: the first)"
    )
    parser.add_argument(
        "--ply",
        metavar="PLY",
        help="show the position after PLY: a number, or a move of the first (17x) or second side (17y) (default: last)",
    )
    parser.add_argument(
        "--verify", action="store_true", help="replay every game by the rules and compare it with its record"
    )
    add_output(
        parser,
        meanings={"table": "the board", "json": "the record and the position shown", "text": "the record as game text"},
    )


def run(arguments: argparse.Namespace) -> int:
    """Show one game, or verify all. Exit 1 if a game contradicts the rules."""
    from referee.game.record import RecordError

    try:
        records = read(arguments.record)
        if arguments.verify:
            return _verify(records if arguments.game is None else [pick(records, arguments.game)])
        record = pick(records, arguments.game)
        show_record(record, arguments.ply, Printer(arguments))
    except RecordError as error:
        raise CommandError(f"{arguments.record}: {error}; it should hold records of games of the arena") from None
    return Exit.DONE


def read(path: str) -> list[GameRecord]:
    """Return the records of a file, or of stdin for `-`. Raises RecordError, OSError."""
    from referee.game.record import RecordError
    from referee.game.record_text import read_texts

    text = text_input.read_text(path)
    if not text.lstrip().startswith("{"):
        records = list(read_texts(text))
    elif "\n{" in text.strip():
        records = [_record(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    else:
        records = _document(text)
    if not records:
        raise RecordError("it contains no game")
    return records


def _document(text: str) -> list[GameRecord]:
    """Return the records of one JSON document, such as the result of `arena play --json`."""
    from referee.game.record import RecordError, read_record

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON{place_of(error)}") from None
    games = data.get("games", [data])
    if not isinstance(games, list):
        raise RecordError('"games" is not a list of records')
    return [read_record(json.dumps(game)) for game in games]


def place_of(error: Exception) -> str:
    """Describe the line and column of an error in JSON; empty if unknown."""
    return f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""


def _record(line: str, number: int) -> GameRecord:
    from referee.game.record import RecordError, read_record

    try:
        return read_record(line)
    except RecordError as error:
        raise RecordError(f"line {number}: {error}") from None


def pick(records: list[GameRecord], name: str | None) -> GameRecord:
    """Return the record with this id or number (from 1); the first one if `name` is None. Raises CommandError."""
    if name is None:
        if len(records) > 1:
            output.note(f"the first of {len(records)} games; choose another with --game ID or --game N")
        return records[0]
    for record in records:
        if record.id == name:
            return record
    if name.isascii() and name.isdecimal() and 1 <= int(name) <= len(records):
        return records[int(name) - 1]
    raise CommandError(f"no game {name!r} among {len(records)}; name its id or a number from 1", Exit.NOT_FOUND)


def _verify(records: list[GameRecord]) -> int:
    from referee.game.record import RecordError
    from referee.verify.verification import verify

    wrong = 0
    for record in records:
        try:
            verify(record)
        except ValueError as error:  # RecordError, and names or texts that the rules do not know
            wrong += 1
            prefix = "" if isinstance(error, RecordError) else f"game {record.id}: "
            output.error(f"{prefix}{error}")
    output.text(f"{len(records)} games verified, {wrong} wrong")
    return Exit.FAILED if wrong else Exit.DONE
