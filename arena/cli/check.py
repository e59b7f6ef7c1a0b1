"""`arena check`: is this bot fit to play? Step by step, with every line exchanged and what to fix."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from arena.cli import output
from arena.cli.choice import read_options
from arena.cli.exit import CommandError, Exit
from arena.cli.play import add_memory
from referee.bot_argument import read_bot, refuse_unreachable
from referee.bot_file import at_home, read_capabilities, write_bot_file
from referee.check import check
from referee.check_report import Step
from referee.rules import families, load
from referee.sandbox.reaper import become_subreaper, children, sweep
from referee.sandbox_choice import choose
from referee.spec import Limits


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "bot", metavar="BOT", help="path, quoted command, sample:NAME, 'bridge:NAME …', folder or bot.toml"
    )
    parser.add_argument("--family", required=True, metavar="F", help=", ".join(families()))
    parser.add_argument("--variant", action="append", metavar="V", help="a variant to check; may be repeated")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="a rule option; may be repeated")
    parser.add_argument("--sandbox", default="auto", choices=("auto", "bwrap", "landlock", "rlimits", "none"))
    add_memory(parser)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write down the bot and what it can take: a BOT")
    parser.add_argument("--lines", action="store_true", help="show the lines of passed steps too")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Check the bot; exit code 1 when it is unfit."""
    rules = load(arguments.family)
    options = read_options(arguments.option)
    rulesets = [rules.settle(name, options) for name in arguments.variant or [rules.variants[0].name]]
    try:
        spec = read_bot(arguments.bot, arguments.family)
        if spec.time is not None:
            raise CommandError(f"bot {arguments.bot!r}: a time control is for games; leave tc={spec.time} out")
        refuse_unreachable([spec], arguments.sandbox)
        sandbox, notes = choose(arguments.sandbox, [spec], Limits())
    except ValueError as error:
        raise CommandError(str(error)) from None
    output.note(*notes, f"sandbox {sandbox.name}")
    number = 0

    def show(step: Step) -> None:
        nonlocal number
        number += 1
        verdict = "ok" if step.passed else "FAILED" if step.needed else "no"
        output.text(f"{number:2}. {step.name:<34} {verdict:<7} {step.detail}")
        if not step.passed or arguments.lines:
            for line in _shortened(step.lines):
                output.text(f"      {line}")
        if not step.passed:
            output.text(f"      {'fix' if step.needed else 'tip'}: {step.advice}")

    limits = replace(Limits(), memory_bytes=arguments.memory * 2**20)
    is_reaper, before = become_subreaper(), children()
    report = check(spec, rulesets, sandbox, limits, (lambda step: None) if arguments.json else show)
    if is_reaper:
        sweep(before)
    if arguments.json:
        output.document(report.as_json())
    else:
        if report.log:
            output.text("standard error:", *(f"      {line}" for line in report.log.splitlines()[-20:]))
        output.text(f"{report.name or spec.command[0]}: {'fit to play' if report.is_fit else 'unfit'}")
    if arguments.save and report.is_fit:
        found = read_capabilities(report.capabilities.as_json(), report.name)
        place = arguments.save.absolute().parent
        try:
            spec = at_home(spec, place)
        except ValueError as error:
            raise CommandError(f"{arguments.save} is not written: {error}") from None
        text = write_bot_file(replace(spec, name=spec.name or report.name, capabilities=found), place)
        arguments.save.write_text(text, encoding="utf-8")
        output.note(f"written to {arguments.save}; use it in place of the bot's command")
    return Exit.DONE if report.is_fit else Exit.FAILED


def _shortened(lines: list[str]) -> list[str]:
    """The lines, the middle of a long exchange left out."""
    return lines if len(lines) <= 16 else [*lines[:8], f"… {len(lines) - 16} lines …", *lines[-8:]]
