"""The JSON documents of commands: a schema in each, and the keys that are promised."""

from __future__ import annotations

import ast
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import arena.cli
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.output import SCHEMA
from arena.cli.terminal.parser import build
from arena.cli.terminal.run import run
from docs.extensions.json_documents import PINNED
from tests.test_site import parsers
from tests.with_features import is_on

FOLDER = Path(arena.cli.__file__).parent
MODULES = [*FOLDER.rglob("*.py"), *(FOLDER.parent / "features").glob("*/cli/*.py")]


def _written() -> dict[str, set[str]]:
    """The keys that each function writes into documents, by module and function."""
    keys_of: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("output.document", ".result")):
                    for part in call.args:
                        if isinstance(part, ast.Dict):
                            keys = {key.value for key in part.keys if isinstance(key, ast.Constant)}
                            keys_of[f"{path.stem}.{function.name}"] |= keys  # type: ignore[arg-type]
    return keys_of


def test_documents_have_the_keys_that_are_promised_for_this_schema() -> None:
    promised = {place: set(keys.split()) for place, (_, keys) in PINNED.items()}
    assert SCHEMA == 1
    assert dict(_written()) == promised, (
        "documents have other keys than docs/extensions/json_documents.py; if one went or changed, raise SCHEMA"
    )


def test_nothing_else_prints_a_document() -> None:
    printing = {
        path.stem for path in MODULES if "print(json" in path.read_text() or "print(_escaped(json" in path.read_text()
    }
    assert printing == {"output"}


@pytest.mark.parametrize(
    "words",
    [
        ["rules", "list"],
        ["rules", "moves", "loa"],
        ["rules", "setup", "pijersi"],
        ["tournament", "create", "--check", "{folder}/cup.toml"],
        *([["atlas", "show", "tablut"]] if is_on("atlas") else []),
    ],
)
def test_a_document_begins_with_its_schema(words: list[str], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "cup.toml").write_text('name = "a"\nfamily = "loa"\nentries = { newest = true }\n', encoding="utf-8")
    assert run([*(word.format(folder=tmp_path) for word in words), "--json"]) == Exit.DONE
    document = json.loads(capsys.readouterr().out)
    assert next(iter(document)) == "schema"
    assert document["schema"] == SCHEMA
    (own,) = (
        keys for command, keys in PINNED.values() if command == " ".join(words[:3]) or command == " ".join(words[:2])
    )
    assert {*own.split()} <= document.keys()


WITHOUT_RESULT = {
    *("completion", "connect", "demo", "referee", "scheduler", "serve", "worker"),
    *("atlas run", "book make", "logout", "rules convert", "rules new", "new-bot"),
}
"""Commands that run until they are ended, or write a file or a text of their own."""


def test_every_command_with_a_result_prints_it_as_json() -> None:
    parser = build()
    parser.fill_all()
    without = {
        name.removeprefix("arena ")
        for name, command in parsers(parser)
        if not command._actions_of and "--json" not in command._option_string_actions
    }
    assert without == WITHOUT_RESULT - (set() if is_on("atlas") else {"atlas run"})


def test_a_match_and_its_kept_result_have_a_schema_and_are_replayed(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    script = Path(__file__).parents[2] / "referee" / "scripted.py"
    start = f"{sys.executable} -S -E {script} --clocks"
    words = ["play", f"weak={start} resign", f"strong={start} b1b3 h4f2", "--family", "loa", "--openings", "none"]
    assert run([*words, "--sandbox", "none", "--json", "--out", str(tmp_path / "run")]) == Exit.DONE
    text = capsys.readouterr().out
    document = json.loads(text)
    kept = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    assert document["schema"] == kept["schema"] == SCHEMA
    assert document.keys() - kept.keys() == {"games"}
    assert document["match"] == {
        "family": "loa",
        "variant": "standard",
        "options": {},
        "time_control": {"weak": "10+0.1", "strong": "10+0.1"},
        "openings": "none",
        "planned": 2,
        "earlier": 0,
    }
    (tmp_path / "result.json").write_text(text, encoding="utf-8")
    assert run(["replay", str(tmp_path / "result.json"), "--verify"]) == Exit.DONE
