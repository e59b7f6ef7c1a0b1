"""A local tournament: introduces the bots or continues an earlier run, plays the games, prints the results."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.game_view import show_result
from arena.cli.terminal.interrupt import InterruptThread
from arena.cli.terminal.output import RunProgress, in_words
from arena.cli.terminal.printer import Printer
from referee.bot.argument import read_bot, refuse_doubles, refuse_unreachable, typed_options
from referee.bot.settings import BotSettings
from referee.check.probe import Candidate, GameConditions, IneligibleError, ProbeError, probe_all
from referee.game.openings import Opening, opened_by_each
from referee.game.record import GameRecord
from referee.game.record_text import write_text
from referee.game.spec import BotSpec, TimeControl
from referee.machine.cores import usable_cores
from referee.machine.pool import SlotPool, WorkerLostError
from referee.machine.run_folder import FolderError, RunFolder, UnkeptRun
from referee.machine.sample_warmup import have_warm
from referee.machine.warmup import get_ready
from referee.play.run import TournamentRun
from referee.play.sandbox_choice import choose
from referee.rules.core import Termination
from referee.rules.rules import Ruleset
from referee.sandbox import open_sandbox
from referee.tournament import openings, preview
from referee.tournament.document import Document, read
from referee.tournament.ledger import Ledger
from referee.tournament.part import SettingsError

if TYPE_CHECKING:
    from arena.cli.local.play import MachineOptions

MAX_SHOWN = 1_000_000
"""Games of a ladder without an end, as its progress counts them."""


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A tournament of which everything is known that needs no process: what is wrong is refused before any starts.

    `header` is what an earlier run has stored in `folder`; None for a new run. `sandbox` has been chosen already.
    """

    document: Document
    bots: tuple[BotSpec, ...]
    book: Sequence[Opening]
    folder: RunFolder | UnkeptRun
    header: Mapping[str, Any] | None
    machine: MachineOptions
    sandbox: str


def play_tournament(document: Document, machine: MachineOptions, printer: Printer) -> int:
    """Play a tournament, or what is left of it; print and store its results."""
    for_all = BotSettings(None, document.setoptions)
    try:
        bots = tuple(read_bot(text, document.family, for_all) for text in document.entries.bots)
        refuse_doubles(bots)
        refuse_unreachable(bots, machine.sandbox)
        with RunFolder(machine.out) if machine.out else UnkeptRun() as folder:
            header = folder.open()
            if header is not None:
                _refuse_other(document, header, machine.out)
            book = openings.draw(document, openings.size(document, len(bots)))
            prepared = PreparedRun(document, bots, book, folder, header, machine, machine.sandbox)
            return _play_in_sandbox(prepared, printer)
    except (ProbeError, WorkerLostError) as error:
        raise CommandError(str(error), Exit.FAILED) from None
    except (FolderError, IneligibleError, SettingsError) as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise


def _refuse_other(document: Document, header: Mapping[str, Any], place: Path | None) -> None:
    """Raise FolderError if the earlier run in the folder `place` has other settings."""
    try:
        before = dict(_leaves(read(header["document"]).as_json()))
    except (KeyError, TypeError, SettingsError):
        raise FolderError(f"{place}: was begun by another version of the program; use another folder") from None
    now = dict(_leaves(document.as_json()))
    changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    if changed:
        raise FolderError(
            f"{place}: holds a run with another {', '.join(changed)}; "
            "give the same arguments to continue it, or another folder"
        )


def _leaves(data: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{before}{key}.")
        elif value != {}:
            yield f"{before}{key}", value


def _play_in_sandbox(prepared: PreparedRun, printer: Printer) -> int:
    """Choose the sandbox and play. In a new run, the handshake shows whether the bots start in the strongest one."""
    strongest = open_sandbox(prepared.sandbox).name
    if prepared.sandbox != "auto" or strongest == "none" or prepared.header is not None:
        return _play(replace(prepared, sandbox=_chosen(prepared)), printer)
    try:
        return _play(replace(prepared, sandbox=strongest), printer)
    except ProbeError:
        weaker = _chosen(prepared)
        if weaker == strongest:
            raise
    return _play(replace(prepared, sandbox=weaker), printer)


def _chosen(prepared: PreparedRun) -> str:
    """Return the sandbox; `auto` means the strongest in which all bots start. Raises ValueError."""
    sandbox, notes = choose(prepared.sandbox, prepared.bots, prepared.document.game_limits)
    output.note(*notes)
    return sandbox.name


@contextmanager
def open_slots(concurrency: int, sandbox: str, *, is_pinned: bool) -> Iterator[SlotPool]:
    """Yield the pool of game slots, for bots that belong to the user of the command."""
    pool = SlotPool(concurrency, sandbox=sandbox, affinity=is_pinned, is_own=True)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False)


