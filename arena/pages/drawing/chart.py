"""A board as data and in words: for the viewer's script, for screen readers, and the legend of its marks."""

from __future__ import annotations

from typing import Any

from arena.pages.drawing.board import (
    ARROW_GAP,
    BADGE_OFFSET,
    BADGE_SIZE,
    BADGES,
    BEYOND,
    GHOST_SIZE,
    STACK_OFFSET,
    STACK_SIZE,
    form_of,
    prefix,
)
from arena.pages.drawing.geometry import plan
from arena.pages.drawing.piece_shapes import CELL, key
from arena.pages.drawing.scene import Scene, piece_names
from arena.pages.language import text, translated
from referee.rules.core import SIDES
from referee.rules.rules import Board, Cell, Rules
from referee.rules.text_board import rows


def chart(rules: Rules, scene: Scene) -> dict[str, Any]:
    """Return the data the viewer's script needs to draw a game's scenes: cells, pieces, owners, forms of marks."""
    board = scene.board
    where = plan(board)
    return {
        "cell": CELL,
        "stack": list(STACK_OFFSET),
        "stackSize": STACK_SIZE,
        "stacks": rules.position_setup is None or rules.position_setup.max_pieces > 1,
        "short": ARROW_GAP,
        "middle": list(where.middle),
        "places": {name: [round(x, 1), round(y, 1)] for name, (x, y) in where.places.items()},
        "hex": where.is_hex,
        "beyond": BEYOND,
        "ghostSize": GHOST_SIZE,
        "pieces": {
            symbol: [prefix(rules.family) + key(symbol), translated(name)]
            for symbol, name in piece_names(rules).items()
        },
        "owners": dict(scene.owners),
        "slots": {side: [[round(x, 1), round(y, 1)] for x, y in where.slots.get(side, ())] for side in SIDES},
        "badge": [BADGE_OFFSET, BADGE_SIZE],
        "badges": BADGES,
        "optional": [mark.name for mark in rules.marks if mark.is_optional],
        "rows": [[cell.name for cell in row] for row in rows(board)],
        "kinds": {cell.name: cell.kind for cell in board.cells if cell.kind != "plain"},
        "forms": {mark.name: mark.form for mark in rules.marks},
        "meanings": {mark.name: translated(mark.meaning) for mark in rules.marks},
        "words": {word: translated(word) for word in _words(rules, board)},
    }


def _words(rules: Rules, board: Board) -> set[str]:
    """Return the names of marks and of kinds of cells."""
    return {mark.name for mark in rules.marks} | {cell.kind for cell in board.cells}


def described(rules: Rules, scene: Scene, cell: Cell) -> str:
    """Describe a cell in words: `a1 black marble, can be pushed off`."""
    names = piece_names(rules)
    symbols = scene.board.pieces.get(cell.name, "")
    held = text(" on ").join(translated(names.get(symbol, symbol)) for symbol in reversed(symbols)) or text("empty")
    kind = "" if cell.kind == "plain" else f" ({translated(cell.kind)})"
    words = "".join(f", {translated(word)}" for word in scene.board.marks.get(cell.name, ()))
    return f"{cell.name}{kind} {held}{words}"


def legend(rules: Rules, scene: Scene) -> list[tuple[str, str, str, bool]]:
    """Return (mark, form, meaning, is_optional) of the marks on the board, without those that need no explanation."""
    known = {mark.name: mark for mark in rules.marks}
    words = sorted({word for marks in scene.board.marks.values() for word in marks})
    shown = [word for word in words if word not in known or known[word].meaning]
    return [
        (translated(word), form_of(known, word), translated(known[word].meaning), known[word].is_optional)
        if word in known
        else (word, form_of(known, word), word, False)
        for word in shown
    ]
