"""A game as a sequence of pictures: every ply's board with what moved, what was taken and how to say it.

Drawn from layouts alone: what a move did is read off the boards before and after. Refuses to know SVG, HTML and any
game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from referee.rules.core import SIDES, Side
from referee.rules.move_input import cells_named
from referee.rules.position import Position
from referee.rules.rules import Board, Cell, Effect, Rules, Ruleset

_NEAR = 1.5


@dataclass(frozen=True, slots=True)
class Scene:
    """One ply of a game as it is shown; ply 0 is the start and has no move.

    `trail` are the cells of the move as polylines; `struck` cells where a piece was taken; `gone` what has left the
    board since the start, by symbol; `lost` what left it by this very move. `move` is in people's
    notation, `canonical` as in records.
    """

    ply: int
    board: Board
    position: str
    to_move: Side
    side: Side | None = None
    move: str = ""
    canonical: str = ""
    trail: tuple[tuple[str, ...], ...] = ()
    struck: tuple[str, ...] = ()
    gone: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    said: str = ""
    score: str = ""
    effect: Effect = field(default_factory=Effect)

    def as_json(self) -> dict[str, Any]:
        """What the viewer's script needs; the cells of the board stand apart, they do not change."""
        return {
            "ply": self.ply,
            "pieces": dict(self.board.pieces),
            "marks": {name: list(words) for name, words in self.board.marks.items()},
            "notes": list(self.board.notes),
            "position": self.position,
            "to_move": self.to_move,
            "side": self.side,
            "move": self.move,
            "trail": [list(line) for line in self.trail],
            "struck": list(self.struck),
            "gone": dict(self.gone),
            "links": [list(link) for link in self.links],
            "said": self.said,
            "line": list(self.effect.line),
            "ejected": self.effect.ejected,
            "between": [list(pair) for pair in self.effect.between],
            "score": self.score,
        }


