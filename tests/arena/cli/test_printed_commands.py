"""Commands that programs print and documents show: the parser takes them, and they name the arena of who reads them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import arena
from arena.cli.terminal.output import PrintedCommands
from tests.arena.cli.printed import fault_of, in_document, printed
from tests.with_features import commands_off

SOURCES = [path for path in sorted(Path(arena.__file__).parent.rglob("*.py")) if "documentation" not in path.parts]
DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted(
    path
    for path in (*DOCS.rglob("*.md"), DOCS.parent / "README.md")
    if path.name not in ("upgrade.md", "changelog.md", "command-line.md") and "reports" not in path.parts
)
"""Pages that name no former commands. The reference of commands is made from the parser."""
OF_A_PACKAGE = ("greet",)
"""Commands of a package that a page shows how to write."""


def texts(path: Path) -> Iterator[str]:
    """Yield the texts of a module, without docstrings; options that a function adds are left out, values are 1."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else _value(ast.unparse(part)) for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def _value(expression: str) -> str:
    if re.search("option|server|where|variant|position", expression):
        return ""
    return "loa" if "family" in expression else "1"


def test_commands_in_messages_are_taken_by_the_parser() -> None:
    lines = [(path, line) for path in SOURCES for text in texts(path) for line in printed(text)]
    assert not [(path, fault) for path, line in lines if (fault := fault_of(line))]


def test_commands_in_documents_are_taken_by_the_parser() -> None:
    lines = [(path, line) for path in PAGES for line in in_document(path.read_text(encoding="utf-8"))]
    known = [(path, line) for path, line in lines if line.split()[0] not in (*OF_A_PACKAGE, *commands_off())]
    assert not [(path, fault) for path, line in known if (fault := fault_of(line))]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("archive search", "archive search --config c.toml --data 'my arena' --server http://x"),
        ("serve", "serve --config c.toml --data 'my arena'"),
        ("tournament list", "tournament list --server http://x"),
        ("archive search | less", "archive search --config c.toml --data 'my arena' --server http://x | less"),
        ("db check --data here", "db check --data here"),
        ("tournament list --server=http://y", "tournament list --server=http://y"),
        ("tournament create --help", "tournament create --help"),
        ("perft loa", "perft loa"),
        ("dance 'a", "dance 'a"),
        ("dance", "dance"),
    ],
)
def test_printed_command_names_the_place_of_the_one_that_prints(line: str, completed: str) -> None:
    commands = PrintedCommands({"config": "c.toml", "data": "my arena", "server": "http://x"})
    assert commands.completed(f"look: `arena {line}` or `arena`") == f"look: `arena {completed}` or `arena`"
    assert PrintedCommands({}).completed(f"`arena {line}`") == f"`arena {line}`"
