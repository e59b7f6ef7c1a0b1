"""Converts games of texts to records, and identifies the same game across notations.

The game format `record` is one `GameRecord` as JSON per line, together with the tags of the text. A single document
with all games is read as well, and so are objects with only the keys of `GameText`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from arena.collections.collection import WINNERS, CollectedGame, UnplayableGameError, played, settle
from referee.game.record import GameRecord, Ply, RecordError, read_variations
from referee.game.spec import digest
from referee.rules import load
from referee.rules.core import SIDES, Kind, ParseError, Termination
from referee.rules.rules import GameFormat, GameText, Ruleset, Value

REASON_TAGS = ("termination", "reason", "ending", "fin")
"""Tags, in lower case, with the reason of a result."""
UNKNOWN = "unknown"
"""Name of a player that the game does not name."""


def named(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return the value of the first of these tags that is not empty, or an empty text. `names` are in lower case."""
    lower = {name.lower(): value for name, value in tags.items()}
    return next((lower[name] for name in names if lower.get(name)), "")


def players_of(tags: Mapping[str, str], ruleset: Ruleset) -> tuple[str, str]:
    """Return the names of the first and the second player, from tags named `first` and `second` or like the sides."""
    first, second = (
        named(tags, (word, *(name.lower() for name in names)))
        for word, names in zip(SIDES, ruleset.side_names, strict=True)
    )
    return first or UNKNOWN, second or UNKNOWN


def ending_of(found: CollectedGame) -> Termination:
    """Return how a game ended: by the rules, or as its text claims."""
    if found.outcome is not None:
        return found.outcome.reason
    return _claimed(found.winner, found.game.tags)


_REASONS = (
    (re.compile(r"resign|abandon|aufgabe|aufgegeben", re.I), Termination.RESIGNED, False),
    (re.compile(r"time|temps|zeit", re.I), Termination.TIME, False),
    (re.compile(r"agree|accord|einigung", re.I), Termination.DRAW_AGREED, True),
)
"""What texts say of an end, whether in English, French or German, and whether it is the end of a draw."""


def _claimed(winner: str | None, tags: Mapping[str, str]) -> Termination:
    """Return the termination of a game that the rules did not end: the reason that a tag gives, if any."""
    if winner is None:
        return Termination.STOPPED
    said, is_draw = named(tags, REASON_TAGS), winner == "draw"
    found = (reason for form, reason, of_draw in _REASONS if of_draw == is_draw and form.search(said))
    return next(found, Termination.UNSTATED)


@lru_cache(maxsize=4096)
def _plainest(family: str, variant: str, options: tuple[tuple[str, Value], ...], position: str) -> tuple[str, Any]:
    """Return the variant that describes a start with the fewest options, and these options.

    Notations describe the same start in different ways: by a number, by a title, or by a position with options. Display
    options are ignored.
    """
    rules = load(family)
    wanted = rules.settle(variant, dict(options))
    shown = {option.name for option in rules.options if option.changes == "display"}
    ways = []
    for place, listed in enumerate(rules.variants):
        if listed.params != wanted.variant.params or listed.is_dealt:
            continue
        settled = rules.settle(listed.name, wanted.values)
        more = {name: value for name, value in settled.overrides.items() if name not in shown}
        is_other = settled.write(settled.read()) != position
        ways.append((is_other, len(more), place, settled.variant.name, more))
    return min(ways)[3:] if ways else (variant, dict(options))


def identity(ruleset: Ruleset, position: str, moves: Sequence[str], first: str, second: str) -> str:
    """Return a hash of players, moves and rules that is equal for the same game in every notation."""
    overrides = tuple(sorted(ruleset.overrides.items()))
    variant, options = _plainest(ruleset.rules.family, ruleset.variant.name, overrides, position)
    content = {
        "family": ruleset.rules.family,
        "variant": variant,
        "options": options,
        "position": position,
        "moves": moves,
        "first": first,
        "second": second,
    }
    return digest(content)


def record_of(game: GameText, ruleset: Ruleset) -> GameRecord:
    """Return a game of a text as a record.

    A game that the rules did not end gets the termination that its text gives, else UNSTATED or, without a result,
    STOPPED. An unplayable game becomes a record as well; replaying it reports the error. Raises UnknownNameError and
    ParseError for unknown rules or an invalid position.
    """
    settled = settle(game, ruleset)
    position = settled.write(settled.read(game.position))
    first, second = players_of(game.tags, settled)
    try:
        collected = played(game, "", 1, ruleset)
        winner, final, termination = collected.winner, collected.final, ending_of(collected)
    except UnplayableGameError:
        winner, final = WINNERS.get(game.result), ""
        termination = _claimed(winner, game.tags)
    day = game.tags.get("Date") or game.tags.get("date") or ""
    return GameRecord(
        id=identity(settled, position, game.moves, first, second),
        family=settled.rules.family,
        variant=settled.variant.name,
        options=settled.overrides,
        position=position,
        first=first,
        second=second,
        winner=None if termination.kind is Kind.VOID else winner,
        termination=termination,
        kind=termination.kind,
        moves=game.moves,
        plies=tuple(Ply() for _ in game.moves),
        started=day,
        finished=day,
        event=game.tags.get("Event", ""),
        final_position=final,
        marks=game.marks,
        comments=game.comments,
        variations=game.variations,
    )


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
    _complete(tags, data, settled)
    if position == settled.variant.position:
        position = None
    try:
        marks, comments = (_by_ply(data.get(name, {})) for name in ("marks", "comments"))
        variations = read_variations(data.get("variations", []))
    except RecordError as error:
        raise refuse(str(error)) from None
    return GameText(tuple(moves), variant, options, position, tags, result, marks, comments, variations)


def _complete(tags: dict[str, str], data: Mapping[str, Any], settled: Ruleset) -> None:
    """Add the players and the reason of the result that a record tells outside of its tags."""
    known = players_of(tags, settled)
    for name, player in zip(("first", "second"), known, strict=True):
        if isinstance(data.get(name), str) and data[name] not in (player, UNKNOWN):
            tags.setdefault(name.capitalize(), data[name])
    if isinstance(data.get("termination"), str) and data["termination"] != Termination.UNSTATED:
        tags.setdefault("Termination", data["termination"])


def _by_ply(data: Any) -> dict[int, str]:
    """Return marks or comments by ply. Raise RecordError if `data` does not map plies to texts."""
    if not isinstance(data, dict) or not all(ply.isdecimal() and isinstance(words, str) for ply, words in data.items()):
        raise RecordError('"marks" or "comments" does not map plies to texts')
    return {int(ply): words for ply, words in data.items()}


def _read(text: str, ruleset: Ruleset) -> list[GameText]:
    if (document := _document(text)) is not None:
        return [_game(data, text, 0, ruleset) for data in document]
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


def _starts(text: str, _: Ruleset) -> Iterator[int]:
    """Yield where the lines with games begin; a single document is one part."""
    if _document(text) is None:
        index = 0
        for line in text.split("\n"):
            if line.strip():
                yield index
            index += len(line) + 1


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


RECORD = GameFormat("record", _read, _write, "one JSON object per game and line", _starts)
