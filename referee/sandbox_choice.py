"""Chooses the sandbox for bots of this machine, whose owner trusts them: the strongest in which all of them start.

Programs of strangers are not for this module: they get the sandbox that was asked for, or none of them is run.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from referee.bot import Bot
from referee.failure import BotError, SandboxError
from referee.sample_warmup import SAMPLES
from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox
from referee.sandbox.view import look
from referee.spec import BotSpec, Limits

_WORD = re.compile(r"[^\s'\"`:;,()\[\]<>]+")
ALONE = "to run your own bots without a sandbox add --sandbox none"


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a bot does not start in a sandbox: in a line, and all it wrote to standard error."""

    reason: str
    log: str = ""


def choose(
    name: str, specs: Sequence[BotSpec], limits: Limits, *, may_be_none: bool = False
) -> tuple[Sandbox, tuple[str, ...]]:
    """The sandbox of that name; for `auto` the strongest that works here and in which these bots start.

    Also notes for people: which bot made it a weaker one, and why. A bot that starts nowhere makes no difference, nor
    does one that starts and does not answer. Raises ValueError with what to do, also for `auto` where a bot starts in
    no sandbox at all: it is for people to say that it may do without one (`may_be_none` says it beforehand).
    """
    if name != "auto":
        return open_sandbox(name), ()
    working = (level for level in LEVELS if assess(level).works)  # a weaker one is tried when it is wanted
    level = next(working)
    notes: list[str] = []
    if level == "none":
        notes.append("no sandbox works here, bots run without one; arena doctor says how to get one")
    for spec in _programs(specs):
        complaint = why_not(spec, open_sandbox(level), limits)
        if not complaint or level == "none" or why_not(spec, open_sandbox("none"), limits):
            continue
        stronger, level = level, next(working)
        while level != "none" and why_not(spec, open_sandbox(level), limits):
            level = next(working)
        words = f"bot {spec.name or ' '.join(spec.command)!r}"
        advice = _advice(spec, complaint)
        if level == "none" and not may_be_none:
            raise ValueError(f"{words} starts in no sandbox; in {stronger}: {complaint.reason}; {advice}; {ALONE}")
        notes.append(f"{words} does not start in sandbox {stronger} ({complaint.reason}): {level} is used; {advice}")
    return open_sandbox(level), tuple(notes)


def _programs(specs: Sequence[BotSpec]) -> Iterable[BotSpec]:
    """One bot of each program; the samples are one, for they need the same files."""
    found: dict[object, BotSpec] = {}
    for spec in specs:
        is_sample = spec.command[:2] == (sys.executable, "-m") and spec.command[2] in SAMPLES
        found.setdefault(is_sample or (spec.command, spec.folder, spec.options), spec)
    return found.values()


def why_not(spec: BotSpec, sandbox: Sandbox, limits: Limits) -> Complaint | None:
    """Why a bot does not start in a sandbox; None when it does, or when it starts and says nothing."""
    bot = Bot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
    except SandboxError as error:
        return Complaint(str(error))
    except BotError as error:
        if bot.process.is_running:
            return None
        last = (bot.wire.log.strip().splitlines() or [""])[-1]
        return Complaint(last or error.detail, bot.wire.log)
    else:
        return None
    finally:
        bot.close()


def _advice(spec: BotSpec, complaint: Complaint) -> str:
    """Which file the bot misses in a sandbox, as far as can be told, and how to show it."""
    shown = (*look(spec.command, spec.folder).shown, *([spec.folder] if spec.folder else []))
    for path in _files(spec, complaint):
        if not any(path == place or path.startswith(place + "/") for place in shown):
            place = spec.folder and f"put it in {spec.folder}"
            return f"{path} is not shown to it: {place or 'name the file in its command, or put it beside its program'}"
        if not _is_open(path):
            return (
                f"{path} may be read by its owner alone: let every user read it (chmod a+r, a+x for folders above it)"
            )
    return "show it what it needs: name the file in its command, or put it beside its program, readable by every user"


def _files(spec: BotSpec, complaint: Complaint) -> Iterator[str]:
    """The files of this machine that the bot names in its complaint, then those of its command."""
    here = spec.folder or os.getcwd()
    for word in (*_WORD.findall(f"{complaint.log} {complaint.reason}"), *spec.command):
        path = os.path.normpath(os.path.join(here, word))
        if os.path.isfile(path):
            yield path


def _is_open(path: str) -> bool:
    """Whether every user may read a file, or may read and search the folder it is in."""
    if not os.stat(path).st_mode & stat.S_IROTH:
        return False
    folder = path
    while (folder := os.path.dirname(folder)) != "/":
        if not os.stat(folder).st_mode & stat.S_IXOTH:
            return False
    return True
