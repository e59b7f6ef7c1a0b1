"""Checks files of test vectors against the rules: perft counts, legal moves, results, whole games, notations.

A file has one JSON object per family: `game`, and lists under the keys of `CHECKS`. Every mismatch is reported with its
position.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from referee.rules import load
from referee.rules.core import Outcome, ParseError
from referee.rules.per_family import perft
from referee.rules.position import Position
from referee.rules.rules import Rules, Ruleset

Entry = Mapping[str, Any]


@dataclass(slots=True)
class Failure:
    """A mismatch between one entry of a file and the rules."""

    kind: str
    index: int
    variant: str
    options: Mapping[str, Any]
    position: str | None
    problem: str
    note: str = ""


@dataclass(slots=True)
class VectorReport:
    """The result of one file; `skipped` counts the entries that arguments of `check_file` exclude."""

    file: str
    checked: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return asdict(self)


def _shown(outcome: Outcome | None) -> dict[str, str] | None:
    return {"winner": outcome.winner, "reason": outcome.reason.value} if outcome else None


def _difference(found: list[str], expected: list[str]) -> str:
    missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    return f"legal moves differ: missing {missing[:8]}, extra {extra[:8]}, found {len(found)} of {len(expected)}"


def _perft(rules: Rules, entry: Entry) -> Iterator[str]:
    ruleset = _ruleset(rules, entry)
    nodes = perft(ruleset, ruleset.read(entry["position"]), entry["depth"])
    if nodes != entry["nodes"]:
        yield f"perft {entry['depth']}: {nodes:,} nodes, expected {entry['nodes']:,}"


def _position(rules: Rules, entry: Entry) -> Iterator[str]:
    position = Position.start(_ruleset(rules, entry), entry["position"])
    if position.texts != sorted(entry["legal_moves"]):
        yield _difference(position.texts, entry["legal_moves"])
    if _shown(position.outcome) != entry["result"]:
        yield f"result {_shown(position.outcome)}, expected {entry['result']}"
    if str(position) != entry["position"]:
        yield f"written as {position}"
    if "announcement" in entry and rules.announce is not None:
        announced = rules.announce(position.state, position.ruleset.config)
        if announced != entry["announcement"]:
            yield f"announcement {announced}, expected {entry['announcement']}"


def _game(rules: Rules, entry: Entry) -> Iterator[str]:
    position = Position.start(_ruleset(rules, entry), entry["position"])
    for number, move in enumerate(entry["moves"]):
        if position.outcome is not None:
            yield f"over before move {number + 1} ({move}): {_shown(position.outcome)} in {position}"
            return
        try:
            position = position.play(move)
        except ValueError as error:
            yield f"move {number + 1} ({move}): {error}"
            return
    if str(position) != entry["final_position"]:
        yield f"final position {position}, expected {entry['final_position']}"
    if _shown(position.outcome) != entry["result"]:
        yield f"result {_shown(position.outcome)}, expected {entry['result']} in {position}"


def _notation(rules: Rules, entry: Entry) -> Iterator[str]:
    position = Position.start(_ruleset(rules, entry))
    try:
        code = rules.notation.read_move(entry["input"], position.state, position.ruleset.config)
        canonical: str | None = rules.notation.write_move(code)
    except ParseError:
        canonical = None
    if canonical != entry["canonical"]:
        yield f"{entry['input']!r} read as {canonical}, expected {entry['canonical']}"


def _game_texts(rules: Rules, entry: Entry) -> Iterator[str]:
    games = rules.formats[0].read(entry["text"], _ruleset(rules, entry))
    found = [list(game.moves) for game in games]
    if found != [entry["moves"]]:
        yield f"{entry['text']!r} read as {found}, expected {[entry['moves']]}"


def _setups(rules: Rules, entry: Entry) -> Iterator[str]:
    ruleset = _ruleset(rules, entry)
    found = ruleset.write(ruleset.read())
    if found != entry["position"]:
        yield f"setup {found}, expected {entry['position']}"


def _setup_notation(rules: Rules, entry: Entry) -> Iterator[str]:
    read = rules.notation.read_setup
    if read is None:
        yield "this family has no setup notation"
        return
    try:
        position: str | None = read(entry["text"])
    except ParseError:
        position = None
    if position != entry.get("position"):
        yield f"{entry['text']!r} read as {position}, expected {entry.get('position') or entry.get('error')}"


def _game_text(rules: Rules, entry: Entry) -> Iterator[str]:
    header = [f"#! {entry['tag']}"] if entry.get("tag") else []
    text = "\n".join([*header, *([entry["setup"]] if entry.get("setup") else []), entry["human"]])
    games = rules.formats[0].read(text, rules.settle())
    if len(games) != 1 or list(games[0].moves) != entry["ugi"]:
        yield f"read as {[list(game.moves) for game in games]}, expected {entry['ugi']}"
        return
    position = Position.start(rules.settle(), games[0].position).play_all(games[0].moves)
    if str(position) != entry["final_position"]:
        yield f"final position {position}, expected {entry['final_position']}"


CHECKS: dict[str, Callable[[Rules, Entry], Iterator[str]]] = {
    "perft": _perft,
    "positions": _position,
    "games": _game,
    "notation": _notation,
    "game_texts": _game_texts,
    "setups": _setups,
    "setup_notation": _setup_notation,
    "game_text": _game_text,
}


def _ruleset(rules: Rules, entry: Entry) -> Ruleset:
    return rules.settle(entry.get("variant"), entry.get("options"))


def read_file(path: Path) -> dict[str, Any]:
    """Return the vectors of a file. Raise ValueError naming the file if it violates the schema, OSError if it is
    unreadable.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: not JSON; expected one object in the format of `arena rules vectors`") from None
    if not isinstance(data, dict) or not isinstance(data.get("game"), str):
        raise ValueError(f'{path}: not a vector file; expected an object with "game", the family')
    for key in CHECKS:
        entries = data.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError(f'{path}: "{key}" must be a list of objects')
    return data


def check_entry(rules: Rules, kind: str, entry: Entry) -> list[str]:
    """Return the mismatches of one entry as texts; an empty list means that it passed."""
    try:
        return list(CHECKS[kind](rules, entry))
    except KeyError as error:
        return [f"the entry lacks {error}"]
    except ValueError as error:
        return [str(error)]


def check_file(path: Path, only: str | None = None, max_nodes: int | None = None) -> VectorReport:
    """Check one file. `only` selects one kind of entry; perft entries above `max_nodes` are skipped.

    Raise the errors of `read_file`, and UnknownNameError for an unknown family.
    """
    data, report = read_file(path), VectorReport(str(path))
    rules = load(data["game"])
    for kind in CHECKS:
        for index, entry in enumerate(data.get(kind, [])):
            if (only and kind != only) or (max_nodes and entry.get("nodes", 0) > max_nodes):
                report.skipped += 1
                continue
            report.checked += 1
            problems = check_entry(rules, kind, entry)
            report.failed += bool(problems)
            report.failures += [
                Failure(
                    kind,
                    index,
                    entry.get("variant", ""),
                    entry.get("options", {}),
                    entry.get("position"),
                    problem,
                    entry.get("note", ""),
                )
                for problem in problems
            ]
    return report
