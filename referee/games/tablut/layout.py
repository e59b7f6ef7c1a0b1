"""Tablut as something to look at: the board's cells, the pieces, marks and short facts about a position.

Refuses to know how anything is drawn.
"""

from __future__ import annotations

from referee.games.tablut.cells import BASE_CELLS, BORDER_CELLS, CELLS, LINES, NAMES, SIZE, THRONE
from referee.games.tablut.config import FIRST_PLAYER, GOAL
from referee.games.tablut.notation import KING, PLY, QUIET, SIDE, pieces_of
from referee.rules import Board, Cell, Config, Piece, State

PIECES = (
    # Attackers are first by default; where `first_player` is defenders the owners are the other way round.
    Piece("t", "attacker", "first", "●"),
    Piece("T", "defender", "second", "○"),
    Piece("K", "king", "second", "♔"),
)

COLOURS = ("attackers", "defenders")


def _kind(cell: int) -> str:
    if cell == THRONE:
        return "throne"
    if cell in BASE_CELLS:
        return "base"
    return "goal" if cell in BORDER_CELLS else "plain"


BOARD_CELLS = tuple(Cell(NAMES[cell], float(cell // SIZE), float(cell % SIZE), _kind(cell)) for cell in range(CELLS))


def announce(state: State, config: Config) -> str | None:
    """`raichi`: the king has one free way to a goal, `tuichi`: more, whoever is to move. None in a finished game."""
    from referee.games.tablut import kernel

    if kernel.result(state, config, 1, 0):
        return None
    ways = int(kernel.free_ways(state, config))
    return (None, "raichi", "tuichi", "tuichi", "tuichi")[ways]


def _ways(state: State, config: Config) -> list[str]:
    """The goals the king could run to now."""
    from referee.games.tablut.kernel_board import king_reach
    from referee.games.tablut.tables import GOALS

    if state[KING] < 0:
        return []
    file, rank = divmod(int(state[KING]), SIZE)
    goals = int(config[GOAL]) * LINES
    across = int(king_reach(state, config, rank, file)) & int(GOALS[goals + rank])
    along = int(king_reach(state, config, SIZE + file, rank)) & int(GOALS[goals + SIZE + file])
    cells = [at * SIZE + rank for at in range(SIZE) if across >> at & 1]
    cells += [file * SIZE + at for at in range(SIZE) if along >> at & 1]
    return [NAMES[cell] for cell in sorted(cells)]


def board(state: State, config: Config) -> Board:
    """A position to look at: the goals the king could run to now are marked `way`."""
    pieces = {NAMES[cell]: symbol for cell, symbol in pieces_of(state).items()}
    symbols = list(pieces.values())
    called = announce(state, config)
    taken = "" if "K" in symbols else ", king captured"
    notes = [
        f"{COLOURS[int(state[SIDE])]} to move",
        f"first player: {COLOURS[int(config[FIRST_PLAYER])]}",
        f"{symbols.count('t')} attackers, {symbols.count('T')} defenders{taken}",
        f"ply {int(state[PLY])}, {int(state[QUIET])} since the last capture",
    ]
    return Board(
        shape="square",
        cells=BOARD_CELLS,
        pieces=pieces,
        marks=dict.fromkeys(_ways(state, config), ("way",)),
        notes=(*([called] if called else []), *notes),
    )
