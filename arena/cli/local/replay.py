"""Recorded games: `arena replay` draws, prints or verifies them, `arena analyse` lets a bot analyse one.

A file holds one JSON record or the result of `arena play --json`, an NDJSON file, or text records; `-` is stdin. A
stored game is chosen by its id, or by its number in the archive, and its analysis is stored with it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.analysis.game_analysis import DEFAULT_NODES
from arena.cli.source.database import DatabaseArguments, open_store
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option, positional
from arena.cli.terminal.game_view import show_record
from arena.cli.terminal.printer import ListOutput, Output, Printer, output_form
from arena.cli.terminal.rules_arguments import sandbox_option
from arena.documents.analysis import AnalysedMove
from arena.documents.table import Column, text_column

if TYPE_CHECKING:
    from arena.documents.analysis import GameAnalysis
    from referee.game.record import GameRecord
    from referee.game.spec import BotSpec


@dataclass(frozen=True, kw_only=True)
class ReplayArguments(Output):
    output: str = output_form(
        meanings={"table": "the board", "json": "the record and the position shown", "text": "the record as game text"}
    )
    record: str = positional("file of game records (JSON, NDJSON or text); - for stdin", "RECORD")
    game: str | None = option(
        "choose a game of a file by its id or its number from 1 (default: the first)", metavar="ID|N"
    )
    ply: str | None = option(
        "show the position after PLY: a number, or a move of the first (17x) or second side (17y) (default: last)",
        metavar="PLY",
    )
    verify: bool = option("replay every game by the rules and compare it with its record", default=False)


def replay(arguments: ReplayArguments) -> int:
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
    from referee.verify.verification import verify

    wrong = 0
    for record in records:
        try:
            verify(record)
        except ValueError as error:  # RecordError, and names or texts that the rules do not know
            wrong += 1
            output.error(f"game {record.id}: {error}")
    output.text(f"{len(records)} games verified, {wrong} wrong")
    return Exit.FAILED if wrong else Exit.DONE


MAX_NODES = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class AnalyseArguments(DatabaseArguments, ListOutput):
    game: str = positional(
        "file of records, - for stdin, or the id or archive number of a stored game", "RECORD|ID|FILE"
    )
    pick: str | None = option(
        "choose a game of a file by its id or its number from 1 (default: the first)", "--game", metavar="ID|N"
    )
    nodes: int = option(
        f"base node budget; a position gets 8 times this, a borderline one 100 times (default {DEFAULT_NODES})",
        metavar="COUNT",
        type=argument.up_to(MAX_NODES),
        default=DEFAULT_NODES,
    )
    bot: str | None = option("analyse with this bot, which must send scores (default sample:alphabeta)", metavar="BOT")
    sandbox: str = sandbox_option()
    record: bool = option("print the record with the marks, for arena replay", default=False)


def analyse(arguments: AnalyseArguments) -> None:
    """Analyse the game and print the analysis; for a game in the database, store it there."""
    from referee.game.record import RecordError

    if arguments.game == "-" or Path(arguments.game).is_file():
        try:
            record = pick(read(arguments.game), arguments.pick)
        except RecordError as error:
            raise CommandError(f"{arguments.game}: {error}; it should hold records of games of the arena") from None
        _show_analysis(_analysed(arguments, record, None), record, arguments)
        return
    with closing(open_store(arguments.read())) as store:
        from arena.analysis.storage import read_game, save, win_model_of

        record = read_game(store, arguments.game)
        analysis = _analysed(arguments, record, win_model_of(store, record.family))
        save(store, analysis)
    _show_analysis(analysis, record, arguments)


def _analysed(arguments: AnalyseArguments, record: GameRecord, win_model: Any) -> GameAnalysis:
    from arena.analysis.engine import LIMITS, AnalysisEngine, Evaluations, PositionRef
    from arena.analysis.game_analysis import MAX_PLIES
    from arena.analysis.game_analysis import analyse as analyse_game
    from arena.analysis.win_model import shipped
    from referee.play.roster import Roster
    from referee.play.sandbox_choice import choose

    spec = _engine(arguments.bot, record.family)
    try:
        sandbox, notes = choose(arguments.sandbox, [spec], LIMITS)
    except ValueError as error:
        raise CommandError(str(error), Exit.REFUSED) from None
    output.note(*notes)
    with Roster(sandbox) as roster, AnalysisEngine(spec, roster, record, record.moves[:MAX_PLIES]) as engine:

        def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
            scored = []
            for count, spot in enumerate(spots, 1):
                scored.append(engine.evaluate(spot, nodes))
                output.progress(f"{count} of {len(spots)} positions", is_last=count == len(spots))
            return Evaluations(engine.name, scored)

        return analyse_game(record, ask, nodes=arguments.nodes, win_model=win_model or shipped(record.family))


def _engine(text: str | None, family: str) -> BotSpec:
    from arena.analysis.engine import sample_engine
    from referee.bot.argument import read_bot

    if text is None:
        return sample_engine(family)
    try:
        return read_bot(text, family)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _show_analysis(analysis: GameAnalysis, record: GameRecord, arguments: AnalyseArguments) -> None:
    if arguments.record:
        from arena.analysis.game_analysis import annotated

        output.document(annotated(record, asdict(analysis)).as_json())
        return
    Printer(arguments).result(asdict(analysis), lambda: _show_plies(analysis, record), "plies")


def _show_plies(analysis: GameAnalysis, record: GameRecord) -> None:
    for name, blunders, accuracy in (
        (record.first, analysis.blunders.first, analysis.accuracy.first),
        (record.second, analysis.blunders.second, analysis.accuracy.second),
    ):
        shown = "-" if accuracy is None else f"{accuracy:.1f}"
        output.text(f"{name}: {blunders} blunders, accuracy {shown}")
    output.text(f"engine {analysis.engine}, unit {analysis.nodes} nodes, win model {analysis.win_model}", "")
    output.table(_COLUMNS, analysis.plies)


_COLUMNS: tuple[Column[AnalysedMove], ...] = (
    Column("number", "ply", lambda ply: ply.number),
    text_column("move", "move", lambda ply: ply.move),
    text_column("mark", "mark", lambda ply: ply.mark),
    Column("loss", "loss", lambda ply: ply.loss or ""),
    Column(
        "winning_chances", "chance", lambda ply: "" if ply.winning_chances is None else ply.winning_chances, "signed"
    ),
    Column("score", "score", lambda ply: "" if ply.score is None else ply.score),
    text_column("best", "best", lambda ply: ply.best if ply.best != ply.move else ""),
)
