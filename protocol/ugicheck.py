"""Check whether a program speaks UGI, the Universal Game Interface. One file that needs only the standard library.

    python ugicheck.py ./engine
    python ugicheck.py --legal "b1b3 b1d3 d1a4" -- java -jar engine.jar

Copy this file, or run it in place. The checker starts the engine a few times, plays it against itself for a few plies
and prints its findings. A FAULT loses games under any referee. A note is a deviation that a referee can adapt to, such
as an older dialect or an unsupported command. `SPEC.md` in the same folder explains what is expected and why. The
checker does not know the rules of the game: `--legal` gives the legal moves of the start position, `--line` legal moves
to send.

Exit code 0: no fault; 1: at least one fault; 2: invalid command line.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

MAX_LINE_BYTES = 8192
"""Bytes of a line after which referees end the game (`SPEC.md`, Lines)."""
MAX_OUTPUT_BYTES = 16 * 2**20
MAX_STDERR_BYTES = 2**20
"""Referees allow 64 MiB a game on both together, which an engine that writes this much in a few plies would exceed."""
MAX_OPTIONS = 1000
"""Options that referees keep."""
MAX_INTRODUCTION_LINES = 20 * MAX_OPTIONS
"""Lines before `ugiok`: an engine that announces without end is stopped before the timeout."""
MAX_IDLE_LINES = 20
"""A few late `info` lines do no harm: only a flood is a fault."""
MAX_MEMORY_BYTES = 2**30
MAX_PROCESSES = 64
"""The default limits of referees (`SPEC.md`, Limits)."""
MARK = "UGICHECK_ENGINE"
"""Environment variable of the engine and of all processes it starts, by which the checker finds them."""
MOVE_MS = 100
"""Move time of the plies that are played: short, so that a check takes seconds."""
CLOCK_MS = 400
"""Time on both clocks in the step with clocks: short, so that an engine that ignores them is noticed soon."""
QUIET_S = 0.06
"""Seconds without any line that must follow an answer that ends a turn: a second `bestmove` usually comes at once."""
READY_TIMEOUT_FACTOR = 6
"""Factor by which the timeout of `readyok` is longer than others: engines load tables or compile code there. With the
default timeout that makes a minute, as referees allow.
"""
LATENESS_TOLERANCE_MS = 150
"""Overshoot that is not a fault, even if every answer has it: referees measure less and allow for it."""
NOTED_OVERSHOOT_MS = 5
"""Overshoot that is noted: less is noise of the machine."""
PLIES = 4
"""Plies of the game that the engine plays against itself: both sides move twice, and not from the start alone."""
QUIT_TIMEOUT_S = 2.0
"""Time for the engine to end on `quit`, and again for its children: on a busy machine some start late."""
NO_MOVE = frozenset({"", "------", "(none)", "none", "null", "wtf", "0000"})
"""What engines write instead of a move if they have none."""
KNOWN = frozenset({"id", "option", "ugiok", "readyok", "info", "bestmove", "response"})
"""Verbs of the lines that engines send."""
TYPES = frozenset({"check", "spin", "combo", "string", "button"})
"""Types of options."""
OPTION = re.compile(r"option\s+name\s+(?P<name>.+?)\s+type\s+(?P<type>\S+)(?P<rest>.*)$")
COMPLAINT = re.compile(r"(?i)unknown|error|invalid|no such")
"""What an engine writes that rejects `setoption`."""
NUMBER = re.compile(r"\b(default|min|max)\s+(-?\d{1,18})(?!\d)")
"""A number of an option; a longer one counts as none, because `int` refuses more than 4,300 digits."""

ADVICE = {
    "cannot-start": "give the path of an executable file; a script needs a first line such as #!/usr/bin/env python3",
    "ends-at-start": "answer `ugi` before anything that can fail; read the engine's own message below",
    "no-ugiok": "answer `ugi` with id lines, option lines and `ugiok`, flush after every line, load tables later",
    "no-name": "send `id name NAME` before `ugiok`",
    "bad-option": "option name N type check|spin|combo|string|button [default V] [min A] [max B] [var V]...",
    "many-options": f"announce at most {MAX_OPTIONS} options",
    "another-family": "send `id family F` for every family that the engine plays",
    "no-readyok": "answer `isready` with `readyok`, end the line and flush it",
    "ends-at-isready": "keep running after `isready`",
    "ends-at-go": "keep running after `go`",
    "no-bestmove": "answer every `go` with one line `bestmove MOVE`, end the line and flush it",
    "no-move": "`bestmove` needs a move; use `bestmove resign` in a lost position. If the bot needs the "
    "line `legal`, use `arena check`",
    "bad-move": "write moves as printable text without spaces",
    "illegal-move": "compare the move with the legal moves of the position; the start position comes first",
    "late": "stop thinking before the time of `go movetime` is over, and keep a reserve",
    "two-bestmoves": "send one `bestmove` for every `go`, and nothing about the next turn",
    "unasked-bestmove": "send `bestmove` only after `go`",
    "talks-while-idle": "send nothing between `bestmove` or `readyok` and the next command",
    "changes-itself": "send `id` and `option` lines before `ugiok` only",
    "line-too-long": f"write lines of at most {MAX_LINE_BYTES} bytes",
    "too-much-output": f"write at most {MAX_OUTPUT_BYTES // 2**20} MiB of lines "
    f"and {MAX_STDERR_BYTES // 2**20} MiB of errors a game",
    "not-text": "write UTF-8 without NUL and other control characters",
    "closes-its-pipes": "keep standard input and output open until `quit`",
    "stops-itself": "find what stops the process (SIGSTOP, a read from the terminal)",
    "second-game": "start from a clean state after `uginewgame`; options keep their values",
    "stays": "exit on `quit` without being killed",
    "crashes-at-quit": "exit normally on `quit`, not by a signal",
    "leaves-processes": "end all child processes before the engine exits",
    "too-much-memory": f"stay under {MAX_MEMORY_BYTES // 2**20} MiB in all processes; announce `Hash` and obey it",
    "too-many-processes": f"stay under {MAX_PROCESSES} processes and threads",
}
"""Advice on how to fix each fault."""


class UgiFinding(NamedTuple):
    """A fault or a note: its name, what was observed, and how to fix it."""

    name: str
    seen: str
    advice: str


class Line(NamedTuple):
    """A line of the engine without its line end, and the time when it was complete (monotonic seconds)."""

    text: str
    at: float


class EndedError(Exception):
    """The engine ended, or closed its standard output."""


class SilentError(Exception):
    """The engine did not answer in time."""


def reason(error: SilentError | EndedError) -> str:
    """Return what is known of a missing answer, as words after a colon."""
    return str(error).lstrip(";, ") or "no answer"


class StopError(Exception):
    """A fault after which this process of the engine cannot be used further."""


class Engine:
    """A process of the engine. Threads read its output immediately, up to MAX_OUTPUT_BYTES."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, MARK: str(id(self))},
        )
        self.lines: queue.Queue[Line | None] = queue.Queue()
        self.rest = b""
        self.problems: deque[tuple[str, str]] = deque()
        self.errors = b""
        self.error_bytes = self.byte_count = 0
        self.has_closed = False
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self._read_output, self._read_errors)]
        for reader in self.readers:
            reader.start()

    def _read_output(self) -> None:
        assert self.process.stdout
        while True:
            try:
                data = os.read(self.process.stdout.fileno(), 65_536)
            except (OSError, ValueError):  # closed by `close`: the output is no longer needed
                return
            self.byte_count += len(data)
            if self.byte_count > MAX_OUTPUT_BYTES:
                self.problems.append(("too-much-output", f"{self.byte_count:,} bytes on standard output"))
                data = b""
            *lines, self.rest = (self.rest + data).split(b"\n")
            now = time.monotonic()
            for line in lines:
                self._take(line.rstrip(b"\r"), now)
            if len(self.rest) > MAX_LINE_BYTES:
                self.problems.append(("line-too-long", f"{len(self.rest):,} bytes without an end of line"))
                self.rest = b""
                data = b""
            if not data:
                self.lines.put(None)
                return

    def _take(self, line: bytes, now: float) -> None:
        if len(line) > MAX_LINE_BYTES:
            self.problems.append(("line-too-long", f"a line of {len(line):,} bytes"))
        text = line.decode("utf-8", "replace")
        if any(letter == "\ufffd" or (letter < " " and letter != "\t") for letter in text):
            self.problems.append(("not-text", repr(line[:80])[1:]))
        self.lines.put(Line(text, now))

    def _read_errors(self) -> None:
        assert self.process.stderr
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.process.stderr.fileno(), 65_536):
                self.error_bytes += len(data)
                # The last message of an engine that ended explains most: only the end is kept.
                self.errors = (self.errors + data)[-4096:]
                if self.error_bytes > MAX_STDERR_BYTES:
                    self.problems.append(("too-much-output", f"{self.error_bytes:,} bytes on standard error"))
                    return

    def send(self, line: str) -> None:
        """Write a line. Raises EndedError if standard input is closed."""
        assert self.process.stdin
        try:
            self.process.stdin.write(line.encode() + b"\n")
        except OSError:
            raise EndedError(f"standard input is closed: cannot send `{line}`") from None

    def receive(self, seconds: float, watch: Callable[[], None]) -> Line:
        """Return the next line that is not empty; call `watch` periodically while waiting. Raises SilentError,
        EndedError.
        """
        until = time.monotonic() + seconds
        while True:
            watch()
            left = until - time.monotonic()
            if self.has_closed:
                raise EndedError(self.end())
            if left <= 0:
                raise SilentError(self.unfinished())
            is_over = self.process.poll() is not None
            try:
                # In slices, so that `watch` sees memory and processes while the engine is silent.
                line = self.lines.get(timeout=min(left, 0.1))
            except queue.Empty:
                if is_over:  # even if one of its children holds the pipes open
                    raise EndedError(self.end()) from None
                continue
            if line is None:
                self.has_closed = True
                continue
            if line.text.strip():
                return line

    def unfinished(self) -> str:
        """Describe the output after the last line end; empty if there is none."""
        return f"; a line without end: {self.rest[:60]!r}" if self.rest else ""

    def end(self) -> str:
        """Wait a moment for the process to end, and describe how it ended."""
        try:
            code = self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return "it closed standard output, but still runs"
        words = f"it was killed by {signal_name(-code)}" if code < 0 else f"it ended with exit code {code}"
        said = self.errors.decode("utf-8", "replace").strip().splitlines()
        return f"{words}; its last message: {said[-1][:200]}" if said else words

    def processes(self) -> list[int]:
        """List the living processes of the engine: those that it started, regardless of their present parent, and their
        descendants, regardless of their environment; Linux only.
        """
        mark, parents, pids = f"{MARK}={id(self)}".encode(), {}, []
        for folder in Path("/proc").glob("[0-9]*"):
            if words := _stat(pid := int(folder.name)):
                parents[pid] = int(words[1])
                is_engine = pid == self.process.pid and self.process.poll() is None
                with contextlib.suppress(OSError):
                    if is_engine or mark in (folder / "environ").read_bytes().split(b"\0"):
                        pids.append(pid)
        for ancestor in pids:  # the list grows meanwhile, so that children of children are found
            pids += [child for child, parent in parents.items() if parent == ancestor and child not in pids]
        return pids

    def close(self) -> None:
        """Kill all processes of the engine, wait for its end, and close its pipes."""
        with contextlib.suppress(OSError):
            # The group at one moment; processes that left it are found by their environment.
            os.killpg(self.process.pid, signal.SIGKILL)
        for pid in self.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for reader in self.readers:  # they end unless an unknown process holds the pipes
            reader.join(1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                assert pipe
                pipe.close()


def signal_name(number: int) -> str:
    """Return the name of a signal; real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _stat(pid: int) -> list[str]:
    """Read the fields of `/proc/PID/stat` from field 3 on (`man proc_pid_stat`); empty if the process is dead."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
    return words if words and words[0] not in "ZX" else []


class UgiReport:
    """Collects the findings and prints each with `print_line` at once."""

    def __init__(self, print_line: Callable[[str], None]) -> None:
        self.print_line = print_line
        self.faults: dict[str, UgiFinding] = {}
        self.notes: dict[str, UgiFinding] = {}
        self.is_sound = True
        """False if the present step has a fault, also one that was reported before."""

    def ok(self, what: str) -> None:
        """Report what the present step has shown, unless it has a fault."""
        if self.is_sound:
            self.print_line(f"ok     {what}")

    def fault(self, name: str, seen: str) -> None:
        """Report a fault, only the first time it is seen."""
        self.is_sound = False
        if name not in self.faults:
            self.faults[name] = UgiFinding(name, seen, ADVICE[name])
            self.print_line(f"FAULT  {name}: {seen}\n       {ADVICE[name]}")

    def stop(self, name: str, seen: str) -> StopError:
        """Report a fault after which the process cannot be used further; return the error to raise."""
        self.fault(name, seen)
        return StopError()

    def note(self, name: str, seen: str, advice: str) -> None:
        """Report a note, only the first time it is seen."""
        if name not in self.notes:
            self.notes[name] = UgiFinding(name, seen, advice)
            self.print_line(f"note   {name}: {seen}\n       {advice}")


class EngineSession:
    """A session with one process of the engine; it checks every line that the engine writes."""

    def __init__(
        self, engine: Engine, report: UgiReport, *, timeout_s: float, family: str = "", legal: str = ""
    ) -> None:
        self.engine, self.report, self.timeout_s = engine, report, timeout_s
        self.family, self.legal = family, frozenset(legal.split())
        self.options: list[tuple[str, str, str]] = []
        self.next_check = 0.0
        self.send = engine.send

    def receive(self, seconds: float) -> Line:
        """Return the next line. Raises SilentError, EndedError, StopError."""
        return self.engine.receive(seconds, self.watch)

    def watch(self) -> None:
        """Report faults in the output so far, and check memory and processes now and then. Raises StopError."""
        is_fatal = False
        while self.engine.problems:  # taken one by one: the readers add to the same queue meanwhile
            name, seen = self.engine.problems.popleft()
            self.report.fault(name, seen)
            is_fatal |= name in ("too-much-output", "line-too-long")
        if is_fatal:
            raise StopError
        if time.monotonic() < self.next_check:
            return
        memory = count = 0
        for words in filter(None, map(_stat, self.engine.processes())):
            # Resident pages and threads are the fields 24 and 20 of the man page; these words begin with field 3.
            memory += int(words[21]) * os.sysconf("SC_PAGE_SIZE")
            count += int(words[17])
        is_stopped = (_stat(self.engine.process.pid) or "?")[0] == "T"
        for name, is_so, seen in (
            ("stops-itself", is_stopped, "the process is stopped"),
            ("too-much-memory", memory > MAX_MEMORY_BYTES, f"{memory / 2**20:.0f} MiB"),
            ("too-many-processes", count > MAX_PROCESSES, f"{count} processes and threads"),
        ):
            if is_so:
                raise self.report.stop(name, seen)
        # A check reads files for every process of the machine, which takes long on a busy one. Counted from its end, so
        # that lines that come fast do not each cause one.
        self.next_check = time.monotonic() + 0.05

    def wait(self, verb: str, times: int = 1) -> Line:
        """Return the next line that begins with `verb`; check the lines before it. Raises as `receive`."""
        until = time.monotonic() + times * self.timeout_s
        while True:
            line = self.receive(until - time.monotonic())
            word, seen = line.text.split()[0], f"`{line.text[:60]}` instead of `{verb}`"
            if word == verb:
                return line
            if word not in KNOWN:
                self.report.note(
                    "unknown-lines", f"it sends {line.text[:60]!r}", "lines with an unknown verb are ignored"
                )
            elif word == "bestmove":
                self.report.fault("unasked-bestmove", seen)
            elif word in ("id", "option"):
                self.report.fault("changes-itself", seen)
            elif word != "info":
                self.report.note("out-of-place", seen, "such a line is counted and ignored")

    def quiet(self, after: str) -> None:
        """Check that the engine writes nothing more: a `bestmove` or a flood of lines is a fault. Raises StopError."""
        until, count = time.monotonic() + QUIET_S, 0
        while (left := until - time.monotonic()) > 0:
            try:
                text = self.receive(left).text
            except (SilentError, EndedError):
                break
            count += 1
            if text.split()[0] == "bestmove":
                name = "two-bestmoves" if after == "bestmove" else "unasked-bestmove"
                raise self.report.stop(name, f"`{text[:60]}` after `{after}`")
            if text.split()[0] in ("id", "option"):
                self.report.fault("changes-itself", f"`{text[:60]}` after `{after}`")
        if count > MAX_IDLE_LINES:
            self.report.fault("talks-while-idle", f"{count} lines in {QUIET_S * 1000:.0f} ms after `{after}`")

    def introduce(self) -> None:
        """Send `ugi`, wait for `ugiok` and check the lines between. Raises StopError."""
        said: list[str] = []
        try:
            self.send("ugi")
            until = time.monotonic() + self.timeout_s
            while not said or said[-1].split()[0] != "ugiok":
                said.append(self.receive(until - time.monotonic()).text)
                if len(said) > MAX_INTRODUCTION_LINES:
                    raise SilentError(f", but {len(said):,} lines")
        except SilentError as error:
            raise self.report.stop("no-ugiok", f"no `ugiok` in {self.timeout_s:g} s{error}") from None
        except EndedError as error:
            raise self.report.stop("ends-at-start", f"before `ugiok`: {error}") from None
        words = [text.split() for text in said]
        if not any(line[:2] == ["id", "name"] and line[2:] for line in words):
            self.report.fault("no-name", "no `id name` before `ugiok`")
        families = [line[2] for line in words if line[:2] == ["id", "family"] and line[2:]]
        if self.family and families and self.family not in families:
            self.report.fault("another-family", f"it plays {', '.join(families)}, not {self.family}")
        self.read_options([text for text in said if text.split()[0] == "option"])

    def read_options(self, lines: Sequence[str]) -> None:
        """Collect name, type and default of each option line; report unusable lines as faults."""
        if len(lines) > MAX_OPTIONS:
            self.report.fault("many-options", f"{len(lines):,} options")
        names = set()
        for text in lines[:MAX_OPTIONS]:
            option = OPTION.match(" ".join(text.split()))
            if not option or option["type"] not in TYPES:
                self.report.fault("bad-option", f"`{text[:80]}`")
                continue
            numbers = {word: int(value) for word, value in NUMBER.findall(option["rest"])}
            if option["type"] == "spin" and not (
                len(numbers) == 3 and numbers["min"] <= numbers["default"] <= numbers["max"]
            ):
                self.report.fault("bad-option", f"`{text[:80]}`: a spin needs a default from its min to its max")
            if option["name"] in names:
                self.report.fault("bad-option", f"{option['name']!r} is announced twice")
            names.add(option["name"])
            default = re.search(r"\bdefault\s+(.+?)(?=\s+(?:min|max|var)\s|$)", option["rest"])
            self.options.append((option["name"], option["type"], default[1] if default else ""))

    def ready(self) -> None:
        """Send `isready` and wait for `readyok`. Raises StopError."""
        try:
            self.send("isready")
            self.wait("readyok", READY_TIMEOUT_FACTOR)
        except SilentError as error:
            raise self.report.stop(
                "no-readyok", f"no `readyok` in {READY_TIMEOUT_FACTOR * self.timeout_s:g} s{error}"
            ) from None
        except EndedError as error:
            raise self.report.stop("ends-at-isready", str(error)) from None
        self.quiet("readyok")

    def think(self, go: str, moves: Sequence[str] = ()) -> tuple[str, float]:
        """Return the move for the position after `moves` and the milliseconds it took. Raises as `receive`."""
        self.send("position startpos" + (" moves " + " ".join(moves) if moves else ""))
        begin = time.monotonic()
        self.send(go)
        line = self.wait("bestmove")
        move = " ".join(line.text.split()[1:2])
        name = ""
        if move in NO_MOVE:
            name = "no-move"
        elif "\ufffd" in move or not move.isprintable():
            name = "bad-move"
        elif not moves and self.legal and move not in self.legal | {"resign"}:
            name = "illegal-move"
        if name:
            raise self.report.stop(name, f"{line.text[:60]!r} after `{go}`, {len(moves)} plies from the start")
        return move, (line.at - begin) * 1000


class Checker:
    """One check of an engine: a list of steps, most of which start the engine. A fault that prevents play ends the
    check.
    """

    def __init__(
        self,
        command: Sequence[str],
        report: UgiReport,
        *,
        timeout_s: float,
        family: str = "",
        legal: str = "",
        line: str = "",
    ) -> None:
        self.command, self.report, self.line = command, report, line.split()
        self.timeout_s, self.family, self.legal = timeout_s, family, legal
        self.can_repeat = True
        self.has_clocks = True
        """Whether the engine announces that it supports clocks, or announces nothing about it."""

    @contextlib.contextmanager
    def session(self) -> Iterator[EngineSession]:
        """Start the engine and complete the handshake; kill it in any case at the end."""
        try:
            engine = Engine(self.command)
        except OSError as error:
            raise self.report.stop("cannot-start", f"{self.command[0]}: {error.strerror}") from None
        try:
            session = EngineSession(engine, self.report, timeout_s=self.timeout_s, family=self.family, legal=self.legal)
            session.introduce()
            yield session
        finally:
            engine.close()

    @contextlib.contextmanager
    def attempt(self, name: str, seen: str, advice: str) -> Iterator[EngineSession]:
        """Start the engine for a step that a note ends if an answer is missing. Raises StopError."""
        with self.session() as session:
            session.ready()
            try:
                yield session
            except (SilentError, EndedError):
                self.report.note(name, seen, advice)
                raise StopError from None

    def run(self) -> None:
        """Run all steps."""
        try:
            self.play()
        except StopError:
            return
        self.report.ok("plays, from `ugi` to `quit`")
        for step in (
            self.second_game,
            self.options,
            self.clocks,
            self.limits,
            self.infinite,
            self.queries,
            self.unknown,
        ):
            self.report.is_sound = True
            with contextlib.suppress(StopError):
                step()

    def play(self) -> None:
        """Let the engine play a few plies against itself with a time per move, then `quit`. Raises StopError."""
        go = f"go movetime {MOVE_MS}"
        with self.session() as session:
            session.ready()
            self.has_clocks = ("UGI_Clocks", "check", "false") not in session.options
            moves: list[str] = []
            over: list[float] = []
            try:
                session.send("uginewgame")
                for ply in range(PLIES):
                    move, took = session.think(go, moves)
                    session.quiet("bestmove")
                    if ply:  # the first answer may load or compile
                        over.append(took - MOVE_MS)
                    if move == "resign":
                        break
                    moves.append(self.line[ply] if ply < len(self.line) else move)
            except SilentError as error:
                raise self.report.stop("no-bestmove", f"`{go}`: nothing in {session.timeout_s:g} s{error}") from None
            except EndedError as error:
                is_alive = session.engine.process.poll() is None
                name = "closes-its-pipes" if is_alive else "ends-at-go"
                raise self.report.stop(name, f"after {len(moves)} plies: {error}") from None
            least = min(over, default=0.0)
            if least > LATENESS_TOLERANCE_MS:
                self.report.fault("late", f"`{go}` always took at least {least + MOVE_MS:.0f} ms")
            elif least > NOTED_OVERSHOOT_MS:
                self.report.note(
                    "overshoots", f"`{go}` took at least {least + MOVE_MS:.0f} ms", "referees measure this and adapt"
                )
            self.quit(session)

    def quit(self, session: EngineSession) -> None:
        """Send `quit` and check that the engine and all its processes end by themselves. Raises StopError."""
        session.watch()
        with contextlib.suppress(EndedError):
            session.send("quit")
        try:
            code = session.engine.process.wait(min(QUIT_TIMEOUT_S, session.timeout_s))
        except subprocess.TimeoutExpired:
            self.report.fault("stays", "it still runs after `quit`")
            return
        if code < 0:
            self.report.fault("crashes-at-quit", f"killed by {signal_name(-code)}")
        elif code:
            self.report.note("exit-code", f"it ends with exit code {code} on `quit`", "use exit code 0")
        until = time.monotonic() + min(QUIT_TIMEOUT_S, session.timeout_s)
        while (left := session.engine.processes()) and time.monotonic() < until:
            time.sleep(0.01)
        if left:
            self.report.fault("leaves-processes", f"{len(left)} of its processes still run after `quit`")

    def second_game(self) -> None:
        """Check a second game in the same process. Raises StopError."""
        go = f"go movetime {MOVE_MS}"
        with self.session() as session:
            session.ready()
            try:
                session.send("uginewgame")
                session.think(go)
                session.send("isready")
                session.wait("readyok")
            except (SilentError, EndedError):
                self.can_repeat = False
                self.report.note(
                    "isready-once", "a second `isready` is not answered", "a referee starts one process for each game"
                )
                return
            try:
                session.send("uginewgame")
                session.think(go)
            except (SilentError, EndedError) as error:
                self.report.fault("second-game", f"no move after the second `uginewgame`: {reason(error)}")
                return
        self.report.ok("plays a second game")

    def options(self) -> None:
        """Set every option to its default in the standard form or, if that fails, in an old form. Raises StopError."""
        complaint = ""
        for form in ("setoption name {} value {}", "setoption {} {}"):
            with self.session() as session:
                usual = [(name, value) for name, kind, value in session.options if kind != "button" and value]
                if not usual:
                    return
                said: list[str] = []
                try:
                    for name, value in usual:
                        session.send(form.format(name, value))
                    session.send("isready")
                    until = time.monotonic() + session.timeout_s
                    while not said or said[-1].split()[0] != "readyok":
                        said.append(session.receive(until - time.monotonic()).text)
                except (SilentError, EndedError) as error:
                    said.append(f"error: {reason(error)}")
            rejection = next((text for text in said if COMPLAINT.search(text)), "")
            if not rejection and complaint:
                self.report.note("setoption-bare", "it accepts only `setoption NAME VALUE`", "an older dialect")
                return
            if not rejection:
                self.report.ok(f"accepts its {len(usual)} options")
                return
            complaint = complaint or rejection
        self.report.note(
            "setoption", f"it rejects its own options: {complaint[:80]}", "accept `setoption name N value V`"
        )

    def time_move(self, step: str, go: str) -> float | None:
        """Return the milliseconds of one move of a new process, or None after a note if none came. Raises StopError."""
        with self.session() as session:
            session.ready()
            try:
                session.send("uginewgame")
                return session.think(go)[1]
            except (SilentError, EndedError) as error:
                self.report.note(step, f"no move after `{go}`: {reason(error)}", "a referee may not send it")
                return None

    def clocks(self) -> None:
        """Check a move with clocks on which little time is left. Raises StopError."""
        if not self.has_clocks:
            self.report.ok("announces that it does not support clocks")
            return
        go = f"go p1time {CLOCK_MS} p2time {CLOCK_MS} p1inc 0 p2inc 0"
        took = self.time_move("clocks", go)
        if took is None:
            return
        if took > CLOCK_MS:
            advice = "announce `option name UGI_Clocks type check default false`"
            self.report.note("clocks", f"`{go}` took {took:.0f} ms", advice)
        else:
            self.report.ok("supports clocks")

    def limits(self) -> None:
        """Check searches limited by depth and by nodes. Raises StopError."""
        for step, go in (("depth", "go depth 1"), ("nodes", "go nodes 100")):
            if self.time_move(step, go) is not None:
                self.report.ok(f"`{go}`")

    def infinite(self) -> None:
        """Check a search that `stop` ends, and a superfluous `stop`. Raises StopError."""
        with self.attempt("stop", "no move after `go infinite` and `stop`", "a referee may not send it") as session:
            for line in ("uginewgame", "position startpos", "go infinite"):
                session.send(line)
            # A `stop` that comes before the search has begun would test nothing.
            time.sleep(0.03)
            session.send("stop")
            session.wait("bestmove")
            session.send("stop")
            if self.can_repeat:
                session.send("isready")
                session.wait("readyok")
        self.report.ok("`stop`")

    def queries(self) -> None:
        """Check the answer to `query gameover`. Raises StopError."""
        advice = "optional: answer `response true` or `response false`; games do not need it"
        with self.attempt("query", "no answer to `query gameover`", advice) as session:
            for line in ("uginewgame", "position startpos", "query gameover"):
                session.send(line)
            # An answer needs no search, so a second is enough.
            until, text = time.monotonic() + min(1.0, session.timeout_s), "info"
            while text.split(maxsplit=1)[0] == "info":
                text = session.receive(until - time.monotonic()).text
        words = text.lower().split()
        if words in (["response", "true"], ["response", "false"]):
            self.report.ok("answers `query`")
        elif words in (["true"], ["false"]):
            self.report.note("query-bare", f"it answers `{text[:40]}` without `response`", "an older dialect")
        else:
            self.report.note("query", f"it answers `{text[:40]}`", "answer `response true` or `response false`")

    def unknown(self) -> None:
        """Check that an unknown command is ignored. Raises StopError."""
        seen = "it fails after an unknown command"
        with self.attempt("unknown-command", seen, "ignore unknown commands") as session:
            for line in ("ugicheck 1", "uginewgame"):
                session.send(line)
            session.think(f"go movetime {MOVE_MS}")
        self.report.ok("ignores unknown commands")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checker from the command line and return the exit code."""
    assert __doc__
    parser = argparse.ArgumentParser(prog="ugicheck.py", description=__doc__.splitlines()[0])
    parser.add_argument("--family", default="", metavar="FAMILY", help="family of games that the engine must play")
    parser.add_argument("--legal", default="", metavar="MOVES", help="all legal moves of the start position")
    parser.add_argument("--line", default="", metavar="MOVES", help="legal moves to send instead of the engine's own")
    parser.add_argument(
        "--patience", type=float, default=10.0, metavar="SECONDS", help="timeout for an answer (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the report")
    parser.add_argument(
        "engine", nargs="+", help="the engine and its arguments; a command line in quotes is split as by a shell"
    )
    given = parser.parse_args(arguments)
    try:
        command = shlex.split(given.engine[0]) if len(given.engine) == 1 else given.engine
    except ValueError as error:
        parser.error(f"invalid engine {given.engine[0]!r}: {str(error).lower()}; close each quotation mark")
    if not command or not given.patience > 0:
        parser.error("give an engine, and a --patience above 0")
    report = UgiReport((lambda text: None) if given.json else (lambda text: print(text, flush=True)))
    Checker(command, report, timeout_s=given.patience, family=given.family, legal=given.legal, line=given.line).run()
    faults, notes = report.faults.values(), report.notes.values()
    if given.json:
        findings = {"faults": [fault._asdict() for fault in faults], "notes": [note._asdict() for note in notes]}
        print(json.dumps(findings, indent=2))
    else:
        print(f"{len(faults)} fault{'s' * (len(faults) != 1)}, {len(notes)} note{'s' * (len(notes) != 1)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
