"""`python -m bots.bridges.bologna [--seconds S] -- CLIENT…`: a bot of the Tablut Challenge of Bologna as a UGI bot.

The bridge is the server the client knows: it starts `CLIENT WHITE|BLACK SECONDS SERVER`, sends it boards and passes
its moves on. With `--seconds` (or the UGI option `Seconds`) a client of either colour is started at `isready`, while no
clock runs, and the one that is not needed leaves at the first `go`; without, the client is started at the first `go`,
which then also says how many seconds it has for a move. One process is one game.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import sys
from collections.abc import Sequence
from pathlib import Path

from bots.bridges.failure import BridgeError, BridgeExit, guarded
from bots.bridges.namespace import isolate
from bots.bridges.tablut_client import CONNECT_S, Client
from bots.bridges.tablut_wire import COLOURS, ENDINGS, read_move, state
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
    Result,
    SetOption,
    SetPosition,
    Ugi,
    UgiOk,
)
from protocol.options import OptionDecl
from referee.rules.position import Position

FAMILY, VARIANT = "tablut", "ashton"
MAX_SECONDS = 3600
SPARE_MS = 500
"""What is taken off a `movetime` for the way there and back before it is told to a client, in whole seconds."""


class Bridge:
    """The referee on one side, a client on the other."""

    def __init__(self, console: Console, command: Sequence[str], seconds: int, name: str) -> None:
        self.console = console
        self.command = command
        self.seconds = seconds
        self.name = name
        self.table = GameState(FAMILY)
        self.table.set_option("Variant", VARIANT)
        self.clients: dict[str, Client] = {}
        self.shown: list[Position] = []
        """The positions the client has seen."""
        self.stopped, self._bell = os.pipe()

    def run(self) -> None:
        """Act on messages until it is time to leave. Raises BridgeError."""
        try:
            while (message := self.console.receive()) is not None:
                self.handle(message)
        finally:
            self.console.close()
            for client in self.clients.values():
                client.close()

    def handle(self, message: RefereeMessage) -> None:
        """Act on one message. Raises BridgeError for what the client does."""
        match message:
            case Ugi():
                self.introduce()
            case SetOption(name="Seconds", value=str(value)):
                if not value.isdecimal() or int(value) > MAX_SECONDS:
                    self.console.report_error(f"Seconds is a number up to {MAX_SECONDS}, not {value!r}")
                else:
                    self.seconds = int(value)
            case SetOption(name=name, value=value) if name.startswith("Rule."):
                with contextlib.suppress(ValueError):
                    self.table.set_option(name, value or "")
            case IsReady():
                start = self.table.start()
                _ = start.play(start.moves[0]).outcome  # what is compiled is loaded now, and not on the clock
                if self.seconds and not self.clients:
                    self.start(tuple(COLOURS.values()))
                self.console.send(ReadyOk())
            case SetPosition():
                try:
                    self.table.follow(message.fen, message.moves)
                except ValueError as error:
                    self.console.report_error(error)
            case Go():
                self.go(message)
            case Result():
                self.end(ENDINGS[message.winner])

    def introduce(self) -> None:
        """Everything up to `ugiok`: one variant, no clocks, a new process for every game."""
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

    def start(self, roles: Sequence[str], patience_s: float = CONNECT_S) -> None:
        """Start a client of each colour, then wait for them, white first. Raises BridgeError."""
        for role in roles:
            self.clients[role] = Client(self.command, role, self.seconds)
        for role in roles:
            self.clients[role].meet(patience_s)
            self.console.send(Info(text=f"the {role} client is {self.clients[role].name}"))

    def go(self, message: Go) -> None:
        """Show the client what it has not seen, and pass its move on. Raises BridgeError."""
        position = self.table.position
        if position is None or position.outcome is not None:
            self.console.report_error("the game is over" if position else "no position was sent")
            self.console.send(BestMove("------"))
            self.console.end()
            return
        role = COLOURS[position.side]
        clock = Clock(message, 0 if position.side == "first" else 1)
        self.console.begin(clock)
        while select.select([self.stopped], (), (), 0)[0]:
            os.read(self.stopped, 16)
        clock.on_stop(self.ring)
        if role not in self.clients:
            patience_s = CONNECT_S
            if message.movetime:
                self.seconds = max(1, (message.movetime - SPARE_MS) // 1000)
                patience_s = min(CONNECT_S, message.movetime / 1000)
            self.start([role], patience_s)
        for other in [name for name in self.clients if name != role]:
            self.clients.pop(other).close()
        move = self.ask(self.clients[role], position, clock)
        self.console.send(BestMove(move))
        self.console.end()
        with contextlib.suppress(ValueError):  # the referee says what is wrong with it
            self.show(self.clients[role], position.play(move))

    def ring(self) -> None:
        """Wake up whoever waits for a client: the referee wants an answer now."""
        os.write(self._bell, b"!")

    def ask(self, client: Client, position: Position, clock: Clock) -> str:
        """The client's move. Raises BridgeError when it has none in time."""
        unasked = client.drop_unasked() if self.shown else 0
        if unasked:
            print(f"the {client.role} client said {unasked} things unasked: dropped", file=sys.stderr, flush=True)
        line = [position]
        while line[-1].previous is not None:
            line.append(line[-1].previous)
        for step in reversed(line[: len(line) - len(self.shown)]):
            self.show(client, step)
        payload = client.answer(self.stopped)
        if payload is None:
            raise BridgeError(
                BridgeExit.LATE, f"the {client.role} client had no move after {clock.elapsed_ms():.0f} ms"
            )
        return read_move(payload)

    def show(self, client: Client, position: Position) -> None:
        """Send a board, once."""
        self.shown.append(position)
        client.tell(state(position))

    def end(self, ending: str) -> None:
        """Tell the client how the game ended, with the last board it can know."""
        if self.shown:
            for client in self.clients.values():
                client.tell(state(self.shown[-1], ending))


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="python -m bots.bridges.bologna",
        usage="%(prog)s [--name N] [--seconds S] [--namespace auto|off] -- CLIENT …",
        description="Hosts a client of the Tablut Challenge. {role}, {seconds} and {server} in its command are filled "
        "in; without any of them they are put behind it, as usual.",
    )
    parser.add_argument("--name", default="", help="the name shown (default: made from the client's command)")
    parser.add_argument(
        "--seconds", type=int, default=0, metavar="S", help="per move; the client starts before the game"
    )
    parser.add_argument("--namespace", choices=("auto", "off"), default="auto", help="a network of its own if it can")
    parser.add_argument("client", nargs="+", metavar="CLIENT", help="the client's command")
    arguments = parser.parse_args(words)
    if not 0 <= arguments.seconds <= MAX_SECONDS:
        parser.error(f"--seconds is a number from 0 to {MAX_SECONDS}")
    if arguments.namespace == "auto":
        isolate("bots.bridges.bologna", words)
    name = arguments.name or f"{Path(arguments.client[0]).stem} (Bologna)"
    console = Console(leaves=True)
    console.start()
    guarded(Bridge(console, arguments.client, arguments.seconds, name).run, "bologna bridge")


if __name__ == "__main__":
    main()
