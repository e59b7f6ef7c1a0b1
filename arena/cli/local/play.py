"""`arena play`: a tournament of executables on this machine, resumable, without server or database."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.local.play_config import EXAMPLE, gather, preset
from arena.cli.terminal import argument, output
from arena.cli.terminal.argument import memory, read_options, refuse_concurrency, whole
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from referee.game.plan import SIDES, TournamentPlan
from referee.game.record import GameRecord
from referee.game.record_text import write_text
from referee.game.spec import PONDERING, BotLimits, BotSpec, PlannedGame
from referee.machine.run_folder import FolderError, RunFolder
from referee.play.suspension import SUSPEND_AFTER, Suspension
from referee.ratings.pairings import pairings
from referee.ratings.sprt import RunningTest, Sprt, read_sprt
from referee.rules import families, load
from referee.rules.core import Termination

__all__ = ["add", "add_memory", "add_sandbox", "open_slots", "preset", "run"]

if TYPE_CHECKING:  # what plays is loaded when there is something to play: help and errors do not wait for it
    from arena.cli.local.play_run import UnkeptRun
    from referee.machine.pool import SlotPool

MAX_GAMES = 100_000
"""A run is planned whole before its first game: more would keep its user waiting."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "arena play [OPTIONS] --family FAMILY BOT BOT [BOT ...]"
    parser.add_argument(
        "bots",
        nargs="*",
        default=argparse.SUPPRESS,
        metavar="BOT",
        help="path, quoted command, sample:NAME, 'bridge:NAME …', tcp:HOST:PORT, folder or bot.toml; "
        "name it by NAME=BOT; give it settings by 'BOT;tc=5+0.05;option.Hash=64'",
    )
    parser.add_argument(
        "--each",
        nargs="+",
        action="append",
        default=[],
        metavar="SETTING",
        help="settings of all bots: 'tc=5+0.05;option.Hash=64', or several texts; a bot's own settings have priority",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="read the match from a TOML file with these options as keys and a list of bots; options of the command "
        "line override the file (example below)",
    )
    rules = parser.add_argument_group("rules")
    games = parser.add_argument_group("games")
    limits = parser.add_argument_group("time and limits")
    adjudication = parser.add_argument_group("adjudication")
    machine = parser.add_argument_group("machine")
    files = parser.add_argument_group("run")
    rules.add_argument(
        "--family", metavar="FAMILY", type=argument.family, help=f"family of games, required: {', '.join(families())}"
    )
    rules.add_argument("--variant", metavar="VARIANT", help="variant of the family (default: its first)")
    rules.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="rule option; may be repeated"
    )
    games.add_argument("--games", type=int, default=2, metavar="COUNT", help="play COUNT games per pairing (default 2)")
    limits.add_argument(
        "--tc",
        default="10+0.1",
        metavar="TIME",
        help="time control: 10+0.1 (seconds, the default), 40/60 (seconds for every 40 moves), 1/move, depth:4, "
        "nodes:10000",
    )
    machine.add_argument(
        "--concurrency", type=int, default=1, metavar="COUNT", help="play COUNT games at once (default 1)"
    )
    games.add_argument(
        "--format",
        choices=("round-robin", "gauntlet"),
        default="round-robin",
        help="pairings: round-robin (default), or the first bot against all others",
    )
    rules.add_argument(
        "--openings",
        default="auto",
        metavar="OPENINGS",
        help="opening selection: none, random:PLIES:SEED, setups:VARIANT:SEED, a file, or auto (default: "
        "the start once, then four random plies; new deals in a dealt variant); 'FILE;order=random;plies=8' shuffles "
        "the openings of a file by the seed (default: sequential) and cuts them",
    )
    games.add_argument(
        "--sides",
        choices=SIDES,
        default=SIDES[0],
        help="which bot plays the first side of a single game, and which side begins where the rules leave that open: "
        "alternate (default) or random",
    )
    games.add_argument(
        "--sprt",
        metavar="TEST",
        help="end the match of two bots when an SPRT is decided: elo0=0,elo1=10,alpha=.05,beta=.05",
    )
    games.add_argument(
        "--rating-interval",
        type=whole,
        default=0,
        metavar="COUNT",
        help="show score, Elo, LOS, draws and LLR after every COUNT games (default 0: only at the end)",
    )
    adjudication.add_argument("--draw", metavar="RULE", help="adjudicate draws by score: after=40,moves=8,score=10")
    adjudication.add_argument("--resign", metavar="RULE", help="adjudicate wins by score: moves=4,score=600,both=1")
    adjudication.add_argument(
        "--max-plies",
        type=whole,
        default=0,
        metavar="PLIES",
        help="adjudicate a draw after PLIES plies (default 0: never)",
    )
    margin = BotLimits().margin_ms
    limits.add_argument(
        "--margin",
        type=whole,
        default=margin,
        metavar="MS",
        help=f"allow MS milliseconds more for each move (default {margin})",
    )
    add_memory(limits)
    limits.add_argument(
        "--suspend-after",
        type=whole,
        default=SUSPEND_AFTER,
        metavar="COUNT",
        help=f"a bot that is not ready COUNT times in a row forfeits its other games (default {SUSPEND_AFTER}; 0: "
        "never)",
    )
    limits.add_argument(
        "--pondering",
        choices=PONDERING,
        default=PONDERING[0],
        help="during its opponent's turn a bot is frozen (default), pinned to its own core, or allowed to think",
    )
    games.add_argument("--seed", type=int, default=0, metavar="SEED", help="seed of the openings (default 0)")
    add_sandbox(machine)
    machine.add_argument(
        "--affinity",
        default="off",
        choices=("auto", "off"),
        help="auto pins each game to a core of its own (default off)",
    )
    files.add_argument("--out", type=Path, metavar="DIR", help="store the run in DIR; the same command continues it")
    files.add_argument("--log", action="store_true", help="print the reason and standard error of every forfeit")
    add_output(parser, "csv", meanings={"ndjson": "a game record on each line"})
    example = "\n".join(f"  {line}" for line in EXAMPLE.splitlines())
    parser.epilog = f"{parser.epilog or ''}\n\na file for --config:\n{example}".lstrip()


