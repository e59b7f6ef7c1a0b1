"""`python -m bots.bridges.tcp HOST PORT`: a bot that runs elsewhere and speaks UGI over a TCP connection.

A relay: what the referee says goes out, what comes back is said here, byte by byte as it comes. One connection is one
process of the bot.
"""

from __future__ import annotations

import argparse
import os
import select
import socket
from collections.abc import Sequence
from typing import Any

from bots.bridges.failure import BridgeError, BridgeExit, guarded

CHUNK_BYTES = 65_536
CONNECT_S = 8.0
"""How long to try to connect: less than the referee waits for `ugiok`."""
FAREWELL_S = 0.4
"""After `quit` or the end of the input: how long to wait for the other end to hang up."""


def connect(host: str, port: int, timeout_s: float = CONNECT_S) -> socket.socket:
    """A connection. Raises BridgeError."""
    try:
        found = socket.create_connection((host, port), timeout_s)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BridgeError(BridgeExit.UNREACHABLE, f"cannot connect to {host}:{port}: {reason}") from None
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    found.settimeout(None)
    return found


def relay(connection: socket.socket, source: int = 0, sink: int = 1) -> None:
    """Carry bytes both ways until the input ends. Raises BridgeError when the other end hangs up before."""
    said = b""
    waiting: list[Any] = [source, connection]
    while True:
        ready, _, _ = select.select(waiting, (), (), None if source in waiting else FAREWELL_S)
        if source in ready:
            data = os.read(source, CHUNK_BYTES)
            said = (said + data)[-8:]
            try:
                if data:
                    connection.sendall(data)
                else:
                    connection.shutdown(socket.SHUT_WR)
            except OSError as error:
                raise BridgeError(BridgeExit.BROKEN, f"the connection broke: {error}") from None
            if not data:
                waiting.remove(source)
        if connection in ready:
            try:
                data = connection.recv(CHUNK_BYTES)
            except OSError as error:
                raise BridgeError(BridgeExit.BROKEN, f"the connection broke: {error}") from None
            if not data:
                if source in waiting and said.split()[-1:] != [b"quit"]:
                    raise BridgeError(BridgeExit.BROKEN, "the other end closed the connection")
                return
            while data:
                data = data[os.write(sink, data) :]
        if not ready:
            return


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bots.bridges.tcp", description="A UGI bot behind a TCP address.")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    arguments = parser.parse_args(argv)
    address = f"{arguments.host}:{arguments.port}"

    def work() -> None:
        with connect(arguments.host, arguments.port) as connection:
            relay(connection)

    guarded(work, f"tcp:{address}")


if __name__ == "__main__":
    main()
