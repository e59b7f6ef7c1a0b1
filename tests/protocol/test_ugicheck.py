"""The checker of one file finds the faults of programs that have them, and none where there are only habits."""

from __future__ import annotations

import ast
import contextlib
import json
import sys
from pathlib import Path
from unittest import mock

import pytest

from protocol import ugicheck
from protocol.ugicheck import ADVICE, Checker, StopError, UgiReport, main
from referee.rules import load
from referee.rules.position import Position
from tests.conftest import INTERPRETED

ROOT = Path(__file__).parents[2]
BAD = ROOT / "tests" / "badbots"
SHORT_S, LONG_S = 0.6, 100.0
TRIES = ((ugicheck.QUIET_S, 3.0), (1.0, 20.0), (10.0, LONG_S))
"""How long nothing may come, how long an answer is waited for: longer where a busy machine was too slow at first."""
WORDS = {"talks_out_of_turn": ("0.001",)}
"""One that talks is found by its lines, before they are too many bytes."""

SILENT = {
    "silent_at_handshake": "no-ugiok",
    "talks_through_handshake": "no-ugiok",
    "does_not_read": "no-readyok",
    "silent_at_go": "no-bestmove",
    "silent_at_quit": "stays",
}
"""Who is waited for in vain: one program for each finding, as in the next list."""
LOUD = {
    "exits_at_start": "ends-at-start",
    "exits_on_isready": "ends-at-isready",
    "killed": "ends-at-go",
    "shell_gone": "ends-at-go",
    "crashes_at_quit": "crashes-at-quit",
    "stops_itself": "stops-itself",
    "late": "late",
    "two_bestmoves": "two-bestmoves",
    "bestmove_before_go": "unasked-bestmove",
    "illegal_move": "illegal-move",
    "empty_move": "no-move",
    "another_family": "another-family",
    "changes_id": "changes-itself",
    "many_options": "many-options",
    "invalid_utf8": "not-text",
    "endless_line": "line-too-long",
    "endless_newlines": "too-much-output",
    "talks_out_of_turn": "talks-while-idle",
    "closes_stdout": "closes-its-pipes",
    "daemon": "leaves-processes",
    "memory_hog": "too-much-memory",
    "thread_bomb": "too-many-processes",
}
"""Who says or does too much."""
ALIKE = {"two-bestmoves": {"unasked-bestmove"}, "unasked-bestmove": {"two-bestmoves"}, "late": {"no-bestmove"}}
"""What it may be called as well, by when the line comes."""
HARMLESS = ("byte_by_byte", "closes_stderr", "zombies")


def legal_moves() -> str:
    start = Position.start(load("loa").settle())
    return " ".join(start.ruleset.rules.notation.write_move(move) for move in start.moves)


def examine(name: str, patience: float, *words: str) -> UgiReport:
    """What playing finds in a bad bot."""
    script = BAD / f"{name}.sh"
    command = ["/bin/sh", str(script)] if script.exists() else [sys.executable, "-SE", str(BAD / f"{name}.py"), *words]
    report = UgiReport(lambda text: None)
    with contextlib.suppress(StopError):
        Checker(command, report, timeout_s=patience, family="loa", legal=legal_moves()).play()
    return report


@pytest.mark.parametrize("name", [*SILENT, *LOUD])
def test_faults_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ugicheck, "MAX_MEMORY_BYTES", 60 * 2**20)
    monkeypatch.setattr(ugicheck, "READY_TIMEOUT_FACTOR", 1)
    expected = {**SILENT, **LOUD}[name]
    monkeypatch.setattr(ugicheck, "MAX_OUTPUT_BYTES", 2**18 if expected == "too-much-output" else 2**20)
    names = {expected} | ALIKE.get(expected, set())
    for quiet_s, patience_s in TRIES:
        monkeypatch.setattr(ugicheck, "QUIET_S", quiet_s)
        report = examine(name, SHORT_S if name in SILENT else patience_s, *WORDS.get(name, ()))
        if report.faults.keys() & names:
            break
    assert report.faults.keys() & names, report.faults
    assert all(finding.advice == ADVICE[finding.name] and finding.seen for finding in report.faults.values())


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_is_no_fault(name: str) -> None:
    assert not examine(name, LONG_S).faults


@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "notes"),
    [
        ("natsel_rs", {"setoption-bare", "clocks", "nodes", "stop"}),
        ("cmalo", {"clocks", "nodes", "stop", "query-bare", "unknown-command"}),
    ],
)
def test_old_dialects_are_told_and_no_faults(
    engine: str, notes: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ugicheck, "LATENESS_TOLERANCE_MS", 10_000)  # a busy machine is no fault of theirs
    command = [sys.executable, "-SE", str(ROOT / "tests" / "engines" / f"{engine}.py")]
    code = main(["--json", "--patience", "4", "--", *command])
    report = json.loads(capsys.readouterr().out)
    assert report["faults"] == []
    assert code == 0
    assert {note["name"] for note in report["notes"]} - {"overshoots"} == notes


def test_a_step_with_a_fault_is_not_reported_as_right() -> None:
    lines: list[str] = []
    report = ugicheck.UgiReport(lines.append)
    for _ in range(2):
        report.is_sound = True  # a new step
        report.fault("late", "after a second")
        report.ok("plays")
    assert [line.split()[0] for line in lines] == ["FAULT"]
    report.is_sound = True
    report.ok("plays")
    assert lines[1:] == ["ok     plays"]


