"""The supervisor of a bot: it ends as the bot ends, and takes all of the bot's processes with it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.game.spec import BotLimits
from referee.sandbox import LEVELS, launcher
from referee.sandbox.child import Child
from referee.sandbox.reaper import become_subreaper, children, descendants, sweep
from referee.sandbox.watchdog import Watchdog
from tests.referee.sandbox.levels import sandbox_or_skip

WAIT_TIMEOUT_MS = 60_000
# A shell that stays, its child, and one that has fled the process group and lost its parent.
FAMILY = "sleep 600 & (setsid sleep 600 &) ; echo ready; sleep 600; true"
REFEREE = """
import sys
from referee.sandbox import open_sandbox
from referee.sandbox.child import Child
from referee.sandbox.reaper import become_subreaper
from referee.sandbox.watchdog import Watchdog
from referee.game.spec import BotLimits
become_subreaper()
limits = BotLimits()
launch = open_sandbox(sys.argv[1], is_own=True).confine(("/bin/sh", "-c", sys.argv[2]), None, limits)
child = Child(launch, limits, Watchdog())
import os, select
select.select([child.stdout], [], [])
if sys.argv[3] == "frozen":
    child.ponder_limiter.freeze()
print(os.read(child.stdout, 100).decode().strip(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def strays() -> Iterator[None]:
    """Whatever a failed test leaves behind comes to this process, and is killed."""
    become_subreaper()
    before = children()
    yield
    sweep(before)


def start(name: str, script: str) -> Child:
    limits = BotLimits()
    return Child(sandbox_or_skip(name).confine(("/bin/sh", "-c", script), None, limits), limits, Watchdog())


@pytest.mark.usefixtures("strays")
@pytest.mark.parametrize("state", ["running", "frozen"])
@pytest.mark.parametrize("name", LEVELS)
def test_no_process_of_a_bot_outlives_a_killed_referee(name: str, state: str) -> None:
    sandbox_or_skip(name)
    line = [sys.executable, "-c", REFEREE, name, FAMILY, state]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        assert referee.stdout.readline() == b"ready\n"
        family = list(descendants(referee.pid))
        assert len(family) >= 4
        watched = {os.pidfd_open(pid) for pid in family}
        os.kill(referee.pid, signal.SIGKILL)
    poll = select.poll()
    for descriptor in watched:
        poll.register(descriptor, select.POLLIN)
    while watched:
        events = poll.poll(WAIT_TIMEOUT_MS)
        assert events, "a process outlived the referee"
        for descriptor, _ in events:
            poll.unregister(descriptor)
            os.close(descriptor)
            watched.discard(descriptor)


# Each generation starts the next and ends, as the shell does; the word is how they are found.
FORKING = """import os
if not os.fork():
    os.write(1, b'ready')
    while True:
        if os.fork(): os._exit(0)
os.wait()
os.read(0, 1)
"""


@pytest.mark.usefixtures("strays")
@pytest.mark.parametrize("name", LEVELS)
def test_processes_that_fork_all_the_time_do_not_outlive_a_killed_referee(name: str) -> None:
    sandbox_or_skip(name)
    word = f"forking-{name}-{os.getpid()}"
    script = f"""exec /usr/bin/env python3 -ISBc "{FORKING}" {word}"""
    line = [sys.executable, "-c", REFEREE, name, script, "running"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        assert referee.stdout.readline() == b"ready\n"
        assert processes_with(word)
        os.kill(referee.pid, signal.SIGKILL)
    deadline = time.monotonic() + WAIT_TIMEOUT_MS / 1000
    while left := processes_with(word):
        assert time.monotonic() < deadline, f"{left} outlived the referee"


def processes_with(word: str) -> list[int]:
    """List the processes with a word in their command line."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if word.encode() in words:
                pids.append(int(path.parent.name))
    return pids


@pytest.mark.usefixtures("strays")
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize(
    ("script", "end"),
    [
        ("exit 0", "exit code 0"),
        ("exit 7", "exit code 7"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("kill -TERM $$", "killed by SIGTERM"),
        ("kill -KILL $$", "killed by SIGKILL"),
    ],
)
def test_how_a_bot_ended_is_told_through_its_supervisor(name: str, script: str, end: str) -> None:
    child = start(name, script)
    try:
        assert child.exits_within(WAIT_TIMEOUT_MS)
        assert child.how_it_ended() == end
    finally:
        child.end()


@pytest.mark.usefixtures("strays")
@pytest.mark.parametrize("name", [name for name in LEVELS if name != "none"])
@pytest.mark.parametrize(
    ("text", "mode", "code"),
    [("echo\n", 0o755, 126), ("#!/bin/sh\n", 0o644, 126), ("#!/nowhere/interpreter\n", 0o755, 127), (None, 0, 127)],
)
def test_exit_code_of_a_program_that_cannot_be_executed_is_that_of_a_shell(
    name: str, text: str | None, mode: int, code: int
) -> None:
    limits = BotLimits()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = Path(folder) / "engine"
        if text:
            program.write_text(text)
            program.chmod(mode)
        child = Child(sandbox_or_skip(name).confine((str(program),), folder, limits), limits, Watchdog())
        try:
            assert child.exits_within(WAIT_TIMEOUT_MS)
            # The shell within bwrap reads a script without an interpreter itself.
            assert child.exit_code == (0 if name == "bwrap" and text == "echo\n" else code)
        finally:
            child.end()


@pytest.mark.usefixtures("strays")
@pytest.mark.parametrize("name", LEVELS)
def test_a_bot_has_ended_though_its_sandbox_is_held_up(name: str) -> None:
    child = start(name, "echo ready; read line; exit 7")
    try:
        select.select([child.stdout], [], [], WAIT_TIMEOUT_MS / 1000)
        os.kill(child.pid, signal.SIGSTOP)
        assert not child._watched.has_ended
        child.hang_up()
        deadline = time.monotonic() + WAIT_TIMEOUT_MS / 1000
        while not child._watched.has_ended:
            assert time.monotonic() < deadline, "it does not end"
        assert not child.has_exited
        os.kill(child.pid, signal.SIGCONT)
        assert child.ends_within(0)
        assert child.how_it_ended() == "exit code 7"
    finally:
        child.end()


@pytest.mark.usefixtures("strays")
@pytest.mark.parametrize("name", LEVELS)
def test_what_a_bot_leaves_behind_ends_with_it(name: str) -> None:
    child = start(name, "(setsid sleep 600 &) ; sleep 600 & echo ready; read line; exit 3")
    try:
        select.select([child.stdout], [], [], WAIT_TIMEOUT_MS / 1000)
        left = [os.pidfd_open(pid) for pid in descendants(child.pid)]
        assert len(left) >= 3
        child.hang_up()
        assert child.exits_within(WAIT_TIMEOUT_MS)
        for descriptor in left:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            assert poll.poll(WAIT_TIMEOUT_MS), "a process outlived its bot"
            os.close(descriptor)
        assert child.how_it_ended() == "exit code 3"
    finally:
        child.end()


@pytest.mark.parametrize("name", [level for level in LEVELS if level != "bwrap"])
def test_a_bot_cannot_end_its_supervisor_by_a_signal_to_its_own_group(name: str) -> None:
    child = start(name, "trap '' TERM; kill -TERM 0; echo alive; read line")
    try:
        select.select([child.stdout], [], [], WAIT_TIMEOUT_MS / 1000)
        assert os.read(child.stdout, 100) == b"alive\n"
        assert not child.has_exited
    finally:
        child.end()


@pytest.mark.parametrize("name", [level for level in LEVELS if level != "bwrap"])
def test_the_memory_of_a_supervisor_is_not_its_bots(name: str) -> None:
    child = start(name, "echo ready; read line")
    try:
        select.select([child.stdout], [], [], WAIT_TIMEOUT_MS / 1000)
        supervisor = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert 0 < child.peak_bytes() < supervisor
    finally:
        child.end()


LATE = """
import os, sys, time

supervisor, dup2 = os.getpid(), os.dup2


def late(*descriptors):
    if os.getpid() == supervisor:
        time.sleep(0.5)
    return dup2(*descriptors)


os.dup2 = late
path = {path!r}
exec(compile(open(path).read(), path, "exec"))
"""


@pytest.mark.parametrize("name", [level for level in LEVELS if level != "bwrap"])
def test_a_bot_begins_when_its_supervisor_has_let_go_of_its_pipes(name: str, tmp_path: Path) -> None:
    limits = BotLimits()
    bot = ("/bin/sh", "-c", "exec 0<&-; echo closed; exec sleep 600")
    launch = sandbox_or_skip(name).confine(bot, None, limits)
    program, late = str(Path(launcher.__file__).resolve()), tmp_path / "late.py"
    late.write_text(LATE.format(path=program))
    line = tuple(str(late) if word == program else word for word in launch.line)
    assert line != launch.line
    child = Child(replace(launch, line=line), limits, Watchdog())
    try:
        select.select([child.stdout], [], [], WAIT_TIMEOUT_MS / 1000)
        assert os.read(child.stdout, 100) == b"closed\n"
        with pytest.raises(BrokenPipeError):
            os.write(child.stdin, b"go\n")
    finally:
        child.end()


@pytest.mark.parametrize("name", LEVELS)
def test_signals_that_python_ignores_end_a_bot(name: str) -> None:
    child = start(name, "exec grep SigIgn /proc/self/status")
    try:
        select.select([child.stdout], [], [], WAIT_TIMEOUT_MS / 1000)
        ignored = int(os.read(child.stdout, 100).split()[1], 16)
        assert not [number for number in (signal.SIGPIPE, signal.SIGXFSZ) if ignored >> (number - 1) & 1]
    finally:
        child.end()
