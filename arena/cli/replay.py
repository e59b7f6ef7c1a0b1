"""`arena replay RECORD`: a game record drawn move by move, printed, or verified by the rules.

Reads a file with one JSON record or the result of `arena play --json`, an NDJSON file, or text records; `-` is stdin.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from arena.cli import output, source
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from referee.game.record import GameRecord
    from referee.rules.position import Position


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("record", metavar="RECORD", help="a file of game records (JSON, NDJSON or text); - for stdin")
    parser.add_argument("--game", metavar="ID|N", help="which game of a file of many: its id or its number from 1")
    parser.add_argument("--ply", metavar="N", help="after ply N, or after a side's move: 17x, 17y (default: the last)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="the record as text")
    form.add_argument("--json", action="store_true", help="the record as one JSON document, with the position shown")
    form.add_argument("--verify", action="store_true", help="play every game through and compare what it claims")


def run(arguments: argparse.Namespace) -> int:
    """Show one game, or verify all. Exit 1 if a game contradicts the rules."""
    from referee.game.record import RecordError

    try:
        records = read(arguments.record)
        if arguments.verify:
            return _verify(records if arguments.game is None else [pick(records, arguments.game)])
        record = pick(records, arguments.game)
        if arguments.text:
            from referee.game.record_text import write_text

            output.text(write_text(record).rstrip("\n"))
        else:
            show(record, arguments.ply, as_json=arguments.json)
    except RecordError as error:
        raise CommandError(f"{arguments.record}: {error}; it should hold records of games of the arena") from None
    return Exit.DONE


def read(path: str) -> list[GameRecord]:
    """The records of a file, or of stdin for `-`. Raises RecordError, OSError."""
    from referee.game.record import RecordError
    from referee.game.record_text import read_texts

    text = source.read_text(path)
    if not text.lstrip().startswith("{"):
        records = list(read_texts(text))
    elif "\n{" in text.strip():
        records = [_record(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    else:
        records = _document(text)
    if not records:
        raise RecordError("no game in it")
    return records


def _document(text: str) -> list[GameRecord]:
    """The record of one JSON document, or all those of a result such as `arena play --json` prints."""
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
    """Where a text stops being JSON; empty where that is not known."""
    return f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""


def _record(line: str, number: int) -> GameRecord:
    from referee.game.record import RecordError, read_record

    try:
        return read_record(line)
    except RecordError as error:
        raise RecordError(f"line {number}: {error}") from None


def pick(records: list[GameRecord], name: str | None) -> GameRecord:
    """One record by id or number from 1; the only one, or the first of many. Raises CommandError."""
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


def show(record: GameRecord, ply: str | int | None, *, as_json: bool) -> None:
    """Draw a game after a ply (None: the last). Raises RecordError, ParseError, CommandError for a ply there is not."""
    from arena.cli import board
    from referee.game.record import positions
    from referee.rules.ply_reference import read_ply, write_ply

    line = positions(record)
    begins = int(line[0].side == "second")
    at = len(record.moves) if ply is None else read_ply(str(ply), line[0].ruleset, begins)
    if at >= len(line):
        raise CommandError(f"no ply {at}: the game has {len(record.moves)}; choose 0 to {len(record.moves)}")
    position = line[at]
    if as_json:
        shown = {
            "ply": at,
            "position": str(position),
            "side": position.side,
            "legal_moves": position.texts,
            "result": board.result_json(position.outcome),
        }
        output.document({**record.as_json(), "shown": shown})
        return
    ruleset = position.ruleset
    result = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}.get(record.winner or "", "void")
    output.text(
        f"{record.first} ({ruleset.sides[0]}) - {record.second} ({ruleset.sides[1]})  {result}  {record.termination}",
        f"{ruleset.rules.title}, {record.variant}, game {record.id}",
        "",
        board.drawing(position),
        "",
        f"ply {at} of {len(record.moves)}{f' ({write_ply(at, begins)})' if at else ''}: {_last(position, record, at)}",
        f"position {position}",
        board.status(position) if at < len(record.moves) or position.outcome else _end(record),
    )


def _last(position: Position, record: GameRecord, ply: int) -> str:
    from arena.cli import board

    comment = record.comments.get(ply, "")
    said = "the start"
    if position.previous is not None:
        said = f"{board.side_name(position.ruleset, position.previous.side)} played {board.played(position)}"
    return " ".join(part for part in (said, record.marks.get(ply, ""), f"{{{comment}}}" if comment else "") if part)


def _end(record: GameRecord) -> str:
    return f"ended by {record.termination}" + (f": {record.detail}" if record.detail else "")
