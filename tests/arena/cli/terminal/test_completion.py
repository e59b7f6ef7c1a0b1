"""Completion: what a shell offers is what the parsers take."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.commands import COMMANDS
from arena.cli.terminal.completion import SHELLS
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """The script of every shell."""
    import contextlib
    import io

    found = {}
    for shell in SHELLS:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert run(["completion", shell]) == Exit.DONE
        found[shell] = out.getvalue()
    return found


def offered(script: Path, line: str) -> set[str]:
    """What bash offers for the last word of a line."""
    typed = f"COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))"
    program = f'source "{script}"; {typed}; _arena; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_values(scripts: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "arena"
    script.write_text(scripts["bash"])
    assert {command.name for command in COMMANDS} <= offered(script, "arena ''")
    assert offered(script, "arena tourn") == {"tournament"}
    assert offered(script, "arena bot s") == {"submit", "show"}
    assert offered(script, "arena bot list --re") == {"--retired"}
    assert offered(script, "arena tournament create --example s") == {"swiss", "sprt"}
    assert offered(script, "arena tournament create x.toml --ch") == {"--check"}
    assert offered(script, "arena play a b --format g") == {"gauntlet"}
    assert offered(script, "arena completion z") == {"zsh"}
    assert offered(script, "arena user add zoe --role a") == {"author", "admin"}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_every_place(scripts: dict[str, str], shell: str) -> None:
    text = scripts[shell]
    for place, word in (("arena", "tournament"), ("arena bot", "submit"), ("arena tournament create", "--check")):
        assert re.search(rf'"{place}"\W.*{word}', text), place
    assert re.search(r'"arena tournament create --example"\W.*knockout', text)
    assert text.count("{") == text.count("}")
    assert text.count("'") % 2 == 0


def test_another_shell_is_refused(capsys: Any) -> None:
    assert run(["completion", "csh"]) == Exit.USAGE
    assert "bash, zsh, fish" in capsys.readouterr().err
