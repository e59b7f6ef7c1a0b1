"""The command of a bot's file: its words, which may name files only inside the bot's folder."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from referee.bot.bridge import FAMILY, bridged, is_bridge

PYTHON = "python"
"""The arena's Python as the program of a command, whichever environment is active."""
MAX_WORDS, MAX_WORD = 32, 500


class BotFileError(ValueError):
    """An invalid bot file; the message names the file and the key, and says what to write."""


def is_inside(path: str) -> bool:
    """Return whether a path is relative and stays below where it begins, whatever links there are."""
    return not os.path.isabs(path) and os.path.normpath(path).split(os.sep)[0] != ".."


def read_command(given: object, families: Sequence[str], folder: Path, source: str) -> tuple[str, ...]:
    """Return the words of a command that a file gives as one text or as a list. Raises BotFileError."""
    if isinstance(given, str):
        try:
            given = shlex.split(given)
        except ValueError as error:
            raise BotFileError(f"{source}: command: {error}; quote it as in a shell") from None
    if not isinstance(given, list) or not given or not all(isinstance(word, str) for word in given):
        raise BotFileError(f'{source}: missing command: add one, such as command = ["./mybot"]')
    if len(given) > MAX_WORDS or any(len(word) > MAX_WORD or not word.isprintable() for word in given):
        raise BotFileError(f"{source}: command: expected at most {MAX_WORDS} printable words of {MAX_WORD} characters")
    folder = folder.resolve()
    command = [_relative(word, folder, source) for word in given]
    if is_bridge(command):
        try:
            started = bridged(command, FAMILY, PYTHON)
        except ValueError as error:
            raise BotFileError(f"{source}: command: {error}") from None
        place = len(command) - len(started) + started.index("--") + 1 if "--" in started else None
    else:
        place = 0
    if place is not None:
        command[place] = _program(command[place], families, folder, source)
    return tuple(command)


def _program(name: str, families: Sequence[str], folder: Path, source: str) -> str:
    """Return a program, with a path if it is a file of the bot's folder. Raises BotFileError."""
    if os.path.isabs(name):
        return name
    if os.sep not in name:
        return os.path.join(os.curdir, name) if (folder / name).is_file() else name
    for path in [name.replace(FAMILY, family) for family in families] if FAMILY in name else [name]:
        if not (folder / path).is_file():
            raise BotFileError(
                f"{source}: command: no file {path!r} in the bot's folder; build it, or correct the command"
            )
    return name


def _relative(word: str, folder: Path, source: str) -> str:
    """Return a word in which absolute paths inside the folder are relative to it: a sandbox shows it at another path.

    Raises BotFileError for a path that leaves the folder (`../client`).
    """
    pieces = re.split("([=:,])", word)
    for place, piece in enumerate(pieces):
        if not os.path.isabs(piece):
            if not is_inside(piece):
                raise BotFileError(
                    f"{source}: command: {piece!r} lies outside the bot's folder, all that it sees of its files; "
                    "move it there, or write another folder = …"
                )
            continue
        path = os.path.normpath(piece)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if Path(path).is_relative_to(folder) and os.path.exists(path):
            pieces[place] = os.path.join(os.curdir, os.path.relpath(path, folder))
    return "".join(pieces)


def programs_of(command: Sequence[str]) -> tuple[str, ...]:
    """Return the programs that a command names: its own, and the one that a bridge starts."""
    behind = command[command.index("--") + 1 :][:1] if "--" in command else ()
    return (*command[:1], *behind)
