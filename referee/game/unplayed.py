"""Games that are not played: void ones, and those that a suspended bot loses.

A bot that fails to get ready in several games in a row is suspended: it loses its remaining games without play.
`record_of` is used for these records and for those of played games.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable
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


SUSPEND_AFTER = 5
"""Default number of failed games in a row."""


class Suspension:
    """The suspended bots of a tournament: those that lost `limit` games in a row before the first move.

    `limit` 0 suspends no bot. In a row means in the order of planning, without a game in between that still runs: a
    failure arrives before the results of games that began earlier. `running` are such games, `records` those of the
    tournament so far. A game that the opponent lost before the first move does not count for or against a bot.
    """

    def __init__(self, limit: int, records: Iterable[GameRecord] = (), running: Iterable[PlannedGame] = ()) -> None:
        self._limit = limit
        self._begun: dict[str, list[int]] = defaultdict(list)
        """The numbers of the games of each bot that have begun and say something about it, in order."""
        self._failed: dict[str, set[int]] = defaultdict(set)
        """Those of them that it lost at the start."""
        self.names: dict[str, int] = {}
        """The suspended bots with their places in the order of suspension, from 1."""
        for game in running:
            self.begin(game)
        for record in records:
            self.add(record)

    @property
    def why(self) -> str:
        """The reason for a suspension, in words."""
        return f"it did not get ready {self._limit} times in a row"

    def add(self, record: GameRecord) -> str | None:
        """Add the next result; return the name of the bot that it suspends, if any."""
        for name in (record.first, record.second):
            self._note(name, record.sequence)
        if not record.at_start:
            return None
        loser, other = (record.first, record.second)[:: 1 if record.loser == "first" else -1]
        self._begun[other].remove(record.sequence)
        self._failed[loser].add(record.sequence)
        if not self._limit or loser in self.names or self._in_a_row(loser, record.sequence) < self._limit:
            return None
        self.names[loser] = len(self.names) + 1
        return loser

    def begin(self, game: PlannedGame) -> None:
        """Note that a game has begun: until its result comes, the failures around it are not in a row."""
        for bot in (game.spec.first, game.spec.second):
            self._note(bot.name, game.spec.sequence)

    def _note(self, name: str, sequence: int) -> None:
        begun = self._begun[name]
        place = bisect_left(begun, sequence)
        if begun[place : place + 1] != [sequence]:
            insort(begun, sequence)

    def _in_a_row(self, name: str, sequence: int) -> int:
        """Return how many games in a row around this one the bot has lost at the start."""
        begun, failed = self._begun[name], self._failed[name]
        low = high = bisect_left(begun, sequence)
        while low and begun[low - 1] in failed:
            low -= 1
        while high + 1 < len(begun) and begun[high + 1] in failed:
            high += 1
        return high - low + 1

    def forfeit(self, game: PlannedGame) -> GameRecord | None:
        """Return the record of a game that a suspended bot loses; None if the game is to be played."""
        for bot in (game.spec.first, game.spec.second):
            if bot.name in self.names:
                return forfeit_record(game, bot.name, self.why)
        return None
