"""Agents written for the Baroque Chess assignment of a university course: `makeMove(state, remark, timelimit)`.

A state has `board`, eight rows of eight numbers from rank 8 down and file a on, and `whose_move`, 0 black and 1 white.
The number of a piece is even for black and odd for white: 2 pincer, 4 coordinator, 6 leaper, 8 imitator, 10 withdrawer,
12 king, 14 freezer, 0 nothing. A move is ((row, column), (row, column)). Agents import these numbers from a module
`BC_state_etc`; for agents without one, it is provided.
"""

from __future__ import annotations

import copy
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from bots.bridges.agent import Agent, budget_ms, call_agent
from bots.bridges.failure import BridgeError, BridgeExit, shown
from bots.sdk import Clock
from referee.rules.position import Position

STATE_MODULE = "BC_state_etc"
BLACK, WHITE = 0, 1
PIECES = "prnbqkm"
"""The letters of the arena in the order of the course's numbers: pincer, coordinator, leaper, imitator (chameleon),
withdrawer, king, freezer (immobilizer)."""
LETTERS = "pcliwkf"
"""Letters of the course, in the same order."""
CODES = {letter: 2 * place + 2 for place, letter in enumerate(LETTERS)}
CODES |= {letter.upper(): code + 1 for letter, code in CODES.items()} | {"-": 0}
GREETING = "The game begins."


class CourseState:
    def __init__(self, old_board: Any = None, whose_move: int = WHITE) -> None:
        rows = INITIAL if old_board is None else old_board
        self.board = [list(row) for row in rows]
        self.whose_move = whose_move

    def __copy__(self) -> CourseState:
        return CourseState(self.board, self.whose_move)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CourseState) and (self.board, self.whose_move) == (other.board, other.whose_move)

    def __hash__(self) -> int:
        return hash((tuple(map(tuple, self.board)), self.whose_move))

    def __repr__(self) -> str:
        names = {code: letter for letter, code in CODES.items()}
        rows = [" ".join(names[code] for code in row) for row in self.board]
        return "\n".join([*rows, f"{'WHITE' if self.whose_move == WHITE else 'BLACK'}'s move", ""])


def parse(text: str) -> list[list[int]]:
    """Parse eight lines of eight letters as rows of numbers."""
    return [[CODES[letter] for letter in line.split()] for line in text.strip().splitlines()]


INITIAL = parse("\n".join(("c l i w k i l f", "p " * 8, *["- " * 8] * 4, "P " * 8, "F L I W K I L C")))


def provide_state_module(agent_file: Path) -> None:
    """Make `BC_state_etc` importable, unless the folder of the agent has one."""
    folder = agent_file.parent if agent_file.suffix == ".py" else Path.cwd()
    if STATE_MODULE in sys.modules or (folder / f"{STATE_MODULE}.py").exists():
        return
    module = ModuleType(STATE_MODULE, "What agents of the course import.")
    names = {"p": "PINCER", "c": "COORDINATOR", "l": "LEAPER", "i": "IMITATOR", "w": "WITHDRAWER", "k": "KING"}
    pieces = {
        f"{colour}_{name}": CODES[letter] + side
        for letter, name in (names | {"f": "FREEZER"}).items()
        for side, colour in enumerate(("BLACK", "WHITE"))
    }
    directions = {name: place for place, name in enumerate(("NORTH", "SOUTH", "WEST", "EAST", "NW", "NE", "SW", "SE"))}
    vars(module).update(
        **{"BLACK": BLACK, "WHITE": WHITE, "INIT_TO_CODE": dict(CODES), "BC_state": CourseState, "parse": parse},
        **{"CODE_TO_INIT": {code: letter for letter, code in CODES.items()}, "INITIAL": INITIAL},
        **{"who": lambda piece: piece % 2},
        **pieces,
        **directions,
    )
    sys.modules[STATE_MODULE] = module


def board_of(position: Position) -> list[list[int]]:
    """Return the board of a position in the format of the course's agents: rows of numbers."""
    pieces = position.board.pieces

    def code(name: str) -> int:
        symbol = pieces.get(name, "")
        return 2 * PIECES.index(symbol.lower()) + 2 + symbol.isupper() if symbol else 0

    return [[code(f"{file}{rank}") for file in "abcdefgh"] for rank in range(8, 0, -1)]


def square(place: Any) -> str:
    """Return the name of the square (row, column). Raises ValueError or TypeError."""
    row, column = place
    if not (0 <= int(row) < 8 and 0 <= int(column) < 8):
        raise ValueError(f"no square {place!r}")
    return f"{'abcdefgh'[int(column)]}{8 - int(row)}"


class CourseAgent(Agent):
    """An agent of the course: a module or an object with `makeMove`. Each call gets the remark that the last one
    returned.
    """

    def __init__(self, target: Any, filters: bool) -> None:
        super().__init__(target, "course", filters)
        make_move = target if inspect.isfunction(target) else getattr(target, "makeMove", None)
        if not callable(make_move):
            raise BridgeError(BridgeExit.MISSING, f"{target!r} has no makeMove(state, remark, timelimit)")
        self.make_move = make_move
        self.remark = GREETING
        module = sys.modules.get(STATE_MODULE)
        self.state_class: Any = getattr(module, "BC_state", CourseState)
        self.is_prepared = False

    def new_game(self) -> None:
        """Reset the remark, and have `prepare` called before the first move."""
        self.remark, self.is_prepared = GREETING, False

    def ask(self, position: Position, clock: Clock) -> str:
        """Return the agent's answer as text, even if it is not a valid move. Raises BridgeError."""
        if not self.is_prepared:
            self.is_prepared = True
            prepare = getattr(self.target, "prepare", None)
            if callable(prepare):
                call_agent(prepare, "opponent")
        side = WHITE if position.side == "first" else BLACK
        state = self.state_class(board_of(position), side)
        # Some agents play on the board that they are given.
        answer = call_agent(self.make_move, copy.deepcopy(state), self.remark, max(0.05, budget_ms(clock) / 1000))
        try:
            (move, _), remark = answer
            self.remark = str(remark)
            start, end = map(square, move)
        except (ValueError, TypeError):
            return shown(answer)
        self.info(text=self.remark[:200])
        return start + end
