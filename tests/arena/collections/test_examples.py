"""Moves and positions in documents, help and pages are legal: everybody who tries an example sees what it promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from arena.collections.best_reading import best_reading
from referee.rules import families, load
from referee.rules.position import Position
from referee.rules.rules import Ruleset

ROOT = Path(__file__).parents[3]
PATTERNS = (
    *("*.md", "docs/**/*.md", "protocol/**/*.md", "referee/rules/*/RULES.md", "arena/cli/**/*.py", "bots/**/*.md"),
    *("arena/pages/templates/**/*.html", "protocol/*.py", "arena/documents/*.py", "arena/api/**/*.py"),
    *("arena/pages/locale/**/*.po", "bots/**/README*", "bots/samples/**/*.py"),
)
_FAMILY = rf"\b(?P<family>{'|'.join(families())})\b"
_COMMANDS = (
    re.compile(rf"{_FAMILY}[^\n]*--moves[ =][\"'](?P<moves>[^\"'\n]+)"),
    re.compile(rf"{_FAMILY}[^\n]*?--position[ =][\"'](?P<position>[^\"'\n]{{4,}})"),
    re.compile(rf"/{_FAMILY}(?:/moves)?\?moves=(?P<moves>[^\"'&\s]+)"),
    re.compile(rf"\"family\": \"{_FAMILY}\", \"moves\": \"(?P<moves>[^\"]+)\""),
)
"""Lines that name a family with moves, a position or both."""
_SENT = re.compile(r"position (?:startpos|fen (?P<position>[^\n]*?)) moves (?P<moves>[^\n\\`]*)")
"""What a referee sends to a bot of any family."""
_BLOCK = re.compile(r"^```(?:text|sh|console)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^ {4}\S[^\n]*\n)+", re.MULTILINE)
_PRINTED = re.compile(r"printf '([^'\n]*)'")
_NUMBERED = re.compile(r"^\s*1(?:\.+|\s)\s*[A-Za-z(]*[a-l][1-9]", re.MULTILINE)
_SHORTENED = re.compile(r"(?<![0-9])\.\.\.|…|\| \.")
"""A game of which only some moves are shown."""


def texts() -> list[tuple[str, str]]:
    """Return the documents with their paths."""
    # The pages below docs/reference are made from what is looked at here.
    found = {path for pattern in PATTERNS for path in ROOT.glob(pattern) if "reference" not in path.parts}
    paths = sorted(found)
    return [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths if path.is_file()]


def lines(path: str, text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield path, family ("" for any), position ("" for the start) and moves of the examples of one line."""
    for pattern in _COMMANDS:
        for command in pattern.finditer(text):
            words = command.groupdict()
            yield path, words["family"], words.get("position") or "", words.get("moves") or ""
    for sent in _SENT.finditer(text):
        if re.match(r"[(a-l][a-l0-9()]", sent["moves"]):
            yield path, "", sent["position"] or "", sent["moves"]


def games(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the whole games of a document."""
    blocks = [block for block in (*_BLOCK.findall(text), *_INDENTED.findall(text)) if "printf" not in block]
    for game in (*_PRINTED.findall(text), *blocks):
        if _NUMBERED.search(game) and not _SHORTENED.search(game):
            yield path, game.encode("latin-1", "backslashreplace").decode("unicode_escape")


LINES = [line for path, text in texts() for line in lines(path, text)]
GAMES = [game for path, text in texts() for game in games(path, text)]


def rulesets(family: str) -> Iterator[Ruleset]:
    """Yield the rules that an example may be for: every variant, and the first one with any option turned."""
    rules = load(family)
    for variant in rules.variants:
        yield rules.settle(variant.name)
    for option in rules.options:
        if isinstance(option.default, bool):
            with suppress(ValueError):
                yield rules.settle(None, {option.name: not option.default})


@pytest.mark.parametrize(("path", "family", "position", "moves"), LINES)
def test_moves_of_a_line_are_legal(path: str, family: str, position: str, moves: str) -> None:
    known = [load(family).settle()] if family else [ruleset for name in families() for ruleset in rulesets(name)]
    problems = []
    for ruleset in known:
        try:
            Position.start(ruleset, position or None).play_all(re.findall(r"[^\s,+]+", moves))
        except ValueError as error:
            problems.append(str(error))
    assert len(problems) < len(known), "\n".join(problems)


@pytest.mark.parametrize(("path", "game"), GAMES)
def test_game_of_a_document_is_legal(path: str, game: str) -> None:
    readings = []
    for family in families():
        ruleset = load(family).settle()
        try:
            readings.append(best_reading(game, ruleset, ruleset.rules.formats))
        except ValueError:
            continue
    assert any(reading.games and not reading.problems and not reading.comments for reading in readings), game


def test_documents_have_examples() -> None:
    assert {path for path, _ in GAMES} >= {
        "docs/players/notations.md",
        "docs/fr/players/notations.md",
        "referee/rules/loa/RULES.md",
    }
    assert {path for path, *_ in LINES} >= {
        *("arena/cli/terminal/commands.py", "docs/players/archive.md", "docs/fr/players/archive.md"),
        *("protocol/SPEC.md", "protocol/dialects/pijersi.md", "docs/tutorials/first-bot.md"),
        *("arena/api/routes/analysis.py", "docs/players/problems.md"),
    }
