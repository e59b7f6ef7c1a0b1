"""Monte Carlo tree search (UCT) over one family's kernel: short random playouts from the leaves, static scores as
priors.

Loaded once per family (see `bots.search`). The same position, history, limits and random seed give the same tree.
Certain wins and losses are proven and backpropagated.

A node's `value` is the sum of its results, each from 0 to 1, for the side whose move led to it. Its `proof` is for the
same side: 1 won, -1 lost, 2 drawn, 0 unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bots.search.repetition import MAX_GAME_PLIES, key_of, repetition_count
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config, State

_kernel, compiled = kernel_for(__name__)
legal, play, result, evaluate = _kernel.legal, _kernel.play, _kernel.result, _kernel.evaluate
playout = _kernel.playout


ZERO: Any = np.int64(0)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
"""Numbers as arguments: for a bare 0 numba would compile a version of the function for 0 alone."""

MAX_DEPTH = 250

SIMULATIONS, SIMULATION_LIMIT, STOP, TREE_SIZE, ROOT_INDEX, ROOT_SIDE, PLAYOUT_PLIES, MAX_DEPTH_REACHED = range(8)
"""Indices of `work`: simulations so far and their limit; STOP is set by another thread to end the search; nodes in the
tree; the root's index in `game_keys` and the side to move there; the length of a playout; the depth reached.
"""

EXPLORATION = 0.12
"""Exploration constant of UCT. Small: every move has a prior, and with many moves a larger one explores all alike."""
PRIOR_WEIGHT = 8.0
"""Number of simulations that the prior counts for."""
HALF_SCORE = 250.0
"""Static score that counts as halfway between even and won."""


class Tree(NamedTuple):
    """The tree and its working memory, allocated once. The children of a node are contiguous."""

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    game_keys: npt.NDArray[np.uint64]
    path: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int64]
    rng: npt.NDArray[np.uint64]
    child: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]
    move: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    prior: npt.NDArray[np.float64]
    proof: npt.NDArray[np.int64]


def new_tree(nodes: int) -> Tree:
    """Allocate a tree of `nodes` nodes of 56 bytes. The system commits memory only as the tree grows."""
    # The last expansion begins below the limit and may add as many children as there can be moves.
    room = nodes + _kernel.MAX_MOVES + 1
    return Tree(
        work=np.zeros(16, dtype=np.int64),
        states=np.zeros((MAX_DEPTH + 2, _kernel.STATE_SIZE), dtype=_kernel.DTYPE),
        game_keys=np.zeros(MAX_GAME_PLIES + MAX_DEPTH + 2, dtype=np.uint64),
        path=np.zeros(MAX_DEPTH + 2, dtype=np.int64),
        moves=np.zeros(_kernel.MAX_MOVES, dtype=np.int64),
        rng=np.zeros(1, dtype=np.uint64),
        child=np.empty(room, dtype=np.int64),
        children=np.empty(room, dtype=np.int64),
        move=np.empty(room, dtype=np.int64),
        visits=np.empty(room, dtype=np.int64),
        value=np.empty(room, dtype=np.float64),
        prior=np.empty(room, dtype=np.float64),
        proof=np.empty(room, dtype=np.int64),
    )


@compiled
def win_probability(score: int) -> float:
    """Convert a static score to an expected result between 0 and 1."""
    return 0.5 + 0.5 * score / (abs(score) + HALF_SCORE)


@compiled
def add_node(tree: Tree, move: int, prior: float, proof: int) -> None:
    node = tree.work[TREE_SIZE]
    tree.work[TREE_SIZE] = node + 1
    tree.child[node], tree.children[node], tree.move[node] = 0, 0, move
    tree.visits[node], tree.value[node] = 0, 0.0
    tree.prior[node], tree.proof[node] = prior, proof


@compiled
def proof_of(code: int, mover: int) -> int:
    """Return what a result code proves about the node that `mover` (0 or 1) moved to."""
    winner = code % 4
    if code == 0:
        return 0
    if winner == 3:
        return 2
    return 1 if winner == mover + 1 else -1


@compiled
def expand(tree: Tree, config: Config, node: int, depth: int) -> None:
    """Create the children of a node with their priors.

    A move that wins at once is the last child created: it proves the node lost for the side that moved to it.
    """
    work, state, after = tree.work, tree.states[depth], tree.states[depth + 1]
    mover = (work[ROOT_SIDE] + depth) & 1
    count = legal(state, config, tree.moves)
    tree.child[node] = work[TREE_SIZE]
    at = work[ROOT_INDEX] + depth + 1
    for i in range(count):
        play(state, config, tree.moves[i], after)
        tree.game_keys[at] = key_of(after, KEY_SIZE)
        times, gap = repetition_count(tree.game_keys, at)
        proof = proof_of(result(after, config, times, gap), mover)
        prior = win_probability(-evaluate(after, config)) if proof == 0 else 0.5
        add_node(tree, tree.moves[i], prior, proof)
        if proof == 1:
            tree.proof[node] = -1
            break
    tree.children[node] = work[TREE_SIZE] - tree.child[node]


@compiled
def select_child(tree: Tree, node: int) -> int:
    """Select the child with the highest upper confidence bound; lost children only if there are no others."""
    first, best, highest = tree.child[node], tree.child[node], -1.0
    spread = EXPLORATION * np.sqrt(np.log(tree.visits[node] + 1.0))
    for child in range(first, first + tree.children[node]):
        weight = tree.visits[child] + PRIOR_WEIGHT
        bound = (tree.value[child] + PRIOR_WEIGHT * tree.prior[child]) / weight + spread / np.sqrt(weight)
        if tree.proof[child] == -1:
            # Below every other bound, which is at least 0.
            bound = -0.5
        elif tree.proof[child] == 1:
            # Above every other bound.
            bound = 10.0
        if bound > highest:
            best, highest = child, bound
    return best  # type: ignore[no-any-return]


@compiled
def backpropagate(tree: Tree, depth: int, outcome: float) -> None:
    """Add a result to the nodes of the path, and propagate proofs; `outcome` is for the side that moved last."""
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
    """Return a result for the side that moved to `node`: a proven one, that of a playout, or the static score."""
    proof = tree.proof[node]
    if proof != 0:
        return 0.5 if proof == 2 else 1.0 if proof == 1 else 0.0
    mover = 1 - ((tree.work[ROOT_SIDE] + depth) & 1)
    if tree.work[PLAYOUT_PLIES] > 0:
        code, _ = playout(tree.states[depth], config, tree.rng, tree.work[PLAYOUT_PLIES])
        if code != 0:
            winner = code % 4
            return 0.5 if winner == 3 else 1.0 if winner == mover + 1 else 0.0
    return win_probability(-evaluate(tree.states[depth], config))


@compiled
def simulate(tree: Tree, config: Config) -> None:
    """Run simulations until the limit, a stop, or a proof of the root; at least one.

    A simulation walks down the tree once, expands at most one node, and adds one result.
    """
    work = tree.work
    while work[SIMULATIONS] == 0 or (
        work[SIMULATIONS] < work[SIMULATION_LIMIT] and work[STOP] == 0 and tree.proof[0] == 0
    ):
        node, depth = 0, 0
        tree.path[0] = 0
        while depth == 0 or tree.proof[node] == 0:
            if tree.children[node] == 0:
                room = work[TREE_SIZE] < tree.child.shape[0] - tree.moves.shape[0]
                # A node gets children at its second visit: the first visit only gives it a value.
                if depth >= MAX_DEPTH or not room or (tree.visits[node] == 0 and depth > 0):
                    break
                expand(tree, config, node, depth)
                if tree.children[node] == 0:
                    break
            node = select_child(tree, node)
            play(tree.states[depth], config, tree.move[node], tree.states[depth + 1])
            depth += 1
            tree.path[depth] = node
            tree.game_keys[work[ROOT_INDEX] + depth] = key_of(tree.states[depth], KEY_SIZE)
        work[MAX_DEPTH_REACHED] = max(work[MAX_DEPTH_REACHED], depth)
        backpropagate(tree, depth, leaf_value(tree, config, node, depth))
        work[SIMULATIONS] += 1


def start_search(tree: Tree, earlier: npt.NDArray[np.uint64], root: State, side: int) -> None:
    """Start a tree at `root`, with `side` to move; `earlier` holds the digests (see `key_of`) of the positions before
    it.
    """
    work, last = tree.work, len(earlier)
    tree.states[0] = root
    tree.game_keys[:last] = earlier
    tree.game_keys[last] = key_of(root, KEY_SIZE)
    work[ROOT_INDEX], work[ROOT_SIDE] = last, side
    work[SIMULATIONS], work[TREE_SIZE], work[MAX_DEPTH_REACHED] = 0, 1, 0
    for column in (tree.child, tree.children, tree.move, tree.visits, tree.value, tree.proof):
        column[0] = 0
    tree.prior[0] = 0.5


@compiled
def best_child(tree: Tree, node: int) -> int:
    """Return the child to play: a proven win, else the most visited that is not lost, the lower move on a tie; -1 =
    none.
    """
    best, most = -1, -1.0
    for child in range(tree.child[node], tree.child[node] + tree.children[node]):
        # Visits are whole numbers and the prior is below 1, so it decides between equal ones.
        merit = tree.visits[child] + tree.prior[child] + 1.0
        if tree.proof[child] == 1:
            merit = 1e18
        elif tree.proof[child] == -1:
            merit = 0.0
        if merit > most:
            best, most = child, merit
    return best
