"""A bot that runs elsewhere: a UGI engine behind a TCP address plays like any other."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bots.bridges import tcp
from referee.bot.argument import read_bot
from referee.game.spec import TimeControl
from tests.bots.bridges.table import ROOT, bridge, honest, meet
from tests.port import free_port

CMALO = [sys.executable, "-S", "-E", str(ROOT / "tests" / "engines" / "cmalo.py")]


@contextmanager
def served(command: list[str]) -> Iterator[int]:
    """The port behind which a new process of the command answers every connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    started: list[subprocess.Popen[bytes]] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                started.append(subprocess.Popen(command, stdin=connection, stdout=connection))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for process in started:
            process.kill()
            process.wait()


def test_an_engine_behind_an_address_plays_a_whole_game() -> None:
    with served(CMALO) as port:
        known = {"clocks": False, "stop": False, "query": "bare"}
        spec = replace(
            read_bot(f"tcp:127.0.0.1:{port}", "pijersi"), name="remote", capabilities=known, folder=str(ROOT)
        )
        record = meet(spec, replace(spec, name="again"), "pijersi", time=TimeControl("clock", 5000, 0))
    assert record.kind == "rules", record.detail
    assert record.anomalies == (0, 0)


@pytest.mark.parametrize("text", ["tcp:", "tcp:host", "tcp:host:", "tcp:host:0", "tcp:host:70000", "tcp::4000"])
def test_a_bad_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="tcp:HOST:PORT"):
        read_bot(text, "pijersi")


def test_nobody_there() -> None:
    port = free_port()
    record = meet(bridge("tcp", "127.0.0.1", str(port)), honest(), "loa")
    assert (record.termination, record.loser) == ("handshake-failed", "first")
    assert "exit code 69" in record.detail
    assert f"cannot connect to 127.0.0.1:{port}" in record.logs["first"]


def test_the_other_end_hangs_up() -> None:
    script = """
for answer in ("id name x\\nugiok", "", "readyok", "", ""):
    input()
    if answer:
        print(answer, flush=True)
"""
    with served([sys.executable, "-S", "-E", "-c", script]) as port:
        record = meet(bridge("tcp", "127.0.0.1", str(port)), honest(), "loa")
    assert record.termination == "crashed"
    assert "exit code 70" in record.detail
    assert "closed the connection" in record.logs["first"]


def test_the_relay_ends_with_its_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tcp, "CLOSE_TIMEOUT_S", 500)  # the other end begins late on a busy machine
    sent, got = tmp_path / "sent", tmp_path / "got"
    sent.write_bytes(b"one\ntwo\n")
    program = "import sys; sys.stdout.write(sys.stdin.read())"
    with (
        served([sys.executable, "-S", "-E", "-c", program]) as port,
        tcp.connect("127.0.0.1", port) as connection,
        sent.open("rb") as source,
        got.open("wb") as sink,
    ):
        tcp.relay(connection, source.fileno(), sink.fileno())
    assert got.read_bytes() == sent.read_bytes()
