"""Random games and positions of any family, reproducible by seed, for tests of the rules."""

from __future__ import annotations

import random
import re

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import Option, Rules, Ruleset, State, Value

SPINS = (0, 1, 2, 3, 4, 6, 20, 60)


def values(option: Option) -> list[Value]:
    """Return values of an option that are worth testing: all of a combo or check, some small numbers of a spin."""
    if option.type == "check":
        return [False, True]
    if option.type == "combo":
        return list(option.values)
    numbers = sorted({*SPINS, option.minimum, int(option.default)})
    return [n for n in numbers if option.minimum <= n <= option.maximum and n not in option.excluded]


def legal(ruleset: Ruleset, state: State) -> list[int]:
    kernel = ruleset.rules.kernel
    buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    return [int(code) for code in buffer[: kernel.legal(state, ruleset.config, buffer)]]


def after(ruleset: Ruleset, state: State, move: int) -> State:
    """Return the state after a move as a new array."""
    out = np.empty_like(state)
    ruleset.rules.kernel.play(state, ruleset.config, move, out)
    return out


def walk(ruleset: Ruleset, seed: int, plies: int, state: State | None = None) -> State:
    """Return the state after at most `plies` random moves; the end of a game ends the walk. Repetition is ignored."""
    rng = random.Random(seed)
    state = ruleset.read() if state is None else state
    for _ in range(plies):
        if ruleset.rules.kernel.result(state, ruleset.config, 1, 0):
            break
        moves = legal(ruleset, state)
        if not moves:
            break
        state = after(ruleset, state, rng.choice(moves))
    return state


def symbols(rules: Rules) -> str:
    """Return the letters in the board fields of the family's starts."""
    return "".join(sorted({c for variant in rules.variants for c in variant.position.split()[0] if c.isalpha()}))


def shuffled(ruleset: Ruleset, state: State, rng: random.Random) -> State:
    """Return a position with pieces exchanged or replaced if the family's reader accepts one, else the same state."""
    letters = symbols(ruleset.rules) + "1"
    for _ in range(12):
        board, *rest = ruleset.write(state).split(" ")
        cells = list(board)
        places = [index for index, c in enumerate(cells) if c.isalpha()]
        for _ in range(rng.randrange(1, 12)):
            if len(places) < 2:
                break
            place, other = rng.sample(places, 2)
            if rng.random() < 0.6:
                cells[place], cells[other] = cells[other], cells[place]
            else:
                cells[place] = rng.choice(letters)
        board = "".join(cells)
        if rng.random() < 0.5:
            rows = board.split("/")
            rng.shuffle(rows)
            board = "/".join(rows)
        changed = _read(ruleset, board, rest)
        if changed is not None:
            return changed
    return state


def thinned(ruleset: Ruleset, state: State, rng: random.Random) -> State:
    """Return a position with pieces of one side or both taken away if the family's reader accepts it, else the same
    state.
    """
    board, *rest = ruleset.write(state).split(" ")
    is_taken, share = rng.choice((str.isalpha, str.islower, str.isupper)), rng.choice((0.3, 0.6, 0.8, 0.95))
    cells = ["1" if is_taken(cell) and rng.random() < share else cell for cell in board]
    changed = _read(ruleset, "".join(cells), rest)
    return state if changed is None else changed


def _read(ruleset: Ruleset, board: str, rest: list[str]) -> State | None:
    # Join neighbouring runs of empty cells: most readers require that.
    joined = re.sub(r"\d+", lambda run: str(sum(map(int, run.group()))), board)
    for text in (board, joined):
        try:
            return ruleset.read(" ".join([text, *rest]))
        except ParseError:
            pass
    return None


def named(ruleset: Ruleset, state: State, *facts: object) -> str:
    """Return the text of a failure: the family, its variant and options, the position string, and `facts`."""
    rules = f"{ruleset.rules.family} {ruleset.variant.name} {ruleset.overrides or ''}".strip()
    return f"{rules}: {ruleset.write(state)}: " + " ".join(map(str, facts))
