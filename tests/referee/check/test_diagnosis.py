"""Each broken program gets one true cause: what is wrong with it, in one sentence, and what to do."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import referee.check.check as checking
from referee.bot.argument import read_bot
from referee.check import ability
from referee.check.cause import Evidence, cause_of
from referee.check.check import check
from referee.check.report import CheckReport
from referee.game.failure import BotError
from referee.game.spec import BotLimits, BotSpec
from referee.play import sandbox_choice
from referee.play.sandbox_choice import Complaint
from referee.rules import load
from referee.rules.core import Termination
from referee.sandbox import Assessment, Sandbox
from referee.sandbox.privilege import is_root
from tests.referee.sandbox.levels import sandbox_or_skip

LIMITS = replace(BotLimits(), start_ms=3000, ready_ms=3000, quit_ms=400, grace_ms=150, margin_ms=60)
NONE = Sandbox("none")
USUAL = {"ugi": "print('ugiok')", "isready": "print('readyok')", "go": "print('bestmove b1b3')", "quit": "break"}
"""What the program does for each verb of the referee; a broken one does something else."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "FIRST_TIMEOUT_MS", 700)
    monkeypatch.setattr(checking, "_FIRST_MOVE_MS", (50, 100))
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


START, READY, MOVE = "start and handshake", "announces loa", "first move"
TABLE = [
    Broken("syntax", "for line in sys.stdin\n  pass", START, "handshake-failed: exit code 1", "standard error"),
    Broken("missing command", "import sys; sys.exit(127)", START, "not found in the sandbox", "libraries"),
    Broken("forbidden command", "import sys; sys.exit(126)", START, "not to be run in the sandbox", "interpreter"),
    Broken("ends", program(isready="sys.exit(0)"), READY, "starts, but ends", "until `quit`"),
    Broken("no book", program(isready=dies("no book")), READY, "exit code 1", "standard error"),
    Broken("memory", "x = [0] * 10**13", START, "out of memory (1,024 MB allowed)", "--memory MB (1,024 now)"),
    Broken(
        "numpy memory",
        program(go=dies("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array")),
        *(MOVE, "out of memory (asked for 7,629 MB, 1,024 MB allowed)", "--memory 9536"),
    ),
    Broken(
        "java memory",
        f"import sys\n{dies('Could not reserve enough space for 8388608KB object heap')}",
        *(START, "out of memory (asked for 8,192 MB, 1,024 MB allowed)", "--memory 10240"),
    ),
    Broken(
        "rust memory",
        program(go="print('memory allocation of 2147483648 bytes failed', file=sys.stderr, flush=True); os.abort()"),
        *(MOVE, "out of memory (asked for 2,048 MB, 1,024 MB allowed): crashed: killed by SIGABRT", "--memory 2560"),
    ),
    Broken("python memory at go", program(go="x = [0] * 10**13"), MOVE, "out of memory (1,024 MB allowed)", "--memory"),
    Broken("loud ugiok", program(ugi="print('UGIOK')"), START, "`UGIOK` is not `ugiok`", "lower case"),
    Broken("uciok", program(ugi="print('uciok')"), START, "`uciok` is not `ugiok`", "write `ugiok`"),
    Broken("ready", program(isready="print('ready_ok')"), READY, "`ready_ok` is not `readyok`", "write `readyok`"),
    Broken("loud bestmove", program(go="print('BESTMOVE b1b3')"), MOVE, "`BESTMOVE` is not `bestmove`", "lower case"),
    Broken("best move", program(go="print('best_move: b1b3')"), MOVE, "`best_move` is not `bestmove`", "exactly"),
    Broken("bare move", program(go="print('b1b3')"), MOVE, "`b1b3` is not `bestmove b1b3`", "before the move"),
    Broken("prompt", program(go="print('> bestmove b1b3')"), MOVE, "`> bestmove b1b3` does not begin with", "first"),
    Broken(
        "colours",
        program(go=r"print('\x1b[32mbestmove b1b3\x1b[0m')"),
        *(MOVE, r"it writes colour codes: `\x1b[32mbestmove", "write plain text: `bestmove b1b3`"),
    ),
    Broken("no line end", program(go="print('bestmove b1b3', end='')"), MOVE, "has no line end", "with a newline"),
    Broken("no flush", program(flush=False), START, "`ugiok` came only when its input ended", "flush standard output"),
    Broken(
        "no flush at go",
        program(flush=False, ugi="print('ugiok', flush=True)", isready="print('readyok', flush=True)"),
        *(MOVE, "`bestmove b1b3` came only when its input ended: it does not flush", "flush standard output"),
    ),
    Broken("long line", program(go="print('info string ' + 9000 * 'x')"), MOVE, "a line of 90", "protocol/SPEC.md"),
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
]


