"""Commands whose output nobody reads, or that have none: they end with 0 or 141 and say nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.__main__ import hold_streams
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run

TIMEOUT_S = 200
COMMANDS = ["--help", "--version", "rules list", "rules list --json"]
"""One of each kind: what writes differs."""


def _piped(words: str, rest: str, folder: Path) -> tuple[int, str]:
    """The exit code of a command with its output led elsewhere, and what was complained of on the terminal's side."""
    line = f'"{sys.executable}" -m arena {words} {rest}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        *((words, rest) for words in COMMANDS for rest in ("| true", "<&- >&- 2>&-")),
        *(("--help", rest) for rest in ("| head -c 10", ">&-", "2>&-")),
    ],
)
def test_output_that_nobody_reads_is_no_fault(tmp_path: Path, words: str, rest: str) -> None:
    """The kinds of commands differ in what writes: each meets a reader that is gone and streams that are closed."""
    code, complaints = _piped(words, rest, tmp_path)
    assert complaints == ""
    assert code in ((0, Exit.UNREAD) if "|" in rest else (0,))


def test_an_error_that_nobody_reads_ends_as_unread_output(tmp_path: Path) -> None:
    # The reader has gone before the command begins.
    code, complaints = _piped("nope", "2>&1 | exec true", tmp_path)
    assert (code in (Exit.USAGE, Exit.UNREAD), complaints) == (True, "")
    assert _piped("nope", ">&- 2>&-", tmp_path) == (Exit.USAGE, "")


def test_a_stream_ends_when_its_reader_has_seen_enough() -> None:
    program = "from arena.cli.terminal import output\nfor number in range(10**6): output.item({'number': number})"
    script = (
        "import referee.rules.per_family as module; from arena.__main__ import main; import sys\n"
        f"def endless(*_):\n    exec({program!r})\n    return 0\n"
        "module.perft = endless\nsys.exit(main(['perft', 'loa', '--depth', '1']))"
    )
    line = f'"{sys.executable}" -c "$1" | head -n 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", line, "bash", script], capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (Exit.UNREAD, '{"number":0}\n', "")


def test_a_full_disk_is_told_once(tmp_path: Path) -> None:
    code, complaints = _piped("rules list", "> /dev/full", tmp_path)
    assert code == Exit.FAILED
    assert complaints == "error: the disk is full; make room and do it again\n"


def test_a_pipe_that_breaks_elsewhere_is_no_end_of_output(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def breaks(*_: object) -> int:
        raise BrokenPipeError("a server has hung up")

    monkeypatch.setattr("referee.rules.per_family.perft", breaks)
    assert run(["perft", "loa", "--depth", "1"]) == Exit.UNREACHABLE
    assert "a server has hung up" in capsys.readouterr().err


def test_streams_that_are_open_stay_as_they_are() -> None:
    before = (sys.stdin, sys.stdout, sys.stderr), os.listdir("/proc/self/fd")
    hold_streams()
    assert ((sys.stdin, sys.stdout, sys.stderr), os.listdir("/proc/self/fd")) == before


def test_lines_of_both_streams_in_one_file_stand_whole_and_in_order(tmp_path: Path) -> None:
    script = (
        "from arena.cli.terminal import output\n"
        "for number in range(9):\n"
        "    output.text(f'{number} ' + 'x' * 3_000)\n"  # more than the buffer of stdout in a few lines
        "    output.note(f'note {number}')\n"
    )
    with (tmp_path / "log").open("w") as file:
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        command = [sys.executable, "-c", script]
        subprocess.run(command, stdout=file, stderr=file, check=True, timeout=TIMEOUT_S, env=buffered)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[1::2] == [f"note {number}" for number in range(9)]
    assert lines[::2] == [f"{number} " + "x" * 3_000 for number in range(9)]
