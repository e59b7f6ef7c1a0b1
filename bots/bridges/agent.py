"""Python agents behind a bridge: functions or objects that choose moves; their answers are checked."""

from __future__ import annotations

import inspect
import sys
import traceback
import zlib
from collections.abc import Callable
from typing import Any

from bots.bridges.failure import BridgeError, BridgeExit, shown
from bots.sdk import Bot, Clock
from referee.rules.position import Position

UNLIMITED_MS = 3_000.0
"""Time an agent gets if no time limits its search: less than `arena check` waits for an answer then."""


def budget_ms(clock: Clock) -> float:
    """Return the milliseconds an agent may take."""
    budget = clock.budget_ms()
    return UNLIMITED_MS if budget is None else budget


class Agent(Bot):
    """A bot whose moves come from a third party's Python code."""

    author = "its author"

    def __init__(self, target: Any, api: str, filters: bool) -> None:
        super().__init__()
        self.target, self.api, self.filters = target, api, filters
        self._player: Any = None

    def new_game(self) -> None:
        """Discard the agent's object: each game gets a new one."""
        self._player = None

    def player(self) -> Callable[..., Any]:
        """Return the function that chooses moves. Raises BridgeError if it is missing."""
        if self._player is None:
            self._player = call_agent(self.target) if inspect.isclass(self.target) else self.target
        found = getattr(self._player, "choose", self._player)
        if not callable(found):
            raise BridgeError(BridgeExit.MISSING, f"{self.target!r} is neither a function nor a class with choose")
        return found  # type: ignore[no-any-return]

    def ask(self, position: Position, clock: Clock) -> Any:
        """Return the agent's answer. Raises BridgeError if the agent raises an exception."""
        if self.api == "text":
            return call_agent(self.player(), str(position), position.texts, budget_ms(clock))
        return call_agent(self.player(), position, clock)

    def choose(self, position: Position, clock: Clock) -> int:
        """Return the agent's move. Raises BridgeError for an illegal one, unless illegal moves are replaced."""
        answer = self.ask(position, clock)
        try:
            if isinstance(answer, str):
                return position.read(answer)
            code = int(answer)
            if code in position.moves:
                return code
            problem = f"no legal move {code} in {position}"
        except (ValueError, TypeError) as error:
            problem = str(error)
        return self.replaced(position, answer, problem)

    def replaced(self, position: Position, answer: Any, problem: str) -> int:
        """Return a legal move in place of an illegal one, from the same cell if possible.

        Raises BridgeError if illegal moves are not to be replaced.
        """
        if not self.filters:
            raise BridgeError(BridgeExit.ANSWER, f"the agent chose {shown(answer)}: {problem}")
        start = str(answer)[:2] if isinstance(answer, str) else ""
        write = position.ruleset.rules.notation.write_move
        near = [code for code in position.moves if start and write(code).startswith(start)] or list(position.moves)
        code = near[zlib.crc32(str(position).encode()) % len(near)]
        print(f"illegal choice {shown(answer)} replaced by {write(code)}: {problem}", file=sys.stderr, flush=True)
        self.info(text=f"illegal choice replaced by {write(code)}")
        return code


def call_agent(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the agent. If it raises an exception, print the traceback and raise BridgeError."""
    try:
        return function(*arguments)
    except Exception as error:
        traceback.print_exc()
        raise BridgeError(BridgeExit.BROKEN, f"the agent raised {type(error).__name__}: {error}") from None
