"""A bot with Monte Carlo tree search and short random playouts, on compiled code.

A limit of nodes counts simulations. With such a limit the move depends only on the game so far, the limit and the
option `Seed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.samples.random_mover import SEED
from bots.samples.seeded_random import draw_bits
from bots.sdk import Bot, Clock, OptionDecl, run
from bots.sdk.clock import NODES

if TYPE_CHECKING:
    from referee.rules.position import Position

DEFAULT_SIMULATIONS = 10_000
"""Simulations if the referee sets no limit or only a depth, which has no meaning here."""


class MonteCarlo(Bot):
    """A UCT bot for any family.

    Playouts are short by default: the result of eight random plies still depends on the position, that of forty hardly
    does.
    """

    name = "mcts"
    author = "the arena"
    options = (
        SEED,
        NODES,
        OptionDecl("TreeNodes", "spin", "1000000", 1000, 50_000_000),
        OptionDecl("PlayoutPlies", "spin", "8", 0, 10_000),
    )

    def __init__(self) -> None:
        self._family = ""
        self._search: Any = None
        self._tree: Any = None

    def option_changed(self, name: str) -> None:
        """Discard the tree if the option sets its capacity."""
        if name == "TreeNodes":
            self._tree = None

    def warm_up(self, position: Position) -> None:
        """Compile the search, or load it from the cache."""
        super().warm_up(position)
        self._prepare(position)
        self._tree.work[self._search.SIMULATION_LIMIT] = 1
        self._search.simulate(self._tree, position.ruleset.config)
        self._search.best_child(self._tree, 0)

    def _prepare(self, position: Position) -> None:
        import numpy as np

        from bots.search import earlier_keys, search

        family = position.ruleset.rules.family
        if self._search is None or family != self._family:
            self._family, self._search, self._tree = family, search("uct", family), None
        if self._tree is None:
            self._tree = self._search.new_tree(self.number("TreeNodes"))
        self._tree.rng[0] = np.uint64(draw_bits(position, self.number("Seed")))
        self._tree.work[self._search.PLAYOUT_PLIES] = self.number("PlayoutPlies")
        side = 0 if position.side == "first" else 1
        self._search.start_search(self._tree, earlier_keys(position), position.state, side)

    def choose(self, position: Position, clock: Clock) -> int:
        """Return a move that is proven to win, else the most visited one."""
        clock.cap_nodes(self.number(NODES.name))
        self._prepare(position)
        s, tree = self._search, self._tree
        limit = (
            clock.nodes
            if clock.nodes is not None
            else None
            if clock.is_timed or clock.infinite
            else DEFAULT_SIMULATIONS
        )
        tree.work[s.SIMULATION_LIMIT] = 2**62 if limit is None else limit
        with clock.stops(tree.work, s.STOP):
            s.simulate(tree, position.ruleset.config)
        best = int(s.best_child(tree, 0))
        share = (tree.value[best] + s.PRIOR_WEIGHT * tree.prior[best]) / (tree.visits[best] + s.PRIOR_WEIGHT)
        proof = int(tree.proof[0])
        even = min(max(2 * float(share) - 1, -0.98), 0.98)
        self.info(
            depth=int(tree.work[s.MAX_DEPTH_REACHED]),
            nodes=int(tree.work[s.SIMULATIONS]),
            score=-15_000 * proof if abs(proof) == 1 else round(even * s.HALF_SCORE / (1 - abs(even))),
            pv=self._principal_variation(position),
        )
        return int(tree.move[best])

    def _principal_variation(self, position: Position) -> list[str]:
        """Return the best moves from the root on, as far as the tree reaches."""
        write, node = position.ruleset.rules.notation.write_move, 0
        found: list[str] = []
        while len(found) < 6 and (best := int(self._search.best_child(self._tree, node))) >= 0:
            found.append(write(int(self._tree.move[best])))
            node = best
        return found


if __name__ == "__main__":
    run(MonteCarlo())
