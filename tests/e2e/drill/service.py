"""The programs of a topology, and a supervisor that starts again whatever has ended, as systemd would."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.sandbox.reaper import descendants
from tests.e2e.drill.machine import Timeout

RESTART_S = 1.0
"""How long after its end a program is started again (`RestartSec`)."""
STOP_S = 90.0
"""How long a program may take to end after its stop signal."""
_POLL_INTERVAL_S = 0.05


@dataclass(eq=False)
class Service:
    """One program: how it is started, and what became of it. Times are seconds since the epoch."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    stop_signal: int = signal.SIGTERM
    """What ends it in good order."""
    is_tree: bool = False
    """Its children are hit with it: alone, they would go on for a while."""
    process: subprocess.Popen[bytes] | None = None
    is_wanted: bool = True
    is_held: bool = False
    """A fault keeps it down."""
    is_ordered: bool = False
    """Whoever looks after it knows why it ends next."""
    starts: list[float] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    """Ends that nobody ordered."""
    _due: float = 0.0

    def start(self) -> None:
        """Start it now."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                list(self.command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(self.environment)
            )
        self.starts.append(time.time())

    @property
    def pid(self) -> int:
        """Its process id, 0 while it is down."""
        process = self.process
        return process.pid if process and process.returncode is None else 0

    def signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if number in (signal.SIGKILL, self.stop_signal):
            self.is_ordered = True
        if pid := self.pid:
            is_for_all = self.is_tree and number != self.stop_signal
            for process in (pid, *descendants(pid)) if is_for_all else (pid,):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)

    def look(self) -> None:
        """Reap it when it has ended, and start it again when that is due."""
        if self.process is not None and (code := self.process.poll()) is not None:
            if not self.is_ordered and self.is_wanted:
                self.surprises.append(f"{self.name} ended with {code} at {time.strftime('%H:%M:%S')}")
            self.process, self.is_ordered = None, False
            self._due = time.monotonic() + RESTART_S
        if self.process is None and self.is_wanted and not self.is_held and time.monotonic() >= self._due:
            self.start()


class Supervisor:
    """Looks after services from a thread of its own."""

    def __init__(self) -> None:
        self.services: dict[str, Service] = {}
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, service: Service) -> Service:
        """Start a service, and again whenever it ends."""
        with self._lock:
            self.services[service.name] = service
            service.look()
        return service

    def _run(self) -> None:
        while not self._is_over.wait(_POLL_INTERVAL_S):
            with self._lock:
                for service in self.services.values():
                    service.look()

    def await_start(self, service: Service, count: int) -> float:
        """When it was started the `count`-th time; waits for it. Raises TimeoutError."""
        timeout = Timeout(STOP_S)
        while len(service.starts) < count:
            if timeout.is_over():
                raise TimeoutError(f"{service.name} was not started again within {STOP_S:g} s")
            time.sleep(_POLL_INTERVAL_S)
        return service.starts[count - 1]

    def stop(self, *names: str) -> list[str]:
        """End services in good order, one after the other (all, the latest first, unless named); what went wrong."""
        problems = []
        for name in names or list(reversed(self.services)):
            with self._lock:
                service = self.services.pop(name)
                service.is_wanted = False
                process = service.process
            service.signal(signal.SIGCONT)
            service.signal(service.stop_signal)
            if process is None:
                continue
            timeout = Timeout(STOP_S)
            while (code := process.poll()) is None and not timeout.is_over():
                time.sleep(_POLL_INTERVAL_S)
            if code is None:
                process.kill()
                process.wait()
                problems.append(f"{name} did not end within {STOP_S:g} s after its stop signal")
            elif code not in (0, -service.stop_signal):
                problems.append(f"{name} ended with {code} after its stop signal")
        return problems

    def close(self) -> None:
        """Kill what is left, with all below: a slot in mid-game would notice only afterwards."""
        self._is_over.set()
        self._thread.join()
        for service in self.services.values():
            if service.process and service.process.poll() is None:
                for pid in (service.process.pid, *descendants(service.process.pid)):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                service.process.wait()
