"""What a program can learn at each level: the table of the documentation, looked up from inside."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

import pytest

from referee.sandbox import LEVELS, Sandbox
from referee.sandbox import level as selftest
from tests.referee.sandbox.conftest import ATTACKS
from tests.referee.sandbox.levels import public_python, sandbox_or_skip

UNCERTAIN = ("pressure", "interrupts", "mounts of the machine", "memory of the opponent")
"""What some kernels lack, or hide by settings of their own."""


def table() -> dict[str, dict[str, str]]:
    """The table of the documentation: a word for each information and level."""
    text = Path("docs/explanation/sandbox.md").read_text(encoding="utf-8")
    lines = text.partition("| information |")[2].splitlines()[2:]
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")])
    return {name: dict(zip(LEVELS, words, strict=True)) for name, *words in rows}


def learns(sandbox: Sandbox, folder: Path, note: Path) -> dict[str, bool]:
    """What a program in the sandbox sees of another one, which runs in a sandbox of the same level."""
    (folder / "bot.py").write_text("trade secret", encoding="utf-8")
    python = public_python()
    mounts = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()}
    place = next((path for path in ("/dev/pts", "/run", "/sys") if path in mounts), "")
    probe = (python, "-ISBc", Path(selftest.__file__).with_name("probe.py").read_text(encoding="utf-8"))
    text = (ATTACKS / "spy.py").read_text(encoding="utf-8")
    with selftest._sibling(sandbox, probe) as sibling:
        words = json.dumps([sibling.pids[-1], str(folder / "bot.py"), str(note), place])
        answer = selftest._run(sandbox, (python, "-ISBc", text, words.encode().hex()))
    assert isinstance(answer, dict), answer
    return answer


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_learns_what_the_documentation_says(level: str, open_folder: Path) -> None:
    sandbox = sandbox_or_skip(level)
    note = Path("/tmp", f"arena-test-{uuid.uuid4().hex}")
    try:
        learns(sandbox, open_folder, note)
        seen = learns(sandbox, open_folder, note)
    finally:
        note.unlink(missing_ok=True)
    expected = {name: words[level] for name, words in table().items()}
    for name, is_seen in seen.items():
        word = expected.pop(name)
        if word == "hidden from other users":
            word = "hidden" if os.geteuid() == 0 else "seen"
        assert is_seen == (word == "seen") or (name in UNCERTAIN and not is_seen), name
    assert set(expected) == {"seed and coming openings"}
