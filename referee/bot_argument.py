"""Turns what people write for a bot into a `BotSpec`: a path, a command, `sample:NAME`, `bridge:NAME …`, a file.

Refuses to run anything, except to ask a bot for its name and what it can take (`introduce`).
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protocol.capabilities import CLOCKS_OPTION
from protocol.negotiation import Ineligible
from referee.bot import Bot
from referee.bot_file import read_bot_file, read_capabilities
from referee.bot_settings import BotSettings, split_settings, wrong_option
from referee.bridge import bridged, is_bridge
from referee.check import check
from referee.failure import BotError, SandboxError
from referee.negotiate import negotiate
from referee.rules.core import UnknownNameError
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox
from referee.spec import BotSpec, Limits, TimeControl

SAMPLES = {
    "random": "bots.random_mover",
    "greedy": "bots.greedy",
    "alphabeta": "bots.alphabeta",
    "mcts": "bots.mcts",
    "champion": "bots.champion",
}

RELAY = "bots.bridges.tcp"
CLOSED = ("bwrap", "landlock")
"""Sandboxes without a network."""

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.DOTALL)


def read_bot(text: str, family: str) -> BotSpec:
    """The bot that `text` means: `[NAME=]BOT[;tc=TC][;option.X=V]…`. Its name is empty unless given.

    Raises ValueError with what to write, FileNotFoundError for a program that is not there.
    """
    text, own = _parts(text)
    named = None if os.path.exists(text) else _NAMED.fullmatch(text)
    spec = replace(_read(named[2], family), name=named[1]) if named else _read(text, family)
    options = dict(spec.options) | dict(own.options)  # what is typed comes before what its file says
    return replace(spec, time=own.time, options=tuple(options.items()))


def typed_options(text: str) -> tuple[tuple[str, str], ...]:
    """The options that are set where a bot is written, as (name, value)."""
    return _parts(text)[1].options


def _parts(text: str) -> tuple[str, BotSettings]:
    return (text, BotSettings()) if os.path.exists(text) else split_settings(text)


def _read(text: str, family: str) -> BotSpec:
    if text.startswith("sample:"):
        sample = text.removeprefix("sample:")
        if sample not in SAMPLES:
            raise UnknownNameError("sample bot", sample, tuple(SAMPLES))
        return BotSpec("", (sys.executable, "-m", SAMPLES[sample], "--family", family))
    if text.startswith("tcp:"):
        return _remote(text)
    path = Path(text)
    if path.is_dir() or (path.suffix == ".toml" and path.is_file()):
        return read_bot_file(path, family)
    return BotSpec("", (os.path.abspath(path),) if path.exists() else _command(text, family))


def _command(text: str, family: str) -> tuple[str, ...]:
    """The words of a quoted command, or of a bridge's."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"bot {text!r}: {error}; quote the command as in a shell") from None
    if not words:
        raise ValueError("an empty bot; write a path, a quoted command, sample:NAME, 'bridge:NAME …' or a bot file")
    if is_bridge(words):
        return bridged(words, family, sys.executable)
    program = words[0]
    if not is_there(program):
        raise FileNotFoundError(errno.ENOENT, "no such program", program)
    if os.sep in program:
        words[0] = os.path.abspath(program)  # a link is not followed: an interpreter looks at its own place
    return tuple(words)


def is_there(program: str) -> bool:
    """Whether there is such a file, or such a program where a bot's programs are looked for."""
    if os.sep in program:
        return os.path.exists(program)
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), os.path.dirname(sys.executable)))
    return shutil.which(program, path=places) is not None


def _remote(text: str) -> BotSpec:
    """A bot behind a TCP address, by way of the relay."""
    host, _, port = text.removeprefix("tcp:").rpartition(":")
    if not host.strip("[]") or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"bot {text!r}: write tcp:HOST:PORT, such as tcp:192.0.2.7:4000")
    return BotSpec("", (sys.executable, "-m", RELAY, host.strip("[]"), port))


class IneligibleError(ValueError):
    """A bot that cannot play by these rules, found out before the first game."""


class UnintroducedError(ValueError):
    """A bot that does not start, or does not say who it is: it would lose every game."""


