"""Interface of a finished game as the ratings need it: players and result."""

from __future__ import annotations

from typing import Protocol

from referee.rules.core import Kind, Termination


class ScoredGame(Protocol):
    """A finished game: a whole record, or some columns of it. `winner` is None if and only if the game is void."""

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
