"""A private Mosquitto for a test, on a free port; it can be killed, stopped and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from tests.port import free_port

TIMEOUT_S = 60


def program(name: str = "mosquitto") -> str | None:
    """Find a program of Mosquitto, which Debian installs outside the path of users."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Mosquitto:
    """One broker. `lines` is its configuration, without a listener when `port` is 0."""

    def __init__(self, folder: Path, lines: Iterable[str] = ("allow_anonymous true",), port: int | None = None) -> None:
        self.port = free_port() if port is None else port
        self.folder = folder
        self.file = folder / "mosquitto.conf"
        # As root it would switch to another user, who cannot read the folder of the test.
        user = ["user root"] if os.getuid() == 0 else []
        self.file.write_text("\n".join([*user, f"listener {self.port} 127.0.0.1", *lines]) + "\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        binary = program()
        assert binary is not None
        with open(self.folder / "mosquitto.log", "ab") as log:
            self._process = subprocess.Popen([binary, "-c", str(self.file)], stdout=log, stderr=log)
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self._process.poll() is None, (self.folder / "mosquitto.log").read_text()
                assert time.monotonic() < deadline, "Mosquitto does not answer"
                time.sleep(0.02)

    def kill(self) -> None:
        """Kill it: its retained messages are lost."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Suspend it (SIGSTOP): it keeps its connections but does not answer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def client(self, name: str, *words: str, user: str = "", password: str = "") -> list[str]:
        """Return the command line of mosquitto_sub or mosquitto_pub for this broker."""
        found = program(name)
        assert found is not None
        names = ["-u", user, "-P", password] if user else []
        return [found, "-h", "127.0.0.1", "-p", str(self.port), *names, *words]
