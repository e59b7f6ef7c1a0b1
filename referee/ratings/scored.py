"""What the ratings see of a finished game, wherever it comes from: who met whom, and how it ended."""

from __future__ import annotations

from typing import Protocol

from referee.rules.core import Kind, Termination


class ScoredGame(Protocol):
    """A finished game: a whole record, or a few columns of one. `winner` is None exactly when the game is void."""

    @property
    def sequence(self) -> int: ...
    @property
    def round(self) -> int: ...
    @property
    def pair(self) -> int: ...
    @property
    def first(self) -> str: ...
    @property
    def second(self) -> str: ...
    @property
    def winner(self) -> str | None: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def termination(self) -> Termination: ...
    @property
    def points(self) -> tuple[float, float]: ...
