"""One command line from its words to its exit code: the outermost handler, and the only bare one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from arena.cli import output
from arena.cli.exit import CommandError, Exit
from arena.cli.parser import build, find, overview


def run(words: Sequence[str]) -> int:
    """Run a command line; every failure becomes one line on stderr and an exit code."""
    verbose = "-v" in words or "--verbose" in words
    try:
        code = _run(list(words))
        sys.stdout.flush()
    except SystemExit as error:  # argparse leaves this way after --help
        code = error.code if isinstance(error.code, int) else int(Exit.DONE)
    except KeyboardInterrupt:
        output.error("interrupted", is_fault=False)
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain again when it closes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.INTERRUPTED)
    except Exception as error:
        found = judge(error)
        if found is None or verbose:
            output.trace(error)
        code, message = found or (Exit.FAILED, f"{type(error).__name__}: {error}; this is a fault of the program")
        output.error(message)
    return int(code)


def judge(error: Exception) -> tuple[Exit, str] | None:
    """The exit code and the message for an error that has a cause outside the program; None for a fault in it."""
    from arena.errors import ArenaError
    from referee.rules.core import ParseError, UnknownNameError

    message = str(error)
    position = sys.modules.get("referee.rules.position")
    found: tuple[Exit, str] | None = None
    if isinstance(error, CommandError):
        found = error.code, message
    elif isinstance(error, ArenaError):
        found = error.exit, f"{message}; {error.hint}" if error.hint else message
    elif isinstance(error, FileNotFoundError):
        found = Exit.NOT_FOUND, f"no such file: {error.filename or message}; check the path"
    elif isinstance(error, (IsADirectoryError, NotADirectoryError, PermissionError)):
        found = Exit.USAGE, f"cannot use {error.filename or 'the file'}: {error.strerror or message}; name another file"
    elif isinstance(error, ConnectionError):
        found = Exit.UNREACHABLE, f"no connection: {message}; is the server running?"
    elif isinstance(error, (ParseError, UnknownNameError)) or (
        position is not None and isinstance(error, position.IllegalMoveError)
    ):
        found = Exit.USAGE, message
    return found


def _run(words: list[str]) -> int:
    parser = build()
    name = next((word for word in words if not word.startswith("-")), None)
    if name is not None:
        find(name)
    arguments = parser.parse_args(words)
    output.be_quiet(getattr(arguments, "quiet", False))
    if arguments.version:
        output.text(_version())
        return Exit.DONE
    if not hasattr(arguments, "run"):
        output.note(overview())
        raise CommandError('no command given; "arena --help" lists them')
    return int(arguments.run(arguments))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"arena {version('bot-arena')}"
    except PackageNotFoundError:
        return "arena (not installed)"
