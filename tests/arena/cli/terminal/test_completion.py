"""Completion: what a shell offers is what the parsers take."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.commands import every
from arena.cli.terminal.completion import SHELLS
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from tests.conftest import OPTIONAL


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """The script of every shell."""
    import contextlib
    import io

    by_shell = {}
    for shell in SHELLS:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert run(["completion", shell]) == Exit.DONE
        by_shell[shell] = out.getvalue()
    return by_shell


def offered(script: Path, line: str) -> set[str]:
    """What bash offers for the last word of a line."""
    program = f"""source "{script}"
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))
_shtab_arena
echo "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, timeout=500)
    assert done.stderr == ""
    return set(done.stdout.split())


def fish_offers(script: Path, line: str) -> set[str]:
    """What fish offers for the last word of a line."""
    program = f"source {script}; complete -C '{line}'"
    done = subprocess.run(["fish", "-c", program], capture_output=True, text=True, check=True, timeout=500)
    return {one.partition("\t")[0] for one in done.stdout.splitlines()}


OFFERS = [
    ("arena tourn", {"tournament"}),
    ("arena bot s", {"submit", "show"}),
    ("arena bot list --re", {"--retired"}),
    ("arena tournament create --example s", {"swiss", "sprt"}),
    ("arena tournament create x.toml --ch", {"--check"}),
    ("arena play a b --format g", {"gauntlet"}),
    ("arena completion z", {"zsh"}),
    ("arena user add zoe --role a", {"author", "admin"}),
    ("arena new-bot r", {"rust"}),
    ("arena new-bot rust t", {"tablut"}),
]


def test_bash_completes_commands_options_and_values(scripts: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "arena"
    script.write_text(scripts["bash"])
    assert {command.name for command in every()} <= offered(script, "arena ''")
    assert {line: offered(script, line) for line, _ in OFFERS} == dict(OFFERS)


@pytest.mark.skipif(shutil.which("fish") is None, reason=f"{OPTIONAL}no fish here")
def test_fish_completes_commands_options_and_values(scripts: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "arena.fish"
    script.write_text(scripts["fish"])
    assert {line: fish_offers(script, line) for line, _ in OFFERS} == dict(OFFERS)


@pytest.mark.skipif(shutil.which("zsh") is None, reason=f"{OPTIONAL}no zsh here")
def test_zsh_script_has_no_syntax_errors(scripts: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "_arena"
    script.write_text(scripts["zsh"])
    subprocess.run(["zsh", "-n", str(script)], check=True, timeout=500)
    assert scripts["zsh"].startswith("#compdef arena\n")


def test_another_shell_is_refused(capsys: Any) -> None:
    assert run(["completion", "csh"]) == Exit.USAGE
    assert "bash, zsh, fish" in capsys.readouterr().err