def introduce(
    spec: BotSpec,
    ruleset: Ruleset,
    sandbox: Sandbox,
    limits: Limits,
    control: TimeControl | None = None,
    *,
    typed: Sequence[tuple[str, str]] = (),
    is_shown: bool = False,
    also: Sequence[Ruleset] = (),
) -> BotSpec:
    """Start the bot once to learn its name, whether it can play by these rules, and what it can take.

    `also`: other rules that some of its games have.

    A bot that says nothing of its clocks, and whose capabilities are not written down, is asked a few questions more.
    Raises UnintroducedError when it does not even shake hands, IneligibleError when it has not announced what the
    rules demand, or one of the options that were `typed` for it, cannot set up positions where the start `is_shown` as
    one, or cannot limit its search as `control` does (that of its own, if it has one).
    """
    control = control and (spec.time or control)
    file_name = Path(spec.command[0]).stem if len(spec.command) == 1 else Path(spec.command[-1]).name or "bot"
    bot = Bot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
        name = spec.name or _clean(bot.session.name) or file_name
        for each in (ruleset, *also):
            plan = negotiate(bot, each, is_shown=is_shown)
            if isinstance(plan, Ineligible):
                raise IneligibleError(f"bot {name!r} cannot play this: {plan.reason}")
        if problem := wrong_option(bot.session.options, typed):
            raise IneligibleError(f"bot {name!r} {problem}")
        spec = replace(spec, name=name, version=_clean(bot.session.learned().name))
        is_known = bool(spec.capabilities) or CLOCKS_OPTION in bot.session.options
    except (BotError, SandboxError) as error:
        bot.process.is_sound = False
        reason = error.detail if isinstance(error, BotError) else str(error)
        raise UnintroducedError(_not_introduced(spec, reason, bot.wire.log if bot.process.child else "")) from None
    finally:
        bot.close()
    if control is not None and not is_known and control.kind in ("clock", "movetime"):
        report = check(spec, [ruleset], sandbox, limits, is_quick=True)
        if report.is_fit:
            spec = replace(spec, capabilities=read_capabilities(report.capabilities.as_json(), spec.name))
    if control is not None and control.kind in ("depth", "nodes") and not spec.capabilities.get(control.kind, True):
        raise IneligibleError(f"bot {spec.name!r} does not know `go {control.kind} N`; take a time control in seconds")
    return spec


def _not_introduced(spec: BotSpec, reason: str, log: str) -> str:
    said = [line.strip() for line in log.splitlines() if line.strip()]
    words = f"; its last words: {said[-1][:300]}" if said and said[-1] not in reason else ""
    shown = spec.name or shlex.join(spec.command)[:200]
    return f"bot {shown!r} did not introduce itself: {reason}{words}; `arena check` shows every line exchanged"


def _clean(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:64]


def refuse_doubles(specs: Sequence[BotSpec]) -> None:
    """Raise ValueError when two bots were given one name."""
    places: dict[str, int] = {}
    for place, spec in enumerate(specs, 1):
        if spec.name and spec.name in places:
            raise ValueError(f"bots {places[spec.name]} and {place} are both named {spec.name!r}; write NAME=BOT")
        places[spec.name] = place


def refuse_unreachable(specs: Sequence[BotSpec], sandbox: str) -> None:
    """Raise ValueError for a bot behind a TCP address where a sandbox is asked for that lets nobody out."""
    if sandbox in CLOSED:
        for spec in specs:
            if RELAY in spec.command:
                address = ":".join(spec.command[-2:])
                raise ValueError(f"bot tcp:{address}: the sandbox {sandbox} has no network; add --sandbox rlimits")


def make_unique(specs: Sequence[BotSpec]) -> tuple[BotSpec, ...]:
    """The same bots with `-2`, `-3` … behind names that were taken."""
    taken: set[str] = set()
    found = []
    for spec in specs:
        name, number = spec.name, 1
        while name in taken:
            number += 1
            name = f"{spec.name}-{number}"
        taken.add(name)
        found.append(replace(spec, name=name))
    return tuple(found)
