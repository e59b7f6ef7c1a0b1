"""Exit of a bridge after an error of its program: one precise line on standard error, and an exit code.

The referee shows both. The codes are those of `sysexits.h`.
"""

from __future__ import annotations

import argparse
import enum
import os
import sys
from collections.abc import Callable
from typing import NoReturn


class BridgeExit(enum.IntEnum):
    USAGE = 64
    """Invalid command line of the bridge."""
    ANSWER = 65
    """An unreadable answer, or an illegal move."""
    MISSING = 66
    """No such program, module or function."""
    UNREACHABLE = 69
    """No connection, or a port in use."""
    BROKEN = 70
    """The program ended, closed its connection, or raised an error."""
    LATE = 75
    """No answer in time."""


class BridgeError(Exception):
    """An error of the program behind a bridge; the message says what happened, with the evidence."""

    def __init__(self, code: BridgeExit, message: str) -> None:
        super().__init__(message)
        self.code = code


class BridgeParser(argparse.ArgumentParser):
    """The parser of a bridge's command line: an invalid one ends the process with `USAGE`."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and end the process."""
        self.print_usage(sys.stderr)
        self.exit(BridgeExit.USAGE, f"{self.prog}: error: {message}\n")


def shown(data: object, limit: int = 200) -> str:
    """Format data as one short line for an error message."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
    text = repr(text)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def guarded(work: Callable[[], None], name: str) -> NoReturn:
    """Run a bridge and end the process with 0 or the exit code of the error."""
    code = 0
    try:
        work()
    except BridgeError as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        code = int(error.code)
    except BrokenPipeError:
        pass  # the referee is gone
    except KeyboardInterrupt:
        code = 130
    sys.stderr.flush()
    os._exit(code)  # threads that wait for a pipe must not hold the process
