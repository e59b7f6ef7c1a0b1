"""The game format `record`: one `GameRecord` as JSON per line, together with the tags of the text.

A single document with all games is read as well, and so are objects with only the keys of `GameText`.
"""

from __future__ import annotations

import json
from typing import Any

from arena.collections.recorded import UNKNOWN, players_of, record_of
from referee.game.record import RecordError, read_variations
from referee.rules.core import ParseError
from referee.rules.rules import GameFormat, GameText, Ruleset

_RESULTS = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}
_HINT = 'one JSON object per line with "moves", a list of canonical moves'


def _is_flat(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str | int) for item in value.values())


def _game(data: Any, text: str, index: int, ruleset: Ruleset) -> GameText:
    def refuse(problem: str) -> ParseError:
        return ParseError(problem, text=text, index=index, hint=_HINT)

    if not isinstance(data, dict):
        raise refuse("not a JSON object")
    moves, options, tags = data.get("moves"), data.get("options", {}), data.get("tags", {})
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        raise refuse('"moves" is not a list of texts')
    if not _is_flat(options) or not _is_flat(tags):
        raise refuse('"options" or "tags" is not an object of plain values')
    family, variant, position = data.get("family", ""), data.get("variant", ""), data.get("position")
    if family not in ("", ruleset.rules.family):
        raise refuse(f"a game of {family!r}, not of {ruleset.rules.family}")
    result = data.get("result") or _RESULTS.get(str(data.get("winner")), "*")
    if not isinstance(variant, str) or not isinstance(position, str | None) or not isinstance(result, str):
        raise refuse('"variant", "position" or "result" is not a text')
    tags = {name: str(value) for name, value in tags.items()}
    try:
        settled = ruleset.rules.settle(variant or ruleset.variant.name, options)
    except ValueError as error:
        raise refuse(str(error)) from None
    known = players_of(tags, settled)
    for name, player in zip(("first", "second"), known, strict=True):
        if isinstance(data.get(name), str) and data[name] not in (player, UNKNOWN):
            tags.setdefault(name.capitalize(), data[name])
    if position == settled.variant.position:
        position = None
    try:
        marks, comments = (_by_ply(data.get(name, {})) for name in ("marks", "comments"))
        variations = read_variations(data.get("variations", []))
    except RecordError as error:
        raise refuse(str(error)) from None
    return GameText(tuple(moves), variant, options, position, tags, result, marks, comments, variations)


def _by_ply(data: Any) -> dict[int, str]:
    """Return marks or comments by ply. Raise RecordError if `data` does not map plies to texts."""
    if not isinstance(data, dict) or not all(ply.isdecimal() and isinstance(words, str) for ply, words in data.items()):
        raise RecordError('"marks" or "comments" does not map plies to texts')
    return {int(ply): words for ply, words in data.items()}


def _read(text: str, ruleset: Ruleset) -> list[GameText]:
    if (found := _document(text)) is not None:
        return [_game(data, text, 0, ruleset) for data in found]
    games, index = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                raise ParseError("not JSON", text=text, index=index, hint=_HINT) from None
            games.append(_game(data, text, index, ruleset))
        index += len(line)
    return games


def _document(text: str) -> list[Any] | None:
    """Return the games of one JSON document: an export `{"games": […]}`, one game, or a list; None for one game per
    line.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    games = data.get("games", [data]) if isinstance(data, dict) else data
    return games if isinstance(games, list) else None


def _write(game: GameText, ruleset: Ruleset) -> str:
    record = record_of(game, ruleset).as_json()
    return json.dumps({**record, "result": game.result, "tags": dict(game.tags)}, ensure_ascii=False)


RECORD = GameFormat("record", _read, _write, "one JSON object per game and line")
