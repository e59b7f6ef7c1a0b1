"""The words of the glossary hold: each has one meaning, those of the code name something, those given up nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import words
from tests.test_documents import ROOT, missing

PACKAGES = ("protocol", "referee", "bots", "arena")
TEXT = (ROOT / "docs" / "contributing" / "words.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("| ")]
WORDS = {row[0]: row[1].strip("`") for row in ROWS if row[1].startswith("`")}
GIVEN_UP = {word.strip() for row in ROWS if row[0] not in (*WORDS, "word", "not") for word in row[0].split(",")}
ALLOWED = {
    "referee/rules/baroque/kernel_check.py": {"guard"},  # what a piece does on the board
}
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def test_the_tables_were_found() -> None:
    assert {"family", "coordinator", "lease", "event"} <= set(WORDS)
    assert {"conductor", "chore", "shelf"} <= GIVEN_UP
    assert not GIVEN_UP & set(WORDS)


def test_glossary_gives_every_word_one_meaning() -> None:
    entries, placed = words.glossary(), words.placed_terms()
    assert len(entries) > len(placed) == len(WORDS)
    assert not words.glossary_faults(entries, placed)


GAME = (1, "game", "One play of two bots.")


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([GAME, (4, "game", "All that is played.")], "several meanings"),
        ([GAME, (4, "match", "One play of two bots.")], "another term"),
        ([(1, "seed", "In a tournament: the order. In a setting: a number."), (4, "slot", "A core.")], "split it"),
        ([(1, "slot", "A core."), (4, "bot", "A program.")], "order"),
        ([GAME], "'lease' is not in"),
    ],
)
def test_glossary_faults_are_found(entries: list[tuple[int, str, str]], problem: str) -> None:
    placed = [(9, "lease")] if "lease" in problem else []
    assert problem in str(words.glossary_faults(entries, placed)[0])


@pytest.mark.parametrize(("lines", "names"), [(8, set()), (9, {(1, "what"), (2, "found"), (2, "one")})])
def test_riddles_of_a_longer_function_are_found(lines: int, names: set[tuple[int, str]]) -> None:
    body = ["def read(what):", "    found = [one for one in what]", *["    found += what"] * (lines - 2)]
    assert {name for name in words.riddles(ast.parse("\n".join(body))) if name[0] < 3} == names


def test_a_word_names_something() -> None:
    assert not [word for word, names in WORDS.items() if missing(names)]


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
            for statement in node.body:
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                )
                yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("package", PACKAGES)
def test_words_that_were_given_up_name_nothing(package: str) -> None:
    names_taken = set()
    for path in (ROOT / package).rglob("*.py"):
        where = str(path.relative_to(ROOT))
        if where.startswith("arena/migrations/versions/"):  # they tell what was
            continue
        for name in names(path):
            parts = {part.lower() for part in PART.findall(name)}
            taken = {word for word in GIVEN_UP if {word, f"{word}s"} & parts} - ALLOWED.get(where, set())
            names_taken |= {f"{where}: {name} ({word})" for word in taken}
    assert not names_taken


def test_what_is_allowed_is_there() -> None:
    assert not [where for where, words in ALLOWED.items() if not words & set(names(ROOT / where))]
