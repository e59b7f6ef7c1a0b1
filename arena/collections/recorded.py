"""Converts games of texts to records, and identifies the same game across notations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from arena.collections.collection import WINNERS, CollectedGame, UnplayableGameError, played, settle
from referee.game.record import GameRecord, Ply
from referee.game.spec import digest
from referee.rules import load
from referee.rules.core import SIDES, Kind, Termination
from referee.rules.rules import GameText, Ruleset, Value

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
    return _claimed(found.winner)


def _claimed(winner: str | None) -> Termination:
    """Return the termination of a game that the rules did not end."""
    if winner is None:
        return Termination.STOPPED
    return Termination.DRAW_AGREED if winner == "draw" else Termination.RESIGNED


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

    A game that the rules did not end gets the termination RESIGNED, DRAW_AGREED or, without a result, STOPPED. An
    unplayable game becomes a record as well; replaying it reports the error. Raises UnknownNameError and ParseError
    for unknown rules or an invalid position.
    """
    settled = settle(game, ruleset)
    position = settled.write(settled.read(game.position))
    first, second = players_of(game.tags, settled)
    try:
        found = played(game, "", 1, ruleset)
        winner, final, termination = found.winner, found.final, ending_of(found)
    except UnplayableGameError:
        winner, final = WINNERS.get(game.result), ""
        termination = _claimed(winner)
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
