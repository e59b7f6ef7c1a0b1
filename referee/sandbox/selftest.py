"""Runs a small program in a sandbox and compares what it could do with what it should not be able to."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.sandbox.child import Child
from referee.sandbox.level import Sandbox
from referee.sandbox.privilege import is_root
from referee.sandbox.watchdog import Watchdog
from referee.spec import Limits

PROCESSES = 10
PATIENCE_S = 10.0
_LIMITS = replace(Limits(), processes=PROCESSES, memory_bytes=2**28)


def test(sandbox: Sandbox) -> str:
    """What is wrong with the sandbox; empty when nothing is."""
    reason = "no Python to test with"
    for python in dict.fromkeys((sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin"))):
        if python:
            reason = _test(sandbox, python)
            if not reason:
                return ""
    return reason


def fault(sandbox: Sandbox, command: Sequence[str], folder: str | None, limits: Limits) -> str:
    """Why the sandbox of a bot that ended at once does not even run `true` in its place; empty when it does.

    What the bot itself did, printed or returned has no say in this.
    """
    try:
        child = Child(sandbox.confine(("true", *command), folder, limits), limits, Watchdog())
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    try:
        _, complaint = _listen(child)
        how = child.how_it_ended() if child.exits_within(PATIENCE_S * 1000) else "it does not end"
        return "" if how == "exit code 0" else complaint.decode("utf-8", "replace").strip() or how
    finally:
        child.end()


def _test(sandbox: Sandbox, python: str) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)  # noqa: S103 - only the sandbox shall stop the bot from writing there
        outside = Path(folder, "outside")
        port = server.getsockname()[1]
        program = Path(__file__).with_name("probe.py")
        # From a pipe of its own: the program itself need not be readable by the bot's user.
        command = (python, "-I", "-S", "-B", "-c", program.read_text(), str(port), str(outside), str(PROCESSES))
        try:
            found = _run(sandbox, command)
        except OSError as error:
            return f"{error.filename or python}: {error.strerror}"
        if isinstance(found, str):
            return found
        return _judge(sandbox.name, found, outside.exists())


def _judge(name: str, found: dict[str, Any], has_written: bool) -> str:
    is_strong = name in ("bwrap", "landlock")
    if is_root() and found["user"] == 0:
        return "the bot still ran as root"
    if found["children"] >= 2 * PROCESSES and (is_root() or name == "bwrap"):
        return f"the bot had {found['children']} children, {PROCESSES} were allowed"
    if is_strong and found["connected"]:
        return "the bot could connect to this machine"
    if is_strong and (found["wrote"] and has_written):
        return "the bot could write outside"
    return ""


def _run(sandbox: Sandbox, command: tuple[str, ...]) -> dict[str, Any] | str:
    """What the program printed; in words why it did not."""
    child = Child(sandbox.confine(command, None, _LIMITS), _LIMITS, Watchdog())
    try:
        answer, complaint = _listen(child)
        found = json.loads(answer)
        return dict(found)
    except ValueError:
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"a program in it ended without a word ({child.how_it_ended()})"
    finally:
        child.end()


def _listen(child: Child) -> tuple[bytes, bytes]:
    """Everything on standard output and standard error until both are closed or the answer is complete."""
    texts = {child.stdout: b"", child.stderr: b""}
    poll = select.poll()
    for descriptor in texts:
        poll.register(descriptor, select.POLLIN)
    deadline, left = time.monotonic() + PATIENCE_S, len(texts)
    while left and not texts[child.stdout].endswith(b"\n") and (patience := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(patience * 1000):
            data = os.read(descriptor, 65_536)
            texts[descriptor] += data
            if not data:
                poll.unregister(descriptor)
                left -= 1
    return texts[child.stdout], texts[child.stderr]
