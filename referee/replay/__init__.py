"""Whole games played again by one compiled call: what `Position.play` says of every ply, for many games.

Answers where the game stands after its moves, or that they cannot be played; why is for `Position` to say. Refuses to
know texts of games and records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from referee.rules.core import Outcome, ParseError
from referee.rules.per_family import loaded
from referee.rules.position import outcome_of
from referee.rules.rules import Ruleset, State

_ROOM = 512
"""Plies there is room for at first."""
_MOST_TEXTS = 200_000
"""Move texts that are remembered."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Where a game stands after its moves. `states` are all positions, the start first, until the next game."""

    outcome: Outcome | None
    states: Any

    @property
    def final(self) -> State:
        """The last position."""
        state: State = self.states[-1]
        return state


class Replay:
    """Plays games of one family; for one thread."""

    def __init__(self, ruleset: Ruleset) -> None:
        kernel = ruleset.rules.kernel
        self._follow = loaded(__name__, "follow", ruleset.rules.family).follow
        self._moves = np.empty(kernel.MAX_MOVES, dtype=np.int64)
        self._states = np.zeros((_ROOM, kernel.STATE_SIZE), dtype=kernel.DTYPE)
        self._digests = np.zeros(_ROOM, dtype=np.uint64)
        self._known: dict[str, int] = {}

    def codes(self, ruleset: Ruleset, start: State, moves: Sequence[str]) -> list[int] | None:
        """The codes of moves as they are usually written; None where one is written otherwise.

        What a legal move is written as is read as that move, whatever the position (a law of every family): so texts
        are looked up, and whether the moves are legal is seen when they are played.
        """
        known, notation = self._known, ruleset.rules.notation
        try:
            return [known[move] for move in moves]
        except KeyError:
            pass
        if len(known) > _MOST_TEXTS:
            known.clear()
        try:
            for move in moves:
                if move not in known:
                    code = notation.read_move(move, start, ruleset.config)
                    if notation.write_move(code) != move:
                        return None
                    known[move] = code
        except ParseError:
            return None
        return [known[move] for move in moves]

    def play(self, ruleset: Ruleset, start: State, codes: list[int]) -> Replayed | None:
        """The game after these moves; None where one of them is not legal, or comes after the end."""
        if len(codes) >= len(self._states):
            self._states = np.zeros((2 * len(codes), self._states.shape[1]), dtype=self._states.dtype)
            self._digests = np.zeros(2 * len(codes), dtype=np.uint64)
        self._states[0] = start
        given = np.array(codes, dtype=np.int64)
        plies, code = self._follow(self._states, ruleset.config, given, self._moves, self._digests)
        if plies < len(codes):
            return None
        return Replayed(outcome_of(ruleset, int(code)), self._states[: len(codes) + 1])
