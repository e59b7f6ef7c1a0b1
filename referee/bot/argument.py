"""Parses a bot argument into a `BotSpec`: a path, a command, a bot's file, `sample:NAME`, `bridge:NAME …`, or
`tcp:HOST:PORT`.

Nothing is run here: `referee.check.probe` starts a bot to read its name.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from referee.bot.bridge import bridged, is_bridge
from referee.bot.file import is_bot_file, read_local_bot
from referee.bot.input_file import refuse_special
from referee.bot.settings import BotSettings, split_settings
from referee.game.spec import BotSpec
from referee.rules.core import UnknownNameError

SAMPLES = {
    "random": "bots.samples.random_mover",
    "greedy": "bots.samples.greedy",
    "alphabeta": "bots.samples.alphabeta",
    "mcts": "bots.samples.mcts",
    "champion": "bots.samples.champion",
}

RELAY = "bots.bridges.tcp"
CLOSED = ("bwrap", "landlock")
"""Sandboxes without a network."""

PACKED = {b"PK\x03\x04": "unzip", b"\x1f\x8b": "tar xf"}
"""The first bytes of packed folders, and what unpacks them."""

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.DOTALL)


_NONE = BotSettings()


def read_bot(text: str, family: str, shared: BotSettings = _NONE) -> BotSpec:
    """Parse `[NAME=]BOT[;tc=TC][;option.X=V]…`. The spec's name is empty if neither `text` nor the bot's file has one.

    `shared` holds options for all bots: they override those of the bot's file and are overridden by those in `text`.

    Raises ValueError that says what to write, FileNotFoundError if the program is missing, OSError if it is a device.
    """
    text, own = _parts(text)
    named = None if os.path.exists(text) else _NAMED.fullmatch(text)
    spec = replace(_read(named[2], family), name=named[1]) if named else _read(text, family)
    options = dict(spec.options) | dict(shared.options) | dict(own.options)  # typed options override those of the file
    return replace(spec, time=own.time, options=tuple(options.items()))


def typed_options(text: str) -> tuple[tuple[str, str], ...]:
    """Return the options set in the bot argument itself, as (name, value)."""
    return _parts(text)[1].options


def _parts(text: str) -> tuple[str, BotSettings]:
    return (text, _NONE) if os.path.exists(text) else split_settings(text)


def sample_command(name: str, family: str) -> tuple[str, ...]:
    """Return the command of a sample bot; with `-P` its imports ignore the working folder."""
    return (sys.executable, "-P", "-m", SAMPLES[name], "--family", family)


def _read(text: str, family: str) -> BotSpec:
    if text.startswith("sample:"):
        sample = text.removeprefix("sample:")
        if sample not in SAMPLES:
            raise UnknownNameError("sample bot", sample, tuple(SAMPLES))
        return BotSpec("", sample_command(sample, family))
    if text.startswith("tcp:"):
        return _remote(text)
    path = Path(text)
    refuse_special(path)
    if is_bot_file(path):
        return read_local_bot(path, family)
    _refuse_packed(path)
    return BotSpec("", (os.path.abspath(path),) if path.exists() else _command(text, family))


def _refuse_packed(path: Path) -> None:
    """Raise ValueError for a packed folder, which only an upload unpacks."""
    if not path.is_file():
        return
    with suppress(OSError), path.open("rb") as file:
        head = file.read(4)
        for mark, command in PACKED.items():
            if head.startswith(mark):
                name = shlex.quote(str(path))
                raise ValueError(
                    f"bot {str(path)!r} is a packed folder: unpack it ({command} {name}) and name its folder, "
                    f"or submit it (arena bot submit {name})"
                )


def _command(text: str, family: str) -> tuple[str, ...]:
    """Parse a command quoted as in a shell; return a bridge's command for `bridge:NAME …`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"bot {text!r}: {error}; quote the command as in a shell") from None
    if not words:
        raise ValueError("an empty bot; write a path, a quoted command, sample:NAME, 'bridge:NAME …' or a bot file")
    if is_bridge(words):
        return bridged(words, family, sys.executable)
    program = words[0]
    refuse_special(program)
    if not is_there(program):
        raise FileNotFoundError(errno.ENOENT, "no such program", program)
    if os.sep in program:
        words[0] = os.path.abspath(program)  # a link is not followed: an interpreter looks at its own place
    return tuple(words)


def is_there(program: str) -> bool:
    """Return whether a program exists: as a path, or by name on PATH or next to the Python interpreter."""
    if os.sep in program:
        return os.path.exists(program)
    return shutil.which(program, path=author_path()) is not None


def author_path() -> str:
    """Return PATH, followed by the folder of the arena's Python, so that `python` is a program everywhere.

    In a sandbox that folder comes first (`launch.search_path`): here a bot finds the Python that its author prepared.
    """
    return os.pathsep.join((os.environ.get("PATH", os.defpath), os.path.dirname(sys.executable)))


def _remote(text: str) -> BotSpec:
    """Return the spec of a bot at a TCP address: its command starts the relay to that address."""
    host, _, port = text.removeprefix("tcp:").rpartition(":")
    if not host.strip("[]") or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"bot {text!r}: write tcp:HOST:PORT, such as tcp:192.0.2.7:4000")
    return BotSpec("", (sys.executable, "-P", "-m", RELAY, host.strip("[]"), port))


def refuse_doubles(specs: Sequence[BotSpec]) -> None:
    """Raise ValueError if two bots were given the same name."""
    places: dict[str, int] = {}
    for place, spec in enumerate(specs, 1):
        if spec.name and spec.name in places:
            raise ValueError(f"bots {places[spec.name]} and {place} are both named {spec.name!r}; write NAME=BOT")
        places[spec.name] = place


def refuse_unreachable(specs: Sequence[BotSpec], sandbox: str) -> None:
    """Raise ValueError if a bot at a TCP address is to run in a sandbox without network."""
    if sandbox in CLOSED:
        for spec in specs:
            if RELAY in spec.command:
                address = ":".join(spec.command[-2:])
                raise ValueError(
                    f"bot tcp:{address}: its bridge needs the network, and the sandbox {sandbox} has none; "
                    "add --sandbox rlimits, or --sandbox none"
                )
