"""A game of a text as the arena's own record, and what it is known by in whatever notation it came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from arena.collections.collection import WINNERS, BadGame, CollectedGame, played, settle
from referee.game.record import GameRecord, Ply
from referee.game.spec import digest
from referee.rules import load
from referee.rules.core import SIDES, Kind, Termination, Winner
from referee.rules.rules import GameText, Ruleset, Value

UNKNOWN = "unknown"
"""Who played a game that names nobody."""


def named(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    """What the first of these tags, in lower case, that there is says; empty for none."""
    lower = {name.lower(): value for name, value in tags.items()}
    return next((lower[name] for name in names if lower.get(name)), "")


def players_of(tags: Mapping[str, str], ruleset: Ruleset) -> tuple[str, str]:
    """The names of first and second: under those words, or under the names of the sides."""
    first, second = (
        named(tags, (word, *(name.lower() for name in names)))
        for word, names in zip(SIDES, ruleset.side_names, strict=True)
    )
    return first or UNKNOWN, second or UNKNOWN


def ending_of(found: CollectedGame) -> Termination:
    """How a game ended: by the rules, or as its text claims."""
    if found.outcome is not None:
        return found.outcome.reason
    return _claimed(found.winner)


def _claimed(winner: str | None) -> Termination:
    """How a game ended that the rules did not end."""
    if winner is None:
        return Termination.STOPPED
    return Termination.DRAW_AGREED if winner == "draw" else Termination.RESIGNED


@lru_cache(maxsize=4096)
def _plainest(family: str, variant: str, options: tuple[tuple[str, Value], ...], position: str) -> tuple[str, Any]:
    """The listed variant and the options on top of it by which a start is said with the fewest words.

    Notations differ in what they call a start: a number, a title, a position with options. What is shown only is left
    out.
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
    """What a game is known by: who played what by which rules, however its notation says that."""
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
    """A game of a text as the arena's own record; one the rules did not end was resigned, agreed drawn, or stopped.

    One that cannot be played is a record as well: whoever replays it is told where. Raises UnknownNameError and
    ParseError for rules or a position there are not.
    """
    settled = settle(game, ruleset)
    position = settled.write(settled.read(game.position))
    first, second = players_of(game.tags, settled)
    try:
        found = played(game, "", 1, ruleset)
        winner, final, termination = found.winner, found.final, ending_of(found)
    except BadGame:
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
        winner=None if termination.kind is Kind.VOID else cast("Winner | None", winner),
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
    )
