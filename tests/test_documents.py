"""What documents, docstrings and comments name exists: files, links, modules, and what a module is said to hold."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.extensions import generated
from tests.with_features import commands_off

ROOT = Path(__file__).parents[1]
PACKAGES = ("protocol", "referee", "bots", "arena", "tests")
FOLDERS = (*PACKAGES, "deploy", "docs")
HISTORY = ("CHANGELOG.md", "changelog.md")
"""Documents that tell what was."""
RECIPES = ("Makefile", ".ci/run", "deploy/Dockerfile", "deploy/smoke.sh", "deploy/compose.yaml", "pyproject.toml")
_LISTED = subprocess.run(("git", "ls-files"), cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
CLONED = {place for name in _LISTED for place in (name, os.path.dirname(name))}
"""Files and folders of a clone; some others exist only after the documentation was built."""
DOCUMENTS = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *(path for name in FOLDERS for path in (ROOT / name).rglob("*.md")),
    ]
    if not path.is_symlink() and path.name not in HISTORY and str(path.relative_to(ROOT)) in CLONED
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
    "desktop.ini",
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


def test_links_lead_to_files_of_a_clone() -> None:
    faults = []
    for path in DOCUMENTS:
        targets = [target for target in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in target]
        files = {target.partition("#")[0] for target in targets if not target.startswith(("#", "/", "mailto:"))}
        places = {target: os.path.normpath(path.parent.relative_to(ROOT) / target) for target in files}
        faults += [f"{name(path)}: {target}" for target, place in places.items() if place not in CLONED]
    assert not sorted(faults)


@pytest.mark.parametrize("page", generated.PAGES)
def test_generated_pages_are_those_of_the_code(page: str) -> None:
    if page == "command-line" and sys.version_info[:2] != (3, 11):
        pytest.skip("the committed page is made with Python 3.11; argparse of other versions has other headings")
    text = (generated.REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    if page == "command-line" and (off := commands_off()):
        text = re.sub(rf"^### arena (?:{'|'.join(off)})\n.*?(?=^#{{2,3}} |\Z)", "", text, flags=re.M | re.S)
    assert text == generated.PAGES[page](), "run: make reference"


def test_files_that_are_named_exist() -> None:
    faults = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        files = {file.removeprefix("./") for file in FILE.findall(text)} - set(OF_A_READER)
        files -= {"referee.toml"}  # a module
        gone = [file for file in files - NAMES if not any((home / file).exists() for home in (ROOT, path.parent))]
        gone += [folder for folder in set(FOLDER.findall(text)) if not (ROOT / folder).exists()]
        faults += [f"{name(path)}: {file}" for file in sorted(gone)]
    assert not faults


def test_modules_that_are_named_exist() -> None:
    faults = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        named = {word for word in DOTTED.findall(text) if word.split(".")[1] not in NOT_MODULES}
        named |= set(RUN.findall(text))
        faults += [f"{name(path)}: {problem}" for word in sorted(named) if (problem := missing(word))]
    assert not faults


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
    faults = []
    for path in sorted((ROOT / package).rglob("*.py")):
        text = explanations(path)
        named = {word for word in DOTTED.findall(text) if word.split(".")[1] not in NOT_MODULES} - set(OTHER_NAMES)
        files = {file for file in FOLDER.findall(text) if not (ROOT / file).exists()}
        faults += [f"{name(path)}: {file}" for file in sorted(files)]
        faults += [f"{name(path)}: {problem}" for word in sorted(named) if (problem := missing(word))]
    assert not faults


def test_names_that_a_document_places_in_a_file_are_defined_there() -> None:
    placed = [
        (path, *match)
        for path in DOCUMENTS
        for match in re.findall(r"`(\w+)`,? (?:in|of) `(\w+/[\w/]+\.py)`", path.read_text(encoding="utf-8"))
    ]
    assert len(placed) > 5
    faults = [
        f"{name(path)}: {file} does not define {word}"
        for path, word, file in placed
        if not re.search(rf"^\s*(?:(?:async )?def |class )?{word}\b", (ROOT / file).read_text(), re.MULTILINE)
    ]
    assert not faults


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
