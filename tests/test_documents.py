"""What documents, docstrings and comments name exists: files, links, modules, and what a module is said to hold."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("protocol", "referee", "bots", "arena", "tests")
FOLDERS = (*PACKAGES, "deploy", "docs")
HISTORY = ("CHANGELOG.md", "changelog.md")
"""Documents that tell what was."""
RECIPES = ("Makefile", ".ci/run", "deploy/Dockerfile", "deploy/smoke.sh", "deploy/compose.yaml", "pyproject.toml")
DOCUMENTS = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *(path for name in FOLDERS for path in (ROOT / name).rglob("*.md")),
    ]
    if not path.is_symlink() and path.name not in HISTORY
)
SUFFIXES = "py|md|html|css|js|c|h|cpp|hpp|java|rs|go|toml|yaml|yml|sh|json|txt|conf|acl|service|ini|mako"
FILE = re.compile(rf"`((?!build/)[\w.@-]+(?:/[\w.@-]+)*\.(?:{SUFFIXES}))`")
NO_FOLDER = r"arena/v\d|referee/wake|deploy/secrets/|arena/documentation|arena/pages/locale/LANGUAGE"
"""Topics, and folders that a command makes."""
FOLDER = re.compile(rf"(?:`|pytest )(?!{NO_FOLDER})((?:{'|'.join((*PACKAGES, 'deploy'))})/[\w/.-]*)(?=[`\s])")
LINK = re.compile(r"\]\(([^()\s]+)\)")
RUN = re.compile(rf"-m ((?:{'|'.join(PACKAGES)})(?:\.\w+)*)")
DOTTED = re.compile(rf"(?<![\w./@:-])((?:{'|'.join(PACKAGES)})(?:\.\w+)+)(?!\w*[/@-])")
NOT_MODULES = ("toml", "service", "example", "sqlite3", "yaml", "md", "env", "css", "pem", "key")
OF_A_READER = (
    "my_bot.py",
    "plain.py",
    "mybot.py",
    "searcher.py",
    "cup.toml",
    "first.toml",
    "qualifying.toml",
    "final.toml",
    "bot.toml",
    "arena.toml",
    "engine.toml",
    "secrets.yaml",
)
"""Files that a reader makes."""
OTHER_NAMES = ("arena.families", "bots.show")
"""Dotted names that are no modules: a group of entry points, an operation."""
NAMES = {path.name for top in (*PACKAGES, "deploy") for path in (ROOT / top).rglob("*")}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def module(dotted: str) -> tuple[Path, list[str]]:
    """The file of the longest part of a dotted name that is a module, and the names behind it."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:count])
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                return path, parts[count:]
    raise LookupError(dotted)


def missing(dotted: str) -> str:
    """What is wrong with a dotted name, empty for nothing."""
    try:
        path, rest = module(dotted)
    except LookupError:
        return f"{dotted}: no such module"
    if rest and not re.search(
        rf"^\s*(?:(?:async )?def |class )?{re.escape(rest[0])}\b", path.read_text(), re.MULTILINE
    ):
        return f"{dotted}: {name(path)} has no {rest[0]}"
    return ""


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = [target for target in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in target]
    files = {target.partition("#")[0] for target in targets if not target.startswith(("#", "/", "mailto:"))}
    assert not [target for target in sorted(files) if not (path.parent / target).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_files_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {one.removeprefix("./") for one in FILE.findall(text)} - set(OF_A_READER)
    gone = [one for one in named - NAMES if not any((home / one).exists() for home in (ROOT, path.parent))]
    assert not sorted(gone)
    assert not [one for one in sorted(set(FOLDER.findall(text))) if not (ROOT / one).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_modules_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {one for one in DOTTED.findall(text) if one.split(".")[1] not in NOT_MODULES} | set(RUN.findall(text))
    assert not [problem for one in sorted(named) if (problem := missing(one))]


def explanations(path: Path) -> str:
    """The docstrings and comments of a Python file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    docstrings = [one.value for one in strings if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join([*docstrings, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_comments_name_modules_and_files_that_exist(package: str) -> None:
    found = []
    for path in sorted((ROOT / package).rglob("*.py")):
        text = explanations(path)
        named = {one for one in DOTTED.findall(text) if one.split(".")[1] not in NOT_MODULES} - set(OTHER_NAMES)
        files = {one for one in FOLDER.findall(text) if not (ROOT / one).exists()}
        found += [f"{name(path)}: {one}" for one in sorted(files)]
        found += [f"{name(path)}: {problem}" for one in sorted(named) if (problem := missing(one))]
    assert not found


def test_names_that_a_document_places_in_a_file_are_defined_there() -> None:
    placed = [
        (path, *found)
        for path in DOCUMENTS
        for found in re.findall(r"`(\w+)`,? (?:in|of) `(\w+/[\w/]+\.py)`", path.read_text(encoding="utf-8"))
    ]
    assert len(placed) > 5
    for path, word, file in placed:
        assert re.search(rf"^\s*(?:def |class )?{word}\b", (ROOT / file).read_text(encoding="utf-8"), re.M), (
            path,
            word,
            file,
        )


@pytest.mark.parametrize("recipe", RECIPES)
def test_modules_that_are_run_exist(recipe: str) -> None:
    named = set(RUN.findall((ROOT / recipe).read_text(encoding="utf-8")))
    assert not [problem for one in sorted(named) if (problem := missing(one))]


def configured() -> Iterator[str]:
    """Every module of ours that a contract or an override of the project's settings names."""
    tools: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    for contract in tools["importlinter"]["contracts"]:
        for key, value in contract.items():
            if key not in ("name", "type") and isinstance(value, list):
                for one in value:
                    yield from re.split(r" -> | \| | : |[()]", str(one))


def test_contracts_name_modules_that_exist() -> None:
    named = {one.strip().removesuffix(".**").removesuffix(".*") for one in configured()}
    ours = {one for one in named if one.split(".")[0] in PACKAGES and "*" not in one}
    assert not [one for one in sorted(ours) if module(one)[1]]


def test_patterns_of_the_linters_match_something() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    patterns = [*tools["ruff"]["lint"]["per-file-ignores"], *tools["vulture"]["exclude"]]
    assert not [pattern for pattern in patterns if not any(ROOT.glob(pattern))]
