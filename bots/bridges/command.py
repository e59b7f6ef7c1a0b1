"""`python -m bots.bridges.command --family FAMILY -- PROGRAM…`: a program that is started for every move, as a UGI bot.

The program reads the position from the first line of its standard input and the legal moves from the second. Its move
is the last non-empty line of its standard output. Environment variables: `ARENA_FAMILY`, `ARENA_VARIANT`, `ARENA_SIDE`
(first or second), `ARENA_TIME_MS` (time it may take), `ARENA_PLY`. Its standard error becomes that of the bot. The
bridge measures no time: it waits for the program until the referee sends `stop`, and then answers without a move.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from bots.bridges.engine_process import end_of, kill
from bots.bridges.failure import BridgeError, BridgeExit, BridgeParser, guarded, shown
from bots.sdk import Bot, Clock, families, run
from referee.rules.position import Position

MAX_OUTPUT_BYTES = 65_536
"""Longest output of a program before its move; more is an error."""
POLL_INTERVAL_S = 0.1
"""Within this time a `stop` is noticed; less than the referee waits after it."""
EXIT_TIMEOUT_S = 0.2


class ProgramBot(Bot):
    author = "its author"

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__()
        self.command = tuple(command)

    def choose(self, position: Position, clock: Clock) -> int | None:
        """Return the program's move; None if the referee sent `stop` before it came. Raises BridgeError."""
        output = self.ask(position, clock, clock.remaining_ms())
        if output is None:
            print(f"{self.command[0]} had no move after {clock.elapsed_ms():.0f} ms", file=sys.stderr, flush=True)
            return None
        lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
        if not lines:
            raise BridgeError(BridgeExit.ANSWER, f"{self.command[0]} wrote no move")
        try:
            return position.read(lines[-1])
        except ValueError as error:
            raise BridgeError(BridgeExit.ANSWER, f"{self.command[0]} wrote {shown(lines[-1])}: {error}") from None

    def ask(self, position: Position, clock: Clock, limit_ms: float) -> bytes | None:
        """Run the program once and return its output; None after a `stop`. Raises BridgeError."""
        environment = os.environ | {
            "ARENA_FAMILY": position.ruleset.rules.family,
            "ARENA_VARIANT": position.ruleset.variant.name,
            "ARENA_SIDE": position.side,
            "ARENA_TIME_MS": str(int(limit_ms)) if not math.isinf(limit_ms) else "",
            "ARENA_PLY": str(_plies(position)),
        }
        try:
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise BridgeError(BridgeExit.MISSING, f"cannot start {self.command[0]!r}: {error.strerror}") from None
        try:
            request = f"{position}\n{' '.join(position.texts)}\n".encode()
            output = _converse(process, request, clock)
        finally:
            code = kill(process)
        if output is not None and code not in (0, -signal.SIGKILL):
            raise BridgeError(BridgeExit.BROKEN, f"{self.command[0]} {end_of(code)}")
        return output


def _plies(position: Position) -> int:
    count, earlier = 0, position.previous
    while earlier is not None:
        count, earlier = count + 1, earlier.previous
    return count


def _converse(process: subprocess.Popen[bytes], request: bytes, clock: Clock) -> bytes | None:
    """Write the request and read to the end of the output; return None after a `stop`. Raises BridgeError."""
    is_stopped = threading.Event()
    clock.on_stop(is_stopped.set)
    assert process.stdin
    assert process.stdout
    source, sink = process.stdout.fileno(), process.stdin.fileno()
    os.set_blocking(sink, False)
    output = bytearray()
    with process.stdin, process.stdout:
        while True:
            wait_s = 0.0 if is_stopped.is_set() else POLL_INTERVAL_S
            readable, writable, _ = select.select([source], [sink] if request else [], (), wait_s)
            if writable:
                try:
                    request = request[os.write(sink, request) :]
                except BrokenPipeError:
                    request = b""  # a program may ignore its input
                if not request:
                    process.stdin.close()
            if readable:
                data = os.read(source, MAX_OUTPUT_BYTES)
                if not data:
                    _wait_for_exit(process)
                    return bytes(output)
                output += data
                if len(output) > MAX_OUTPUT_BYTES:
                    raise BridgeError(BridgeExit.ANSWER, f"the program wrote more than {MAX_OUTPUT_BYTES} bytes")
            elif is_stopped.is_set():
                return None


def _wait_for_exit(process: subprocess.Popen[bytes]) -> None:
    """Wait a moment for a program that has closed its output, so that its own exit code is reported."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(EXIT_TIMEOUT_S)


def main(argv: Sequence[str] | None = None) -> None:
    parser = BridgeParser(
        prog="python -m bots.bridges.command",
        usage="%(prog)s --family FAMILY [--name NAME] -- PROGRAM …",
        description="Run a program that reads a position and writes a move, as a bot.",
    )
    parser.add_argument("--family", choices=families(), required=True, help="family of games")
    parser.add_argument("--name", default="", help="name to show (default: that of the program)")
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="command of the program")
    arguments = parser.parse_args(argv)

    def work() -> None:
        bot = ProgramBot(arguments.program)
        type(bot).name = arguments.name or Path(arguments.program[-1]).stem
        run(bot, ["--family", arguments.family])

    sys.stdout = sys.stderr
    guarded(work, "command bridge")


if __name__ == "__main__":
    main()
