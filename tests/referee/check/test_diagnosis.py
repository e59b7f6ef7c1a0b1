"""Each broken program gets one true cause: what is wrong with it, in one sentence, and what to do."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.bot.argument import read_bot
from referee.bot.bot import LocalBot
from referee.check import ability, requirement
from referee.check.cause import cause_of
from referee.check.check import check
from referee.check.evidence import Evidence
from referee.check.examinee import BotUnderTest
from referee.check.report import CheckReport
from referee.game.failure import BotError, Reason
from referee.game.spec import BotLimits, BotSpec
from referee.play import sandbox_choice
from referee.play.sandbox_choice import Complaint
from referee.rules import load
from referee.rules.core import Termination
from referee.sandbox import Assessment, Sandbox, open_sandbox
from referee.sandbox.launcher import REPORT_LINE
from referee.sandbox.privilege import is_root
from tests.referee.check.pace import keep_pace
from tests.referee.conftest import PATIENT
from tests.referee.sandbox.levels import public_python, sandbox_or_skip

LIMITS = replace(PATIENT, quit_ms=400, grace_ms=150, margin_ms=60, output_bytes=2**21)
SOON_MS = 3000
"""For the answer of a program that never gives it."""
NONE = Sandbox("none")
USUAL = {"ugi": "print('ugiok')", "isready": "print('readyok')", "go": "print('bestmove b1b3')", "quit": "break"}
"""What the program does for each verb of the referee; a broken one does something else."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirement, "FIRST_TIMEOUT_MS", 1500)
    monkeypatch.setattr(requirement, "_FIRST_MOVE_MS", (50, 100))
    monkeypatch.setattr(ability, "ANSWER_TIMEOUT_MS", 300)


def program(head: str = "", *, flush: bool = True, **does: str) -> str:
    """The text of a bot for Lines of Action that plays one move, with other behaviour for some verbs."""
    lines = ["import os, signal, sys", head, "for line in sys.stdin:", "  verb = (line.split() or [''])[0]"]
    for verb, code in {**USUAL, **does}.items():
        lines += [f"  if verb == {verb!r}:", f"    {code}"]
    return "\n".join([*lines, "  sys.stdout.flush()" if flush else ""])


def dies(message: str, code: int = 1) -> str:
    """Code of a program that complains and ends."""
    return f"print({message!r}, file=sys.stderr); sys.exit({code})"


@dataclass(frozen=True)
class Broken:
    """A program, the step that fails, a part of the sentence, and a part of the advice."""

    name: str
    text: str
    step: str
    sentence: str
    advice: str
    options: Mapping[str, str] = field(default_factory=dict)
    variant: str = "standard"

    @property
    def limits(self) -> BotLimits:
        """A program that does not answer is soon given up in the step that fails, and in no other."""
        return replace(
            LIMITS,
            start_ms=SOON_MS if self.is_silent and self.step == START else LIMITS.start_ms,
            ready_ms=SOON_MS if self.is_silent and self.step == READY else LIMITS.ready_ms,
            quit_ms=PATIENT.quit_ms if "when its input ended" in self.sentence else LIMITS.quit_ms,
        )

    @property
    def is_silent(self) -> bool:
        """Whether nothing comes of it that could be an answer, and it does not end either."""
        return any(words in self.sentence for words in SILENT)


