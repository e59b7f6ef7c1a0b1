"""How a bridge ends when what is behind it misbehaves: one precise line on standard error, and an exit code of its own.

The referee shows both. The codes are those of `sysexits.h`.
"""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Callable
from typing import NoReturn


class BridgeExit(enum.IntEnum):
    """What the exit code of a bridge says."""

    USAGE = 64
    """The bridge's own command line."""
    ANSWER = 65
    """An answer that cannot be read, or a move that is not legal."""
    MISSING = 66
    """What is to be bridged is not there: no such program, module or function."""
    UNREACHABLE = 69
    """No connection, or a port that is taken."""
    BROKEN = 70
    """It ended, closed its connection, or raised an error."""
    LATE = 75
    """It did not answer in time."""


class BridgeError(Exception):
    """What is behind the bridge misbehaved; the message says how, with the evidence."""

    def __init__(self, code: BridgeExit, message: str) -> None:
        super().__init__(message)
        self.code = code


def shown(data: object, limit: int = 200) -> str:
    """Evidence as one short line."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
    text = repr(text)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def guarded(work: Callable[[], None], name: str) -> NoReturn:
    """Do the work of a bridge and end the process: 0, or the code of what went wrong."""
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
