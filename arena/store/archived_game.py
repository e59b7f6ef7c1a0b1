"""One archived game: who played whom, by which rules, how it ended, and the text it came as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from referee.record import GameRecord, Ply
from referee.rules.core import Termination
from referee.rules.position import Position
from referee.rules.rules import Ruleset, State, Value


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """A game of the archive. `position` is its start; `winner` None = unknown; `text` the game as it was imported."""

    id: str
    family: str
    variant: str
    options: Mapping[str, Value]
    position: str
    moves: tuple[str, ...]
    first: str
    second: str
    winner: str | None
    termination: str
    number: str = ""
    source: str = ""
    format: str = ""
    text: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """What a list shows."""
        data = asdict(self)
        for name in ("moves", "text", "tags", "options", "position"):
            del data[name]
        return data | {"plies": len(self.moves)}

    def ruleset(self) -> Ruleset:
        """The rules it was played by."""
        from referee.rules import load

        return load(self.family).settle(self.variant, self.options)

    def states(self) -> Iterator[State]:
        """Every position, the start first."""
        ruleset = self.ruleset()
        kernel, language, config = ruleset.rules.kernel, ruleset.rules.notation, ruleset.config
        state = ruleset.read(self.position)
        yield state
        for move in self.moves:
            after = np.empty_like(state)
            kernel.play(state, config, language.read_move(move, state, config), after)
            yield after
            state = after

    def keys(self) -> set[bytes]:
        """What a search for a position finds the game by."""
        size = self.ruleset().rules.kernel.KEY_SIZE
        return {state_key(self.family, state[:size]) for state in self.states()}

    def record(self) -> GameRecord:
        """The game as the arena's own record; one the rules did not end was resigned, agreed drawn, or stopped."""
        termination = Termination(self.termination)
        final = list(self.states())[-1]
        day = self.tags.get("Date") or self.tags.get("date") or ""
        return GameRecord(
            id=self.id,
            family=self.family,
            variant=self.variant,
            options=self.options,
            position=self.position,
            first=self.first,
            second=self.second,
            winner=self.winner,  # type: ignore[arg-type]
            termination=termination,
            kind=termination.kind,
            moves=self.moves,
            plies=tuple(Ply() for _ in self.moves),
            started=day,
            finished=day,
            event=self.source,
            final_position=self.ruleset().write(final),
            detail=f"game {self.number} of {self.source}" if self.source else "",
        )


def state_key(family: str, state: State) -> bytes:
    """Eight bytes for what positions share that are the same to a search: board and side to move."""
    return blake2b(state.tobytes(), digest_size=8, key=family.encode()).digest()


def position_key(position: Position) -> bytes:
    """The `state_key` of a position."""
    size = position.ruleset.rules.kernel.KEY_SIZE
    return state_key(position.ruleset.rules.family, position.state[:size])
