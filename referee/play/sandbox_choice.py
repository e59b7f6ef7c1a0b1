"""Chooses the sandbox for local bots, whose owner trusts them: the strongest in which all of them start.

It is not used for uploaded bots: they run in the configured sandbox or not at all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.bot.bot import LocalBot
from referee.game.failure import BotError, SandboxError
from referee.game.spec import BotLimits, BotSpec
from referee.machine.sample_warmup import SAMPLES
from referee.sandbox import LEVELS, Sandbox, assess, open_sandbox
from referee.sandbox.view import closed_place, make_view, named_paths


@dataclass(frozen=True, slots=True)
class Complaint:
    """The reason why a bot does not start in a sandbox: one line, and its whole standard error.

    `is_levels_own`: the sandbox itself failed before the bot's program ran.
    """

    reason: str
    log: str = ""
    is_levels_own: bool = False


def choose(name: str, specs: Sequence[BotSpec], limits: BotLimits) -> tuple[Sandbox, tuple[str, ...]]:
    """Return the sandbox of that name; for `auto` the strongest that works here and in which these bots start.

    The bots belong to the person who started this process, and may open the same files. Also returns notes to show:
    which bot required a weaker sandbox, and why. Bots that start in no sandbox, and bots that start but do not answer,
    are ignored. Raises ValueError with what to do if the sandbox of that name does not work; `auto` always finds one,
    at worst `none`.
    """
    if name != "auto":
        return open_sandbox(name, is_own=True), ()
    working = (level for level in LEVELS if assess(level).works)  # a weaker one is tried when it is wanted
    level = next(working)
    notes: list[str] = []
    if level == "none":
        notes.append("no sandbox works here, bots run without one; arena doctor says how to get one")
    refused: list[tuple[BotSpec, dict[str, Complaint]]] = []
    for spec in _programs(specs):
        complaints: dict[str, Complaint] = {}
        while level != "none" and (complaint := why_not(spec, open_sandbox(level, is_own=True), limits)):
            if not complaints and why_not(spec, open_sandbox("none"), limits):
                break
            complaints[level] = complaint
            level = next(working)
        if complaints:
            refused.append((spec, complaints))
    used = "without a sandbox" if level == "none" else f"in {level}"
    notes += [_note(spec, used, complaints) for spec, complaints in refused]
    return open_sandbox(level, is_own=True), tuple(notes)


def _note(spec: BotSpec, used: str, complaints: Mapping[str, Complaint]) -> str:
    """Describe the sandboxes in which a bot does not start, the reasons, and how to make the strongest one work."""
    reasons = " nor in ".join(f"{level} ({complaint.reason})" for level, complaint in complaints.items())
    advice = _advice(spec, next(iter(complaints.values())))
    return f"bot {spec.name or ' '.join(spec.command)!r} runs {used}: it does not start in {reasons}; {advice}"


def _programs(specs: Sequence[BotSpec]) -> Iterable[BotSpec]:
    """Return one bot for each program; all samples count as one program, since they need the same files."""
    found: dict[object, BotSpec] = {}
    for spec in specs:
        is_sample = spec.command[:1] == (sys.executable,) and not SAMPLES.keys().isdisjoint(spec.command)
        found.setdefault(is_sample or (spec.command, spec.folder, spec.options), spec)
    return found.values()


def why_not(spec: BotSpec, sandbox: Sandbox, limits: BotLimits) -> Complaint | None:
    """Return why a bot does not start in a sandbox; None if it starts, even if it does not answer."""
    bot = LocalBot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
    except SandboxError as error:
        return Complaint(str(error).removeprefix(f"sandbox {sandbox.name}: "), is_levels_own=True)
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
    """Return advice about the file that a bot cannot find in a sandbox, if it is known."""
    if complaint.is_levels_own:
        return "that is the sandbox's own error: arena doctor says what it needs"
    shown = (*make_view(spec.command, spec.folder).shown, *([spec.folder] if spec.folder else []))
    for path in named_paths(f"{complaint.log} {complaint.reason}", spec.command, spec.folder):
        if not os.path.isfile(path):
            continue
        if not any(path == place or path.startswith(place + "/") for place in shown):
            place = spec.folder and f"put it in {spec.folder}"
            return (
                f"{path} is not shown to it: {place or 'name the file in its command, or put it next to its program'}"
            )
        if closed := closed_place(path):
            return f"{closed} may be read by its owner alone: let every user read it (chmod a+rX)"
    return "show it what it needs: name the file in its command, or put it next to its program, readable by every user"
