"""Turns what people write for a bot into a `BotSpec`: a path, a quoted command, `sample:NAME`, a bundle folder.

Refuses to run anything, except to ask a bot for its name (`introduce`).
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protocol.capabilities import Capabilities
from protocol.negotiation import Ineligible
from referee.bot import Bot, BotError
from referee.core import UnknownNameError
from referee.play import negotiate
from referee.rules import Ruleset
from referee.sandbox import Sandbox
from referee.spec import BotSpec, Limits

SAMPLES = {
    "random": "bots.random_mover",
    "greedy": "bots.greedy",
    "alphabeta": "bots.alphabeta",
    "mcts": "bots.mcts",
}

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.DOTALL)


def read_bot(text: str, family: str) -> BotSpec:
    """The bot that `text` means; its name is empty unless given as `NAME=BOT`. Raises ValueError with what to write.

    A path that does not exist is not an error here: such a bot forfeits its games, with the reason on record.
    """
    named = _NAMED.fullmatch(text)
    if named and not os.path.exists(text):
        return replace(read_bot(named[2], family), name=named[1])
    if text.startswith("sample:"):
        sample = text.removeprefix("sample:")
        if sample not in SAMPLES:
            raise UnknownNameError("sample bot", sample, tuple(SAMPLES))
        return BotSpec("", (sys.executable, "-m", SAMPLES[sample], "--family", family))
    path = Path(text)
    if path.is_dir():
        return _bundle(path)
    if path.exists():
        return BotSpec("", (str(path.resolve()),))
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"bot {text!r}: {error}; quote the command as in a shell") from None
    if not words:
        raise ValueError("an empty bot; write a path, a quoted command, sample:NAME or a folder with bot.toml")
    program = words[0]
    if os.sep in program:
        words[0] = str(Path(program).resolve())
    return BotSpec("", tuple(words))


def _bundle(folder: Path) -> BotSpec:
    """The bot of a folder with a `bot.toml` (`name`, `command`, `options`)."""
    file = folder / "bot.toml"
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise ValueError(f"{folder}: a folder is a bot only with a bot.toml (name, command) in it") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    command = data.get("command")
    if isinstance(command, str):
        command = shlex.split(command)
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise ValueError(f'{file}: needs a command, such as command = ["./mybot"]')
    options = data.get("options", {})
    if not isinstance(options, dict):
        raise ValueError(f"{file}: options must be a table of names and values")
    settings = tuple((str(name), _word(value)) for name, value in options.items())
    return BotSpec(str(data.get("name", "")), tuple(command), str(folder.resolve()), options=settings)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class IneligibleError(ValueError):
    """A bot that cannot play by these rules, found out before the first game."""


def introduce(spec: BotSpec, ruleset: Ruleset, sandbox: Sandbox, limits: Limits) -> BotSpec:
    """Start the bot once to learn its name and whether it can play by these rules.

    A bot that does not even shake hands keeps a name made from its command: it will forfeit its games. Raises
    IneligibleError when it has not announced what the rules demand.
    """
    fallback = Path(spec.command[0]).stem if len(spec.command) == 1 else Path(spec.command[-1]).name or "bot"
    bot = Bot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
        plan = negotiate(bot, ruleset)
        if isinstance(plan, Ineligible):
            raise IneligibleError(f"bot {spec.name or bot.session.name or fallback!r} cannot play this: {plan.reason}")
        name = spec.name or _clean(bot.session.name) or fallback
        return replace(spec, name=name, version=_clean(Capabilities.from_session(bot.session).name))
    except BotError:
        bot.is_sound = False
        return replace(spec, name=spec.name or fallback)
    finally:
        bot.close()


def _clean(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:64]


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