class Scenes:
    """The scenes of one game, made as they are asked for: a live game grows."""

    def __init__(self, ruleset: Ruleset, start: str | None = None) -> None:
        """Raises ParseError for a start that cannot be read."""
        self.rules: Rules = ruleset.rules
        self._sides = ruleset.sides
        self._position = Position.start(ruleset, start)
        board = self._position.board
        self._first = Counter("".join(board.pieces.values()))
        self._names = piece_names(self.rules)
        self.items: list[Scene] = [
            Scene(0, board, str(self._position), self._position.side, links=_links(board, self.rules))
        ]

    @property
    def moves(self) -> int:
        """How many plies there are."""
        return len(self.items) - 1

    def branch(self) -> Scenes:
        """The same scenes, to go on from in another way."""
        found = copy(self)
        found.items = list(self.items)
        return found

    def extend(self, moves: Sequence[str]) -> None:
        """Play on to `moves`, all moves of the game from its start. Raises ParseError or IllegalMoveError."""
        for canonical in moves[self.moves :]:
            self._add(canonical)

    def _add(self, canonical: str) -> None:
        before, earlier = self._position, self.items[-1]
        code = before.read(canonical)
        shown = before.display(code)
        after = before.play(code)
        if after.announced:
            shown += f" {after.announced}"
        board, side = after.board, before.side
        gone = self._first - Counter("".join(board.pieces.values()))
        lost = Counter("".join(earlier.board.pieces.values())) - Counter("".join(board.pieces.values()))
        struck = _struck(earlier.board, board, lost)
        score = next((note for note in board.notes if note.startswith("score ")), "")
        is_new = score and score not in earlier.board.notes
        ply = len(self.items)
        effect = self._effect(code, before, after)
        how = effect.description or before.explain(code)
        self._position = after
        self.items.append(
            Scene(
                ply,
                board,
                str(after),
                after.side,
                side,
                shown,
                canonical,
                (effect.line,) if effect.line else self._trail(canonical, earlier.board, board, struck),
                struck,
                dict(gone),
                dict(lost),
                _links(board, self.rules),
                self._say(ply, side, shown, how or _taken(lost, self._names), score if is_new else ""),
                score.removeprefix("score ").split(" ")[0] if is_new else "",
                effect,
            )
        )

    def _effect(self, code: int, before: Position, after: Position) -> Effect:
        """What the family has to show of a move."""
        tell = self.rules.effect
        return tell(code, before.state, after.state, before.ruleset.config) if tell else Effect()

    def _say(self, ply: int, side: Side, shown: str, how: str, score: str) -> str:
        """The move as a sentence for those who listen."""
        name = self._sides[0 if side == "first" else 1]
        return ", ".join([f"{(ply + 1) // 2}. {name} {shown}", *([how] if how else []), *([score] if score else [])])

    def _trail(self, canonical: str, before: Board, after: Board, struck: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The way of the move. Several pieces that went the same way side by side have a line each."""
        left = [cell for cell in before.cells if before.pieces.get(cell.name) and not after.pieces.get(cell.name)]
        came = [cell for cell in after.cells if after.pieces.get(cell.name) and not before.pieces.get(cell.name)]
        if len(left) > 1 and len(left) == len(came):
            if lines := _shift(left, came):
                return lines
        cells = list(cells_named(canonical, before))
        while len(cells) > 1 and cells[-1] in struck and not after.pieces.get(cells[-1]):
            cells.pop()
        return (tuple(cells),) if len(cells) > 1 else tuple((cell,) for cell in cells)


def _taken(lost: Mapping[str, int], names: Mapping[str, str]) -> str:
    """What left the board, where the family does not say how."""
    taken = ", ".join(names.get(symbol, symbol) + (f" {n} times" if n > 1 else "") for symbol, n in lost.items())
    return f"takes {taken}" if taken else ""


def piece_names(rules: Rules) -> dict[str, str]:
    """What the pieces are called, by symbol: with the side where both have one of that name."""
    count = Counter(piece.name for piece in rules.pieces)
    owners = dict(zip(SIDES, rules.sides, strict=True))
    return {
        piece.symbol: f"{owners[piece.side].lower()} {piece.name}"
        if piece.side and count[piece.name] > 1
        else piece.name
        for piece in rules.pieces
    }


def _shift(left: Sequence[Cell], came: Sequence[Cell]) -> tuple[tuple[str, ...], ...]:
    """Lines from cells to cells when all lie equally far in one direction, else none."""
    one, two = (sorted(cells, key=lambda cell: (round(cell.y, 2), cell.x)) for cells in (left, came))
    steps = {(round(b.x - a.x, 2), round(b.y - a.y, 2)) for a, b in zip(one, two, strict=True)}
    return tuple((a.name, b.name) for a, b in zip(one, two, strict=True)) if len(steps) == 1 else ()


def _struck(before: Board, after: Board, lost: Mapping[str, int]) -> tuple[str, ...]:
    """The cells where something was taken; none where it was moved off the board from somewhere else."""
    cells = []
    for symbol, count in lost.items():
        held = [
            name
            for name, symbols in before.pieces.items()
            if symbol in symbols and symbol not in after.pieces.get(name, "")
        ]
        if len(held) == count:
            cells += held
    return tuple(dict.fromkeys(cells))


def _links(board: Board, rules: Rules) -> tuple[tuple[str, str], ...]:
    linked = {mark.name for mark in rules.marks if mark.is_linked}
    if not any(linked.intersection(words) for words in board.marks.values()):
        return ()
    sides = {piece.symbol: piece.side for piece in rules.pieces}

    def owner(cell: Cell) -> str | None:
        symbols = board.pieces.get(cell.name, "")
        return sides.get(symbols[-1:])

    marked = [cell for cell in board.cells if linked.intersection(board.marks.get(cell.name, ()))]
    return tuple(
        (one.name, two.name)
        for index, one in enumerate(marked)
        for two in marked[index + 1 :]
        if abs(one.x - two.x) < _NEAR and abs(one.y - two.y) < _NEAR and owner(one) == owner(two)
    )
