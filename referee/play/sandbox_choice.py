"""Chooses the sandbox for local bots, whose owner trusts them: the strongest in which all of them start.

Uploaded bots do not use it: they get the sandbox that was configured, or are not run.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from referee.bot.bot import LocalBot
from referee.game.failure import BotError, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.machine.sample_warmup import SAMPLES
from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox
from referee.sandbox.privilege import is_passable
from referee.sandbox.view import make_view

_WORD = re.compile(r"[^\s'\"`:;,()\[\]<>]+")


@dataclass(frozen=True, slots=True)
class Complaint:
    """The reason why a bot does not start in a sandbox: one line, and its whole standard error."""

    reason: str
    log: str = ""


def choose(name: str, specs: Sequence[BotSpec], limits: BotLimits) -> tuple[Sandbox, tuple[str, ...]]:
    """Return the sandbox of that name; for `auto` the strongest that works here and in which these bots start.

    The bots belong to the person who started this process, and may open the same files. Also returns notes for people:
    which bot required a weaker sandbox, and why. A bot that starts nowhere makes no difference, nor does one that
    starts and does not answer. Raises ValueError with what to do where a named sandbox does not work; `auto` always
    finds one, at the last `none`.
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
    """Return one bot of each program; the samples count as one, since they need the same files."""
    found: dict[object, BotSpec] = {}
    for spec in specs:
        is_sample = spec.command[:1] == (sys.executable,) and not SAMPLES.keys().isdisjoint(spec.command)
        found.setdefault(is_sample or (spec.command, spec.folder, spec.options), spec)
    return found.values()


def why_not(spec: BotSpec, sandbox: Sandbox, limits: BotLimits) -> Complaint | None:
    """Return why a bot does not start in a sandbox; None when it does, or when it starts and prints nothing."""
    bot = LocalBot(spec, limits, sandbox)
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
    """Return advice on the file a bot misses in a sandbox, as far as it is known."""
    shown = (*make_view(spec.command, spec.folder).shown, *([spec.folder] if spec.folder else []))
    for path in _files(spec, complaint):
        if not any(path == place or path.startswith(place + "/") for place in shown):
            place = spec.folder and f"put it in {spec.folder}"
            return (
                f"{path} is not shown to it: {place or 'name the file in its command, or put it next to its program'}"
            )
        if not _is_open(path):
            return (
                f"{path} may be read by its owner alone: let every user read it (chmod a+r, a+x for folders above it)"
            )
    return "show it what it needs: name the file in its command, or put it next to its program, readable by every user"


def _files(spec: BotSpec, complaint: Complaint) -> Iterator[str]:
    """Yield the local files that the bot names in its complaint, then those of its command."""
    here = spec.folder or os.getcwd()
    for word in (*_WORD.findall(f"{complaint.log} {complaint.reason}"), *spec.command):
        path = os.path.normpath(os.path.join(here, word))
        if os.path.isfile(path):
            yield path


def _is_open(path: str) -> bool:
    """Return whether every user may read a file."""
    return bool(os.stat(path).st_mode & stat.S_IROTH) and is_passable(path)
