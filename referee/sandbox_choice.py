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
from referee.sandbox.privilege import is_passable
from referee.sandbox.view import make_view
from referee.spec import BotSpec, Limits

_WORD = re.compile(r"[^\s'\"`:;,()\[\]<>]+")


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a bot does not start in a sandbox: in a line, and all it wrote to standard error."""

    reason: str
    log: str = ""


def choose(name: str, specs: Sequence[BotSpec], limits: Limits) -> tuple[Sandbox, tuple[str, ...]]:
    """Return the sandbox of that name; for `auto` the strongest that works here and in which these bots start.

    The bots belong to the person who started this process: they may open what that person may. Also returns notes for
    people: which bot made it a weaker sandbox, and why. A bot that starts nowhere makes no difference, nor does one
    that starts and does not answer. Raises ValueError with what to do where the sandbox of a name does not work; `auto`
    always finds one, `none` at the last.
    """
    if name != "auto":
        return open_sandbox(name, is_own=True), ()
    working = (level for level in LEVELS if assess(level).works)  # a weaker one is tried when it is wanted
    level = next(working)
    notes: list[str] = []
    if level == "none":
        notes.append("no sandbox works here, bots run without one; arena doctor says how to get one")
    for spec in _programs(specs):
        complaint = why_not(spec, open_sandbox(level, is_own=True), limits)
        if not complaint or level == "none" or why_not(spec, open_sandbox("none"), limits):
            continue
        stronger, level = level, next(working)
        while level != "none" and why_not(spec, open_sandbox(level, is_own=True), limits):
            level = next(working)
        words = f"bot {spec.name or ' '.join(spec.command)!r}"
        used = "without a sandbox" if level == "none" else f"in {level}"
        reason = f"it does not start in {stronger} ({complaint.reason})"
        notes.append(f"{words} runs {used}: {reason}; {_advice(spec, complaint)}")
    return open_sandbox(level, is_own=True), tuple(notes)


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
    shown = (*make_view(spec.command, spec.folder).shown, *([spec.folder] if spec.folder else []))
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
    """Whether every user may read a file."""
    return bool(os.stat(path).st_mode & stat.S_IROTH) and is_passable(path)