def test_signals_without_a_name_have_their_number() -> None:
    assert (ugicheck.signal_name(9), ugicheck.signal_name(36)) == ("SIGKILL", "signal 36")


def test_sample_bot_has_no_fault(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ugicheck, "LATENESS_TOLERANCE_MS", 10_000)
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)
    command = f"{sys.executable} -m bots.samples.random_mover --family loa"
    code = main([command, "--family", "loa", "--legal", legal_moves(), "--patience", str(LONG_S)])
    said = capsys.readouterr().out
    assert code == 0, said
    assert "0 faults" in said
    assert "ok     plays a second game" in said


@pytest.mark.parametrize(("announced", "notes"), [("false", set()), ("true", {"clocks"})])
def test_an_engine_that_announces_no_clocks_is_not_asked_with_clocks(
    tmp_path: Path, announced: str, notes: set[str]
) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    words = line.split()\n"
        "    if words[0] == 'ugi':\n"
        f"        print('id name x\\noption name UGI_Clocks type check default {announced}\\nugiok', flush=True)\n"
        "    elif words[0] == 'isready':\n"
        "        print('readyok', flush=True)\n"
        "    elif words[:2] == ['go', 'movetime']:\n"
        "        print('bestmove b1b3', flush=True)\n"
        "    elif words[0] == 'quit':\n"
        "        break\n"
    )
    timeout_s = LONG_S if announced == "false" else SHORT_S
    report = UgiReport(lambda text: None)
    checker = Checker([sys.executable, "-SE", str(engine)], report, timeout_s=timeout_s, family="loa")
    checker.play()
    checker.clocks()
    assert report.notes.keys() == notes


OBEDIENT = """
import sys, time
games = 0
for line in sys.stdin:
    words = line.split()
    games += words[0] == "uginewgame"
    if words[0] == "ugi":
        print("id name x\\noption name Hash type spin default 1 min 1 max 9\\nugiok", flush=True)
    elif words[0] == "setoption":
        {setoption}
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "query":
        {query}
    elif words[0] == "go":
        {go}
        print("bestmove b1b3", flush=True)
"""
SLEEPS = "time.sleep(600)"


def checker_of(folder: Path, **does: str) -> Checker:
    """A checker of a program that does this at a verb, and is well-behaved otherwise."""
    engine = folder / "engine.py"
    engine.write_text(OBEDIENT.format(**{"setoption": "pass", "query": "pass", "go": "pass", **does}))
    return Checker([sys.executable, "-SE", str(engine)], UgiReport(lambda text: None), timeout_s=2.0, family="loa")


def test_a_missing_answer_is_said_in_words(tmp_path: Path) -> None:
    checker = checker_of(tmp_path, setoption=SLEEPS)
    checker.options()
    assert "error: no answer" in checker.report.notes["setoption"].seen
    half = "if games == 2: sys.stdout.write('bestm'); sys.stdout.flush(); time.sleep(600)"
    checker = checker_of(tmp_path, go=half)
    checker.second_game()
    assert checker.report.faults["second-game"].seen == (
        "no move after the second `uginewgame`: a line without end: b'bestm'"
    )
    checker = checker_of(tmp_path, go=SLEEPS)
    checker.time_move("depth", "go depth 1")
    assert checker.report.notes["depth"].seen == "no move after `go depth 1`: no answer"


@pytest.mark.parametrize(
    ("answer", "notes"),
    [("info string x\\ninfo depth 1\\nresponse false", set()), ("info string x", {"query"})],
)
def test_info_is_no_answer_to_a_query(tmp_path: Path, answer: str, notes: set[str]) -> None:
    checker = checker_of(tmp_path, query=f"print('{answer}', flush=True)")
    with contextlib.suppress(StopError):
        checker.queries()
    assert checker.report.notes.keys() == notes
    assert all(note.seen == "no answer to `query gameover`" for note in checker.report.notes.values())


def test_what_cannot_be_started_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing")]) == 1
    assert "FAULT  cannot-start" in capsys.readouterr().out
    with pytest.raises(SystemExit) as error:
        main(["--patience", "0", "engine"])
    assert error.value.code == 2
    capsys.readouterr()
    with pytest.raises(SystemExit) as error:
        main(["./engine 'x"])
    assert error.value.code == 2
    assert """invalid engine "./engine 'x": no closing quotation""" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("option name Hash type spin default 16 min 1 max 4096", False),
        ("option name Hash type spin default 0 min 1 max 4096", True),
        ("option name Hash type spin default 4097 min 1 max 4096", True),
        ("option name Hash type spin default 1 min 1", True),
        (f"option name Hash type spin default 1 min 1 max {'9' * 5000}", True),
        ("option name Book file type string default <empty>", False),
        ("option name Clear type button", False),
        ("option name Style type colour", True),
        ("option Style type check", True),
    ],
)
def test_options_that_say_nothing_usable_are_faults(line: str, is_fault: bool) -> None:
    report = UgiReport(lambda text: None)
    talk = ugicheck.EngineSession(mock.create_autospec(ugicheck.Engine, instance=True), report, timeout_s=1.0)
    talk.read_options([line])
    assert ("bad-option" in report.faults) is is_fault
    is_read = "colour" not in line and "option name " in line
    assert [name for name, _, _ in talk.options] == [line[len("option name ") : line.index(" type ")]] * is_read


def test_it_is_one_file_and_needs_nothing() -> None:
    tree = ast.parse((ROOT / "protocol" / "ugicheck.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    roots = {
        name.split(".")[0]
        for node in imports
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert roots <= sys.stdlib_module_names | {"__future__"}
