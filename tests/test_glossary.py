"""The words of `CONTRIBUTING.md` hold in the code: each names something, and those given up name nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_documents import ROOT, missing

PACKAGES = ("protocol", "referee", "bots", "arena")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words")[2]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("| ")]
WORDS = {row[0]: row[2].strip("`") for row in ROWS if len(row) == 3 and row[0] != "word"}
GIVEN_UP = {word.strip() for row in ROWS if len(row) == 2 and row[0] != "not" for word in row[0].split(",")}
ALLOWED = {
    "referee/rules/baroque/kernel.py": {"guard"},  # what a piece does on the board
}
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def test_the_tables_were_found() -> None:
    assert {"family", "coordinator", "lease", "event"} <= set(WORDS)
    assert {"conductor", "chore", "shelf"} <= GIVEN_UP
    assert not GIVEN_UP & set(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_names_something(word: str) -> None:
    assert not missing(WORDS[word])


def names(path: Path) -> Iterator[str]:
    """What a module defines: its own name, classes, functions, parameters, fields and constants; no local variables."""
    yield from path.relative_to(ROOT).with_suffix("").parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        if isinstance(node, ast.Module | ast.ClassDef):
            for one in node.body:
                targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
                yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("package", PACKAGES)
def test_words_that_were_given_up_name_nothing(package: str) -> None:
    found = set()
    for path in (ROOT / package).rglob("*.py"):
        where = str(path.relative_to(ROOT))
        if where.startswith("arena/migrations/versions/"):  # they tell what was
            continue
        for name in names(path):
            parts = {part.lower() for part in PART.findall(name)}
            taken = {word for word in GIVEN_UP if {word, f"{word}s"} & parts} - ALLOWED.get(where, set())
            found |= {f"{where}: {name} ({word})" for word in taken}
    assert not found


def test_what_is_allowed_is_there() -> None:
    assert not [where for where, words in ALLOWED.items() if not words & set(names(ROOT / where))]
