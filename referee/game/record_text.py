"""Game records as PGN-like text: tags, then numbered moves with times and scores in comments. `read_texts` parses such
texts.

The moves are canonical; families' own notations are for pages and `arena rules convert`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from referee.game.record import GameRecord, Ply, RecordError, read_record

_TOKENS = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2", None: "*"}
_WINNERS = {token: winner for winner, token in _TOKENS.items()}

_TEXT_TAGS = {
    "Event": "event",
    "First": "first",
    "Second": "second",
    "FirstVersion": "first_version",
    "SecondVersion": "second_version",
    "Family": "family",
    "Variant": "variant",
    "Position": "position",
    "FinalPosition": "final_position",
    "TimeControl": "time",
    "Termination": "termination",
    "Kind": "kind",
    "Detail": "detail",
    "Sandbox": "sandbox",
    "Started": "started",
    "Finished": "finished",
    "Id": "id",
}
_NUMBER_TAGS = {"Sequence": "sequence", "Round": "round", "Pair": "pair", "Seed": "seed"}
_JSON_TAGS = {"Options": "options", "Anomalies": "anomalies", "Logs": "logs"}
_RARE_TAGS = {
    "Adjudication": "adjudication",
    "Pondering": "pondering",
    "OutOfTurn": "out_of_turn_ms",
    "AtStart": "at_start",
    "ClockScale": "clock_scale",
    "Network": "network",
    "Marks": "marks",
    "Comments": "comments",
    "Variations": "variations",
}
"""Tags whose value is JSON, written only where it is not empty."""

_TAG = re.compile(r'\[([A-Za-z]+) ("(?:[^"\\]|\\.)*")\]')
_PLY_WORDS = {
    "emt": "ms",
    "charged": "charged_ms",
    "lag": "lag_ms",
    "eval": "score",
    "depth": "depth",
    "nodes": "nodes",
}
_COMMENT = re.compile(r"\[%(\w+)(?: ([^]{}]+))?\]")


def _comment(ply: Ply) -> str:
    if ply.book:
        return "{[%book]}"
    words = []
    for word, name in _PLY_WORDS.items():
        value = getattr(ply, name)
        if value is not None:
            words.append(f"[%{word} {value}]")
    if ply.pv:
        words.append(f"[%pv {ply.pv}]")
    return "{" + " ".join(words) + "}"


def write_text(record: GameRecord) -> str:
    """Return the record as text, ending in a blank line."""
    data = record.as_json()
    tags = [f"[Result {json.dumps(_TOKENS[record.winner])}]"]
    tags += [f"[{tag} {json.dumps(str(data[name]), ensure_ascii=False)}]" for tag, name in _TEXT_TAGS.items()]
    tags += [f'[{tag} "{data[name]}"]' for tag, name in _NUMBER_TAGS.items()]
    tags += [
        f"[{tag} {json.dumps(json.dumps(data[name], ensure_ascii=False), ensure_ascii=False)}]"
        for tag, name in {**_JSON_TAGS, **_RARE_TAGS}.items()
        if name in data
    ]
    lines, plies = [], tuple(record.plies)
    for index in range(0, len(record.moves), 2):
        both = zip(record.moves[index : index + 2], plies[index : index + 2], strict=True)
        lines.append(f"{index // 2 + 1}. " + " ".join(f"{move} {_comment(ply)}" for move, ply in both))
    return "\n".join([*tags, "", *lines, _TOKENS[record.winner], "", ""])


def read_texts(text: str) -> Iterator[GameRecord]:
    """Parse every record of a text. Raises RecordError naming the first line that cannot be parsed."""
    tags: dict[str, str] = {}
    body: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("[") and not body:
            tag = _TAG.fullmatch(stripped)
            if not tag:
                raise RecordError(f'line {number}: not a tag: {stripped[:80]!r}; write [Name "value"]')
            tags[tag[1]] = _unquoted(tag[2], number)
        elif stripped:
            body.append((number, stripped))
            if stripped in _WINNERS:
                yield _record(tags, body)
                tags, body = {}, []
    if tags or body:
        raise RecordError(f"the text ends before the result of its last game ({', '.join(_WINNERS)})")


def _unquoted(quoted: str, number: int) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        raise RecordError(f"line {number}: a broken escape in {quoted[:80]}") from None


def _record(tags: dict[str, str], body: list[tuple[int, str]]) -> GameRecord:
    last, token = body[-1]
    data: dict[str, Any] = {"winner": _WINNERS[token]}
    if tags.get("Result") != token:
        raise RecordError(f"line {last}: the game ends in {token}, its Result tag says {tags.get('Result')}")
    for tag, name in {**_TEXT_TAGS, **_NUMBER_TAGS, **_JSON_TAGS, **_RARE_TAGS}.items():
        if tag in tags:
            try:
                data[name] = tags[tag] if tag in _TEXT_TAGS or tag in _NUMBER_TAGS else json.loads(tags[tag])
            except ValueError:
                raise RecordError(f"line {last}: the tag {tag} holds no JSON: {tags[tag][:80]!r}") from None
    moves, plies = [], []
    for number, line in body[:-1]:
        for move, comment in _moves(line, number):
            moves.append(move)
            plies.append(asdict(_ply(comment, number)))
    return read_record(json.dumps({**data, "moves": moves, "plies": plies}))


def _moves(line: str, number: int) -> Iterator[tuple[str, str]]:
    rest = re.sub(r"^\d+\.\s*", "", line)
    while rest:
        found = re.match(r"([^\s{}]+)\s*(?:\{([^{}]*)\})?\s*", rest)
        if not found:
            raise RecordError(f"line {number}: cannot read {rest[:60]!r}; a move, then its comment in braces")
        yield found[1], found[2] or ""
        rest = rest[found.end() :]


def _ply(comment: str, number: int) -> Ply:
    values: dict[str, Any] = {}
    for word, value in _COMMENT.findall(comment):
        if word == "book":
            values["book"] = True
        elif word == "pv":
            values["pv"] = value
        elif word in _PLY_WORDS:
            name = _PLY_WORDS[word]
            try:
                values[name] = float(value) if name.endswith("ms") else int(value)
            except ValueError:
                raise RecordError(f"line {number}: not a number: [%{word} {value}]") from None
    return Ply(**values)
