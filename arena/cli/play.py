"""`arena play`: a tournament of executables on this machine, resumable, without server or database."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from arena.cli import output
from arena.cli.choice import positive, read_options
from arena.cli.exit import CommandError, Exit
from referee.adjudicate import read_draw_rule, read_resign_rule
from referee.bot_argument import IneligibleError, introduce, make_unique, read_bot, refuse_doubles, refuse_unreachable
from referee.dispatch import Dispatcher, left_to_play
from referee.plan import Plan, openings, schedule
from referee.pool import SlotPool
from referee.ratings.sprt import Sprt, Verdict, judge, read_sprt
from referee.ratings.standings import crosstable, standings, terminations
from referee.ratings.trueskill import fold, leaderboard
from referee.record import GameRecord
from referee.record_text import write_text
from referee.rules import families, load
from referee.rules.rules import Ruleset
from referee.run_folder import FolderError, RunFolder
from referee.sandbox.choice import choose
from referee.sandbox.reaper import become_subreaper, children, sweep
from referee.spec import Adjudication, BotSpec, GameSpec, Limits, digest, read_time_control


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "bots",
        nargs="+",
        metavar="BOT",
        help="path, quoted command, sample:NAME, tcp:HOST:PORT, folder or bot.toml; NAME=BOT",
    )
    parser.add_argument("--family", required=True, metavar="F", help=", ".join(families()))
    parser.add_argument("--variant", metavar="V", help="a variant of the family (default: its first)")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="a rule option; may be repeated")
    parser.add_argument("--games", type=int, default=2, metavar="N", help="games per pairing (default 2)")
    parser.add_argument("--tc", default="10+0.1", metavar="TC", help="10+0.1 (s), 1/move, depth:4, nodes:10000")
    parser.add_argument("--concurrency", type=int, default=1, metavar="C", help="games at once (default 1)")
    parser.add_argument("--format", choices=("round-robin", "gauntlet"), default="round-robin")
    parser.add_argument(
        "--openings", default="auto", metavar="O", help="none, random:PLIES:SEED, setups:VARIANT:SEED or a file"
    )
    parser.add_argument("--sprt", metavar="S", help="elo0=0,elo1=10,alpha=.05,beta=.05: stop when decided (two bots)")
    parser.add_argument("--draw", metavar="D", help="adjudicate draws by score: after=40,moves=8,score=10")
    parser.add_argument("--resign", metavar="R", help="adjudicate wins by score: moves=4,score=600,both=1")
    parser.add_argument(
        "--max-plies", type=int, default=0, metavar="N", help="draw after N plies (0: by the rules alone)"
    )
    parser.add_argument("--margin", type=int, default=Limits().margin_ms, metavar="MS", help="time margin per move")
    add_memory(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of openings (default 0)")
    parser.add_argument("--sandbox", default="auto", choices=("auto", "bwrap", "landlock", "rlimits", "none"))
    parser.add_argument("--affinity", default="off", choices=("auto", "off"), help="pin each game to a core")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep everything there; the same command continues it")
    parser.add_argument("--log", action="store_true", help="print the reason and the logs of every forfeit")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def add_memory(parser: argparse.ArgumentParser) -> None:
    """`--memory`."""
    usual = Limits().memory_bytes // 2**20
    parser.add_argument("--memory", type=positive, default=usual, metavar="MB", help=f"of one bot (default {usual})")


def run(arguments: argparse.Namespace) -> int:
    """Play, and print the standings, the crosstable and the ratings."""
    if arguments.games < 1 or arguments.concurrency < 1:
        raise CommandError("--games and --concurrency must be at least 1")
    try:
        ruleset = load(arguments.family).settle(arguments.variant, read_options(arguments.option))
        bots = [read_bot(text, arguments.family) for text in arguments.bots]
        refuse_doubles(bots)
        refuse_unreachable(bots, arguments.sandbox)
        sprt = read_sprt(arguments.sprt) if arguments.sprt else None
        if len(bots) < 2 or (sprt and len(bots) != 2):
            raise CommandError("an SPRT is between two bots" if sprt else "a tournament needs at least two bots")
        sandbox, notes = choose(arguments.sandbox, bots, _limits(arguments))
        output.note(*notes)
        arguments.sandbox = sandbox.name
        with RunFolder(arguments.out) if arguments.out else _Memory() as folder:
            games = _games(arguments, ruleset, bots, folder, sandbox)
            return _play(arguments, games, folder, sprt)
    except (FolderError, IneligibleError) as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise


class _Memory:
    """A run that nobody keeps: the same face as `RunFolder`."""

    def __init__(self) -> None:
        self.records: list[GameRecord] = []

    def open(self) -> None:
        return None

    def begin(self, header: Mapping[str, Any]) -> None:
        pass

    def resume(self, games: Sequence[GameSpec]) -> list[GameRecord]:
        return self.records

    def append(self, record: GameRecord) -> None:
        self.records.append(record)

    def write(self, name: str, text: str) -> None:
        pass

    def __enter__(self) -> _Memory:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _limits(arguments: argparse.Namespace) -> Limits:
    return replace(Limits(), margin_ms=arguments.margin, memory_bytes=arguments.memory * 2**20)


def _plan(arguments: argparse.Namespace, ruleset: Ruleset, bots: tuple[BotSpec, ...]) -> Plan:
    adjudication = Adjudication(max_plies=arguments.max_plies)
    if arguments.draw:
        adjudication = read_draw_rule(arguments.draw, adjudication)
    if arguments.resign:
        adjudication = read_resign_rule(arguments.resign, adjudication)
    text = Path(arguments.openings).read_text(encoding="utf-8") if os.path.isfile(arguments.openings) else None
    return Plan(
        ruleset=ruleset,
        bots=bots,
        openings=tuple(openings(ruleset, arguments.openings, (arguments.games + 1) // 2, arguments.seed, text)),
        games=arguments.games,
        format=arguments.format,
        time=read_time_control(arguments.tc),
        adjudication=adjudication,
        limits=_limits(arguments),
        seed=arguments.seed,
        event="local",
    )


_IDENTITY = (
    "family",
    "variant",
    "option",
    "games",
    "tc",
    "format",
    "openings",
    "draw",
    "resign",
    "max_plies",
    "seed",
    "memory",
)
"""The arguments that make a run what it is: continuing it needs the same ones."""


def _games(
    arguments: argparse.Namespace,
    ruleset: Ruleset,
    bots: list[BotSpec],
    folder: RunFolder | _Memory,
    sandbox: Any,
) -> list[GameSpec]:
    """The schedule, the finished games of an earlier start read into `folder.records`."""
    identity = {name: getattr(arguments, name) for name in _IDENTITY} | {"bots": arguments.bots}
    header = folder.open()
    if header is None:
        _plan(arguments, ruleset, tuple(bots))  # nothing is started or stored for arguments that make no sense
        output.note(f"{len(bots)} bots, asking each for its name ...")
        limits, control = _limits(arguments), read_time_control(arguments.tc)
        is_reaper, before = become_subreaper(), children()
        named = make_unique([introduce(bot, ruleset, sandbox, limits, control) for bot in bots])
        if is_reaper:
            sweep(before)
    else:
        changed = [name for name, value in identity.items() if header.get("arguments", {}).get(name) != value]
        if changed:
            raise FolderError(
                f"{arguments.out}: holds a run with another {', '.join(changed)}; "
                "give the same arguments to continue it, or another folder"
            )
        try:
            named = tuple(replace(bot, **known) for bot, known in zip(bots, header["bots"], strict=True))
        except (KeyError, TypeError, ValueError):
            raise FolderError(f"{arguments.out}/run.json: names no bots; the run is left as it is") from None
    games = schedule(_plan(arguments, ruleset, named))
    plan = digest([game.id for game in games])
    if header is None:
        known_bots = [
            {"name": bot.name, "version": bot.version, "capabilities": dict(bot.capabilities)} for bot in named
        ]
        folder.begin({"arguments": identity, "bots": known_bots, "games": len(games), "schedule": plan})
    elif header.get("schedule") != plan:
        raise FolderError(f"{arguments.out}: was planned by another version of the rules or the program; start anew")
    folder.resume(games)
    return games


def _play(arguments: argparse.Namespace, games: list[GameSpec], folder: RunFolder | _Memory, sprt: Sprt | None) -> int:
    names = list(dict.fromkeys(name for game in games for name in (game.first.name, game.second.name)))
    left = left_to_play(games, folder.records)
    if len(left) < len(games):
        output.note(f"{len(games) - len(left)} of {len(games)} games are there already")
    begin = time.monotonic()
    fresh: list[GameRecord] = []

    def keep(record: GameRecord) -> None:
        folder.append(record)
        fresh.append(record)
        report(record, len(folder.records), len(games), arguments.log)

    def verdict() -> Verdict | None:
        return judge(sprt, folder.records, names[0]) if sprt else None

    pool = SlotPool(arguments.concurrency, sandbox=arguments.sandbox, affinity=arguments.affinity == "auto")
    dispatcher = Dispatcher(pool, 2 * arguments.concurrency, keep)
    with Interrupts(dispatcher, pool):
        try:
            void = dispatcher.run(left, lambda: (found := verdict()) is not None and found.state != "continue")
        finally:
            pool.shutdown()
    elapsed = time.monotonic() - begin
    records = sorted(folder.records, key=lambda record: record.sequence)
    found = _result(records, fresh, names, elapsed, verdict())
    folder.write(
        "result.json",
        json.dumps({key: value for key, value in found.items() if key != "games"}, ensure_ascii=False, indent=1),
    )
    folder.write("games.txt", "".join(map(write_text, records)))
    if arguments.json:
        output.document(found)
    else:
        _show(found)
    for record in void:
        output.error(f"game {record.sequence} stayed void: {record.detail or record.termination}", is_fault=False)
    is_decided = (final := verdict()) is not None and final.state != "continue"
    if len(records) < len(games) and not is_decided:
        output.note(f"{len(games) - len(records)} games are left to play; the same command with --out continues")
        return Exit.FAILED if void else Exit.INTERRUPTED
    return Exit.DONE


class Interrupts:
    """The first Ctrl-C finishes running games, the second calls them off.

    A signal may come in the middle of anything the main thread does, printing and holding locks included: its handler
    only passes it on, and a thread answers it.
    """

    def __init__(self, dispatcher: Dispatcher, pool: SlotPool) -> None:
        self._dispatcher, self._pool = dispatcher, pool
        self._heard: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._before: Any = None

    def _answer(self) -> None:
        count = 0
        while self._heard.get():
            count += 1
            if count == 1:
                output.note("finishing the running games; Ctrl-C again calls them off")
                self._dispatcher.stop()
            else:
                self._dispatcher.abort()
                self._pool.abort()

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._thread.start()
            self._before = signal.signal(signal.SIGINT, lambda *_: self._heard.put(True))

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._heard.put(False)
            self._thread.join()


def report(record: GameRecord, done: int, total: int, wants_logs: bool) -> None:
    """One line of progress per finished game, with the evidence of a forfeit."""
    score = {"first": "1-0", "second": "0-1", "draw": "½-½"}.get(record.winner or "", "void")
    output.note(
        f"[{done}/{total}] {record.first} - {record.second}  {score}  {record.termination}, {len(record.moves)} plies"
    )
    if record.kind == "forfeit":
        output.note(f"        {record.detail}")
        if wants_logs:
            for side, log in record.logs.items():
                output.note(
                    f"        {side}'s standard error:", *(f"          {line}" for line in log.splitlines()[-20:])
                )


def _result(
    records: list[GameRecord], fresh: list[GameRecord], names: list[str], elapsed: float, verdict: Verdict | None
) -> dict[str, Any]:
    moves = sum(len(record.moves) for record in fresh)
    found: dict[str, Any] = {
        "games": [record.as_json() for record in records],
        "standings": [standing.as_json() for standing in standings(records, names)],
        "crosstable": crosstable(records, names),
        "ratings": leaderboard(fold(records)),
        "terminations": terminations(records),
        "elapsed_s": round(elapsed, 3),
        "moves": moves,
        "moves_per_second": round(moves / elapsed, 1) if elapsed else 0.0,
    }
    if verdict:
        found["sprt"] = verdict.as_json()
    return found


def _show(found: dict[str, Any]) -> None:
    ratings = {line["name"]: line for line in found["ratings"]}
    output.table(
        ("#", "bot", "points", "games", "W", "D", "L", "score", "SB", "forfeits", "rating", "mu", "±2σ"),
        [
            (
                str(line["rank"]),
                line["name"],
                f"{line['points']:g}",
                str(line["games"]),
                str(line["wins"]),
                str(line["draws"]),
                str(line["losses"]),
                f"{100 * line['score']:.1f} %",
                f"{line['sonneborn_berger']:g}",
                str(line["forfeits"]),
                *_rating(ratings.get(line["name"])),
            )
            for line in found["standings"]
        ],
        numbers=("#", "points", "games", "W", "D", "L", "score", "SB", "forfeits", "rating", "mu", "±2σ"),
    )
    output.text("")
    show_crosstable(found["crosstable"])
    output.text("", "rating = mu - 3 sigma (TrueSkill); SB = Sonneborn-Berger; W D L from the row's view")
    if "sprt" in found:
        test = found["sprt"]
        output.text(
            f"SPRT: {test['state']}, LLR {test['llr']:.2f} in ({test['lower']:.2f}, {test['upper']:.2f}), "
            f"{test['pairs']} pairs {test['pentanomial']}"
        )
    reasons = ", ".join(f"{name} {count}" for name, count in found["terminations"].items())
    output.text(f"terminations: {reasons or 'none'}")


def _rating(line: dict[str, Any] | None) -> tuple[str, str, str]:
    if line is None:
        return "-", "-", "-"
    return f"{line['conservative']:.2f}", f"{line['mu']:.2f}", f"{2 * line['sigma']:.2f}"


def show_crosstable(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a crosstable of `referee.ratings.standings.crosstable`; long results are shown as W-D-L counts."""
    columns = [str(number) for number in range(1, len(rows) + 1)]
    lines = []
    for number, row in enumerate(rows, 1):
        cells = ["·" if cell is None else _cell(cell) for cell in row["cells"]]
        lines.append((str(number), row["name"], *cells, f"{row['points']:g}"))
    output.table(("#", "crosstable", *columns, "points"), lines, numbers=("#", "points"))


def _cell(cell: Mapping[str, Any]) -> str:
    results = cell["results"]
    if len(results) > 12:
        results = f"+{results.count('W')} ={results.count('D')} -{results.count('L')}"
    return f"{cell['points']:g} {results}".strip()
