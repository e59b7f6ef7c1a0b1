"""The options of a bot: faults of their declarations, and the form of `setoption` that the bot accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from protocol.capabilities import CLOCKS_OPTION, LEGAL_MOVES_OPTION, RESULT_OPTION, REUSE_OPTION
from protocol.errors import SHOWN, BadLine
from protocol.messages import SetOption
from protocol.options import OptionDecl, parse_option
from referee.check.examinee import BotUnderTest, Unfit
from referee.game.failure import BotError

ARENA_OPTIONS = (CLOCKS_OPTION, RESULT_OPTION, LEGAL_MOVES_OPTION, REUSE_OPTION, "Variant", "Setup", "Family")
_EASY = ("check", "spin", "combo", "string")
_COMPLAINT = re.compile(r"error|unknown|unrecogni[sz]ed|invalid|no such", re.IGNORECASE)


def faults(lines: Sequence[str]) -> list[str]:
    """Return what is wrong with each option line of a handshake, as far as it is not read as it was meant."""
    problems, names = [], set[str]()
    for line in lines:
        if not line.startswith("< option"):
            continue
        try:
            option = parse_option(line[2:])
        except BadLine as error:
            problems.append(f"`{line[2:][:SHOWN]}` is left out: {error.problem}")
            continue
        if option.type == "combo" and not option.values:
            problems.append(f"`{line[2:][:SHOWN]}`: a combo without values (var V)")
        elif option.name in names:
            problems.append(f"`{line[2:][:SHOWN]}` is left out: announced twice")
        names.add(option.name)
    return problems


def refuse(problems: Sequence[str]) -> str:
    """Raise Unfit with all these problems."""
    raise Unfit("; ".join(problems))


def _harmless(option: OptionDecl) -> bool:
    """Return whether the option can be set to its default without any effect."""
    return bool(option.default) and option.type in _EASY and "file" not in option.name.lower()


def set_default(examinee: BotUnderTest, move_ms: int, timeout_ms: int) -> str:
    """Set an option to its default by `setoption name N value V`, or by `setoption N V` if the bot complains.

    After each try the bot is asked for a move in `move_ms`.
    """
    usable = [option for option in examinee.bot.session.options.values() if _harmless(option)]
    if not usable:
        return "no option to set"
    assert examinee.home
    phase = examinee.home.rules.phase
    ours = (*ARENA_OPTIONS, phase.announced_by if phase else "")
    # An option of the bot itself if it has one, of the simplest type: the arena sets its own options anyway.
    option = min(usable, key=lambda option: (option.name in ours, _EASY.index(option.type)))
    setting = SetOption(option.name, option.default)
    problem = _complaint(examinee, setting, move_ms, timeout_ms)
    if problem is None:
        return f"takes `{setting}`"
    examinee.restart(setoption="bare")
    examinee.prepare()
    if _complaint(examinee, setting, move_ms, timeout_ms) is None:
        return f"takes `{setting.bare()}` only ({problem})"
    examinee.restart(setoption="standard")
    examinee.prepare()
    raise Unfit(f"accepts neither `{setting}` nor `{setting.bare()}`: {problem}")


def _complaint(examinee: BotUnderTest, setting: SetOption, move_ms: int, timeout_ms: int) -> str | None:
    """Set an option, send `go` and return the bot's complaint; None if it answers without one."""
    bot = examinee.bot
    lines = bot.wire.transcript = [] if bot.wire.transcript is None else bot.wire.transcript
    before = len(lines)
    try:
        bot.tell(setting)
        examinee.ask(f"movetime {move_ms}", timeout_ms)
    except BotError as error:
        return error.detail
    said = (line for line in lines[before:] if line.startswith("< ") and not line.startswith("< bestmove"))
    return next((line[2:] for line in said if _COMPLAINT.search(line)), None)
