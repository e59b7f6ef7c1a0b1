"""The cause of a failed check in one sentence, and what the bot's author can do.

The cause is derived from how the bot ended, from the lines it wrote instead of an answer, and from the end of its
standard error. Only its author may see its standard error.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace

from referee.bot.bridge import BRIDGES
from referee.check import wrong_answer
from referee.check.evidence import MAX_QUOTED, Cause, Evidence
from referee.game.failure import Reason
from referee.rules.core import Termination
from referee.sandbox.launcher import REPORT_LINE
from referee.sandbox.view import REFUSED_CALL, closed_file

_NO_MEMORY = re.compile(
    r"MemoryError|bad_alloc|Out ?Of ?Memory|insufficient memory|memory exhausted|Reached heap limit|"
    r"memory allocation (?:of \d+ bytes )?failed|"
    r"(?:cannot|can't|could not|failed to|unable to) (?:allocate|reserve)|failed to map",
    re.IGNORECASE,
)
"""Messages of programs that ran out of memory."""
_SIZE = re.compile(r"(?<![\d.,])(\d[\d.,]{0,19})[ -]?(bytes?|[KMGT]i?B)\b", re.IGNORECASE)
"""A size in a message. A number of hundreds of digits would be too large for a float."""
_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_DENIED = re.compile(r"permission denied|not permitted|cannot be read|access ?denied|EACCES|unable to access", re.I)
_SOCKET = re.compile(r"socket|\blisten\b|\bconnect\b", re.IGNORECASE)
REFUSED = "the sandbox refused the system call"
_ALLOWED = "do without it; docs/explanation/sandbox.md lists the calls that are allowed"
_DONE_WITHOUT = frozenset({"clone3", "io_uring_setup", "get_mempolicy", "set_mempolicy", "mbind"})
"""Refused calls that the libraries of many programs try, and do without."""
_CANNOT_EXECUTE, _NOT_FOUND = _NOT_RUN = (126, 127)
"""The exit codes of a shell for a program that it may not execute, and for one that it does not find."""
_NO_FORMAT = os.strerror(errno.ENOEXEC)


def cause_of(evidence: Evidence, advice: str) -> Cause:
    """Return the cause of a failure; `advice` is kept if the cause has none of its own."""
    for find in _CAUSES:
        if cause := find(evidence):
            return replace(cause, said=evidence.said, advice=cause.advice or advice)
    return Cause(str(evidence.error), advice, evidence.said, is_certain=not evidence.is_late)


def _memory(evidence: Evidence) -> Cause | None:
    """Recognise a program that could not allocate memory, or exceeded its memory limit."""
    refused = [line for line in evidence.log.splitlines() if _NO_MEMORY.search(line)]
    if evidence.error.termination is not Termination.MEMORY_LIMIT and not refused:
        return None
    sizes = [_megabytes(*match.groups()) for line in refused for match in _SIZE.finditer(line)]
    allowed = round(evidence.limits.memory_bytes / 2**20)
    detail = f"out of memory ({allowed:,} MiB allowed): {evidence.error}"
    advice = f"use less memory, or allow it more: --memory MB ({allowed:,} now)"
    if asked := max(sizes, default=0):
        detail = f"out of memory (asked for {asked:,} MiB, {allowed:,} MiB allowed): {evidence.error}"
        if asked > allowed:
            # What could not be had is often one block: the program needs other memory too.
            least = asked + max(256, asked // 4)
            advice = f"use less memory, or allow it more and try again: at least --memory {least}"
    return Cause(detail, advice)


def _megabytes(number: str, unit: str) -> int:
    try:
        return -(-round(float(number.replace(",", "")) * _UNITS[unit[0].lower()]) // 2**20)
    except ValueError:
        return 0


def _unreadable(evidence: Evidence) -> Cause | None:
    """Recognise a file that the sandbox's user may not read; a bridge to another protocol may have reported it."""
    if not _DENIED.search(f"{evidence.log} {evidence.error.detail}"):
        return None
    path = closed_file(f"{evidence.log} {evidence.error.detail}", evidence.spec.command, evidence.spec.folder)
    if not path:
        return None
    return Cause(
        f"{path} may not be read by the sandbox's user: {evidence.error}",
        f"let every user read it: chmod a+rX {shlex.quote(path)}",
    )


def _missing(evidence: Evidence) -> Cause | None:
    """Recognise a program, interpreter or library that the sandbox lacks, or that it may not execute."""
    if evidence.error.exit_code == _CANNOT_EXECUTE:
        return Cause(
            f"not to be run in the sandbox: {evidence.error}",
            "let every user execute the program and its interpreter (chmod a+rx), on a file system that allows it",
        )
    if evidence.error.exit_code == _NOT_FOUND:
        return Cause(
            f"not found in the sandbox: {evidence.error}",
            "put the program, its interpreter and its libraries where the bot is, or name what the sandbox has",
        )
    return None


def _sockets(evidence: Evidence) -> Cause | None:
    """Recognise a program that ended because the sandbox refused it a socket."""
    line = _complaint(evidence, _DENIED)
    if not line or not any(map(_SOCKET.search, evidence.log.splitlines())):
        return None
    return Cause(
        f"the sandbox refused a socket: `{line}`",
        'for connections between its own programs write network = "loopback" in bot.toml; others are not allowed',
    )


