"""Run a small attack program in a sandbox and check that its attacks fail."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.game.spec import BotLimits
from referee.sandbox.child import Child
from referee.sandbox.level import Sandbox
from referee.sandbox.privilege import is_root, is_shared, pick_user
from referee.sandbox.reaper import descendants
from referee.sandbox.watchdog import Watchdog

STRONG = ("bwrap", "landlock")
"""Levels that must keep a program of unknown origin from files, network and other processes."""
PROCESSES = 10
ANSWER_TIMEOUT_S = 10.0
_LIMITS = replace(BotLimits(), processes=PROCESSES, memory_bytes=2**28)


def test(sandbox: Sandbox) -> str:
    """Test a sandbox and describe its fault; return an empty text if it has none."""
    reason = "no Python to test with"
    for python in dict.fromkeys((sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin"))):
        if python:
            reason = _test(sandbox, python)
            if not reason:
                return ""
    return reason


def fault(sandbox: Sandbox, command: Sequence[str], folder: str | None, limits: BotLimits) -> str:
    """Explain why the sandbox cannot even run `true` in place of a bot that ended at once; return "" if it can.

    The bot's own output and exit code have no influence on the result.
    """
    try:
        child = Child(sandbox.confine(("true", *command), folder, limits), limits, Watchdog())
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    try:
        _, complaint = _listen(child)
        how = child.how_it_ended() if child.exits_within(ANSWER_TIMEOUT_S * 1000) else "it does not end"
        return "" if how == "exit code 0" else complaint.decode("utf-8", "replace").strip() or how
    finally:
        child.end()


def _test(sandbox: Sandbox, python: str) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)  # noqa: S103 - only the sandbox may prevent the bot from writing there
        outside = Path(folder, "outside")
        # The probe is passed as an argument, because the bot's user may not be able to read its file.
        probe = (python, "-I", "-S", "-B", "-c", Path(__file__).with_name("probe.py").read_text())
        try:
            with _sibling(sandbox, probe) as sibling:
                words = (server.getsockname()[1], outside, PROCESSES, ",".join(map(str, sibling.pids)))
                found = _run(sandbox, (*probe, "attack", *map(str, words)))
                if isinstance(found, dict) and sibling.has_changed():
                    found["reached"].append("change its kernel state")
        except OSError as error:
            return f"{error.filename or python}: {error.strerror}"
        except ValueError as error:
            return str(error)
        if isinstance(found, str):
            return found
        return _judge(sandbox.name, found, outside.exists())


def _judge(name: str, found: dict[str, Any], has_written: bool) -> str:
    is_strong = name in STRONG
    if is_root() and found["user"] == 0:
        return "the bot still ran as root"
    if found["children"] >= 2 * PROCESSES and _is_counted(name):
        return f"the bot had {found['children']} children, {PROCESSES} were allowed"
    if is_strong and found["connected"]:
        return "the bot could connect to this machine"
    if is_strong and (found["wrote"] and has_written):
        return "the bot could write outside the sandbox"
    if is_strong and found["reached"]:
        return f"the bot could reach another bot: {', '.join(found['reached'])}"
    return ""


def _is_counted(name: str) -> bool:
    """Return whether the kernel limits the processes of each bot; if bots share a user, only the watchdog does."""
    return not is_shared(pick_user()) or (name == "bwrap" and not is_root())


class _Sibling:
    """Another bot in a sandbox of the same level, and its state before the attack."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._before = self._ask()
        self.pids = (child.pid, *descendants(child.pid))

    def has_changed(self) -> bool:
        """Return whether the attack changed the state of the other bot, or ended it."""
        try:
            return self._ask() != self._before
        except (OSError, ValueError):
            return True

    def _ask(self) -> dict[str, Any]:
        os.write(self._child.stdin, b"\n")
        return _answer(self._child)


@contextlib.contextmanager
def _sibling(sandbox: Sandbox, probe: tuple[str, ...]) -> Iterator[_Sibling]:
    child = Child(sandbox.confine((*probe, "sibling"), None, _LIMITS), _LIMITS, Watchdog())
    try:
        yield _Sibling(child)
    finally:
        child.end()


def _run(sandbox: Sandbox, command: tuple[str, ...]) -> dict[str, Any] | str:
    """Run a program in the sandbox and return its answer, or the reason why there is no answer."""
    child = Child(sandbox.confine(command, None, _LIMITS), _LIMITS, Watchdog())
    try:
        return _answer(child)
    except ValueError as error:
        return str(error)
    finally:
        child.end()


def _answer(child: Child) -> dict[str, Any]:
    """Read a line of JSON from a program. Raises ValueError with the program's error message if it prints no JSON."""
    answer, complaint = _listen(child)
    try:
        return dict(json.loads(answer))
    except ValueError:
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        if lines or not child.exits_within(ANSWER_TIMEOUT_S * 1000):
            raise ValueError(lines[-1] if lines else "a program in it does not answer") from None
        raise ValueError(f"a program in the sandbox ended without output ({child.how_it_ended()})") from None


def _listen(child: Child) -> tuple[bytes, bytes]:
    """Read standard output and standard error until both are closed or the answer is complete."""
    texts = {child.stdout: b"", child.stderr: b""}
    poll = select.poll()
    for descriptor in texts:
        poll.register(descriptor, select.POLLIN)
    deadline, left = time.monotonic() + ANSWER_TIMEOUT_S, len(texts)
    while left and not texts[child.stdout].endswith(b"\n") and (left_s := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left_s * 1000):
            data = os.read(descriptor, 65_536)
            texts[descriptor] += data
            if not data:
                poll.unregister(descriptor)
                left -= 1
    return texts[child.stdout], texts[child.stderr]
