"""The solution of a problem as a tree, from which a person's moves can be answered without a search.

A `Tree` maps each move to the tree after it, alternately for the two sides. For the winning side it has all moves that
win in time. For the other side it has moves that resist longest, of which the first is the one to answer with. A tree
without moves is the end of the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from referee.rules.position import Position
from referee.solver.proofs import NeedsHistoryError, NodesSpentError, Proofs, WinProblem

Tree: TypeAlias = Mapping[str, "Tree"]

MAX_TREE_MOVES = 1_000
"""The largest number of moves in a tree."""
MAX_DEFENCES = 3
"""The largest number of defences in one position."""
_TABLE_BYTES = 32 << 20
"""Enough for a tree of `MAX_TREE_MOVES`: most of its positions are reached once."""


class TooManySolutionsError(ValueError):
    """A solution whose tree would be too large, or takes too many nodes."""


def solution_tree(problem: WinProblem, moves: int) -> Tree:
    """Return the tree of the wins in `moves` moves, the length of the shortest win. The winning side must be to move.

    Raise TooManySolutionsError.
    """
    for defences in (MAX_DEFENCES, 1):  # one, if the tree of several grows too large
        for with_history in (False, True):  # results are shared between lines unless their history matters
            proofs = Proofs(problem, with_history=with_history, nodes=0, table_bytes=_TABLE_BYTES)
            try:
                return _Growth(proofs, defences).attack((), moves)
            except NeedsHistoryError:
                continue
            except (TooManySolutionsError, NodesSpentError):
                break
    raise TooManySolutionsError(
        f"the win in {moves} has too many solutions or too long ones to list them all within {MAX_TREE_MOVES:,} moves"
    )


class _Growth:
    """Builds a tree and counts its moves, to stop if there are too many."""

    def __init__(self, proofs: Proofs, defences: int) -> None:
        self._proofs, self._defences, self._count = proofs, defences, 0
        self._write = proofs.problem.ruleset.rules.notation.write_move

    def attack(self, line: Sequence[int], moves: int) -> Tree:
        """Return all moves that win within `moves`, with the defences against them. Raise TooManySolutionsError."""
        wins: dict[str, Tree] = {}
        for move in self._proofs.legal(line):
            after = (*line, move)
            if self._proofs.wins(after, moves - 1):
                wins[self._count_and_write(move)] = {} if self._proofs.is_over(after) else self.defend(after, moves - 1)
        return wins

    def defend(self, line: Sequence[int], moves: int) -> Tree:
        """Return the defences that lose no sooner than others, with the wins against them."""
        known = self._proofs.legal(line)
        # There is one: if all lost sooner, the win would be shorter.
        longest = [move for move in known if not self._proofs.wins((*line, move), moves - 1)]
        replies: dict[str, Tree] = {}
        for move in longest[: self._defences]:
            after = (*line, move)
            replies[self._count_and_write(move)] = {} if self._proofs.is_over(after) else self.attack(after, moves)
        return replies

    def _count_and_write(self, move: int) -> str:
        self._count += 1
        if self._count > MAX_TREE_MOVES:
            raise TooManySolutionsError("too many moves")
        return self._write(move)


def main_line(tree: Tree) -> list[str]:
    """Return the line of the first moves of a tree, up to the end of the game."""
    line: list[str] = []
    while tree:
        move, tree = next(iter(tree.items()))
        line.append(move)
    return line


def tree_text(position: Position, tree: Tree, ply: int = 0) -> str:
    """Return a tree as people write it, with numbered moves; other moves follow the first one in parentheses."""
    if not tree:
        return ""
    (move, rest), *others = tree.items()
    parts = [_numbered(position, move, ply)]
    for other, following in others:
        words = [_numbered(position, other, ply, is_first=True)]
        if more := tree_text(position.play(other), following, ply + 1):
            words.append(more)
        parts.append(f"({' '.join(words)})")
    if more := tree_text(position.play(move), rest, ply + 1):
        # After variations in parentheses, the reply needs its number again.
        parts.append(f"{ply // 2 + 1}... {more}" if others and ply % 2 == 0 else more)
    return " ".join(parts)


def _numbered(position: Position, move: str, ply: int, *, is_first: bool = False) -> str:
    number = f"{ply // 2 + 1}. " if ply % 2 == 0 else f"{ply // 2 + 1}... " if is_first else ""
    code = position.ruleset.rules.notation.read_move(move, position.state, position.ruleset.config)
    return f"{number}{position.display(code)}"
