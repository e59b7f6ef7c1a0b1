"""Runs one command line and returns its exit code: the outermost exception handler, which alone catches everything."""

from __future__ import annotations

import errno
import os
import re
import select
import sys
from collections.abc import Sequence
from typing import IO

from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.output import PLACES
from arena.cli.terminal.parser import build, find, overview
from referee.errors import ArenaError, did_you_mean

MAX_MESSAGE = 1000
"""Characters of an error; what people give may have millions."""


def run(words: Sequence[str]) -> int:
    """Run a command line; every failure becomes one line on stderr and an exit code."""
    try:
        code = _ended(list(words))
    except BrokenPipeError:  # the reader of stderr has gone
        code = int(Exit.UNREAD)
    return code if _flushed() else int(Exit.UNREAD)


def _ended(words: list[str]) -> int:
    """Run a command line and report errors; return its exit code. Raises BrokenPipeError if stderr is closed."""
    try:
        code = _run(words)
        sys.stdout.flush()
    except SystemExit as error:  # argparse leaves this way after --help
        code = error.code if isinstance(error.code, int) else int(Exit.DONE)
    except KeyboardInterrupt:
        output.error("interrupted", is_fault=False)
        return int(Exit.INTERRUPTED)
    except Exception as error:
        if isinstance(error, BrokenPipeError) and any(map(_is_unread, (sys.stdout, sys.stderr))):
            return int(Exit.UNREAD)
        verdict = judge(error)
        if verdict is None or "-v" in words or "--verbose" in words:
            output.trace(error)
        code, message = verdict or (Exit.FAILED, f"{type(error).__name__}: {error}; this is a fault of the program")
        output.error(_clipped(message))
    return int(code)


def _clipped(message: str) -> str:
    """Leave out the middle of a message that repeats a very long input."""
    return message if len(message) <= MAX_MESSAGE else f"{message[:300]} … {message[-300:]}"


def _is_unread(stream: IO[str]) -> bool:
    """Return whether a stream is a pipe without a reader. A BrokenPipeError may be that of another pipe."""
    look = select.poll()
    try:
        look.register(stream.fileno(), 0)
    except (OSError, ValueError):  # no file: a test has it in memory
        return False
    return bool(look.poll(0))


def _flushed() -> bool:
    """Flush all output, so that Python reports no failure at exit; return False if a pipe has no reader."""
    is_taken = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            is_taken = is_taken and not isinstance(error, BrokenPipeError)
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return is_taken


def judge(error: Exception) -> tuple[Exit, str] | None:
    """Return exit code and message of an error with a cause outside the program; None for a bug."""
    message = str(error)
    verdict: tuple[Exit, str] | None = None
    if isinstance(error, CommandError):
        verdict = error.code, message
    elif isinstance(error, ArenaError):
        verdict = error.exit, _sentence(error)
    elif isinstance(error, ConnectionError):
        verdict = Exit.UNREACHABLE, f"no connection: {message}; is the server running?"
    elif isinstance(error, OSError):
        verdict = _of_system(error)
    elif isinstance(error, UnicodeError):
        verdict = Exit.USAGE, "what was given is not UTF-8 text; is it the right file?"
    elif isinstance(error, MemoryError):
        verdict = Exit.FAILED, "there is not enough memory for this; ask for less at once"
    elif isinstance(error, RecursionError):
        verdict = Exit.USAGE, "what was given is nested too deep; write it plainer"
    elif isinstance(error, RuntimeError) and "start new thread" in message:
        verdict = _of_system(OSError(errno.EAGAIN, message))
    elif (
        _is_one(error, "referee.rules.core", "ParseError", "UnknownNameError")
        or _is_one(error, "referee.families", "FamilyPackageError")
        or _is_one(error, "referee.bot.file", "BotFileError")
    ):
        verdict = Exit.USAGE, message
    elif _is_one(error, "referee.rules.position", "IllegalMoveError"):
        verdict = Exit.USAGE, f"{message}; `arena rules moves` lists the legal ones"
    elif _is_one(error, "referee.rules.cache", "NumbaVersionError") or _is_one(
        error, "referee.machine.pool", "SlotStartError"
    ):
        verdict = Exit.FAILED, message
    return verdict


