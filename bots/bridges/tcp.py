"""`python -m bots.bridges.tcp HOST PORT`: a relay to a bot that runs elsewhere and speaks UGI over a TCP connection.

The relay forwards bytes both ways. Each process of the relay opens one connection.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Sequence
from typing import Any

from bots.bridges.failure import BridgeError, BridgeExit, BridgeParser, guarded

CHUNK_BYTES = 65_536
CONNECT_TIMEOUT_S = 8.0
"""Time to try to connect: less than the referee waits for `ugiok`."""
CLOSE_TIMEOUT_S = 0.4
"""Time to wait for the other end to close after `quit` or the end of the input."""


def connect(host: str, port: int, timeout_s: float = CONNECT_TIMEOUT_S) -> socket.socket:
    """Open a connection. Raises BridgeError."""
    try:
        connection = socket.create_connection((host, port), timeout_s)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BridgeError(BridgeExit.UNREACHABLE, f"cannot connect to {host}:{port}: {reason}") from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # The timeout of the connection attempt stays on the socket; a bot may think longer.
    connection.settimeout(None)
    return connection


def relay(connection: socket.socket, source: int = 0, sink: int = 1) -> None:
    """Forward bytes both ways until the input ends. Raises BridgeError if the other end closes first."""
    sent = b""
    waiting: list[Any] = [source, connection]
    while True:
        ready, _, _ = select.select(waiting, (), (), None if source in waiting else CLOSE_TIMEOUT_S)
        if source in ready:
            data = os.read(source, CHUNK_BYTES)
            # Enough to recognise `quit`, also if it arrives in two pieces.
            sent = (sent + data)[-8:]
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
                if source in waiting and sent.split()[-1:] != [b"quit"]:
                    raise BridgeError(BridgeExit.BROKEN, "the other end closed the connection")
                return
            while data:
                # A pipe may take a part only.
                data = data[os.write(sink, data) :]
        if not ready:
            return


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = BridgeParser(prog="python -m bots.bridges.tcp", description="Relay a UGI bot at a TCP address.")
    parser.add_argument("host", help="host name or address")
    parser.add_argument("port", type=int, help="TCP port")
    arguments = parser.parse_args(argv)
    address = f"{arguments.host}:{arguments.port}"

    def work() -> None:
        with connect(arguments.host, arguments.port) as connection:
            relay(connection)

    guarded(work, f"tcp:{address}")


if __name__ == "__main__":
    main()
