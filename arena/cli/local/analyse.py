"""`arena analyse`: let a bot analyse every position of a game, and print the loss and the mark of each move.

The game is in a file of records (see `arena replay`), or in the database: by its id, or by its number in the archive.
The analysis of a game in the database is stored there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.local import replay
from arena.cli.local.play import add_sandbox
from arena.cli.source.database import add_database, open_store, settings_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from arena.documents.analysis import GameAnalysis
    from referee.game.record import GameRecord
    from referee.game.spec import BotSpec

MAX_NODES = 1_000_000_000


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from arena.analysis.budget import DEFAULT_NODES

    parser.add_argument(
        "game",
        metavar="RECORD|ID|FILE",
        help="file of records, - for stdin, or the id or archive number of a stored game",
    )
    parser.add_argument(
        "--game",
        dest="pick",
        metavar="ID|N",
        help="choose a game of a file by its id or its number from 1 (default: the first)",
    )
    parser.add_argument(
        "--nodes",
        metavar="COUNT",
        type=_nodes,
        default=DEFAULT_NODES,
        help=f"base node budget; a position gets 8 times this, a borderline one 100 times (default {DEFAULT_NODES})",
    )
    parser.add_argument(
        "--bot", metavar="BOT", help="analyse with this bot, which must send scores (default sample:alphabeta)"
    )
    add_sandbox(parser)
    parser.add_argument("--record", action="store_true", help="print the record with the marks, for arena replay")
    add_output(parser)
    add_database(parser)


def _nodes(text: str) -> int:
    return argument.between(text, 1, MAX_NODES)


def run(arguments: argparse.Namespace) -> int:
    """Analyse the game and print the analysis; for a game in the database, store it there."""
    from referee.game.record import RecordError

    if arguments.game == "-" or Path(arguments.game).is_file():
        try:
            record = replay.pick(replay.read(arguments.game), arguments.pick)
        except RecordError as error:
            raise CommandError(f"{arguments.game}: {error}; it should hold records of games of the arena") from None
        _show(_analysed(arguments, record, None), record, arguments)
        return Exit.DONE
    with closing(open_store(settings_of(arguments))) as store:
        from arena.analysis.storage import read_game, save, win_model_of

        record = read_game(store, arguments.game)
        found = _analysed(arguments, record, win_model_of(store, record.family))
        save(store, found)
    _show(found, record, arguments)
    return Exit.DONE


def _analysed(arguments: argparse.Namespace, record: GameRecord, win_model: Any) -> GameAnalysis:
    from arena.analysis.budget import MAX_PLIES
    from arena.analysis.engine import LIMITS, AnalysisEngine, Evaluations, PositionRef
    from arena.analysis.game_analysis import analyse
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

        return analyse(record, ask, nodes=arguments.nodes, win_model=win_model or shipped(record.family))


def _engine(text: str | None, family: str) -> BotSpec:
    from arena.analysis.engine import sample_engine
    from referee.bot.argument import read_bot

    if text is None:
        return sample_engine(family)
    try:
        return read_bot(text, family)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _show(found: GameAnalysis, record: GameRecord, arguments: argparse.Namespace) -> None:
    if arguments.record:
        from arena.analysis.game_analysis import annotated

        output.document(annotated(record, asdict(found)).as_json())
        return
    Printer(arguments).result(asdict(found), lambda: _show_plies(found, record), "plies")


def _show_plies(found: GameAnalysis, record: GameRecord) -> None:
    for name, blunders, accuracy in (
        (record.first, found.blunders.first, found.accuracy.first),
        (record.second, found.blunders.second, found.accuracy.second),
    ):
        shown = "-" if accuracy is None else f"{accuracy:.1f}"
        output.text(f"{name}: {blunders} blunders, accuracy {shown}")
    output.text(f"engine {found.engine}, unit {found.nodes} nodes, win model {found.win_model}", "")
    output.table(
        ("ply", "move", "mark", "loss", "chance", "score", "best"),
        [
            (
                str(one.number),
                one.move,
                one.mark,
                "" if not one.loss else f"{one.loss:.2f}",
                "" if one.winning_chances is None else f"{one.winning_chances:+z.2f}",
                "" if one.score is None else str(one.score),
                one.best if one.best != one.move else "",
            )
            for one in found.plies
        ],
        numbers=("ply", "loss", "chance", "score"),
    )
