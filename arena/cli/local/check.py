"""`arena check`: check a bot step by step, and print every line exchanged and what to fix."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from arena.cli.terminal import argument, output
from arena.cli.terminal.argument import read_options
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option, positional
from arena.cli.terminal.printer import Output, Printer
from arena.cli.terminal.rules_arguments import memory_option, sandbox_option
from referee.bot.argument import read_bot, refuse_unreachable
from referee.bot.file import ROOT, BotFile, is_bot_file, read_bot_file, read_capabilities
from referee.bot.file_writer import SavedCapabilities, at_home, bot_file_of, saved_capabilities, write_bot_file
from referee.check.check import check
from referee.check.report import CheckReport, CheckStep
from referee.game.spec import BotLimits, BotSpec, read_time_control
from referee.play.sandbox_choice import choose
from referee.rules import families, load
from referee.sandbox.reaper import become_subreaper, children, sweep


@dataclass(frozen=True, kw_only=True)
class CheckArguments(Output):
    bot: str = positional("path, quoted command, sample:NAME, 'bridge:NAME …', folder or bot.toml", "BOT")
    family: str = option(
        f"{', '.join(families())} (default: that of the bot's file)", metavar="FAMILY", type=argument.family, default=""
    )
    variant: tuple[str, ...] = option(
        "variant to check; may be repeated (default: the first)", metavar="VARIANT", default=()
    )
    options: tuple[str, ...] = option("rule option; may be repeated", "--option", metavar="NAME=VALUE", default=())
    tc: str | None = option(
        "time per move of the first question, and the longest to test (default 15/move); the check finds the shortest "
        "one that the bot keeps to",
        metavar="TIME",
    )
    sandbox: str = sandbox_option()
    memory: int = memory_option()
    write_config: Path | None = option("write the bot and its capabilities to FILE, usable as BOT", metavar="FILE")
    update: bool = option("update the capabilities in BOT, a file that --write-config wrote", default=False)
    transcript: bool = option("show the lines of passed steps too", default=False)


def run(arguments: CheckArguments) -> int:
    """Check the bot; exit code 1 when it is unfit, 3 when there is no such program."""
    arguments = replace(arguments, family=arguments.family or _family_of(arguments.bot))
    rules = load(arguments.family)
    options = read_options(arguments.options)
    rulesets = [rules.settle(name, options) for name in arguments.variant or [rules.variants[0].name]]
    try:
        spec = read_bot(arguments.bot, arguments.family)
        if spec.time is not None:
            raise CommandError(f"bot {arguments.bot!r}: a check sets its own time control; remove tc={spec.time}")
        move_ms = _move_ms(arguments.tc)
        saved = saved_capabilities(Path(arguments.bot)) if arguments.update else None
        refuse_unreachable([spec], arguments.sandbox)
        sandbox, notes = choose(arguments.sandbox, [spec], BotLimits())
    except ValueError as error:
        raise CommandError(str(error)) from None
    output.note(*notes, f"sandbox {sandbox.name}")
    printer = Printer(arguments)
    limits = replace(BotLimits(), memory_bytes=arguments.memory * 2**20)
    show: Callable[[CheckStep], None] = (
        partial(_show, count(1), arguments.transcript) if printer.is_for_people else lambda step: None
    )
    is_reaper, before = become_subreaper(), children()
    report = check(spec, rulesets, sandbox, limits, show, needs_all=True, move_ms=move_ms)
    if is_reaper:
        sweep(before)
    printer.result(report.as_json(), partial(_conclude, report, spec))
    if report.is_fit:
        _keep(report, spec, arguments, saved)
    return Exit.DONE if report.is_fit else Exit.FAILED


def _family_of(text: str) -> str:
    """Return the only family of a bot's file. Raises CommandError if there is no such file, or no only family."""
    path = Path(text)
    try:
        named = read_bot_file(path).families if is_bot_file(path) else ()
    except ValueError as error:
        raise CommandError(str(error)) from None
    if len(named) == 1:
        return named[0]
    if named:
        raise CommandError(f"{text} plays {', '.join(named)}: name one, as in --family {named[0]}")
    raise CommandError(f"missing --family: write one of {', '.join(families())}")


def _conclude(report: CheckReport, spec: BotSpec) -> None:
    if report.log and not (report.fault and report.fault.said):
        output.text("standard error:", *(f"      {line}" for line in report.log.splitlines()[-20:]))
    output.text(f"{report.name or spec.command[0]}: {_verdict(report)}, after {report.seconds:.0f} s")


def _show(numbers: Iterator[int], wants_lines: bool, step: CheckStep) -> None:
    """Print a step of the check when it has ended."""
    verdict = "ok" if step.passed else "FAILED" if step.needed else "no"
    output.text(f"{next(numbers):2}. {step.name:<34} {verdict:<7} {step.detail}")
    if not step.passed or wants_lines:
        for line in _shortened(step.lines):
            output.text(f"      {line}")
    if step.needed and step.said:
        output.text("      standard error:", *(f"        {line}" for line in step.said.splitlines()))
    if step.advice and not step.passed:
        output.text(f"      {'fix' if step.needed else 'tip'}: {step.advice}")


def _keep(report: CheckReport, spec: BotSpec, arguments: CheckArguments, saved: SavedCapabilities | None) -> None:
    """Write the measured capabilities to the file of the bot."""
    capabilities = read_capabilities(report.capabilities.as_json(), report.name)
    if file := arguments.write_config:
        try:
            bot = _bot_file(spec, arguments.bot, arguments.family, file.absolute().parent)
            write_bot_file(replace(bot, name=bot.name or report.name, capabilities=capabilities), file)
        except ValueError as error:
            raise CommandError(f"cannot write {file}: {error}") from None
        output.note(f"written to {file}; use it in place of the bot's command")
    if saved:
        saved.write(capabilities)
        output.note(f"the capabilities in {saved.file} are up to date")


def _bot_file(spec: BotSpec, text: str, family: str, place: Path) -> BotFile:
    """Return the file of a checked bot: that from which it was read, or a new one. Raises ValueError."""
    if is_bot_file(Path(text)):
        bot = read_bot_file(Path(text))
        return replace(bot, families=bot.families or (family,), folder=spec.folder or ROOT)
    return bot_file_of(at_home(spec, place), family)


def _move_ms(text: str | None) -> int:
    """Return the time for each move of a time control; 0 without one. Raises CommandError."""
    if not text:
        return 0
    move_ms = read_time_control(text).move_ms
    if move_ms is None:
        raise CommandError(f"--tc {text}: a limit of depth or nodes sets no time; write 5/move or 10+0.1")
    return max(1, round(move_ms))


def _verdict(report: CheckReport) -> str:
    found = report.timing
    if not report.is_fit:
        return "unfit"
    return f"fit to play from {(found.fit_from_ms or 0) / 1000:g} s a move"


def _shortened(lines: list[str]) -> list[str]:
    """Leave out the middle of a long exchange, and the end of long lists of legal moves."""
    lines = [textwrap.shorten(line, 120, placeholder=" …") if line.startswith("> legal ") else line for line in lines]
    return lines if len(lines) <= 16 else [*lines[:8], f"… {len(lines) - 16} lines …", *lines[-8:]]
