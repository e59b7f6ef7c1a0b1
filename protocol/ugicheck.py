"""Does a program speak UGI, the Universal Game Interface? One file, nothing but Python's own library.

    python ugicheck.py ./engine
    python ugicheck.py --legal "b1b3 b1d3 d1a4" -- java -jar engine.jar

Copy it, or run it where it stands. It starts the engine a few times, plays it against itself for some plies and says
what it found: FAULT for what costs games wherever engines are refereed, note for habits (an older dialect, a command
that is not known) that a referee has to know of. `SPEC.md` beside this file says what is expected and why. The rules of
the game are not known here: `--legal` names the legal moves of the start position, `--line` legal moves to send.

Exit code 0: no fault; 1: at least one; 2: the command line is wrong.
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

LINE_BYTES = 8192
OUTPUT_BYTES = 16 * 2**20
STDERR_BYTES = 2**20
OPTIONS = 1000
MEMORY_BYTES = 2**30
PROCESSES = 64
MARK = "UGICHECK_ENGINE"
"""In the environment of an engine and of everything it starts, by which that is found again."""
MOVE_MS = 100
CLOCK_MS = 400
QUIET_S = 0.06
"""How long nothing may come after an answer that ends a turn."""
LOADING = 6
"""How much longer than for other answers `readyok` is waited for: tables are loaded there, and code is compiled."""
LATE_MS = 150
"""What an answer may exceed its time by, each time, before it is a fault: referees measure less and allow for it."""
NO_MOVE = frozenset({"", "------", "(none)", "none", "null", "wtf", "0000"})
KNOWN = frozenset({"id", "option", "ugiok", "readyok", "info", "bestmove", "response"})
TYPES = frozenset({"check", "spin", "combo", "string", "button"})
OPTION = re.compile(r"option\s+name\s+(?P<name>.+?)\s+type\s+(?P<type>\S+)(?P<rest>.*)$")
COMPLAINT = re.compile(r"(?i)unknown|error|invalid|no such")
NUMBER = re.compile(r"\b(default|min|max)\s+(-?\d+)")

ADVICE = {
    "cannot-start": "give the path of an executable file; a script needs a first line such as #!/usr/bin/env python3",
    "ends-at-start": "answer `ugi` before anything that can fail; read the engine's own message below",
    "no-ugiok": "answer `ugi` with id lines, option lines and `ugiok`, flush after every line, load tables later",
    "no-name": "say `id name NAME` before `ugiok`",
    "bad-option": "option name N type check|spin|combo|string|button [default V] [min A] [max B] [var V]...",
    "many-options": f"announce at most {OPTIONS} options",
    "another-family": "say `id family F` for every family of games it plays",
    "no-readyok": "answer `isready` with `readyok`, end the line and flush it",
    "ends-at-isready": "it must live on after `isready`",
    "ends-at-go": "it must live on after `go`",
    "no-bestmove": "answer every `go` with one line `bestmove MOVE`, end the line and flush it",
    "no-move": "`bestmove` needs a move; a lost position is `bestmove resign`",
    "bad-move": "a move is printable text without blanks",
    "illegal-move": "compare with the legal moves of the position; with the start position it is asked about first",
    "late": "stop thinking before the time of `go movetime` is over, and keep a reserve",
    "two-bestmoves": "one `bestmove` for every `go`, and nothing about the next turn",
    "unasked-bestmove": "say `bestmove` only after `go`",
    "talks-while-idle": "say nothing between `bestmove` or `readyok` and the next question",
    "changes-itself": "`id` and `option` lines come before `ugiok`, and not again",
    "line-too-long": f"a line has at most {LINE_BYTES} bytes",
    "too-much-output": f"at most {OUTPUT_BYTES // 2**20} MiB of lines and {STDERR_BYTES // 2**20} MiB of errors a game",
    "not-text": "lines are UTF-8 without NUL and other control characters",
    "closes-its-pipes": "keep standard input and output open until `quit`",
    "stops-itself": "something stops the process (SIGSTOP, a read from the terminal)",
    "second-game": "after `uginewgame` everything begins anew; options keep their values",
    "stays": "leave on `quit`, without being killed",
    "crashes-at-quit": "end by itself on `quit`, not by a signal",
    "leaves-processes": "end all processes it started before it ends",
    "too-much-memory": f"stay under {MEMORY_BYTES // 2**20} MiB in all processes; announce `Hash` and keep to it",
    "too-many-processes": f"stay under {PROCESSES} processes and threads",
}
"""What to do about each fault."""


class Finding(NamedTuple):
    """A fault or a note: its name, what was seen, and what to do."""

    name: str
    seen: str
    advice: str


class Line(NamedTuple):
    """What the engine wrote: a line without its end, and when it was complete (monotonic seconds)."""

    text: str
    at: float


class EndedError(Exception):
    """The engine ended, or closed its standard output."""


class SilentError(Exception):
    """The engine did not answer in time."""


class StopError(Exception):
    """A fault after which this process of the engine is of no more use."""


class Engine:
    """A process of the engine; everything it writes is read at once, by threads, and bounded."""

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
        self.problems: list[tuple[str, str]] = []
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
            except (OSError, ValueError):  # closed meanwhile: nobody asks any more
                return
            self.byte_count += len(data)
            if self.byte_count > OUTPUT_BYTES:
                self.problems.append(("too-much-output", f"{self.byte_count:,} bytes on standard output"))
                data = b""
            *lines, self.rest = (self.rest + data).split(b"\n")
            now = time.monotonic()
            for line in lines:
                self._take(line.rstrip(b"\r"), now)
            if len(self.rest) > LINE_BYTES:
                self.problems.append(("line-too-long", f"{len(self.rest):,} bytes without an end of line"))
                self.rest = b""
                data = b""
            if not data:
                self.lines.put(None)
                return

    def _take(self, line: bytes, now: float) -> None:
        if len(line) > LINE_BYTES:
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
                self.errors = (self.errors + data)[-4096:]
                if self.error_bytes > STDERR_BYTES:
                    self.problems.append(("too-much-output", f"{self.error_bytes:,} bytes on standard error"))
                    return

    def say(self, line: str) -> None:
        """Write a line. Raises EndedError where nobody reads any more."""
        assert self.process.stdin
        try:
            self.process.stdin.write(line.encode() + b"\n")
        except OSError:
            raise EndedError(f"nobody reads `{line}`") from None

    def hear(self, seconds: float, watch: Callable[[], None]) -> Line:
        """The next line that is not empty; `watch` is called now and then. Raises SilentError, EndedError."""
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
                line = self.lines.get(timeout=min(left, 0.1))
            except queue.Empty:
                if is_over:  # though a child of it holds its pipes open
                    raise EndedError(self.end()) from None
                continue
            if line is None:
                self.has_closed = True
                continue
            if line.text.strip():
                return line

    def unfinished(self) -> str:
        """What stands in a line that has no end yet, in words."""
        return f"; a line without end: {self.rest[:60]!r}" if self.rest else ""

    def end(self) -> str:
        """How it ended, in words; waits a moment for it."""
        try:
            code = self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return "standard output was closed, the process lives on"
        words = f"it was killed by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"
        said = self.errors.decode("utf-8", "replace").strip().splitlines()
        return f"{words}; its last words: {said[-1][:200]}" if said else words

    def others(self) -> list[int]:
        """The living processes that it started, whoever their parent is now; on Linux only."""
        mark, found = f"{MARK}={id(self)}".encode(), []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0") and _stat(int(folder.name)):
                    found.append(int(folder.name))
        return [one for one in found if one != self.process.pid]

    def close(self) -> None:
        """Kill what is left of it, wait for it, and let go of its pipes."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for one in self.others():
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for reader in self.readers:  # they see the end, unless somebody out of reach holds the pipes
            reader.join(1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                assert pipe
                pipe.close()


def _stat(pid: int) -> list[str]:
    """What Linux says of a process, from its state on (`man proc_pid_stat`, field 3); empty for none that lives."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
    return words if words and words[0] not in "ZX" else []


def family_of(pid: int) -> list[int]:
    """The living processes that descend from `pid`, itself included; on Linux only, empty elsewhere."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if words := _stat(int(folder.name)):
            parents[int(folder.name)] = int(words[1])
    found = [pid] if pid in parents else []
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


class Report:
    """What was found, told to `say` as it is found."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.faults: dict[str, Finding] = {}
        self.notes: dict[str, Finding] = {}

    def ok(self, what: str) -> None:
        """A step without a fault."""
        self.say(f"ok     {what}")

    def fault(self, name: str, seen: str) -> None:
        """A fault is told once, the first time it is seen."""
        if name not in self.faults:
            self.faults[name] = Finding(name, seen, ADVICE[name])
            self.say(f"FAULT  {name}: {seen}\n       {ADVICE[name]}")

    def note(self, name: str, seen: str, advice: str) -> None:
        """The same for a habit."""
        if name not in self.notes:
            self.notes[name] = Finding(name, seen, advice)
            self.say(f"note   {name}: {seen}\n       {advice}")


class Talk:
    """A conversation with one process of the engine; everything that comes is judged."""

    def __init__(self, engine: Engine, report: Report, given: argparse.Namespace) -> None:
        self.engine, self.report, self.patience = engine, report, float(given.patience)
        self.family, self.legal = given.family, frozenset(given.legal.split())
        self.options: list[tuple[str, str, str]] = []
        self.next_look = 0.0
        self.say = engine.say

    def hear(self, seconds: float) -> Line:
        """The next line. Raises SilentError, EndedError, StopError."""
        return self.engine.hear(seconds, self.watch)

    def watch(self) -> None:
        """Take down what the readers found, and now and then what the machine says. Raises StopError."""
        problems, self.engine.problems = self.engine.problems, []
        for name, seen in problems:
            self.report.fault(name, seen)
        if any(name in ("too-much-output", "line-too-long") for name, _ in problems):
            raise StopError
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + 0.05
        first = self.engine.process.pid
        memory = count = 0
        for words in filter(None, map(_stat, family_of(first))):
            memory += int(words[21]) * os.sysconf("SC_PAGE_SIZE")
            count += int(words[17])
        is_stopped = (_stat(first) or "?")[0] == "T"
        for name, is_so, seen in (
            ("stops-itself", is_stopped, "the process is stopped"),
            ("too-much-memory", memory > MEMORY_BYTES, f"{memory / 2**20:.0f} MiB"),
            ("too-many-processes", count > PROCESSES, f"{count} processes and threads"),
        ):
            if is_so:
                self.report.fault(name, seen)
                raise StopError

    def wait(self, verb: str, times: int = 1) -> Line:
        """The line that begins with `verb`; what else comes meanwhile is judged. Raises as `hear`."""
        until = time.monotonic() + times * self.patience
        while True:
            line = self.hear(until - time.monotonic())
            found, seen = line.text.split()[0], f"`{line.text[:60]}` while `{verb}` was awaited"
            if found == verb:
                return line
            if found not in KNOWN:
                self.report.note("unknown-lines", f"it says {line.text[:60]!r}", "lines of an unknown verb are ignored")
            elif found == "bestmove":
                self.report.fault("unasked-bestmove", seen)
            elif found in ("id", "option"):
                self.report.fault("changes-itself", seen)
            elif found != "info":
                self.report.note("out-of-place", seen, "it is counted, and ignored")

    def quiet(self, after: str) -> None:
        """Nothing should come now: a `bestmove` is a fault, a flood too. Raises StopError."""
        until, count = time.monotonic() + QUIET_S, 0
        while (left := until - time.monotonic()) > 0:
            try:
                text = self.hear(left).text
            except (SilentError, EndedError):
                break
            count += 1
            if text.split()[0] == "bestmove":
                name = "two-bestmoves" if after == "bestmove" else "unasked-bestmove"
                self.report.fault(name, f"`{text[:60]}` after `{after}`")
                raise StopError
            if text.split()[0] in ("id", "option"):
                self.report.fault("changes-itself", f"`{text[:60]}` after `{after}`")
        if count > 20:
            self.report.fault("talks-while-idle", f"{count} lines in {QUIET_S * 1000:.0f} ms after `{after}`")

    def introduce(self) -> None:
        """`ugi` to `ugiok`. Raises StopError."""
        said: list[str] = []
        try:
            self.say("ugi")
            until = time.monotonic() + self.patience
            while not said or said[-1].split()[0] != "ugiok":
                said.append(self.hear(until - time.monotonic()).text)
                if len(said) > 20 * OPTIONS:
                    raise SilentError(f", but {len(said):,} lines")
        except SilentError as error:
            self.report.fault("no-ugiok", f"no `ugiok` in {self.patience:g} s{error}")
            raise StopError from None
        except EndedError as error:
            self.report.fault("ends-at-start", f"before `ugiok`: {error}")
            raise StopError from None
        words = [text.split() for text in said]
        if not any(each[:2] == ["id", "name"] and each[2:] for each in words):
            self.report.fault("no-name", "no `id name` before `ugiok`")
        families = [each[2] for each in words if each[:2] == ["id", "family"] and each[2:]]
        if self.family and families and self.family not in families:
            self.report.fault("another-family", f"it plays {', '.join(families)}, not {self.family}")
        self.read_options([text for text in said if text.split()[0] == "option"])

    def read_options(self, lines: Sequence[str]) -> None:
        """Name, type and default of each option line; faults for those that say nothing usable."""
        if len(lines) > OPTIONS:
            self.report.fault("many-options", f"{len(lines):,} options")
        names = set()
        for text in lines[:OPTIONS]:
            found = OPTION.match(" ".join(text.split()))
            if not found or found["type"] not in TYPES:
                self.report.fault("bad-option", f"`{text[:80]}`")
                continue
            numbers = {word: int(value) for word, value in NUMBER.findall(found["rest"])}
            if found["type"] == "spin" and not (
                len(numbers) == 3 and numbers["min"] <= numbers["default"] <= numbers["max"]
            ):
                self.report.fault("bad-option", f"`{text[:80]}`: a spin needs a default from its min to its max")
            if found["name"] in names:
                self.report.fault("bad-option", f"{found['name']!r} is announced twice")
            names.add(found["name"])
            default = re.search(r"\bdefault\s+(.+?)(?=\s+(?:min|max|var)\s|$)", found["rest"])
            self.options.append((found["name"], found["type"], default[1] if default else ""))

    def ready(self) -> None:
        """`isready` to `readyok`. Raises StopError."""
        try:
            self.say("isready")
            self.wait("readyok", LOADING)
        except SilentError as error:
            self.report.fault("no-readyok", f"no `readyok` in {LOADING * self.patience:g} s{error}")
            raise StopError from None
        except EndedError as error:
            self.report.fault("ends-at-isready", str(error))
            raise StopError from None
        self.quiet("readyok")

    def think(self, go: str, moves: Sequence[str] = ()) -> tuple[str, float]:
        """The move for the position after `moves` and the milliseconds it took. Raises as `hear`."""
        self.say("position startpos" + (" moves " + " ".join(moves) if moves else ""))
        begin = time.monotonic()
        self.say(go)
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
            self.report.fault(name, f"{line.text[:60]!r} after `{go}`, {len(moves)} plies from the start")
            raise StopError
        return move, (line.at - begin) * 1000


class Checker:
    """One examination: steps, most of them in a process of their own. What prevents play ends it."""

    def __init__(self, command: Sequence[str], given: argparse.Namespace, report: Report) -> None:
        self.command, self.given, self.report = command, given, report
        self.line: list[str] = given.line.split()
        self.can_repeat = True

    @contextlib.contextmanager
    def session(self) -> Iterator[Talk]:
        """A process of the engine that has introduced itself; whatever it does, it is gone afterwards."""
        try:
            engine = Engine(self.command)
        except OSError as error:
            self.report.fault("cannot-start", f"{self.command[0]}: {error.strerror}")
            raise StopError from None
        try:
            talk = Talk(engine, self.report, self.given)
            talk.introduce()
            yield talk
        finally:
            engine.close()

    def run(self) -> None:
        """All steps."""
        try:
            self.play()
        except StopError:
            return
        self.report.ok("plays, from `ugi` to `quit`")
        for step in (self.again, self.options, self.clocks, self.limits, self.infinite, self.queries, self.unknown):
            with contextlib.suppress(StopError):
                step()

    def play(self) -> None:
        """A few plies against itself at a time per move, and `quit`. Raises StopError."""
        go = f"go movetime {MOVE_MS}"
        with self.session() as talk:
            talk.ready()
            moves: list[str] = []
            over: list[float] = []
            try:
                talk.say("uginewgame")
                for ply in range(4):
                    move, took = talk.think(go, moves)
                    talk.quiet("bestmove")
                    if ply:  # the first answer may load or compile
                        over.append(took - MOVE_MS)
                    if move == "resign":
                        break
                    moves.append(self.line[ply] if ply < len(self.line) else move)
            except SilentError as error:
                self.report.fault("no-bestmove", f"`{go}`: nothing in {talk.patience:g} s{error}")
                raise StopError from None
            except EndedError as error:
                is_alive = talk.engine.process.poll() is None
                self.report.fault(
                    "closes-its-pipes" if is_alive else "ends-at-go", f"after {len(moves)} plies: {error}"
                )
                raise StopError from None
            least = min(over, default=0.0)
            if least > LATE_MS:
                self.report.fault("late", f"`{go}` took {least + MOVE_MS:.0f} ms or more every time")
            elif least > 5:
                self.report.note("overshoots", f"`{go}` took {least + MOVE_MS:.0f} ms or more", "referees measure it")
            self.leave(talk)

    def leave(self, talk: Talk) -> None:
        """`quit`: it ends, by itself, and nothing of it stays. Raises StopError."""
        talk.watch()
        with contextlib.suppress(EndedError):
            talk.say("quit")
        try:
            code = talk.engine.process.wait(min(2.0, talk.patience))
        except subprocess.TimeoutExpired:
            self.report.fault("stays", "it is still there after `quit`")
            return
        if code < 0:
            self.report.fault("crashes-at-quit", f"killed by {signal.Signals(-code).name}")
        elif code:
            self.report.note("exit-code", f"it ends with exit code {code} on `quit`", "0 is usual")
        until = time.monotonic() + min(2.0, talk.patience)  # for its children to see it, on a busy machine too
        while (left := talk.engine.others()) and time.monotonic() < until:
            time.sleep(0.01)
        if left:
            self.report.fault("leaves-processes", f"{len(left)} of its processes live on after `quit`")

    def again(self) -> None:
        """A second game in the same process. Raises StopError."""
        go = f"go movetime {MOVE_MS}"
        with self.session() as talk:
            talk.ready()
            try:
                talk.say("uginewgame")
                talk.think(go)
                talk.say("isready")
                talk.wait("readyok")
            except (SilentError, EndedError):
                self.can_repeat = False
                self.report.note("isready-once", "a second `isready` is not answered", "one process for each game")
                return
            try:
                talk.say("uginewgame")
                talk.think(go)
            except (SilentError, EndedError) as error:
                self.report.fault("second-game", f"no move after the second `uginewgame` {error}".strip())
                return
        self.report.ok("plays a second game")

    def options(self) -> None:
        """Every option set to what it is, in the standard form and in an old one. Raises StopError."""
        complaint = ""
        for form in ("setoption name {} value {}", "setoption {} {}"):
            with self.session() as talk:
                usual = [(name, value) for name, kind, value in talk.options if kind != "button" and value]
                if not usual:
                    return
                said: list[str] = []
                try:
                    for name, value in usual:
                        talk.say(form.format(name, value))
                    talk.say("isready")
                    until = time.monotonic() + talk.patience
                    while not said or said[-1].split()[0] != "readyok":
                        said.append(talk.hear(until - time.monotonic()).text)
                except (SilentError, EndedError) as error:
                    said.append(f"error: {error or 'no answer'}")
            found = next((text for text in said if COMPLAINT.search(text)), "")
            if not found and complaint:
                self.report.note("setoption-bare", "it takes `setoption NAME VALUE`", "an older dialect")
                return
            if not found:
                self.report.ok(f"takes its {len(usual)} options")
                return
            complaint = complaint or found
        self.report.note("setoption", f"it does not take its own options: {complaint[:80]}", "setoption name N value V")

    def ask(self, step: str, go: str) -> tuple[Talk, float] | None:
        """How long one move took, in a process of its own; None, and a note, where none came. Raises StopError."""
        with self.session() as talk:
            talk.ready()
            try:
                talk.say("uginewgame")
                return talk, talk.think(go)[1]
            except (SilentError, EndedError) as error:
                why = str(error).strip("; ") or "no answer"
                self.report.note(step, f"no move after `{go}`: {why}", "a referee may not send it")
                return None

    def clocks(self) -> None:
        """Two clocks, near the end of a game. Raises StopError."""
        go = f"go p1time {CLOCK_MS} p2time {CLOCK_MS} p1inc 0 p2inc 0"
        found = self.ask("clocks", go)
        if found and ("UGI_Clocks", "check", "false") in found[0].options:
            self.report.ok("says that it has no clocks")
        elif found and found[1] > CLOCK_MS:
            advice = "announce `option name UGI_Clocks type check default false`"
            self.report.note("clocks", f"`{go}` took {found[1]:.0f} ms", advice)
        elif found:
            self.report.ok("plays by clocks")

    def limits(self) -> None:
        """Searches bounded by depth and by nodes. Raises StopError."""
        for step, go in (("depth", "go depth 1"), ("nodes", "go nodes 100")):
            if self.ask(step, go):
                self.report.ok(f"`{go}`")

    def infinite(self) -> None:
        """A search that `stop` ends, and a `stop` that nobody needs. Raises StopError."""
        with self.session() as talk:
            talk.ready()
            try:
                for line in ("uginewgame", "position startpos", "go infinite"):
                    talk.say(line)
                time.sleep(0.03)
                talk.say("stop")
                talk.wait("bestmove")
                talk.say("stop")
                if self.can_repeat:
                    talk.say("isready")
                    talk.wait("readyok")
            except (SilentError, EndedError):
                self.report.note("stop", "`go infinite` and `stop` bring no move", "a referee may not send it")
                return
        self.report.ok("`stop`")

    def queries(self) -> None:
        """What it says of a position. Raises StopError."""
        with self.session() as talk:
            talk.ready()
            try:
                for line in ("uginewgame", "position startpos", "query gameover"):
                    talk.say(line)
                text = talk.hear(min(1.0, talk.patience)).text
            except (SilentError, EndedError):
                advice = "nothing to do: games do without it; or answer `response true` or `response false`"
                self.report.note("query", "`query gameover` brings no answer", advice)
                return
        words = text.lower().split()
        if words in (["response", "true"], ["response", "false"]):
            self.report.ok("answers `query`")
        elif words in (["true"], ["false"]):
            self.report.note("query-bare", f"it answers `{text[:40]}` without `response`", "an older dialect")
        else:
            self.report.note("query", f"it answers `{text[:40]}`", "response true|false")

    def unknown(self) -> None:
        """A command from the future. Raises StopError."""
        with self.session() as talk:
            talk.ready()
            try:
                talk.say("ugicheck 1")
                talk.say("uginewgame")
                talk.think(f"go movetime {MOVE_MS}")
            except (SilentError, EndedError):
                self.report.note("unknown-command", "it does not survive a line it does not know", "ignore such lines")
                return
        self.report.ok("ignores what it does not know")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    assert __doc__
    parser = argparse.ArgumentParser(prog="ugicheck.py", description=__doc__.splitlines()[0])
    parser.add_argument("--family", default="", metavar="F", help="the family of games it should play")
    parser.add_argument("--legal", default="", metavar="MOVES", help="all legal moves of the start position")
    parser.add_argument("--line", default="", metavar="MOVES", help="legal moves to send in place of its own")
    parser.add_argument("--patience", type=float, default=10.0, metavar="S", help="how long it waits, %(default)s s")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the report")
    parser.add_argument("engine", nargs="+", help="the engine with its arguments; a single word is split as by a shell")
    given = parser.parse_args(arguments)
    command = shlex.split(given.engine[0]) if len(given.engine) == 1 else given.engine
    if not command or not given.patience > 0:
        parser.error("an engine is needed, and a patience above 0")
    report = Report((lambda text: None) if given.json else (lambda text: print(text, flush=True)))
    Checker(command, given, report).run()
    faults, notes = report.faults.values(), report.notes.values()
    if given.json:
        print(
            json.dumps(
                {"faults": [one._asdict() for one in faults], "notes": [one._asdict() for one in notes]}, indent=2
            )
        )
    else:
        print(f"{len(faults)} fault{'s' * (len(faults) != 1)}, {len(notes)} note{'s' * (len(notes) != 1)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