SILENT = ("no answer", "no bestmove", "it speaks", "` is no", "has no line end", "came only when")
"""Words about programs of which nothing is seen that could be an answer."""
START, READY, MOVE = "start and handshake", "announces loa", "first move"
TABLE = [
    Broken("syntax", "for line in sys.stdin\n  pass", START, "handshake-failed: exit code 1", "standard error"),
    Broken("missing command", "import sys; sys.exit(127)", START, "not found in the sandbox", "libraries"),
    Broken("ends", program(isready="sys.exit(0)"), READY, "starts, but ends", "until `quit`"),
    Broken("memory", "x = [0] * 10**13", START, "out of memory (1,024 MiB allowed)", "--memory MB (1,024 now)"),
    Broken("ready", program(isready="print('ready_ok')"), READY, "`ready_ok` is not `readyok`", "write `readyok`"),
    Broken("bare move", program(go="print('b1b3')"), MOVE, "`b1b3` is not `bestmove b1b3`", "before the move"),
    Broken("no line end", program(go="print('bestmove b1b3', end='')"), MOVE, "has no line end", "with a newline"),
    Broken("no flush", program(flush=False), START, "`ugiok` came only when its input ended", "flush standard output"),
    Broken(
        "no flush at go",
        program(flush=False, ugi="print('ugiok', flush=True)", isready="print('readyok', flush=True)"),
        *(MOVE, "`bestmove b1b3` came only when its input ended: it does not flush", "flush standard output"),
    ),
    Broken(
        "long line",
        program(go="print('info string ' + 9000 * 'x')"),
        MOVE,
        "a line of 90",
        "a newline before 8,192 bytes",
    ),
    Broken("silent", program(go="pass"), MOVE, "no bestmove in", "answer `go movetime MS`"),
    Broken("no move", program(go="print('bestmove ------')"), MOVE, "without a move", "legal moves"),
    Broken("illegal", program(go="print('bestmove a1a1')"), MOVE, "played 'a1a1'", "legal moves"),
    Broken("crash at go", program(go=dies("Traceback: no table")), MOVE, "exit code 1", "standard error"),
    Broken("segfault", program(go="os.kill(os.getpid(), signal.SIGSEGV)"), MOVE, "killed by SIGSEGV", "by hand"),
    Broken(
        "twice", program(ugi="print('ugiok\\nbestmove b1b3')"), READY, "'bestmove' is not allowed", "protocol/SPEC.md"
    ),
    Broken(
        "another family", program(ugi="print('id family tablut\\nugiok')"), READY, "tablut, not loa", "--family tablut"
    ),
    Broken("another variant", program(), READY, "the variant zen of loa", "--variant standard", {}, "zen"),
    Broken("another rule", program(), READY, "simultaneous=mover", "leave out --option", {"simultaneous": "mover"}),
    Broken(
        "resigns", program(go="print('bestmove resigns')"), MOVE, "`bestmove resigns`, not a move", "bestmove resign`"
    ),
    Broken("resigned", program(go="print('bestmove resign')"), MOVE, "though there are legal moves", "legal moves"),
    Broken(
        "xboard if asked",
        program(ugi="pass", protover="print('feature ping=1 done=1')"),
        *(START, "it speaks XBoard, not UGI: it wrote `feature ping=1 done=1`", "'bridge:xboard -- "),
    ),
    Broken("uci if asked", program(ugi="pass", uci="print('uciok')"), START, "it wrote `uciok`", "'bridge:uci -- "),
    Broken(
        "too much info",
        program(go="[print('info depth 1 nodes', 10**9 + n) for n in range(200_000)]"),
        *(MOVE, "output-limit: wrote more than 2,097,152 bytes in one game", "write less"),
    ),
    Broken(
        "talks to its author",
        program(go="[print('nodes', 10**9 + n, file=sys.stderr) for n in range(200_000)]"),
        *(MOVE, "output-limit: wrote more than", "less standard error"),
    ),
    Broken(
        "ends after each move",
        program(go="print('bestmove b1b3', flush=True); os._exit(0)"),
        # The end is seen with the answer or by a later question: a busy machine tells of it late.
        *(f"{MOVE}|legal moves in standard|time for a move", "starts, but ends", "bridge:command"),
    ),
    Broken("slow import", f"import time; time.sleep(9)\n{program()}", START, "no answer to `ugi`", "at `isready`"),
]


def examined(spec: BotSpec, case: Broken | None = None, sandbox: Sandbox = NONE) -> CheckReport:
    ruleset = load("loa").settle(case.variant if case else None, dict(case.options) if case else {})
    return check(spec, [ruleset], sandbox, case.limits if case else LIMITS)


