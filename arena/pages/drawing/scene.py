"""A game as a sequence of scenes: for every ply the board, the moved and captured pieces, and the move in words.

Scenes are derived from the boards before and after each move, in the same way for all families. Those of the lines that
visitors try on the analysis board are cached; a longer line extends a shorter one. Anyone can send lines, so the cache
is bounded by scenes rather than by lines: a long line counts for more.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cachetools import LRUCache

from arena.pages.language import marked, translated
from referee.rules.core import SIDES, Side
from referee.rules.move_input import cells_named
from referee.rules.position import Position
from referee.rules.rules import Board, Cell, Effect, Rules, Ruleset

_NEAR = 1.5


@dataclass(frozen=True, slots=True)
class Scene:
    """One ply of a game as it is shown; ply 0 is the start and has no move.

    - `trail`: the cells of the move as polylines
    - `struck`: cells where a piece was captured
    - `gone`: pieces off the board since the start, by symbol
    - `lost`: pieces that left the board by this move
    - `move`: the family's notation, whose signs may look like marks; `canonical`: the notation of records
    - `mover`, `how`, `news`: the side that moved, what the move did, and the score if it changed, in English
    - `owners`: whose piece each symbol is in this game
    - `annotation`, `comment`: the annotators' mark on the move, such as `?!`, and their comment
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
    mover: str = ""
    how: str = ""
    news: str = ""
    comment: str = ""
    score: str = ""
    effect: Effect = field(default_factory=Effect)
    annotation: str = ""
    owners: Mapping[str, Side] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The move as a sentence, for screen readers too, with its comment; empty for the start."""
        if not self.ply:
            return self.comment
        shown = f"{translated(self.mover)} {self.move}"
        sentence = ", ".join([shown, *(translated(part) for part in (self.how, self.news) if part)])
        return f"{sentence} – {self.comment}" if self.comment else sentence

    @property
    def notes(self) -> list[str]:
        """Short facts about the position, such as `score 3-6`, in the language of the page."""
        return [translated(note) for note in self.board.notes]

    def as_json(self) -> dict[str, Any]:
        """Return what the viewer's script needs. The cells of the board do not change and are sent separately."""
        return {
            "ply": self.ply,
            "pieces": dict(self.board.pieces),
            "marks": {name: list(words) for name, words in self.board.marks.items()},
            "notes": self.notes,
            "position": self.position,
            "to_move": self.to_move,
            "side": self.side,
            "move": self.move,
            "annotation": self.annotation,
            "trail": [list(line) for line in self.trail],
            "struck": list(self.struck),
            "gone": dict(self.gone),
            "links": [list(link) for link in self.links],
            "said": self.said,
            "line": list(self.effect.line),
            "ejected": self.effect.ejected,
            "between": [list(pair) for pair in self.effect.between],
            "score": self.score,
            "lost": sum(self.lost.values()),
        }


