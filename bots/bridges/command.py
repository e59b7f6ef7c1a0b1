"""`python -m bots.bridges.command --family F -- PROGRAM…`: a program that is started for every move, as a UGI bot.

On its standard input the program finds the position on the first line and the legal moves on the second, then the end;
on its standard output the last line that is not empty is its move. The environment says more: `ARENA_FAMILY`,
`ARENA_VARIANT`, `ARENA_SIDE` (first or second), `ARENA_TIME_MS` (what it may take), `ARENA_PLY`. Its standard error is
the bot's own. A program that is late is waited for a little longer than its clock lasts: who loses on time is the
referee's to say.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bots.bridges.failure import BridgeError, BridgeExit, guarded, shown
from bots.sdk import Bot, Clock, families, run
from referee.rules.position import Position

OUTPUT_BYTES = 65_536
"""How much a program may say before its move: more is a mistake."""
LONGEST_MS = 600_000.0
GRACE_MS = 1000.0
"""How long a program is waited for beyond the end of its clock, and after a `stop` it cannot hear."""
ENDING_S = 0.2


class Command(Bot):
    """A bot that asks a program."""

    author = "its author"

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__()
        self.command = tuple(command)

    def choose(self, position: Position, clock: Clock) -> int:
        """What the program says. Raises BridgeError when that is no legal move, or far too late."""
        limit_ms = min(LONGEST_MS, clock.remaining_ms())
        said = self.ask(position, clock, limit_ms)
        lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
        if not lines:
            raise BridgeError(BridgeExit.ANSWER, f"{self.command[0]} wrote no move")
        try:
            return position.read(lines[-1])
        except ValueError as error:
            raise BridgeError(BridgeExit.ANSWER, f"{self.command[0]} wrote {shown(lines[-1])}: {error}") from None

    def ask(self, position: Position, clock: Clock, limit_ms: float) -> bytes:
        """Run the program once and return what it said. Raises BridgeError."""
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
            question = f"{position}\n{' '.join(position.texts)}\n".encode()
            said = _converse(process, question, clock)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # and what it left behind
            code = process.wait()
        if said is None:
            raise BridgeError(BridgeExit.LATE, f"{self.command[0]} had no move after {clock.elapsed_ms():.0f} ms")
        if code not in (0, -signal.SIGKILL):
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise BridgeError(BridgeExit.BROKEN, f"{self.command[0]} {how}")
        return said


def _plies(position: Position) -> int:
    count, earlier = 0, position.previous
    while earlier is not None:
        count, earlier = count + 1, earlier.previous
    return count


def _converse(process: subprocess.Popen[bytes], question: bytes, clock: Clock) -> bytes | None:
    """Write the question, read to the end of the output; None when that takes too long. Raises BridgeError."""
    last_ms = [_patience_ms(clock)]
    clock.on_stop(lambda: last_ms.append(clock.elapsed_ms() + GRACE_MS))
    assert process.stdin
    assert process.stdout
    source, sink = process.stdout.fileno(), process.stdin.fileno()
    os.set_blocking(sink, False)
    said = bytearray()
    with process.stdin, process.stdout:
        while True:
            left_s = (min(last_ms) - clock.elapsed_ms()) / 1000
            wait_s = max(0.0, min(0.1, left_s))  # a `stop` is noticed within that
            readable, writable, _ = select.select([source], [sink] if question else [], (), wait_s)
            if writable:
                try:
                    question = question[os.write(sink, question) :]
                except BrokenPipeError:
                    question = b""  # a program need not read
                if not question:
                    process.stdin.close()
            if readable:
                data = os.read(source, OUTPUT_BYTES)
                if not data:
                    _let_end(process)
                    return bytes(said)
                said += data
                if len(said) > OUTPUT_BYTES:
                    raise BridgeError(BridgeExit.ANSWER, f"the program wrote more than {OUTPUT_BYTES} bytes")
            elif left_s <= 0:
                return None


def _patience_ms(clock: Clock) -> float:
    """How long to wait for a program: all that its clock has, not what the program had better take."""
    if clock.movetime_ms is not None:
        return clock.movetime_ms + GRACE_MS
    if clock.infinite or clock.time_left_ms is None:
        return LONGEST_MS
    return clock.time_left_ms + GRACE_MS


def _let_end(process: subprocess.Popen[bytes]) -> None:
    """Give a program that has closed its output a moment to end, so that its exit code is its own."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(ENDING_S)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bots.bridges.command",
        usage="%(prog)s --family F [--name N] -- PROGRAM …",
        description="A program that gets a position on standard input and writes a move, as a bot.",
    )
    parser.add_argument("--family", choices=families(), required=True)
    parser.add_argument("--name", default="", help="the name shown (default: the program's)")
    parser.add_argument("program", nargs="+", metavar="PROGRAM")
    arguments = parser.parse_args(argv)

    def work() -> None:
        bot = Command(arguments.program)
        type(bot).name = arguments.name or Path(arguments.program[-1]).stem
        run(bot, ["--family", arguments.family])

    sys.stdout = sys.stderr
    guarded(work, "command bridge")


if __name__ == "__main__":
    main()
