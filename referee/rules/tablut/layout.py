"""Tablut positions prepared for drawing: the board's cells, the pieces, labels and short facts."""

from __future__ import annotations

from referee.rules.rules import Board, Cell, Config, Effect, Mark, Piece, State
from referee.rules.tablut.state import FIRST_PLAYER, KING, PLY, QUIET, pieces_of
from referee.rules.tablut.tables import BASE_CELLS, BORDER_CELLS, CELLS, LINES, NAMES, SIZE, THRONE, lines_through

PIECES = (
    # Attackers are first by default; if `first_player` is defenders, the owners are swapped.
    Piece("t", "attacker", "first", "●", "captured between two enemies; four around the king capture him"),
    Piece("T", "defender", "second", "○", "captured between two enemies"),
    Piece("K", "king", "second", "♔", "wins on a goal"),
)

MARKS = (Mark("way", "free way for the king", "spot"),)

EMBLEM = "M9 2h6v7h7v6h-7v7H9v-7H2V9h7ZM12 8.5L8.5 12l3.5 3.5 3.5-3.5Z"
"""The cross of the start with the throne in its middle."""

COLOURS = ("attackers", "defenders")


def _kind(cell: int) -> str:
    if cell == THRONE:
        return "throne"
    if cell in BASE_CELLS:
        return "base"
    return "goal" if cell in BORDER_CELLS else "plain"


BOARD_CELLS = tuple(Cell(NAMES[cell], float(cell // SIZE), float(cell % SIZE), _kind(cell)) for cell in range(CELLS))


def announce(state: State, config: Config) -> str | None:
    """Return `raichi` if the king has one free way to a goal, `tuichi` if he has more, whichever side is to move.

    Return None without a free way or in a finished game.
    """
    from referee.rules.tablut import kernel

    if kernel.result(state, config, 1, 0):
        return None
    ways = int(kernel.free_ways(state, config))
    return (None, "raichi", "tuichi", "tuichi", "tuichi")[ways]


def _ways(state: State, config: Config) -> list[str]:
    """Return the goals that the king could move to now."""
    from referee.rules.tablut.kernel_board import live_bases
    from referee.rules.tablut.kernel_line import goals, king_line, movement

    if state[KING] < 0:
        return []
    file, rank = divmod(int(state[KING]), SIZE)
    word = movement(config)
    live = live_bases(state, word)
    cells = []
    for line, place in lines_through(int(state[KING])):
        free = king_line(line, place, int(state[line] | state[LINES + line]), live, word) & goals(line, word)
        ends = [at for at in range(SIZE) if free >> at & 1]
        cells += [at * SIZE + rank if line == rank else file * SIZE + at for at in ends]
    return [NAMES[cell] for cell in sorted(cells)]


def effect(code: int, before: State, after: State, config: Config) -> Effect:
    """Return the pairs of cells between which a soldier was captured, and a note if the king has a free way now."""
    stood, left = pieces_of(before), pieces_of(after)
    start, end = divmod(code, CELLS)
    taken = [cell for cell in stood if cell not in left and cell != start]
    words, between = [], []
    for cell in taken:
        if stood[cell] == "K":
            words.append(f"the king is captured on {NAMES[cell]}")
            continue
        pair = (NAMES[end], NAMES[2 * cell - end])
        between.append(pair)
        words.append(f"{NAMES[cell]} is captured between {pair[0]} and {pair[1]}")
    if called := announce(after, config):
        words.append("a free way for the king" if called == "raichi" else "free ways for the king")
    return Effect("; ".join(words), between=tuple(between))


def board(state: State, config: Config) -> Board:
    """Return a position with the label `way` on the goals that the king could move to now."""
    pieces = {NAMES[cell]: symbol for cell, symbol in pieces_of(state).items()}
    symbols = list(pieces.values())
    called = announce(state, config)
    taken = "" if "K" in symbols else ", king captured"
    notes = [
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