def _play(prepared: PreparedRun, printer: Printer) -> int:
    """Play in the chosen sandbox. Raises FolderError, ProbeError, IneligibleError, ValueError, WorkerLostError."""
    machine = prepared.machine
    with open_slots(machine.concurrency, prepared.sandbox, is_pinned=machine.affinity == "auto") as pool:
        ledger = _begun(prepared, pool) if prepared.header is None else _continued(prepared, prepared.header, pool)
        return _Match(prepared, ledger, printer).play(pool)


def _begun(prepared: PreparedRun, pool: Executor) -> Ledger:
    """Return the ledger of a new run, after the handshakes of its bots."""
    document, bots = prepared.document, _introduced(prepared, pool)
    known = [
        {
            "name": bot.name,
            "version": bot.version,
            "capabilities": dict(bot.capabilities),
            "options": [list(option) for option in bot.options],
        }
        for bot in bots
    ]
    prepared.folder.begin({"document": document.as_json(), "bots": known})
    prepared.folder.resume(())
    return Ledger(document, bots, prepared.book)


def _continued(prepared: PreparedRun, header: Mapping[str, Any], pool: Executor) -> Ledger:
    """Return the ledger of an earlier run with its plan and its results. Meanwhile a slot loads the rules."""
    document, folder = prepared.document, prepared.folder
    pool.submit(get_ready, document.family)
    try:
        bots = [_remembered(bot, known) for bot, known in zip(prepared.bots, header["bots"], strict=True)]
    except (KeyError, TypeError, ValueError):
        raise FolderError(f"{prepared.machine.out}/run.json: names no bots; the run is left as it is") from None
    ledger = Ledger(document, bots, prepared.book)
    for matches, ids in folder.planned():
        if [game.id for game in ledger.plan(matches)] != ids:
            raise FolderError(
                f"{prepared.machine.out}: the rules, the program or a bot's settings (bot.toml) have changed since it "
                "began; undo that to continue it, or use another folder"
            )
    ledger.resume(folder.resume(ledger.games))
    return ledger


def _remembered(bot: BotSpec, known: Mapping[str, Any]) -> BotSpec:
    """Return the bot as it was introduced."""
    options = tuple((str(name), str(value)) for name, value in known["options"])
    return replace(
        bot,
        name=str(known["name"]),
        version=str(known["version"]),
        capabilities=dict(known["capabilities"]),
        options=options,
    )


def _introduced(prepared: PreparedRun, pool: Executor) -> tuple[BotSpec, ...]:
    """Return the bots after their handshakes; meanwhile compile the kernels of the samples among them."""
    document, bots = prepared.document, prepared.bots
    output.note(f"{len(bots)} bots, asking each for its name ...")
    is_shown = any(opening.position for opening in prepared.book)
    terms = GameConditions.of(
        document.ruleset, document.game_limits, document.control, is_shown=is_shown, also=_other_rules(document)
    )
    for_all, texts = document.setoptions, document.entries.bots
    guests = [Candidate(bot, typed_options(text), for_all) for bot, text in zip(bots, texts, strict=True)]
    asked = pool.submit(probe_all, guests, terms)
    import arena.cli.local.results  # noqa: F401 - needed for the first result: loaded while the bots start

    if usable_cores() > 1:
        have_warm(bots, document.family)
    try:
        named = asked.result(output.SPEAKS_AFTER_S)
    except TimeoutError:
        limits = document.game_limits
        most = in_words((limits.start_ms + limits.ready_ms) / 1000)
        output.note(f"waiting for the bots; each may take {most} until its readyok")
        named = asked.result()
    if isinstance(named, ValueError):
        raise named
    _tell_of_options(for_all, named)
    output.note(*filter(None, (_too_fast_for(bot, bot.time or document.control) for bot in named)))
    return named


def _other_rules(document: Document) -> Iterator[Ruleset]:
    """Yield the rules of some games that are not those of most."""
    usual = document.ruleset
    if document.sides == "random":
        yield from opened_by_each(usual)
    for handicap in document.handicaps:
        if handicap.rule_options:
            yield usual.rules.settle(usual.variant.name, {**usual.overrides, **handicap.rule_options})


def _tell_of_options(each: Sequence[tuple[str, str]], bots: Sequence[BotSpec]) -> None:
    """Report the bots without an option that is set for all. Raises ValueError if no bot has it."""
    for name, _ in each:
        without = [bot.name for bot in bots if name not in dict(bot.options)]
        if len(without) == len(bots):
            raise ValueError(f"no bot has the engine option {name!r}; `arena check BOT` shows what a bot announces")
        if without:
            output.note(f"{', '.join(without)}: no option {name!r}, so it is not set there")