def script(folder: Path, text: str) -> BotSpec:
    file = folder / "bot.py"
    file.write_text(text, encoding="utf-8")
    return BotSpec("broken", (sys.executable, "-S", "-E", str(file)))


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_check_of_a_broken_program_names_its_cause(
    case: Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not case.is_silent:
        monkeypatch.setattr(requirement, "FIRST_TIMEOUT_MS", PATIENT.move_ms)
    report = examined(script(tmp_path, case.text), case)
    assert not report.is_fit
    assert report.fault == report.steps[-1], "nothing comes after the cause"
    assert report.fault
    assert report.fault.name in case.step.split("|"), report.fault.detail
    assert case.sentence in report.fault.detail
    assert case.advice in report.fault.advice
    assert "setoption" not in report.fault.detail


@pytest.mark.parametrize(
    ("asked", "answer", "sentence", "advice"),
    [
        ("ugi", "UGIOK", "`UGIOK` is not `ugiok`", "lower case"),
        ("ugi", "ugi ok", "`ugi` is not `ugiok`", "write `ugiok` exactly"),
        ("ugi", "hello", "; it wrote `hello`", "do better"),
        ("ugi", "uciok", "it speaks UCI, not UGI: it wrote `uciok`", "'bridge:uci -- odd': docs/"),
        ("ugi", "feature done=0", "it speaks XBoard, not UGI: it wrote `feature done=0`", "'bridge:xboard -- odd': "),
        ("ugi", "Error (unknown command): ugi", "it speaks XBoard, not UGI", "'bridge:xboard -- odd': "),
        ("ugi", "Unknown command: ugi. Type help.", "it speaks another protocol, not UGI", "by an adapter"),
        ("ugi", "? unknown command", "it speaks GTP", "by an adapter"),
        ("isready", "loading ...", "; it wrote `loading ...`", "do better"),
        ("go movetime 50", "best_move: b1b3", "`best_move` is not `bestmove`", "exactly"),
        ("go movetime 50", "BestMove b1b3", "`BestMove` is not `bestmove`", "lower case"),
        ("go movetime 50", "> bestmove b1b3", "`> bestmove b1b3` does not begin with", "first in its line"),
        (
            *("go movetime 50", r"\x1b[32mbestmove b1b3\x1b[0m"),
            *(r"it writes colour codes: `\x1b[32mbestmove", "write plain text: `bestmove b1b3`"),
        ),
        ("go movetime 50", "I resign", "`I resign` is no answer to `go`", "by `bestmove resign`"),
        ("go movetime 50", "We give up.", "`We give up.` is no answer to `go`", "by `bestmove resign`"),
        ("go movetime 50", "move b1b3", "; it wrote `move b1b3`", "do better"),
    ],
)
def test_cause_of_another_answer_is_what_is_wrong_with_it(asked: str, answer: str, sentence: str, advice: str) -> None:
    error = BotError(Termination.STALLED, "no answer in 2 s", reason=Reason.LATE)
    cause = cause_of(Evidence(error, BotSpec("odd", ("odd",)), LIMITS, [f"> {asked}", f"< {answer}"]), "do better")
    assert sentence in cause.detail
    assert advice in cause.advice


@pytest.mark.parametrize(
    ("log", "memory", "advice"),
    [
        ("Could not reserve enough space for 8388608KB object heap", "asked for 8,192 MiB, 1,024", "--memory 10240"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB", "asked for 7,629 MiB", "9536"),
        ("memory allocation of 2147483648 bytes failed", "asked for 2,048 MiB, 1,024 MiB allowed", "--memory 2560"),
        ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "1,024 MiB", "--memory"),
        ("terminate called ... std::bad_alloc", "1,024 MiB allowed", "--memory MB (1,024 now)"),
        (f"memory allocation of {'9' * 400} bytes failed", "1,024 MiB allowed", "--memory MB (1,024 now)"),
        ("malloc: memory allocation failed", "1,024 MiB allowed", "--memory MB (1,024 now)"),
    ],
)
def test_cause_of_a_program_without_memory_is_read_from_its_log(log: str, memory: str, advice: str) -> None:
    error = BotError(Termination.CRASHED, "killed by SIGABRT")
    cause = cause_of(Evidence(error, BotSpec("big", ("big",)), LIMITS, log=log), "?")
    assert cause.detail.startswith(f"out of memory ({memory}")
    assert cause.detail.endswith("crashed: killed by SIGABRT")
    assert advice in cause.advice


@pytest.mark.parametrize("banner", ["heap limit: 512 MB", "memory allocation: 64 bytes per entry"])
def test_cause_of_a_program_that_reports_its_memory_is_another(banner: str) -> None:
    error = BotError(Termination.CRASHED, "exit code 1", exit_code=1)
    assert "memory" not in cause_of(Evidence(error, BotSpec("big", ("big",)), LIMITS, log=banner), "?").detail


def test_cause_of_a_missing_answer_quotes_the_latest_line() -> None:
    error = BotError(Termination.STALLED, "no answer in 2 s", reason=Reason.LATE)
    lines = ["> isready", "< loading book", "< loading tables"]
    cause = cause_of(Evidence(error, BotSpec("odd", ("odd",)), LIMITS, lines), "?")
    assert cause.detail.endswith("; it wrote `loading tables`")


def test_cause_of_a_command_that_may_not_be_run_is_the_sandbox() -> None:
    error = BotError(Termination.HANDSHAKE_FAILED, "exit code 126", exit_code=126)
    cause = cause_of(Evidence(error, BotSpec("shy", ("shy",)), LIMITS), "?")
    assert cause.detail.startswith("not to be run in the sandbox")
    assert "interpreter" in cause.advice


def slow_mover(late_text: str) -> str:
    """A bot that has a move only if it gets 100 ms or more."""
    return program(go=f"print('bestmove b1b3') if int(line.split()[2]) >= 99 else {late_text}")


@pytest.mark.parametrize("late_text", ["print('bestmove ------')", "None"])
def test_check_of_a_bot_without_a_move_in_time_finds_the_time_it_needs(late_text: str, tmp_path: Path) -> None:
    report = examined(script(tmp_path, slow_mover(late_text)))
    step = next(step for step in report.steps if step.name == MOVE)
    assert step.passed
    assert "but not with less than 100 ms" in step.detail
    assert (report.timing.fit_from_ms or 0) >= 200


@pytest.mark.parametrize("failing", ["os._exit(1)", "print('bestmove ------')"])
def test_check_of_a_bot_that_fails_in_short_times_tries_longer_ones(failing: str, tmp_path: Path) -> None:
    """It is sound from 300 ms on; the first question is at the pace asked for, or at longer and longer times.

    No answer is late, busy as the machine may be.
    """
    limits = replace(LIMITS, margin_ms=60_000)
    code = f"print('bestmove b1b3') if int(line.split()[2]) >= 300 else {failing}"
    spec, ruleset = script(tmp_path, program(go=code)), load("loa").settle()
    for move_ms in (1000, 5000):
        report = check(spec, [ruleset], NONE, limits, move_ms=move_ms)
        step = next(step for step in report.steps if step.name == MOVE)
        assert f"> go movetime {move_ms}" in step.lines
        assert 300 <= (report.timing.fit_from_ms or 0) <= 1000
    known = check(replace(spec, capabilities={"fit_from_ms": 600}), [ruleset], NONE, limits)
    assert "> go movetime 600" in next(step for step in known.steps if step.name == MOVE).lines
    assert 300 <= (known.timing.fit_from_ms or 0) <= 1000


def test_check_of_a_bot_with_one_late_answer_does_not_count_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = keep_pace(monkeypatch, lambda told_ms, number: told_ms + (400 if number == 3 else 0))
    report = examined(script(tmp_path, program()))
    assert len(told) > 10
    assert report.timing.overshoot_ms == 0
    assert "exceeds its time" not in next(step for step in report.steps if step.name == "time for a move").detail


def test_check_of_a_bot_whose_third_answer_is_late_does_not_take_it_for_a_first_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first move comes at once; the next question is the first one that measures the pace."""
    keep_pace(monkeypatch, lambda told_ms, number: told_ms + (8000 if number == 2 else 0))
    report = examined(script(tmp_path, program()))
    assert report.timing.fit_from_ms == 50
    assert report.timing.first_overshoot_ms == 0
    assert "first answer" not in next(step for step in report.steps if step.name == "time for a move").detail


def test_check_lists_the_option_lines_that_are_not_read_as_meant(tmp_path: Path) -> None:
    lines = (
        "option name Hash type integer default 4",
        "option name Style type combo default solid",
        "option name Depth type spin default many",
        "option name Level default 3",
        "option name Clear Hash type button",
        "option name Clear Hash type button",
    )
    report = examined(
        script(tmp_path, program(ugi=f"print({chr(92).join(lines)!r}.replace(chr(92), chr(10)) + '\\nugiok')"))
    )
    step = next(step for step in report.steps if step.name == "options")
    assert not step.passed
    assert not step.needed
    for line, problem in zip(
        lines[:4], ("without a valid type", "without values", "whole number", "valid type"), strict=True
    ):
        assert f"`{line}`" in step.detail
        assert problem in step.detail
    assert "announced twice" in step.detail
    fine = examined(script(tmp_path, program(ugi="print('option name Clear type button\\nugiok')")))
    assert "options" not in {step.name for step in fine.steps}


def test_query_that_is_not_answered_is_no_fault(tmp_path: Path) -> None:
    examinee = BotUnderTest(script(tmp_path, program()), [load("loa").settle()], NONE, LIMITS)
    try:
        examinee.shake_hands()
        examinee.prepare()
        assert "that is right" in ability.query(examinee)
        assert examinee.capabilities.query == "none"
        assert examinee.bot.process.is_sound
    finally:
        examinee.close()


def test_bot_that_is_ready_at_once_is_not_charged_the_loading_of_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*arguments: object) -> object:
        passed_s.append(1000.0)
        return really(*arguments)  # type: ignore[arg-type]

    really, passed_s = requirement.negotiate, list[float]()
    monkeypatch.setattr(requirement, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + sum(passed_s)))
    monkeypatch.setattr(requirement, "negotiate", slowly)
    step = next(step for step in examined(script(tmp_path, program())).steps if step.name == READY)
    ready_ms = int(step.detail.split()[2])
    assert ready_ms < 1_000_000
    assert "; the arena loaded its rules in 1" in step.detail


@pytest.mark.parametrize(
    ("text", "mode", "sentence", "advice"),
    [
        ("#!/usr/bin/env python3\r\nprint('ugiok')\r\n", 0o755, "ends with a carriage return", "sed -i"),
        ("#!/bin/sh\r\necho ugiok\r\n", 0o755, "ends with a carriage return", "sed -i"),
        ("#!/bin/sh\necho ugiok\n", 0o644, "not an executable file", "chmod +x"),
        ("echo ugiok\n", 0o755, "a script without an interpreter in its first line", "#!/usr/bin/env python3"),
        ("\x7fELF, but of no machine", 0o755, "built for another processor", "build it for this machine"),
        (None, 0, "no such file", "correct the command"),
        ("", 0, "a folder, not a program", "name the program in it"),
    ],
)
def test_check_of_a_program_that_does_not_start_has_one_cure(
    text: str | None, mode: int, sentence: str, advice: str, tmp_path: Path
) -> None:
    file = tmp_path / "engine"
    if text:
        file.write_bytes(text.encode())
        file.chmod(mode)
    elif text is not None:
        file.mkdir()
    report = examined(BotSpec("odd", (str(file),)))
    assert report.fault
    assert report.fault.name == START
    assert sentence in report.fault.detail
    assert str(file) in report.fault.detail
    assert advice in report.fault.advice
    assert "chmod" not in report.fault.detail


def test_cause_of_a_script_without_interpreter_in_a_sandbox_is_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / "engine"
    file.write_text("echo ugiok\n")
    error = BotError(Termination.CRASHED, "exit code 126", exit_code=126)
    spec = BotSpec("odd", (str(file),))
    cause = cause_of(Evidence(error, spec, LIMITS, log=f"{file}: {os.strerror(errno.ENOEXEC)}\n"), "?")
    assert (cause.detail, cause.advice) == (
        f"a script without an interpreter in its first line: {file}",
        "write one there, such as #!/usr/bin/env python3",
    )
    behind = Evidence(error, spec, LIMITS, log=f"/other: {os.strerror(errno.ENOEXEC)}\n")
    assert cause_of(behind, "?").detail.startswith("not to be run in the sandbox")


def test_cause_of_too_many_processes_names_the_limit() -> None:
    error = BotError(Termination.PROCESS_LIMIT, "wanted more than 64 processes; exit code 1")
    cause = cause_of(Evidence(error, BotSpec("many", ("many",)), LIMITS, log="fork failed"), "?")
    assert "at most 64 processes and threads" in cause.advice
    assert "`processes` in [limits]" in cause.advice


def test_cause_of_an_illegal_choice_by_the_rules_of_the_course_names_the_filter() -> None:
    spec = read_bot("bridge:python agent.py --api course", "baroque")
    error = BotError(Termination.CRASHED, "exit code 65, thinking", exit_code=65)
    said = "python bridge: the agent chose 'e1e2': illegal move"
    cause = cause_of(Evidence(error, spec, LIMITS, log=said), "?")
    assert "know no check" in cause.detail
    assert "--filter" in cause.advice


def test_check_of_a_bridged_program_that_takes_a_second_passes_and_is_late_if_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirement, "FIRST_TIMEOUT_MS", 15_000)  # the first of these answers does come
    file = tmp_path / "slow.sh"
    file.write_text('#!/bin/sh\nread p\nread m\nsleep 0.6\nset -- $m\necho "$1"\n')
    file.chmod(0o755)
    limits = replace(PATIENT, quit_ms=LIMITS.quit_ms, grace_ms=20_000)
    spec, ruleset = bridged(str(file)), load("loa").settle()
    report = check(spec, [ruleset], NONE, limits, move_ms=5000)
    assert report.is_fit, report.fault
    assert 600 <= (report.timing.fit_from_ms or 0) <= 5000
    assert report.capabilities.stop
    file.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(requirement, "FIRST_TIMEOUT_MS", 1500)
    late = check(spec, [ruleset], NONE, limits, move_ms=300)
    assert late.fault
    assert late.fault.detail.startswith("time: no bestmove")


def bridged(command: str) -> BotSpec:
    return replace(read_bot(f"bridge:command -- {command}", "loa"), name="bridged")


def test_check_of_a_bridge_without_its_program_says_what_is_missing(tmp_path: Path) -> None:
    report = examined(bridged(str(tmp_path / "nosuch")))
    assert report.fault
    assert f"{tmp_path / 'nosuch'}" in report.fault.detail
    assert "exit code" in report.fault.detail
    assert "behind the bridge" in report.fault.advice


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="place-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.parametrize("closes", ["file", "folder"])
def test_check_of_a_program_that_others_may_not_read_names_the_file(closes: str, place: Path) -> None:
    if not is_root():
        pytest.skip("optional: only root runs bots as another user")
    sandbox = replace(sandbox_or_skip("rlimits"), reads_all=False)
    (place / "weights.bin").write_text("1")
    file = place / "bot.sh"
    file.write_text("#!/bin/sh\nread weights <$1 || exit 1\n")
    file.chmod(0o755)
    closed = place / "weights.bin" if closes == "file" else place
    closed.chmod(0o600 if closes == "file" else 0o700)
    report = examined(BotSpec("closed", (str(file), str(place / "weights.bin"))), sandbox=sandbox)
    assert report.fault
    assert f"{closed} may not be read by the sandbox's user" in report.fault.detail
    assert f"chmod a+rX {closed}" in report.fault.advice


@pytest.mark.parametrize("level", ["bwrap", "rlimits"])
def test_check_of_a_program_with_connections_of_its_own_names_the_key(level: str, place: Path) -> None:
    sandbox = sandbox_or_skip(level)
    python = public_python()
    code = "import socket, time; server = socket.create_server(('127.0.0.1', 0))"
    code += "; socket.create_connection(server.getsockname()); server.accept()"
    (place / "bot.py").write_text(program(code), encoding="utf-8")
    spec = BotSpec("talks", (python, str(place / "bot.py")))
    report = examined(spec, sandbox=sandbox)
    assert report.fault
    assert "the sandbox refused a socket: `PermissionError: [Errno 13] Permission denied`" in report.fault.detail
    assert 'network = "loopback" in bot.toml' in report.fault.advice
    report = examined(replace(spec, network="loopback"), sandbox=sandbox)
    assert (report.fault and report.fault.name) != START


@pytest.mark.parametrize(("level", "verb"), [("bwrap", "start"), ("landlock", "go"), ("rlimits", "go")])
def test_check_of_a_program_that_needs_a_refused_call_names_the_call(level: str, verb: str, place: Path) -> None:
    sandbox_or_skip(level)
    python = public_python()
    call = "__import__('os').memfd_create('table')"
    text = program(call) if verb == "start" else program(go=call)
    (place / "bot.py").write_text(text, encoding="utf-8")
    spec = BotSpec("remembers", (python, str(place / "bot.py")))
    report = examined(spec, sandbox=open_sandbox(level, is_own=True))
    assert report.fault
    line = "`OSError: [Errno 38] Function not implemented`"
    assert report.fault.detail == f"the sandbox refused the system call memfd_create: {line}"
    assert "docs/explanation/sandbox.md" in report.fault.advice


@pytest.mark.parametrize(
    ("log", "exit_code", "named"),
    [
        ("{line}clone3\n{line}mlockall", 1, " mlockall"),
        ("{line}ptrace\nOperation not permitted", 1, " ptrace"),
        ("Function not implemented", 1, ""),
        ("{line}number 999", -11, " number 999"),
    ],
)
def test_cause_of_a_refused_call_is_named(log: str, exit_code: int, named: str) -> None:
    log, error = log.format(line=REPORT_LINE), BotError(Termination.CRASHED, "it ended", exit_code=exit_code)
    cause = cause_of(Evidence(error, BotSpec("x", ("x",)), LIMITS, log=log), "?")
    assert cause.detail.startswith(f"the sandbox refused {'the' if named else 'a'} system call{named}:")


@pytest.mark.parametrize("log", ["{line}clone3", "{line}mlockall\nIndexError: no such move", ""])
def test_cause_of_a_program_that_ended_otherwise_is_no_refused_call(log: str) -> None:
    log = log.format(line=REPORT_LINE)
    error = BotError(Termination.CRASHED, "exit code 1", exit_code=1)
    assert "refused" not in cause_of(Evidence(error, BotSpec("x", ("x",)), LIMITS, log=log), "?").detail


def test_log_of_a_game_says_how_to_find_a_refused_call(place: Path) -> None:
    sandbox_or_skip("rlimits")
    (place / "bot.py").write_text(program(isready="os.memfd_create('table')"), encoding="utf-8")
    spec = BotSpec("remembers", (public_python(), str(place / "bot.py")))
    bot = LocalBot(spec, LIMITS, open_sandbox("rlimits", is_own=True))
    try:
        bot.start()
        bot.handshake()
        with pytest.raises(BotError):
            bot.ready()
        assert bot.log.endswith(
            "Function not implemented\nsandbox: a system call was refused; `arena check` names it, "
            "docs/explanation/sandbox.md those that are allowed\n"
        )
    finally:
        bot.close()


def test_cause_of_a_bridge_whose_program_others_may_not_read_names_it(place: Path) -> None:
    client = place / "client"
    client.write_text("x")
    client.chmod(0o700)
    spec = bridged(str(client))
    said = f"command bridge: cannot start the program '{client}': Permission denied"
    error = BotError(Termination.CRASHED, "exit code 66, thinking", exit_code=66)
    cause = cause_of(Evidence(error, spec, LIMITS, log=said), "?")
    assert cause.detail.startswith(f"{client} may not be read by the sandbox's user")
    client.chmod(0o755)
    cause = cause_of(Evidence(error, spec, LIMITS, log=said), "?")
    assert cause.detail == f"{said} (crashed: exit code 66, thinking)"


@pytest.mark.parametrize(("asked", "is_spelling"), [("> ugi", True), ("> uginewgame", False)])
def test_only_a_question_has_a_misspelt_answer(asked: str, is_spelling: bool) -> None:
    error = BotError(Termination.STALLED, "no answer in 2 s", reason=Reason.LATE)
    cause = cause_of(Evidence(error, BotSpec("odd", ("odd",)), LIMITS, [asked, "< ugi-ok"]), "?")
    assert ("`ugi-ok` is not `ugiok`" in cause.detail) is is_spelling


def test_cause_of_an_answer_after_much_output_is_the_output() -> None:
    error = BotError(Termination.STALLED, "no bestmove in 15 s", reason=Reason.LATE)
    info = [f"< info depth 1 nodes {10**9 + number}" for number in range(3000)]
    flood = Evidence(error, BotSpec("odd", ("odd",)), LIMITS, ["> go movetime 50", *info], at_end=["bestmove b1b3"])
    cause = cause_of(flood, "?")
    assert "it wrote 90,014 bytes meanwhile" in cause.detail
    assert cause.advice.startswith("write less")
    assert not cause.is_certain
    assert "does not flush" in cause_of(replace(flood, lines=["> go movetime 50", *info[:9]]), "?").detail


def test_cause_of_a_late_answer_of_a_kind_that_came_before_is_no_missing_flush() -> None:
    error = BotError(Termination.HANDSHAKE_FAILED, "no answer to `ugi` in 10 s", reason=Reason.LATE)
    late = Evidence(error, BotSpec("odd", ("odd",)), LIMITS, ["> ugi"], at_end=["id name odd", "ugiok"])
    assert "does not flush" in cause_of(late, "?").detail
    cause = cause_of(replace(late, flushed=frozenset({"ugiok"})), "?")
    assert "no answer to `ugi`" in cause.detail
    assert not cause.is_certain


def test_cause_of_a_move_that_comes_too_late_is_not_its_spelling() -> None:
    error = BotError(Termination.STALLED, "no bestmove for `go nodes 100` in 2 s", reason=Reason.LATE)
    spec = BotSpec("late", ("late",))
    late = Evidence(error, spec, LIMITS, ["> go nodes 100", "> stop", "< bestmove b1b3"])
    assert cause_of(late, "answer `go nodes 100`").detail == str(error)
    assert (
        "`ok bestmove b1b3` does not begin"
        in cause_of(replace(late, lines=[*late.lines, "< ok bestmove b1b3"]), "?").detail
    )


def test_step_that_fails_by_time_is_repeated_and_says_under_what_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process does not answer, as on a machine that is busy; the second does."""
    monkeypatch.setattr(os, "getloadavg", lambda: (8.25, 1.0, 1.0))
    mark = tmp_path / "started"
    late = f"None if not os.path.exists({str(mark)!r}) and not open({str(mark)!r}, 'w').close() else print('ugiok')"
    report = check(script(tmp_path, program(ugi=late)), [load("loa").settle()], NONE, replace(LIMITS, start_ms=5000))
    assert report.steps[0].passed
    assert report.as_json()["load"] == {"average": 8.2, "cores": report.cores}
    silent = check(
        script(tmp_path, "import os; os.read(0, 99)"), [load("loa").settle()], NONE, replace(LIMITS, start_ms=300)
    )
    assert silent.fault


def test_check_at_any_time_control_finds_the_fastest_pace(tmp_path: Path) -> None:
    ruleset = load("loa").settle()
    report = check(script(tmp_path, program()), [ruleset], NONE, replace(LIMITS, margin_ms=60_000), move_ms=5000)
    assert report.timing.fit_from_ms == 50


def test_check_in_a_sandbox_that_fails_blames_the_machine(tmp_path: Path) -> None:
    bot = replace(script(tmp_path, program()), folder=str(tmp_path / "missing"))
    fault = check(bot, [load("loa").settle()], sandbox_or_skip("bwrap"), LIMITS).fault
    assert fault
    assert fault.advice == "nothing: the sandbox failed, not the bot; `arena doctor` says what the machine lacks"


def test_choose_with_a_sandbox_that_fails_says_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_choice, "assess", lambda name: Assessment(name, works=True))

    def why_not(spec: BotSpec, sandbox: Sandbox, limits: BotLimits) -> Complaint | None:
        if sandbox.name == "bwrap":
            return Complaint("bwrap: no mounts", is_levels_own=True)
        return Complaint("no library") if spec.name == "tool" and sandbox.name == "landlock" else None

    monkeypatch.setattr(sandbox_choice, "why_not", why_not)
    monkeypatch.setattr(sandbox_choice, "open_sandbox", lambda name, is_own=False: Sandbox(name))
    fine, tool = BotSpec("fine", ("/opt/fine",)), BotSpec("tool", ("/opt/tool",))
    sandbox, notes = sandbox_choice.choose("auto", [fine, tool], BotLimits())
    assert sandbox.name == "rlimits"
    assert notes == (
        "bot 'fine' runs in rlimits: it does not start in bwrap (bwrap: no mounts); that is the sandbox's own error: "
        "arena doctor says what it needs",
        "bot 'tool' runs in rlimits: it does not start in landlock (no library); show it what it needs: name the file "
        "in its command, or put it next to its program, readable by every user",
    )
