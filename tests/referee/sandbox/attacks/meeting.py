"""One of two bots that want to meet: each leaves word wherever it can and looks for the other's."""

import os
import socket
from pathlib import Path
from typing import Any

from attacker import error_of, run

PLACES = ("/tmp/meeting", "/dev/shm/meeting", "/bot/meeting", "/var/tmp/meeting", "/run/meeting")
kept: list[Any] = []


def listen() -> str:
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0meeting")
    server.listen()
    kept.append(server)
    return "listening"


def connect() -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0meeting")
    return "met"


def port() -> str:
    server = socket.create_server(("127.0.0.1", 4711))
    kept.append(server)
    return "listening"


def attack() -> dict[str, Any]:
    results = {place: error_of(lambda place=place: Path(place).read_text()) for place in PLACES}
    results["abstract"] = error_of(connect)
    results["tcp"] = error_of(lambda: socket.create_connection(("127.0.0.1", 4711), 1).close())
    for place in PLACES:
        error_of(lambda place=place: Path(place).write_text("here I am"))
    error_of(listen)
    error_of(port)
    return {"found": results, "processes": len([name for name in os.listdir("/proc") if name.isdigit()])}


run(attack)