class Scenes:
    """The scenes of one game, extended as moves arrive."""

    def __init__(self, ruleset: Ruleset, start: str | None = None) -> None:
        """Begin at a position. Raises ParseError for an invalid one."""
        self.rules: Rules = ruleset.rules
        self._sides = ruleset.sides
        self._position = Position.start(ruleset, start)
        board = self._position.board
        self._first = Counter("".join(board.pieces.values()))
        self._names = piece_names(self.rules)
        owners = {piece.symbol: ruleset.owner(piece.symbol) for piece in self.rules.pieces}
        self._owners = {symbol: side for symbol, side in owners.items() if side}
        self.items: list[Scene] = [
            Scene(
                0,
                board,
                str(self._position),
                self._position.side,
                links=_links(board, self._owners, self.rules),
                owners=self._owners,
            )
        ]

    @property
    def moves(self) -> int:
        """Number of plies."""
        return len(self.items) - 1

    def extend(self, moves: Sequence[str]) -> None:
        """Extend the scenes to `moves`, all moves of the game from its start. Raises ParseError or IllegalMoveError."""
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
                _links(board, self._owners, self.rules),
                self._sides[side == "second"],
                how or _taken(lost, self._names),
                score if is_new else "",
                "",
                score.removeprefix("score ").split(" ")[0] if is_new else "",
                effect,
                owners=self._owners,
            )
        )

    def _effect(self, code: int, before: Position, after: Position) -> Effect:
        """Return the effect of a move as the family describes it; an empty one if it describes none."""
        tell = self.rules.effect
        return tell(code, before.state, after.state, before.ruleset.config) if tell else Effect()

    def _trail(self, canonical: str, before: Board, after: Board, struck: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the path of the move. Pieces that moved in parallel have a line each."""
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
    """Name the pieces that left the board, for families that do not describe a capture."""
    taken = ", ".join(names.get(symbol, symbol) + (f" ×{n}" if n > 1 else "") for symbol, n in lost.items())
    return _TAKES.format(taken) if taken else ""


_TAKES, _SEVERAL = marked("takes {}"), marked("{} ×{}")


def piece_names(rules: Rules) -> dict[str, str]:
    """Return the names of the pieces by symbol, prefixed by the side where both sides have a piece of that name."""
    count = Counter(piece.name for piece in rules.pieces)
    owners = dict(zip(SIDES, rules.sides, strict=True))
    return {
        piece.symbol: f"{owners[piece.side].lower()} {piece.name}"
        if piece.side and count[piece.name] > 1
        else piece.name
        for piece in rules.pieces
    }


def _shift(left: Sequence[Cell], came: Sequence[Cell]) -> tuple[tuple[str, ...], ...]:
    """Return a line for each piece if all moved equally far in the same direction, else none."""
    one, two = (sorted(cells, key=lambda cell: (round(cell.y, 2), cell.x)) for cells in (left, came))
    steps = {(round(b.x - a.x, 2), round(b.y - a.y, 2)) for a, b in zip(one, two, strict=True)}
    return tuple((a.name, b.name) for a, b in zip(one, two, strict=True)) if len(steps) == 1 else ()


def _struck(before: Board, after: Board, lost: Mapping[str, int]) -> tuple[str, ...]:
    """Return the cells where something was captured; none for a piece that was pushed off from another cell."""
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


def _links(board: Board, owners: Mapping[str, Side], rules: Rules) -> tuple[tuple[str, str], ...]:
    linked = {mark.name for mark in rules.marks if mark.is_linked}
    if not any(linked.intersection(words) for words in board.marks.values()):
        return ()

    def owner(cell: Cell) -> str | None:
        symbols = board.pieces.get(cell.name, "")
        return owners.get(symbols[-1:])

    marked = [cell for cell in board.cells if linked.intersection(board.marks.get(cell.name, ()))]
    return tuple(
        (cell.name, two.name)
        for index, cell in enumerate(marked)
        for two in marked[index + 1 :]
        if abs(cell.x - two.x) < _NEAR and abs(cell.y - two.y) < _NEAR and owner(cell) == owner(two)
    )


MAX_SCENES = 10_000
"""Maximum of cached scenes of all lines together, at about 5 KB each."""


class AnalysisLines:
    """The cached lines of a server process. Thread-safe."""

    def __init__(self, max_scenes: int = MAX_SCENES) -> None:
        self._kept: LRUCache[tuple[object, ...], Scenes] = LRUCache(max_scenes, lambda scenes: len(scenes.items))
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Number of cached scenes."""
        return int(self._kept.currsize)

    def scenes(self, ruleset: Ruleset, start: str, moves: Sequence[str]) -> list[Scene]:
        """Return the scenes of a line of legal moves in canonical notation."""
        game = (ruleset.rules.family, ruleset.variant.name, *sorted(ruleset.overrides.items()), start)
        line = (*game, *moves)
        with self._lock:
            if kept := self._kept.get(line):
                return list(kept.items)
            # Take the line out while it is extended: its positions share a history, which one thread at a time may use.
            known = self._kept.pop(line[:-1], None) if moves else None
        # Extend it without the lock, so that other requests do not wait for a long line.
        known = known or Scenes(ruleset, start)
        known.extend(moves)
        with self._lock:
            if len(known.items) <= self._kept.maxsize:
                self._kept[line] = known
        return list(known.items)
