"""Everything that belongs to a family is in its folder: no other code names a family, except in examples.

An example is a command line (a text that begins with `arena `), the value of an argument `example`, `examples` or
`epilog`, or a word in backticks in a docstring. Bridges and example bots are made for a family and may name it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.rules import families, load

ROOT = Path(__file__).parents[2]
ROOMS = ("arena", "bots", "protocol", "referee")
OPEN = (
    "arena/documentation/",
    "bots/bridges/",
    "bots/examples/",
    *(f"referee/rules/{family}/" for family in families()),
)
"""Folders that belong to a family."""

EXAMPLE_ARGUMENTS = {"example", "examples", "epilog"}
NAMES = [name for family in families() for name in (family, load(family).title)]
NAMED = re.compile(rf"(?<![a-z])({'|'.join(map(re.escape, NAMES))})(?![a-z])", re.IGNORECASE)
COMMAND_LINE = re.compile(r"arena [a-z]")
QUOTED = re.compile(r"`[^`]*`")
CODE = re.compile(r"<code>arena [^<]*</code>")


def files(*endings: str) -> list[str]:
    """Return the paths of the program's files outside the families' folders."""
    found = (path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*"))
    return sorted(
        path for path in found if path.endswith(endings) and not path.startswith((*OPEN, "arena/documentation/"))
    )


def docstrings(tree: ast.AST) -> Iterator[ast.expr]:
    """Return the strings that document a module, a class, a function or an attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def examples(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the values of arguments for examples, and of names EXAMPLE."""
    for node in ast.walk(tree):
        is_named = isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["EXAMPLE"]
        if is_named or (isinstance(node, ast.keyword) and node.arg in EXAMPLE_ARGUMENTS):
            yield from ast.walk(node.value)


def offences(source: str) -> Iterator[str]:
    """Return the lines of Python that name a family and are not examples."""
    if not NAMED.search(source):  # most files: taking them apart would take seconds
        return
    tree = ast.parse(source)
    documents, free = set(docstrings(tree)), set(examples(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in free:
            text = QUOTED.sub("", node.value) if node in documents else node.value
            if NAMED.search(text) and not COMMAND_LINE.match(text):
                yield f"{node.lineno}: {text[:80]!r}"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = QUOTED.sub("", token.string)
        if token.type in (tokenize.NAME, tokenize.COMMENT) and NAMED.search(text):
            yield f"{token.start[0]}: {text}"


@pytest.mark.parametrize("room", ROOMS)
def test_no_code_names_a_family(room):
    found = [f"{path}:{one}" for path in files(".py") if path.startswith(room) for one in offences(read(path))]
    assert not found, "\n".join(found)


def test_no_page_names_a_family():
    paths = files(".html", ".js", ".css", ".svg")
    found = [path for path in paths if NAMED.search(CODE.sub("", read(path)))]
    assert len(paths) > 20
    assert not found


def read(path: str) -> str:
    """Return the text of a file."""
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "is_offence"),
    [
        ('FAMILY = "loa"', True),
        ('EXAMPLE = "loa"', False),
        ("def loa_moves(): ...", True),
        ("x = 1  # as in Tablut", True),
        ('say("Lines of Action")', True),
        ('def f():\n    """Of loa only."""', True),
        ("load = 1", False),
        ('def f():\n    """As `loa/zen`."""', False),
        ('say("arena perft loa --depth 5")', False),
        ('get("/x", example="/api/v1/families/loa")', False),
        ('add(epilog=examples(("arena bot list --family loa",)))', False),
    ],
)
def test_closed_check_finds_family_names(source, is_offence):
    assert bool(list(offences(source))) is is_offence
