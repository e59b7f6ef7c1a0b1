"""Records of games that were not played: void ones, and those that a suspended bot loses.

`record_of` is used for these records and for those of played games.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from referee.game.record import GameRecord, now
from referee.game.spec import GameSpec, PlannedGame
from referee.rules import load
from referee.rules.core import SIDES, Termination, Winner


def void_record(game: PlannedGame, termination: Termination, detail: str) -> GameRecord:
    """Return the record of a game that failed before it began, or whose worker was lost before it delivered a record.

    The spec of the game is not validated: its fields are copied unchanged.
    """
    return record_of(game.id, game.spec, None, termination, detail, started=now())


def forfeit_record(game: PlannedGame, loser: str, why: str) -> GameRecord:
    """Return the record of a game that a suspended bot loses at once. Raises UnknownNameError, ParseError."""
    ruleset = load(game.spec.family).settle(game.spec.variant, game.spec.options)
    side = 0 if game.spec.first.name == loser else 1
    detail = f"{SIDES[side]} ({loser}) was suspended: {why}"
    lost = record_of(game.id, game.spec, SIDES[1 - side], Termination.SUSPENDED, detail, started=now())
    start = game.spec.position or ruleset.variant.position
    return replace(lost, options=ruleset.overrides, position=start, at_start=True)


def record_of(
    game_id: str,
    spec: GameSpec,
    winner: Winner | None,
    termination: Termination,
    detail: str,
    *,
    started: str,
    **played: Any,
) -> GameRecord:
    """Return the record of a planned game that ends now. `played` holds further fields, such as the moves."""
    fields: dict[str, Any] = {
        "id": game_id,
        "family": spec.family,
        "variant": spec.variant,
        "options": spec.options,
        "position": spec.position or "",
        "first": spec.first.name,
        "second": spec.second.name,
        "winner": winner,
        "termination": termination,
        "kind": termination.kind,
        "moves": (),
        "plies": (),
        "started": started,
        "finished": now(),
        "event": spec.event,
        "sequence": spec.sequence,
        "round": spec.round,
        "pair": spec.pair,
        "seed": spec.seed,
        "time": spec.time_text,
        "first_version": spec.first.version,
        "second_version": spec.second.version,
        "detail": detail,
        "clock_scale": spec.clock_scale,
    }
    return GameRecord(**fields | played)
