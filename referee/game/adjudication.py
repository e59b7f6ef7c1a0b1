"""Ends games early: by the scores and draw offers of the bots, or after a number of plies. Uses no rules or clock."""

from __future__ import annotations

from collections.abc import Collection

from referee.game.spec import Adjudication, GameSpec
from referee.rules.core import SIDES, Outcome, Termination

LEVEL = 20
"""A bot accepts a person's draw offer when its own score is within this many centipawns of 0."""
LEVEL_FROM_PLY = 30
"""The first ply at which a person's draw offer is accepted for a bot."""


def answered_for(spec: GameSpec) -> frozenset[int]:
    """Return the sides of bots that play a person: their scores decide whether they accept a draw offer."""
    places = (spec.first.place, spec.second.place)
    return frozenset(side for side in (0, 1) if places[side] != "person" and places[1 - side] == "person")


def takes_draw(score: int | None, ply: int) -> bool:
    """Return whether a bot accepts a draw offer after this ply; `score` is what the bot reported, from its own view."""
    return score is not None and abs(score) <= LEVEL and ply >= LEVEL_FROM_PLY


class Adjudicator:
    """The adjudication of one game: give it every ply, and it returns the outcome once the game is to end.

    Scores are centipawns from the view of the bot that reported them. A bot that reports no score is never adjudicated.
    For the sides in `answered` a draw offer is accepted if their score is level (see `takes_draw`).
    """

    def __init__(self, rule: Adjudication, answered: Collection[int] = ()) -> None:
        self._rule, self._answered = rule, answered
        self._calm = 0
        self._lost = [0, 0]
        self._won = [0, 0]
        self._offered = [False, False]

    def ply(self, side: int, plies: int, score: int | None, offers_draw: bool) -> Outcome | None:
        """Return the outcome after the move of `side` (0 first, 1 second), ply `plies` of the game; None if it
        continues.
        """
        rule = self._rule
        takes = offers_draw or (side in self._answered and takes_draw(score, plies))
        agreed = rule.draw_agreement and takes and self._offered[1 - side]
        self._offered[side] = offers_draw
        if agreed:
            return Outcome("draw", Termination.DRAW_AGREED)
        if rule.resign_moves or rule.draw_moves:
            self._count(side, score)
        if rule.resign_moves:
            if self._lost[side] >= rule.resign_moves and (
                not rule.resign_both or self._won[1 - side] >= rule.resign_moves
            ):
                return Outcome(SIDES[1 - side], Termination.WIN_BY_SCORE)
        # Twice, because the rule counts moves of both sides, and `_calm` plies.
        if rule.draw_moves and plies >= rule.draw_after_ply and self._calm >= 2 * rule.draw_moves:
            return Outcome("draw", Termination.DRAW_BY_SCORE)
        if rule.max_plies and plies >= rule.max_plies:
            return Outcome("draw", Termination.MAX_PLIES)
        return None

    def _count(self, side: int, score: int | None) -> None:
        rule = self._rule
        calm = score is not None and abs(score) <= rule.draw_score
        self._calm = self._calm + 1 if calm else 0
        self._lost[side] = self._lost[side] + 1 if score is not None and score <= -rule.resign_score else 0
        self._won[side] = self._won[side] + 1 if score is not None and score >= rule.resign_score else 0


def read_draw_rule(text: str, rule: Adjudication) -> Adjudication:
    """Apply a text such as `after=40,moves=8,score=10` to `rule`. Raises ValueError naming the invalid part."""
    return _read(text, rule, {"after": "draw_after_ply", "moves": "draw_moves", "score": "draw_score"}, "--draw")


def read_resign_rule(text: str, rule: Adjudication) -> Adjudication:
    """Apply a text such as `moves=4,score=600,both=1` to `rule`. Raises ValueError naming the invalid part."""
    return _read(text, rule, {"moves": "resign_moves", "score": "resign_score", "both": "resign_both"}, "--resign")


def _read(text: str, rule: Adjudication, names: dict[str, str], flag: str) -> Adjudication:
    from dataclasses import replace

    changes: dict[str, int | bool] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in names or not (value.isascii() and value.isdecimal()):
            raise ValueError(f"{flag}: cannot read {part!r}; write {','.join(f'{known}=N' for known in names)}")
        changes[names[name]] = bool(int(value)) if name == "both" else int(value)
    if not any(name.endswith("moves") for name in changes):
        raise ValueError(f"{flag}: add the number of moves in a row, as in moves=8")
    return replace(rule, **changes)  # type: ignore[arg-type]