def _refused_call(evidence: Evidence) -> Cause | None:
    """Recognise a program that ended because the sandbox refused it a system call: its library has no fallback.

    Many programs continue after a refused call. So the calls are the cause only if the program complained of that, or
    ended without a word.
    """
    lines = evidence.log.splitlines()
    reports = [text.removeprefix(REPORT_LINE) for text in lines if text.startswith(REPORT_LINE)]
    is_recorded, is_silent = bool(reports) and evidence.error.exit_code is not None, len(lines) == len(reports)
    calls = [name for name in reports if name not in _DONE_WITHOUT]
    line = _complaint(evidence, REFUSED_CALL) or (is_recorded and _complaint(evidence, _DENIED)) or ""
    if not line and not (is_recorded and is_silent and calls):
        return None
    refused = f"{REFUSED} {calls[-1]}" if is_recorded and calls else "the sandbox refused a system call"
    return Cause(f"{refused}: {f'`{line}`' if line else evidence.error}", _ALLOWED)


def _complaint(evidence: Evidence, pattern: re.Pattern[str]) -> str:
    """Return the last line with this pattern on standard error of a program that ended by itself; empty if none."""
    if evidence.error.exit_code is None:
        return ""
    lines = (line for line in reversed(evidence.log.splitlines()) if not line.startswith("sandbox: "))
    return next((line.strip()[:MAX_QUOTED] for line in lines if pattern.search(line)), "")


def _bridge(evidence: Evidence) -> Cause | None:
    """Recognise an ended bridge to another protocol: its last line explains the error of the program behind it."""
    is_bridge = any(word == f"bots.bridges.{module}" for word in evidence.spec.command for module in BRIDGES.values())
    last = evidence.said.rpartition("\n")[2]
    has_ended = evidence.error.exit_code is not None and evidence.error.exit_code >= 0
    if is_bridge and last and has_ended:
        if "course" in evidence.spec.command and "--filter" not in evidence.spec.command and "chose" in last:
            return Cause(
                f"{last} ({evidence.error}); the rules of the course know no check",
                "add --filter to the bridge: it replaces an illegal choice by a legal move",
            )
        return Cause(f"{last} ({evidence.error})", "fix the program behind the bridge, or its command")
    return None


def _not_run(evidence: Evidence) -> Cause | None:
    """Recognise a program that could not be started: no such file, not executable, or Windows line ends."""
    error, path = evidence.error, os.path.join(evidence.spec.folder or "", evidence.spec.command[0])
    is_not_run = error.exit_code in _NOT_RUN or error.reason in (Reason.NOT_STARTED, Reason.NOT_EXECUTABLE)
    if is_not_run and has_carriage_return(path):
        return Cause(
            f"its first line ends with a carriage return, so no interpreter is found: {path}",
            f"write Unix line ends: sed -i 's/\\r$//' {shlex.quote(path)}",
        )
    if error.reason is Reason.NOT_EXECUTABLE:
        if os.path.isdir(path):
            return Cause(f"a folder, not a program: {path}", "name the program in it, or write a bot.toml there")
        return Cause(f"not an executable file: {path}", f"chmod +x {shlex.quote(path)}")
    if error.reason is Reason.NO_PROGRAM:
        return Cause(str(error), "correct the command, or build the program")
    return None


def _without_format(evidence: Evidence) -> Cause | None:
    """Recognise a file that the kernel does not know how to execute."""
    program = evidence.spec.command[0]
    if evidence.error.exit_code not in _NOT_RUN or f"{program}: {_NO_FORMAT}" not in evidence.log:
        return None
    path = os.path.join(evidence.spec.folder or "", program)
    if _is_elf(path):
        return Cause(f"built for another processor: {path}", f"build it for this machine ({os.uname().machine})")
    detail = f"a script without an interpreter in its first line: {path}"
    return Cause(detail, "write one there, such as #!/usr/bin/env python3")


def _is_elf(path: str) -> bool:
    """Return whether a file is a compiled program for Linux."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def has_carriage_return(path: str) -> bool:
    """Return whether a file is a script whose first line ends with a carriage return."""
    try:
        with open(path, "rb") as file:
            line = file.readline(200)
    except OSError:
        return False
    return line.startswith(b"#!") and line.endswith(b"\r\n")


def _breach(evidence: Evidence) -> Cause | None:
    """Recognise a line or an amount of output that the protocol does not allow."""
    error, limits = evidence.error, evidence.limits
    if error.termination is Termination.PROCESS_LIMIT:
        advice = f"start at most {limits.processes} processes and threads together: `processes` in [limits] of bot.toml"
        return Cause(str(error), advice)
    if error.reason is Reason.LONG_LINE:
        return Cause(str(error), f"end every line with a newline before {limits.line_bytes:,} bytes")
    if error.termination is Termination.OUTPUT_LIMIT:
        return Cause(str(error), "write less: fewer `info` lines and less standard error")
    if error.termination is Termination.PROTOCOL_ERROR:
        return Cause(str(error), "write no other lines than the protocol has: protocol/SPEC.md")
    return None


def _ended(evidence: Evidence) -> Cause | None:
    """Recognise a program that ended by itself, or was killed."""
    if evidence.error.exit_code is None:
        return None
    if evidence.error.exit_code == 0:
        advice = "read lines until `quit`, and do not end before"
        if evidence.has_answered:
            advice = "read lines until `quit`; or have it started for every move: bridge:command PROGRAM"
        return Cause(f"starts, but ends: {evidence.error}", advice)
    advice = "fix the error on standard error" if evidence.said else "start it by hand and type the lines shown"
    return Cause(str(evidence.error), advice)


_CAUSES: tuple[Callable[[Evidence], Cause | None], ...] = (
    _memory,
    _sockets,
    _refused_call,
    _unreadable,
    _without_format,
    _not_run,
    _missing,
    _bridge,
    wrong_answer.foreign,
    wrong_answer.resigning,
    wrong_answer.spelling,
    wrong_answer.buffered,
    _breach,
    _ended,
    wrong_answer.said_otherwise,
)
"""The causes in the order in which they are looked for: the first that holds is named."""
