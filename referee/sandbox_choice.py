"""Chooses the sandbox for bots of this machine, whose owner trusts them: the strongest in which all of them start.

Programs of strangers are not for this module: they get the sandbox that was asked for, or none of them is run.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.bot import Bot
from referee.failure import BotError, SandboxError
from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox
from referee.spec import BotSpec, Limits


def choose(name: str, specs: Sequence[BotSpec], limits: Limits) -> tuple[Sandbox, tuple[str, ...]]:
    """The sandbox of that name; for `auto` the strongest that works here and in which these bots start.

    Also notes for people: which bot made it a weaker one, and why. A bot that starts nowhere makes no difference, nor
    does one that starts and does not answer. Raises ValueError with what to do.
    """
    if name != "auto":
        return open_sandbox(name), ()
    levels = [level for level in LEVELS if assess(level).works]
    notes: list[str] = []
    for spec in specs:
        reason = why_not(spec, open_sandbox(levels[0]), limits)
        if not reason or levels[0] == "none" or why_not(spec, open_sandbox("none"), limits):
            continue
        stronger = levels[0]
        del levels[0]
        while levels[0] != "none" and why_not(spec, open_sandbox(levels[0]), limits):
            del levels[0]
        words = spec.name or " ".join(spec.command)
        notes.append(f"bot {words!r} does not start in sandbox {stronger} ({reason}): {levels[0]} is used")
    return open_sandbox(levels[0]), tuple(notes)


def why_not(spec: BotSpec, sandbox: Sandbox, limits: Limits) -> str:
    """Why a bot does not start in a sandbox; empty when it does, or when it starts and says nothing."""
    bot = Bot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
    except SandboxError as error:
        return str(error)
    except BotError as error:
        last = (bot.wire.log.strip().splitlines() or [""])[-1]
        return "" if bot.process.is_running else last or error.detail
    else:
        return ""
    finally:
        bot.close()