def examined(spec: BotSpec, case: Broken | None = None, sandbox: Sandbox = NONE) -> CheckReport:
    ruleset = load("loa").settle(case.variant if case else None, dict(case.options) if case else {})
    return check(spec, [ruleset], sandbox, LIMITS)


def script(folder: Path, text: str) -> BotSpec:
    file = folder / "bot.py"
    file.write_text(text, encoding="utf-8")
    return BotSpec("broken", (sys.executable, "-S", "-E", str(file)))


def test_the_table_has_enough_programs_for_the_name() -> None:
    assert len({case.name for case in TABLE}) == len(TABLE) >= 25
    assert len({case.text for case in TABLE}) >= 25


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_check_of_a_broken_program_names_its_cause(case: Broken, tmp_path: Path) -> None:
    report = examined(script(tmp_path, case.text), case)
    assert not report.is_fit
    assert report.fault == report.steps[-1], "nothing comes after the cause"
    assert report.fault
    assert report.fault.name == case.step, report.fault.detail
    assert case.sentence in report.fault.detail
    assert case.advice in report.fault.advice
    assert "setoption" not in report.fault.detail


def slow_mover(late_text: str) -> str:
    """A bot that has a move only if it gets 100 ms or more."""
    return program(go=f"print('bestmove b1b3') if int(line.split()[2]) >= 99 else {late_text}")


@pytest.mark.parametrize("late_text", ["print('bestmove ------')", "print('bestmove a1a1')", "None"])
def test_check_of_a_bot_without_a_move_in_time_finds_the_time_it_needs(late_text: str, tmp_path: Path) -> None:
    report = examined(script(tmp_path, slow_mover(late_text)))
    step = next(step for step in report.steps if step.name == MOVE)
    assert step.passed
    assert "but not with less than 100 ms" in step.detail
    assert (report.timing.fit_from_ms or 0) >= 200


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


def test_cause_of_a_bridge_whose_program_others_may_not_read_names_it(place: Path) -> None:
    client = place / "client"
    client.write_text("x")
    client.chmod(0o700)
    spec = bridged(str(client))
    said = f"command bridge: cannot start the program '{client}': Permission denied"
    cause = cause_of(Evidence(BotError(Termination.CRASHED, "exit code 66, thinking"), spec, LIMITS, log=said), "?")
    assert cause.detail.startswith(f"{client} may not be read by the sandbox's user")
    client.chmod(0o755)
    cause = cause_of(Evidence(BotError(Termination.CRASHED, "exit code 66, thinking"), spec, LIMITS, log=said), "?")
    assert cause.detail == f"{said} (crashed: exit code 66, thinking)"


def test_cause_of_a_move_that_comes_too_late_is_not_its_spelling() -> None:
    error = BotError(Termination.STALLED, "no bestmove for `go nodes 100` in 2 s")
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
    report = check(script(tmp_path, program(ugi=late)), [load("loa").settle()], NONE, replace(LIMITS, start_ms=300))
    assert report.steps[0].passed
    assert report.as_json()["load"] == {"average": 8.2, "cores": report.cores}
    silent = check(script(tmp_path, "import os; os.read(0, 99)"), [load("loa").settle()], NONE, LIMITS)
    assert silent.fault


def test_check_at_any_time_control_finds_the_fastest_pace(tmp_path: Path) -> None:
    ruleset = load("loa").settle()
    report = check(script(tmp_path, program()), [ruleset], NONE, LIMITS, move_ms=5000)
    assert report.timing.fit_from_ms == 50


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