def add_sandbox(parser: Any) -> None:
    """Add `--sandbox` to a parser or a group."""
    choices = ("auto", "bwrap", "landlock", "rlimits", "none")
    parser.add_argument(
        "--sandbox",
        default="auto",
        choices=choices,
        help="sandbox of the bots; auto (default): the strongest in which all bots start",
    )


def add_memory(parser: Any) -> None:
    """Add `--memory` to a parser or a group."""
    usual = BotLimits().memory_bytes // 2**20
    parser.add_argument(
        "--memory", type=memory, default=usual, metavar="MB", help=f"memory of each bot in MiB (default {usual})"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play, and print the standings, the crosstable and the ratings."""
    gather(arguments)
    _refuse_excess(arguments)
    from arena.cli.local.play_run import UnkeptRun, plan_of
    from referee.bot.argument import read_bot, refuse_doubles, refuse_unreachable
    from referee.bot.settings import read_each
    from referee.check.probe import IneligibleError, ProbeError
    from referee.machine.pool import WorkerLostError
    from referee.sandbox import open_sandbox

    try:
        each = read_each(arguments.each)
        arguments.tc = str(each.time or arguments.tc)
        ruleset = load(arguments.family).settle(arguments.variant, read_options(arguments.option))
        bots = [read_bot(text, arguments.family, each) for text in arguments.bots]
        refuse_doubles(bots)
        refuse_unreachable(bots, arguments.sandbox)
        sprt = read_sprt(arguments.sprt) if arguments.sprt else None
        if len(bots) < 2 or (sprt and len(bots) != 2):
            raise CommandError("an SPRT is between two bots" if sprt else "a tournament needs at least two bots")
        with RunFolder(arguments.out) if arguments.out else UnkeptRun() as folder:
            header = folder.open()
            plan = plan_of(arguments, ruleset, tuple(bots))  # nothing is started for arguments that make no sense
            strongest = open_sandbox(arguments.sandbox).name
            # The handshake of the bots also shows whether they start in the strongest sandbox.
            is_open = arguments.sandbox == "auto" and strongest != "none" and header is None
            if is_open:
                arguments.sandbox = strongest
            else:
                _choose_sandbox(arguments, bots)
            try:
                return _play(arguments, plan, folder, header, sprt)
            except ProbeError:
                if not is_open:
                    raise
                arguments.sandbox = "auto"
                _choose_sandbox(arguments, bots)
                if arguments.sandbox == strongest:
                    raise
            return _play(arguments, plan, folder, header, sprt)
    except (ProbeError, WorkerLostError) as error:
        raise CommandError(str(error), Exit.FAILED) from None
    except (FolderError, IneligibleError) as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise


def _refuse_excess(arguments: argparse.Namespace) -> None:
    """Raise CommandError for more games than a run may have, or more games at once than this machine can play."""
    if arguments.games < 1 or arguments.concurrency < 1:
        raise CommandError("--games and --concurrency must be at least 1")
    refuse_concurrency(arguments.concurrency)
    tables = len(pairings(len(arguments.bots), arguments.format))
    if arguments.games * tables > MAX_GAMES:
        raise CommandError(
            f"--games: a run has {MAX_GAMES:,} games at most, {MAX_GAMES // tables:,} per pairing of these bots; "
            "for more, start further runs with another --seed each"
        )


@contextmanager
def open_slots(arguments: argparse.Namespace) -> Iterator[SlotPool]:
    """Yield the pool of game slots, for bots that belong to the user of the command."""
    from referee.machine.pool import SlotPool

    pinned = arguments.affinity == "auto"
    pool = SlotPool(arguments.concurrency, sandbox=arguments.sandbox, affinity=pinned, is_own=True)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False)


def _choose_sandbox(arguments: argparse.Namespace, bots: list[BotSpec]) -> None:
    """Store the sandbox in `arguments`; `auto` means the strongest in which all bots start. Raises ValueError."""
    from arena.cli.local.play_run import limits_of
    from referee.play.sandbox_choice import choose

    sandbox, notes = choose(arguments.sandbox, bots, limits_of(arguments))
    output.note(*notes)
    arguments.sandbox = sandbox.name


def _play(
    arguments: argparse.Namespace,
    plan: TournamentPlan,
    folder: RunFolder | UnkeptRun,
    header: Mapping[str, Any] | None,
    sprt: Sprt | None,
) -> int:
    """Play in the sandbox that `arguments` name. Raises the exceptions of `games_of`."""
    from arena.cli.local.play_run import games_of

    with open_slots(arguments) as pool:
        games = games_of(arguments, plan, folder, header, pool)
        return _play_games(arguments, games, folder, sprt, pool)


def _play_games(
    arguments: argparse.Namespace,
    games: list[PlannedGame],
    folder: RunFolder | UnkeptRun,
    sprt: Sprt | None,
    pool: SlotPool,
) -> int:
    """Play the remaining games; write and print the results of all games."""
    from arena.cli.local.match_report import running_lines, sprt_words, terms_of
    from arena.cli.local.results import summarise
    from arena.cli.terminal.game_view import show_result
    from arena.cli.terminal.progress import RunProgress
    from referee.play.dispatch import left_to_play

    names = list(dict.fromkeys(name for game in games for name in (game.spec.first.name, game.spec.second.name)))
    left = left_to_play(games, folder.records)
    test = RunningTest(sprt, names[0], folder.records) if sprt else None
    if len(left) < len(games):
        output.note(f"{len(games) - len(left)} of {len(games)} games are there already")
    begin, pace = time.monotonic(), RunProgress(len(folder.records), len(games))
    fresh: list[GameRecord] = []

    def keep(record: GameRecord) -> None:
        folder.append(record)
        fresh.append(record)
        remark = ""
        if test:
            test.add(record)
            remark = sprt_words(test.verdict)
        done = len(folder.records)
        if record.termination is not Termination.SUSPENDED:  # one line has said so for all of them
            show_result(record, done, len(games), arguments.log, remark)
        if arguments.rating_interval and done % arguments.rating_interval == 0 and done < len(games):
            output.note(*running_lines(folder.records, names, test.verdict if test else None))
        line = pace.line(done, may_end_early=test is not None)
        output.progress(f"{line}, {remark}" if remark else line)

    def is_decided() -> bool:
        return test is not None and test.is_decided

    suspension = Suspension(arguments.suspend_after, folder.records)
    void, is_stopped = _dispatch(pool, left, keep, is_decided if test else None, suspension)
    records = sorted(folder.records, key=lambda record: record.sequence)
    found = summarise(records, fresh, names, time.monotonic() - begin, test.verdict if test else None)
    found["match"] = terms_of(games, arguments.openings, len(records) - len(fresh))
    if sprt:
        found["sprt"] |= asdict(sprt)
    if isinstance(folder, RunFolder):
        _keep_results(folder, found, records)
    _print(arguments, found, records)
    for record in void:
        output.error(f"game {record.sequence} stayed void: {record.detail or record.termination}", is_fault=False)
    if len(records) == len(games) or is_decided():
        return Exit.DONE
    count = len(games) - len(records)
    output.note(
        f"{count} games are left to play; the same command continues"
        if arguments.out
        else f"{count} games were not played"
    )
    return Exit.INTERRUPTED if is_stopped else Exit.FAILED


def _dispatch(
    pool: SlotPool,
    games: list[PlannedGame],
    keep: Callable[[GameRecord], None],
    is_decided: Callable[[], bool] | None,
    suspension: Suspension,
) -> tuple[list[GameRecord], bool]:
    """Play games until all are done or the result is decided.

    Returns the games that remained void, and whether the run was interrupted.
    """
    from arena.cli.terminal.interrupt import InterruptThread
    from referee.play.dispatch import Dispatcher

    def tell(name: str) -> None:
        output.note(f"{name} is suspended: {suspension.why}; it forfeits all its other games")

    dispatcher = Dispatcher(pool, 2 * pool.size, keep, suspension=suspension, on_suspend=tell)

    def abort() -> None:
        dispatcher.abort()
        pool.abort()

    with InterruptThread(dispatcher.stop, abort):
        try:
            return dispatcher.run(games, is_decided), dispatcher.is_stopped
        finally:
            pool.shutdown()


def _print(arguments: argparse.Namespace, found: dict[str, Any], records: list[GameRecord]) -> None:
    from arena.cli.local.results import show

    printer = Printer(arguments)
    if printer.form == "csv":
        output.csv(found["standings"])
    else:
        printer.result({"games": [record.as_json() for record in records], **found}, lambda: show(found), "games")


def _keep_results(folder: RunFolder, found: dict[str, Any], records: list[GameRecord]) -> None:
    folder.write("result.json", json.dumps({"schema": output.SCHEMA, **found}, ensure_ascii=False, indent=1))
    folder.write("games.txt", "".join(map(write_text, records)))
