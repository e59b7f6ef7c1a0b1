"""Monte Carlo tree search (UCT) over one family's kernel: short random games from the leaves, static scores as guesses.

Loaded once per family (see the package). The same position, history, limits and random seed give the same tree. Wins
and losses that are certain are proven and passed up. Refuses to know the time.

A node's `value` is the sum of results, 0 .. 1, for the side whose move led to it; `proof` likewise: 1 it has won, -1 it
has lost, 2 a draw, 0 open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bots.search.repetition import digest, recurrence
from referee.rules.jit import jit
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config, State

F = TypeVar("F", bound=Callable[..., Any])

_kernel, _folder = kernel_for(__name__)
legal, play, result, evaluate = _kernel.legal, _kernel.play, _kernel.result, _kernel.evaluate
playout = _kernel.playout


def compiled(function: F) -> F:
    """`jit`, with a cache that a change of the kernel makes stale."""
    return jit(function, also=(_folder,), borrows=True)


NOUGHT: Any = np.int64(0)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
"""Numbers as arguments: for a bare 0 numba would compile a version of the function for 0 alone."""

MAX_DEPTH = 250
MAX_LINE = 4096
"""The longest game, in plies, whose repetitions are looked at in full."""

GAMES, LIMIT, STOP, SIZE, ROOT, SIDE, PLIES, DEEPEST = range(8)
"""`work`: simulations so far, their limit, the order to stop (set from outside), nodes in the tree; the root's place in
`line`, the side to move at the root; the length of a random game; the depth reached."""

EXPLORATION = 0.12
"""Small: a first guess stands beside every move, and with many moves to try a larger one looks at all of them alike."""
GUESS_WEIGHT = 8.0
"""How many simulations the first guess counts for."""
HALF_SCORE = 250.0
"""The static score that counts as halfway between even and won."""


class Tree(NamedTuple):
    """The tree and the room to grow it, allocated once. Children of a node stand side by side."""

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    line: npt.NDArray[np.uint64]
    path: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int64]
    rng: npt.NDArray[np.uint64]
    child: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]
    move: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    guess: npt.NDArray[np.float64]
    proof: npt.NDArray[np.int64]


def new_tree(nodes: int) -> Tree:
    """Room for a tree of `nodes` nodes of 56 bytes; memory is taken only as it grows."""
    room = nodes + _kernel.MAX_MOVES + 1
    return Tree(
        work=np.zeros(16, dtype=np.int64),
        states=np.zeros((MAX_DEPTH + 2, _kernel.STATE_SIZE), dtype=_kernel.DTYPE),
        line=np.zeros(MAX_LINE + MAX_DEPTH + 2, dtype=np.uint64),
        path=np.zeros(MAX_DEPTH + 2, dtype=np.int64),
        moves=np.zeros(_kernel.MAX_MOVES, dtype=np.int64),
        rng=np.zeros(1, dtype=np.uint64),
        child=np.empty(room, dtype=np.int64),
        children=np.empty(room, dtype=np.int64),
        move=np.empty(room, dtype=np.int64),
        visits=np.empty(room, dtype=np.int64),
        value=np.empty(room, dtype=np.float64),
        guess=np.empty(room, dtype=np.float64),
        proof=np.empty(room, dtype=np.int64),
    )


@compiled
def key_of(state: State) -> Any:
    """What `line` holds for a position."""
    return digest(state, NOUGHT, KEY_SIZE, np.uint64(0))


@compiled
def squash(score: int) -> float:
    """A static score as a result between 0 and 1."""
    return 0.5 + 0.5 * score / (abs(score) + HALF_SCORE)


@compiled
def add_node(tree: Tree, move: int, guess: float, proof: int) -> None:
    """A new node behind the last."""
    node = tree.work[SIZE]
    tree.work[SIZE] = node + 1
    tree.child[node], tree.children[node], tree.move[node] = 0, 0, move
    tree.visits[node], tree.value[node] = 0, 0.0
    tree.guess[node], tree.proof[node] = guess, proof


@compiled
def proof_of(code: int, mover: int) -> int:
    """What a result code proves about the node `mover` (0 or 1) moved to."""
    winner = code % 4
    if code == 0:
        return 0
    if winner == 3:
        return 2
    return 1 if winner == mover + 1 else -1


@compiled
def expand(tree: Tree, config: Config, node: int, depth: int) -> None:
    """Give a node its children, with a first guess each; a winning one among them proves the node lost."""
    work, state, after = tree.work, tree.states[depth], tree.states[depth + 1]
    mover = (work[SIDE] + depth) & 1
    found = legal(state, config, tree.moves)
    tree.child[node] = work[SIZE]
    at = work[ROOT] + depth + 1
    for i in range(found):
        play(state, config, tree.moves[i], after)
        tree.line[at] = key_of(after)
        times, gap = recurrence(tree.line, at)
        proof = proof_of(result(after, config, times, gap), mover)
        guess = squash(-evaluate(after, config)) if proof == 0 else 0.5
        add_node(tree, tree.moves[i], guess, proof)
        if proof == 1:
            tree.proof[node] = -1
            break
    tree.children[node] = work[SIZE] - tree.child[node]


@compiled
def select(tree: Tree, node: int) -> int:
    """The child to look at next: the best upper bound; lost ones only when there is nothing else."""
    first, best, highest = tree.child[node], tree.child[node], -1.0
    spread = EXPLORATION * np.sqrt(np.log(tree.visits[node] + 1.0))
    for child in range(first, first + tree.children[node]):
        weight = tree.visits[child] + GUESS_WEIGHT
        bound = (tree.value[child] + GUESS_WEIGHT * tree.guess[child]) / weight + spread / np.sqrt(weight)
        if tree.proof[child] == -1:
            bound = -0.5
        elif tree.proof[child] == 1:
            bound = 10.0
        if bound > highest:
            best, highest = child, bound
    return best  # type: ignore[no-any-return]


@compiled
def pass_up(tree: Tree, depth: int, outcome: float) -> None:
    """Credit a simulation to the path, and prove what can be proven; `outcome` for the side that moved last."""
    for d in range(depth, -1, -1):
        node = tree.path[d]
        tree.visits[node] += 1
        tree.value[node] += outcome
        outcome = 1.0 - outcome
        if d > 0 and (tree.proof[node] == 1 or tree.proof[node] == -1):
            parent = tree.path[d - 1]
            if tree.proof[node] == 1:
                tree.proof[parent] = -1
            elif tree.proof[parent] == 0:
                all_lost = True
                for child in range(tree.child[parent], tree.child[parent] + tree.children[parent]):
                    all_lost = all_lost and tree.proof[child] == -1
                if all_lost:
                    tree.proof[parent] = 1


@compiled
def leaf_value(tree: Tree, config: Config, node: int, depth: int) -> float:
    """A result for the side that moved to `node`: certain, played out at random, or the static score."""
    proof = tree.proof[node]
    if proof != 0:
        return 0.5 if proof == 2 else 1.0 if proof == 1 else 0.0
    mover = 1 - ((tree.work[SIDE] + depth) & 1)
    if tree.work[PLIES] > 0:
        code, _ = playout(tree.states[depth], config, tree.rng, tree.work[PLIES])
        if code != 0:
            winner = code % 4
            return 0.5 if winner == 3 else 1.0 if winner == mover + 1 else 0.0
    return squash(-evaluate(tree.states[depth], config))


@compiled
def grow(tree: Tree, config: Config) -> None:
    """Simulate until the limit, the order to stop, or until the root is decided; once at least.

    A simulation is one walk down the tree, one new node, one result.
    """
    work = tree.work
    while work[GAMES] == 0 or (work[GAMES] < work[LIMIT] and work[STOP] == 0 and tree.proof[0] == 0):
        node, depth = 0, 0
        tree.path[0] = 0
        while depth == 0 or tree.proof[node] == 0:
            if tree.children[node] == 0:
                room = work[SIZE] < tree.child.shape[0] - tree.moves.shape[0]
                if depth >= MAX_DEPTH or not room or (tree.visits[node] == 0 and depth > 0):
                    break
                expand(tree, config, node, depth)
                if tree.children[node] == 0:
                    break
            node = select(tree, node)
            play(tree.states[depth], config, tree.move[node], tree.states[depth + 1])
            depth += 1
            tree.path[depth] = node
            tree.line[work[ROOT] + depth] = key_of(tree.states[depth])
        work[DEEPEST] = max(work[DEEPEST], depth)
        pass_up(tree, depth, leaf_value(tree, config, node, depth))
        work[GAMES] += 1


def plant(tree: Tree, earlier: npt.NDArray[np.uint64], root: State, side: int) -> None:
    """Begin a tree at `root`, with `side` to move; `earlier` holds the digests (see `key_of`) of the game before."""
    work, last = tree.work, len(earlier)
    tree.states[0] = root
    tree.line[:last] = earlier
    tree.line[last] = key_of(root)
    work[ROOT], work[SIDE] = last, side
    work[GAMES], work[SIZE], work[DEEPEST] = 0, 1, 0
    for column in (tree.child, tree.children, tree.move, tree.visits, tree.value, tree.proof):
        column[0] = 0
    tree.guess[0] = 0.5


@compiled
def favourite(tree: Tree, node: int) -> int:
    """The child to play: a proven win, else the most visited that is not lost; the lower move on a tie; -1 = none."""
    best, most = -1, -1.0
    for child in range(tree.child[node], tree.child[node] + tree.children[node]):
        merit = tree.visits[child] + tree.guess[child] + 1.0
        if tree.proof[child] == 1:
            merit = 1e18
        elif tree.proof[child] == -1:
            merit = 0.0
        if merit > most:
            best, most = child, merit
    return best