def _too_fast_for(bot: BotSpec, time: TimeControl) -> str:
    """Return a warning if a check found that the bot needs more time for a move than it gets; else an empty text."""
    needs_ms, has_ms = bot.capabilities.get("fit_from_ms", 0), time.move_ms
    if has_ms is None or needs_ms <= has_ms:
        return ""
    return f"{bot.name} was found fit from {needs_ms / 1000:g} s a move, and {time} is faster: it may lose on time"


class _Match:
    """Plays the games of a ledger, and shows each result and all of them at the end."""

    def __init__(self, prepared: PreparedRun, ledger: Ledger, printer: Printer) -> None:
        self._folder, self._machine, self._printer = prepared.folder, prepared.machine, printer
        self._ledger = ledger
        self._earlier = len(ledger.records)
        extent = preview.extent(ledger.document, len(ledger.bots))
        least, most = extent.least, extent.most
        self._may_end_early = least != most
        self._total = MAX_SHOWN if most is None else most
        self._pace = RunProgress(self._earlier, self._total)
        self._remark = ""

    def play(self, pool: SlotPool) -> int:
        """Play what is left; return the exit code."""
        ledger, begin = self._ledger, time.monotonic()
        if self._earlier:
            output.note(f"{self._earlier} of {self._total} games are there already")
        run = TournamentRun(
            ledger, self._folder, pool, 2 * pool.size, on_record=self._show, on_suspend=self._tell_suspension
        )

        def abort() -> None:
            run.dispatcher.abort()
            pool.abort()

        with InterruptThread(run.dispatcher.stop, abort):
            try:
                void = run.play()
            finally:
                pool.shutdown()
        self._finish(time.monotonic() - begin)
        for record in void:
            output.error(f"game {record.sequence} stayed void: {record.detail or record.termination}", is_fault=False)
        if run.is_over and not void:
            return Exit.DONE
        output.note(self._left())
        return Exit.INTERRUPTED if run.dispatcher.is_stopped else Exit.FAILED

    def _show(self, record: GameRecord) -> None:
        from arena.cli.local.results import running_lines, sprt_words

        ledger, interval = self._ledger, self._machine.rating_interval
        done = len(ledger.records)
        if not ledger.is_open_pair(record.pair) and (verdict := ledger.decision().verdict):
            self._remark = sprt_words(verdict)
        elif race := ledger.decision().race:
            self._remark = f"{len(race.undecided)} of {len(ledger.bots)} bots undecided"
        if record.termination is not Termination.SUSPENDED:  # one line has said so for all of them
            total = f", at most {self._total}" if self._may_end_early else f"/{self._total}"
            show_result(record, f"{done}{total}", self._machine.log, self._remark)
        if interval and done % interval == 0 and done < self._total:
            output.note(*running_lines(ledger.table()))
        line = self._pace.line(done, may_end_early=self._may_end_early)
        output.progress(f"{line}, {self._remark}" if self._remark else line)

    def _tell_suspension(self, name: str) -> None:
        output.note(f"{name} is suspended: {self._ledger.suspension.why}; it forfeits all its other games")

    def _finish(self, elapsed_s: float) -> None:
        """Store and print the results of all games."""
        from arena.cli.local.results import show, summarise, terms_of

        ledger, document = self._ledger, self._ledger.document
        records = sorted(ledger.records, key=lambda record: record.sequence)
        summary = summarise(records, ledger.records[self._earlier :], ledger.table(), elapsed_s)
        summary["match"] = terms_of(document, ledger.bots, self._total, self._earlier)
        if "sprt" in summary:
            summary["sprt"] |= document.system.of(document).model_dump()
        if isinstance(self._folder, RunFolder):
            stored = json.dumps({"schema": output.SCHEMA, **summary}, ensure_ascii=False, indent=1)
            self._folder.write("result.json", stored)
            self._folder.write("games.txt", "".join(map(write_text, records)))
        if self._printer.form == "csv":
            output.csv(summary["standings"])
            return
        columns = document.system.columns
        games = [] if self._printer.is_for_people else [record.as_json() for record in records]
        self._printer.result(
            {"games": games, **summary}, lambda: show(summary, ledger.overview().bracket, columns), "games"
        )

    def _left(self) -> str:
        count = self._total - len(self._ledger.records)
        most = "at most " if self._may_end_early else ""
        if self._machine.out:
            return f"{most}{count} games are left to play; the same command continues"
        return f"{most}{count} games were not played"