def _sentence(error: ArenaError) -> str:
    """Return the message with what to do; all of them if several fields are wrong, of which the message names one."""
    faults = error.extra.get("errors", ())
    if len(faults) > 1:
        return "; ".join(f"{fault['field']}: {fault['message']}" for fault in faults)
    listed = _LISTED.match(str(error))
    hint = error.hint or (f"`arena {listed[1]} list` lists all" if listed else _HINTS.get(error.exit, ""))
    return f"{error}; {hint}" if hint else str(error)


def _is_one(error: Exception, module: str, *names: str) -> bool:
    """Return whether an error has one of the named classes of a module; False if the module is not imported."""
    known = sys.modules.get(module)
    return known is not None and isinstance(error, tuple(getattr(known, name) for name in names))


_HINTS = {Exit.NOT_FOUND: "check its name or number", Exit.UNREACHABLE: "`arena doctor` looks at every part"}
"""What to do where an error itself does not say it."""
_LISTED = re.compile("no (schedule|tournament) [0-9]")
"""Messages about a number that a command lists."""
_SCARCE = {
    errno.EAGAIN: "no more processes or threads can be started here; raise ulimit -u, or ask for less at once",
    errno.ENOMEM: "there is not enough memory for this; ask for less at once",
    errno.EMFILE: "no more files may be opened here; raise the limit (ulimit -n) or ask for less at once",
    errno.ENFILE: "this machine has no more files to open; close what is not needed",
    errno.ENOSPC: "the disk is full; make room and do it again",
    errno.EDQUOT: "the disk quota is used up; make room and do it again",
}


def _of_system(error: OSError) -> tuple[Exit, str] | None:
    """Return exit code and message of an error of the operating system; None without a known cause."""
    if error.errno in _SCARCE:
        return Exit.FAILED, _SCARCE[error.errno]
    if error.filename is None:
        return None
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(name)
        if folder and not os.path.isdir(folder):
            return Exit.NOT_FOUND, f"no such file: {name}; there is no folder {folder}: check the path, or make it"
        return Exit.NOT_FOUND, f"no such file: {name}; check the path"
    if isinstance(error, FileExistsError):
        kind = "folder" if os.path.isdir(name) else "file"
        return Exit.USAGE, f"cannot use {name}: it is a {kind} that is there already; name another"
    return Exit.USAGE, f"cannot use {name}: {error.strerror or error}; name another file or folder"


def _run(words: list[str]) -> int:
    output.name_place({})
    name = next((word for word in words if not word.startswith("-")), None)
    command = None if name is None else find(name)
    parser = build(command)
    arguments, others = parser.parse_known_args(words)
    if others:
        prog = parser.chain(words)[-1].prog
        near = did_you_mean(
            similar for word in others for similar in parser.options_near(word.partition("=")[0], words)
        )
        advice = f'{near} See "{prog} --help"' if near else f'see "{prog} --help"'
        raise CommandError(f"unrecognized arguments: {' '.join(others)}; {advice}")
    output.be_quiet(getattr(arguments, "quiet", False))
    output.name_place({name: str(value) for name in PLACES if (value := getattr(arguments, name, None))})
    if arguments.version:
        output.text(_version())
        return Exit.DONE
    if not hasattr(arguments, "run"):
        output.note(overview())
        raise CommandError('no command given; "arena --help" lists them')
    if command and command.compiles:
        from arena.cli.terminal.kernel_cache import have_folder

        have_folder(arguments)
    return int(arguments.run(arguments))


def _version() -> str:
    from referee.machine import source

    return f"arena {source.release()}, sources {source.digest()}"
