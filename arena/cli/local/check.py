"""`arena check`: check a bot step by step, and print every line exchanged and what to fix."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from arena.cli.local.play import add_memory, add_sandbox
from arena.cli.terminal import argument, output
from arena.cli.terminal.argument import read_options
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from referee.bot.argument import read_bot, refuse_unreachable
from referee.bot.file import SavedCapabilities, at_home, read_capabilities, saved_capabilities, write_bot_file
from referee.check.check import check
from referee.check.report import CheckReport, CheckStep
from referee.game.spec import BotLimits, BotSpec, read_time_control
from referee.play.sandbox_choice import choose
from referee.rules import families, load
from referee.sandbox.reaper import become_subreaper, children, sweep


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "bot", metavar="BOT", help="path, quoted command, sample:NAME, 'bridge:NAME …', folder or bot.toml"
    )
    parser.add_argument("--family", required=True, metavar="FAMILY", type=argument.family, help=", ".join(families()))
    parser.add_argument(
        "--variant", action="append", metavar="VARIANT", help="variant to check; may be repeated (default: the first)"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="rule option; may be repeated"
    )
    parser.add_argument(
        "--tc",
        metavar="TIME",
        help="longest time per move to test (default 15/move); the check finds the shortest one that the bot keeps to",
    )
    add_sandbox(parser)
    add_memory(parser)
    parser.add_argument(
        "--write-config", type=Path, metavar="FILE", help="write the bot and its capabilities to FILE, usable as BOT"
    )
    parser.add_argument(
        "--update", action="store_true", help="update the capabilities in BOT, a file that --write-config wrote"
    )
    parser.add_argument("--transcript", action="store_true", help="show the lines of passed steps too")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the bot; exit code 1 when it is unfit, 3 when there is no such program."""
    rules = load(arguments.family)
    options = read_options(arguments.option)
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
        _keep(report, spec, arguments.write_config, saved)
    return Exit.DONE if report.is_fit else Exit.FAILED


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


def _keep(report: CheckReport, spec: BotSpec, file: Path | None, saved: SavedCapabilities | None) -> None:
    """Write the measured capabilities to the file of the bot."""
    found = read_capabilities(report.capabilities.as_json(), report.name)
    if file:
        place = file.absolute().parent
        try:
            spec = at_home(spec, place)
        except ValueError as error:
            raise CommandError(f"cannot write {file}: {error}") from None
        text = write_bot_file(replace(spec, name=spec.name or report.name, capabilities=found), place)
        file.write_text(text, encoding="utf-8")
        output.note(f"written to {file}; use it in place of the bot's command")
    if saved:
        saved.write(found)
        output.note(f"the capabilities in {saved.file} are up to date")


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
    """Leave out the middle of a long exchange."""
    return lines if len(lines) <= 16 else [*lines[:8], f"… {len(lines) - 16} lines …", *lines[-8:]]
