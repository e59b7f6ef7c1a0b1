"""An immutable position that gives its legal moves, outcome and history, for people, bots and tests.

The referee's own loop uses `referee.rules.history.LineOfPlay`, which is faster and mutable. Compiled searches keep
digests of positions in an array (`bots.search.repetition`): their inner loop cannot use Python objects.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from referee.rules.core import SIDES, Outcome, Side, Winner
from referee.rules.rules import Board, Ruleset, State


class History:
    """The positions of a game so far, by their keys (see `Position.key`)."""

    __slots__ = ("_seen", "plies")

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._seen: dict[bytes, tuple[int, int]] = {}
        self.plies = -1
        """How many moves led to the last position; -1 before the first."""
        for key in keys:
            self.add(key)

    def if_next(self, key: bytes) -> tuple[int, int]:
        """Return what `add` would return for `key`, without adding it."""
        count, last = self._seen.get(key, (0, self.plies + 1))
        return count + 1, self.plies + 1 - last

    def add(self, key: bytes) -> tuple[int, int]:
        """Add the next position; return (occurrences, this one included; plies since the previous one, 0 = none)."""
        plies = self.plies = self.plies + 1
        count, last = self._seen.get(key, (0, plies))
        self._seen[key] = count + 1, plies
        return count + 1, plies - last


_WINNERS: tuple[Winner, Winner, Winner] = ("first", "second", "draw")


class IllegalMoveError(ValueError):
    """A well-formed move that is not legal in the position."""


def outcome_of(ruleset: Ruleset, code: int) -> Outcome | None:
    """Return the outcome that a kernel's result code stands for; None for 0."""
    return Outcome(_WINNERS[code % 4 - 1], ruleset.rules.reasons[code // 4]) if code else None


def state_after(ruleset: Ruleset, state: State, move: int) -> State | None:
    """Return the state after a move, or None if the board does not allow it. Limits and repetition are ignored."""
    kernel, config = ruleset.rules.kernel, ruleset.config
    buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    count = kernel.legal(state, config, buffer)
    # Legal moves ascend; elements of a view are read faster than those of an array.
    moves = memoryview(buffer)  # type: ignore[arg-type]
    place = bisect_left(moves, move, 0, count)
    if place == count or moves[place] != move:
        return None
    after = np.empty_like(state)
    kernel.play(state, config, move, after)
    return after


class Position:
    """A position of a game, linked to the positions before it.

    `moves` are codes (see `Rules.notation`); `play` takes a code or any accepted text.
    """

    def __init__(self, ruleset: Ruleset, state: State, previous: Position | None = None, move: int | None = None):
        self.ruleset = ruleset
        self.state = state
        self.previous = previous
        self.move = move
        """The code of the move that led here; None at the start."""
        self._ply: int = 0 if previous is None else previous._ply + 1
        self._history: History | None = None

    @classmethod
    def start(cls, ruleset: Ruleset, position: str | None = None) -> Position:
        """Return the variant's start, or the position of the given string. Raise ParseError."""
        return cls(ruleset, ruleset.read(position))

    @property
    def side(self) -> Side:
        """The side to move."""
        return SIDES[self.ruleset.rules.side(self.state, self.ruleset.config)]

    @cached_property
    def key(self) -> bytes:
        """The bytes that repetition compares: equal keys are the same position."""
        return self.state[: self.ruleset.rules.kernel.KEY_SIZE].tobytes()

    @property
    def history(self) -> History:
        """The positions of the game up to this one. Reading the history of a later position invalidates this object."""
        # If the shared history has another length, another continuation has added to it.
        if self._history is None or self._history.plies != self._ply:
            line: list[Position] = []
            at: Position | None = self
            while at is not None:
                line.append(at)
                at = at.previous
            self._history = History(position.key for position in reversed(line))
        return self._history

    @cached_property
    def repeats(self) -> tuple[int, int]:
        """The number of occurrences so far, this one included, and the plies since the previous one (0 = none)."""
        if self.previous is None:
            return 1, 0
        # Most games are one line: each position takes over the history of the previous one instead of copying it.
        self._history = self.previous.history
        return self._history.add(self.key)

    @cached_property
    def outcome(self) -> Outcome | None:
        """The outcome if the game has ended in this position, else None."""
        kernel = self.ruleset.rules.kernel
        return outcome_of(self.ruleset, int(kernel.result(self.state, self.ruleset.config, *self.repeats)))

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """The legal moves as ascending codes."""
        rules = self.ruleset.rules
        if self.outcome is not None and self.outcome.reason not in rules.keeps_moves:
            return ()
        buffer = np.empty(rules.kernel.MAX_MOVES, dtype=np.int64)
        found = rules.kernel.legal(self.state, self.ruleset.config, buffer)
        return tuple(buffer[:found].tolist())

    @property
    def texts(self) -> list[str]:
        """The legal moves in canonical text, sorted as plain strings."""
        return sorted(map(self.ruleset.rules.notation.write_move, self.moves))

    def read(self, text: str) -> int:
        """Return the code of a move text. Raise ParseError if it is malformed, IllegalMoveError if it is not legal
        here.
        """
        code = self.ruleset.rules.notation.read_move(text, self.state, self.ruleset.config)
        if code not in self.moves:
            raise IllegalMoveError(f"illegal move {text!r} in {self}" + ("" if self.moves else " (the game is over)"))
        return code

    def play(self, move: int | str) -> Position:
        """Return the position after a move. Raise ParseError or IllegalMoveError."""
        code = self.read(move) if isinstance(move, str) else move
        if code not in self.moves:
            raise IllegalMoveError(f"illegal move code {code} in {self}")
        after = np.empty_like(self.state)
        self.ruleset.rules.kernel.play(self.state, self.ruleset.config, code, after)
        return Position(self.ruleset, after, self, code)

    def play_all(self, moves: Iterable[int | str]) -> Position:
        """Return the position after several moves. Raise ParseError or IllegalMoveError."""
        position = self
        for move in moves:
            position = position.play(move)
        return position

    def display(self, move: int) -> str:
        """Return a move from here as people write it."""
        return self.ruleset.rules.notation.display_move(move, self.state, self.ruleset.config)

    def explain(self, move: int) -> str:
        """Return text on the side effects of a move from here, or an empty string."""
        tell = self.ruleset.rules.explain
        return tell(move, self.state, self.ruleset.config) if tell else ""

    @property
    def announced(self) -> str:
        """The call that players of the family customarily make in this position (`raichi`), or an empty string."""
        call = self.ruleset.rules.announce
        return (call(self.state, self.ruleset.config) or "") if call else ""

    @property
    def board(self) -> Board:
        """The position prepared for drawing."""
        return self.ruleset.rules.board(self.state, self.ruleset.config)

    def __str__(self) -> str:
        return self.ruleset.write(self.state)

    def __repr__(self) -> str:
        return f"<Position {self.ruleset.rules.family} {self}>"
