"""`python -m bots.bridges.bologna [--seconds SECONDS] -- CLIENT…`: a client of the Tablut Challenge of Bologna as a UGI
bot.

The bridge is the server of that client: it starts `CLIENT WHITE|BLACK SECONDS SERVER`, sends it boards and forwards its
moves. With `--seconds` (or the UGI option `Seconds`) clients of both colours start at `isready`, while no clock runs,
and the unused one ends at the first `go`. Without it, a client starts at the first `go`, with the move time of that
`go` as its seconds.

A client sees one game, from the first position for which it has to move. It never gets an older board, because it
would answer that too. If a position does not continue the game, a new client starts while the clock runs. The bridge
therefore announces that it needs a new process for every game.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bots.bridges.failure import BridgeError, BridgeExit, BridgeParser, guarded
from bots.bridges.tablut_client import CONNECT_TIMEOUT_S, PLACEHOLDERS, TablutClient, unknown_placeholder
from bots.bridges.tablut_wire import COLOURS, ENDINGS, read_move, state_frame
from bots.sdk.clock import Clock
from bots.sdk.console import Console
from bots.sdk.game_state import GameState
from protocol.messages import (
    BestMove,
    Declared,
    Go,
    Id,
    Info,
    IsReady,
    ReadyOk,
    RefereeMessage,
    SetOption,
    SetPosition,
    Ugi,
    UgiOk,
    UgiResult,
)
from protocol.options import OptionDecl
from referee.rules.position import Position

FAMILY, VARIANT = "tablut", "ashton"
MAX_SECONDS = 3600
START_MS = 2000
"""Time for the start of a client and for both ways. It is subtracted from a `movetime` before that is rounded down to
whole seconds.
"""
FLAG = "BRIDGE_HAS_NAMESPACE"
"""Environment variable of a bridge that was restarted in a network namespace."""
_SET_FLAGS, _UP, _RUNNING = 0x8914, 0x1, 0x40
"""SIOCSIFFLAGS, IFF_UP and IFF_RUNNING (linux/sockios.h, linux/if.h)."""


class Bridge:
    """A bridge between the referee and a client."""

    def __init__(self, console: Console, command: Sequence[str], seconds: int, name: str) -> None:
        self.console = console
        self.command = command
        self.seconds = seconds
        self.name = name
        self.table = GameState(FAMILY)
        self.table.set_option("Variant", VARIANT)
        self.clients: dict[str, TablutClient] = {}
        self.asked: tuple[str | None, tuple[str, ...]] = (None, ())
        """The start and moves of the last `position`."""
        self.shown: tuple[str | None, tuple[str, ...]] | None = None
        """The start and moves that led to the last board the client was sent; None for a new client."""
        self.board: Position | None = None
        """The board after the client's last move."""
        self.stop_fd, self._wake_fd = os.pipe()

    def run(self) -> None:
        """Handle messages until the end of the conversation. Raises BridgeError."""
        try:
            while (message := self.console.receive()) is not None:
                self.handle(message)
        finally:
            self.console.close()
            self.close()

    def handle(self, message: RefereeMessage) -> None:
        """Act on one message. Raises BridgeError for errors of the client."""
        match message:
            case Ugi():
                self.introduce()
            case SetOption(name="Seconds", value=str(value)):
                if not value.isdecimal() or int(value) > MAX_SECONDS:
                    self.console.report_error(f"invalid Seconds {value!r}: expected a number up to {MAX_SECONDS}")
                else:
                    self.seconds = int(value)
            case SetOption(name=name, value=value) if name.startswith("Rule."):
                with contextlib.suppress(ValueError):
                    self.table.set_option(name, value or "")
            case IsReady():
                start = self.table.start()
                _ = start.play(start.moves[0]).outcome  # load compiled code now, while no clock runs
                if self.seconds and not self.clients:
                    self.start(tuple(COLOURS.values()), self.seconds)
                self.console.send(ReadyOk())
            case SetPosition():
                self.asked = message.fen, tuple(message.moves)
                try:
                    self.table.follow(*self.asked)
                except ValueError as error:
                    self.console.report_error(error)
            case Go():
                self.go(message)
            case UgiResult():
                self.end(ENDINGS[message.winner])

    def introduce(self) -> None:
        """Send the handshake up to `ugiok`: one variant, no clocks, a new process for every game."""
        self.console.send(
            Id("name", self.name),
            Id("author", "a client of the Tablut Challenge"),
            Id("family", FAMILY),
            Declared(OptionDecl("Variant", "combo", VARIANT, values=(VARIANT,))),
            Declared(OptionDecl("Seconds", "spin", str(self.seconds), 0, MAX_SECONDS)),
            Declared(OptionDecl("UGI_Clocks", "check", "false")),
            Declared(OptionDecl("UGI_Result", "check", "true")),
            Declared(OptionDecl("UGI_Reuse", "check", "false")),
            UgiOk(),
        )

    def start(self, roles: Sequence[str], seconds: int) -> None:
        """Start a client for each of `roles`, then wait in that order until each has sent its name.

        Raises BridgeError.
        """
        for role in roles:
            self.clients[role] = TablutClient(self.command, role, seconds)
        for role in roles:
            self.clients[role].wait_for_name(self.stop_fd)
            self.console.send(Info(text=f"the {role} client is {self.clients[role].name}"))

    def go(self, message: Go) -> None:
        """Send the position to the client of the side to move, and forward its move. Raises BridgeError."""
        position = self.table.position
        if position is None or position.outcome is not None:
            self.console.report_error("the game is over" if position else "no position was sent")
            self.console.send(BestMove("------"))
            self.console.end()
            return
        role = COLOURS[position.side]
        clock = Clock(message, 0 if position.side == "first" else 1)
        self.console.begin(clock)
        self.forget_stop()
        clock.on_stop(self.wake)
        fen, moves = self.asked
        if self.shown not in (None, (fen, moves[:-1])):
            self.close()
        try:
            if role not in self.clients:
                move_ms = message.movetime or 1000 * CONNECT_TIMEOUT_S
                self.start([role], self.seconds or max(1, int(move_ms - START_MS) // 1000))
            for other in [name for name in self.clients if name != role]:
                self.clients.pop(other).close()
            move = self.ask(self.clients[role], position, clock)
        except BridgeError as error:
            if error.code is not BridgeExit.LATE or clock.remaining_ms() > 0:
                raise
            self.give_up(error)
            return
        self.console.send(BestMove(move))
        self.console.end()
        with contextlib.suppress(ValueError):  # the referee reports an illegal move
            self.board = position.play(move)
            self.clients[role].send(state_frame(self.board))
        self.shown = fen, (*moves, move)

    def give_up(self, error: BridgeError) -> None:
        """Answer without a move and end the client: the referee, which alone measures the time, sent `stop`."""
        print(f"bologna bridge: {error}", file=sys.stderr, flush=True)
        self.console.send(BestMove("------"))  # first: the referee waits only a moment
        self.console.end()
        self.close()
        self.forget_stop()

    def forget_stop(self) -> None:
        """Empty the pipe that a `stop` has filled."""
        while select.select([self.stop_fd], (), (), 0)[0]:
            os.read(self.stop_fd, 16)

    def wake(self) -> None:
        """End the wait for the client's move, because the referee sent `stop`."""
        os.write(self._wake_fd, b"!")

    def ask(self, client: TablutClient, position: Position, clock: Clock) -> str:
        """Return the client's move. Raises BridgeError if it does not come in time."""
        if self.shown is None:
            if client.role == "BLACK" and position.previous:  # as from the server: its first board is White's to answer
                client.send(state_frame(position.previous))
        elif dropped := client.drop_unrequested():
            print(f"dropped {dropped} unrequested messages of the {client.role} client", file=sys.stderr, flush=True)
        client.send(state_frame(position))
        payload = client.next_message(self.stop_fd)
        if payload is None:
            raise BridgeError(
                BridgeExit.LATE, f"the {client.role} client had no move after {clock.elapsed_ms():.0f} ms"
            )
        return read_move(payload)

    def end(self, ending: str) -> None:
        """Send the client the result of the game, with the board after the client's last move."""
        if self.board:
            for client in self.clients.values():
                client.send(state_frame(self.board, ending))

    def close(self) -> None:
        while self.clients:
            self.clients.popitem()[1].close()
        self.shown = self.board = None


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = BridgeParser(
        prog="python -m bots.bridges.bologna",
        usage="%(prog)s [--name NAME] [--seconds SECONDS] [--namespace auto|off] -- CLIENT …",
        description="Host a client of the Tablut Challenge. {role}, {seconds} and {server} in its command are filled "
        "in; without placeholders they are appended.",
    )
    parser.add_argument("--name", default="", help="name to show (default: from the client's command)")
    parser.add_argument(
        "--seconds",
        type=int,
        default=0,
        metavar="SECONDS",
        help="seconds for each move; if given, the clients start before the game (default: the client starts at the "
        "first `go`, with the move time of that `go`)",
    )
    parser.add_argument(
        "--namespace",
        choices=("auto", "off"),
        default="auto",
        help="auto (default): use a network namespace if possible",
    )
    parser.add_argument("client", nargs="+", metavar="CLIENT", help="command of the client")
    arguments = parser.parse_args(words)
    if not 0 <= arguments.seconds <= MAX_SECONDS:
        parser.error(f"invalid --seconds: expected a number from 0 to {MAX_SECONDS}")
    if unknown := unknown_placeholder(arguments.client):
        parser.error(f"invalid placeholder {unknown}: expected {', '.join(PLACEHOLDERS)}")
    if arguments.namespace == "auto":
        isolate("bots.bridges.bologna", words)
    name = arguments.name or f"{Path(arguments.client[0]).stem} (Bologna)"
    console = Console()
    console.start()
    guarded(Bridge(console, arguments.client, arguments.seconds, name).run, "bologna bridge")


def isolate(module: str, arguments: Sequence[str]) -> bool:
    """Restart `module` in a new network namespace if the system allows that.

    Returns whether this process is in such a namespace: the restarted process calls this function again.
    """
    if os.environ.pop(FLAG, ""):
        return _bring_up_loopback()
    command = shutil.which("unshare")
    if not command:
        return False
    inside = [command, "-Urn", "--"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        return False
    os.environ[FLAG] = "1"
    python = [sys.executable, *(["-P"] if sys.flags.safe_path else [])]
    os.execv(command, [*inside, *python, "-m", module, *arguments])  # noqa: S606 - replaces this process


def _bring_up_loopback() -> bool:
    # struct ifreq: the name in 16 bytes, then the flags; a new namespace begins with its loopback down (netdevice(7)).
    request = struct.pack("16sh14x", b"lo", _UP | _RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, _SET_FLAGS, request)
        except OSError:
            return False
    return True


if __name__ == "__main__":
    main()
