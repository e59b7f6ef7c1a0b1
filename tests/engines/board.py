"""A small board of Pijersi for the engines here: position texts in, turns out. Written from the rules alone.

Row a is White's back row. `cells` maps a name such as `b4` to its cubes, bottom first (`WR` = rock on wise).

        g1 g2 g3 g4 g5 g6          a seven-cell row starts half a cell further left, so x is twice the
      f1 f2 f3 f4 f5 f6 f7         column, plus one in a six-cell row
        e1 ...
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

START = "s-p-r-s-p-r-/p-r-s-wwr-s-p-/6/7/6/P-S-R-WWS-R-P-/R-P-S-R-P-S- w 0 1"
SIZES = {row: 6 + place % 2 for place, row in enumerate("abcdefg")}
STEPS = ((2, 0), (-2, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
TAKES = {"R": "S", "S": "P", "P": "R"}
PLACES = {
    f"{row}{column}": (2 * column + (size == 6), "abcdefg".index(row))
    for row, size in SIZES.items()
    for column in range(1, size + 1)
}
NAMES = {place: name for name, place in PLACES.items()}


def beside(cell: str, step: tuple[int, int]) -> str | None:
    """The next cell in one direction."""
    x, y = PLACES[cell]
    return NAMES.get((x + step[0], y + step[1]))


class Board:
    """A position that turns are played on."""

    def __init__(self, text: str = START) -> None:
        words = text.split()
        self.cells: dict[str, str] = {}
        for row, content in zip("gfedcba", words[0].split("/"), strict=True):
            column, at = 1, 0
            while at < len(content):
                if content[at].isdigit():
                    column, at = column + int(content[at]), at + 1
                else:
                    self.cells[f"{row}{column}"] = content[at : at + 2].rstrip("-")
                    column, at = column + 1, at + 2
        self.is_white = words[1] == "w"
        self.half, self.full = int(words[2]), int(words[3])

    def __str__(self) -> str:
        rows = []
        for row in "gfedcba":
            content, gap = "", 0
            for column in range(1, SIZES[row] + 1):
                cubes = self.cells.get(f"{row}{column}")
                if cubes:
                    content, gap = content + (str(gap) if gap else "") + cubes.ljust(2, "-"), 0
                else:
                    gap += 1
            rows.append(content + (str(gap) if gap else ""))
        return f"{'/'.join(rows)} {'w' if self.is_white else 'b'} {self.half} {self.full}"

    def _owns(self, cubes: str) -> bool:
        return cubes.isupper() == self.is_white

    def _takes(self, cubes: str, victim: str) -> bool:
        return not self._owns(victim) and TAKES.get(cubes[-1].upper()) == victim[-1].upper()

    def _lands(self, cell: str | None, cubes: str) -> bool:
        """Whether these cubes may end on a cell without building."""
        if cell is None:
            return False
        found = self.cells.get(cell)
        return found is None or self._takes(cubes, found)

    def _cube_ends(self, cell: str, cube: str) -> Iterator[tuple[str, bool]]:
        """Where a single cube may go, and whether it builds there."""
        for step in STEPS:
            end = beside(cell, step)
            held = self.cells.get(end or "")
            if self._lands(end, cube):
                yield str(end), False
            elif held and self._owns(held) and len(held) == 1 and (cube.upper() != "W" or held.upper() == "W"):
                yield str(end), True

    def _stack_ends(self, cell: str, cubes: str) -> Iterator[str]:
        for step in STEPS:
            near = beside(cell, step)
            if self._lands(near, cubes):
                yield str(near)
            if near and near not in self.cells:
                far = beside(near, step)
                if self._lands(far, cubes):
                    yield str(far)

    def turns(self) -> list[str]:
        """All turns, as the referee writes them, sorted; none when the game is over by a goal."""
        return [] if self.has_goal() else sorted(self._turns())

    def _turns(self) -> Iterator[str]:
        for start, cubes in list(self.cells.items()):
            if not self._owns(cubes):
                continue
            low, top = cubes[:-1], cubes[-1]
            for end, builds in list(self._cube_ends(start, top)):
                yield f"{start}{start if low else ''}{end}"
                if builds:
                    after = dict(self.cells)
                    self._put(start, low)
                    stack = self.cells[end] + top
                    del self.cells[end]
                    yield from [f"{start}{end}{last}" for last in self._stack_ends(end, stack) if last != end]
                    self.cells = after
            if not low:
                continue
            for end in list(self._stack_ends(start, cubes)):
                yield f"{start}{end}{end}"
                after = dict(self.cells)
                del self.cells[start]
                self.cells[end] = low
                yield from [f"{start}{end}{last}" for last, _ in self._cube_ends(end, top)]
                self.cells = after

    def _put(self, cell: str, cubes: str) -> None:
        if cubes:
            self.cells[cell] = cubes
        else:
            self.cells.pop(cell, None)

    def play(self, turn: str) -> None:
        """Play a turn, legal or not, as far as it makes sense. Raises KeyError where nothing stands."""
        words = [turn[place : place + 2] for place in range(0, len(turn), 2)]
        count = len(self.cells), sum(map(len, self.cells.values()))
        start, end = words[0], words[-1]
        cubes = self.cells[start]
        if len(words) == 2 or words[0] == words[1]:
            self._cube(start, end)
        elif words[1] == words[2]:
            self._stack(start, end)
        elif len(cubes) == 1 or self._owns(self.cells.get(words[1], "x" if self.is_white else "X")):
            self._cube(start, words[1])
            self._stack(words[1], end)
        else:
            self._stack(start, words[1])
            self._cube(words[1], end)
        self.half = 0 if sum(map(len, self.cells.values())) < count[1] else self.half + 1
        self.full += not self.is_white
        self.is_white = not self.is_white

    def _cube(self, start: str, end: str) -> None:
        cubes = self.cells[start]
        self._put(start, cubes[:-1])
        found = self.cells.get(end)
        self.cells[end] = (found if found and self._owns(found) else "") + cubes[-1]

    def _stack(self, start: str, end: str) -> None:
        self.cells[end] = self.cells.pop(start)

    def has_goal(self) -> bool:
        """Whether a side has reached the other's back row."""
        return any(
            set(cubes.upper()) & set("RPS") and cell[0] == ("g" if cubes.isupper() else "a")
            for cell, cubes in self.cells.items()
        )

    def is_over(self) -> bool:
        """Whether nobody is to be asked any more."""
        return self.has_goal() or self.half >= 20 or not self.turns()

    def choose(self) -> str | None:
        """A turn that wins at once, else one drawn by the position; None when the game is over."""
        turns = [] if self.is_over() else self.turns()
        goal = "g" if self.is_white else "a"
        for turn in turns:
            if turn[-2] == goal:
                after = Board(str(self))
                after.play(turn)
                if after.has_goal():
                    return turn
        return turns[zlib.crc32(str(self).encode()) % len(turns)] if turns else None
