"""A bot with Monte Carlo tree search and short random playouts, on compiled code.

A limit of nodes counts simulations. With such a limit the move depends only on the game so far, the limit and the
option `Seed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.samples.random_mover import SEED, draw_bits
from bots.sdk import Bot, Clock, OptionDecl, run
from bots.sdk.clock import NODES

if TYPE_CHECKING:
    from referee.rules.position import Position

DEFAULT_SIMULATIONS = 10_000
"""Simulations if the referee sets no limit or only a depth, which has no meaning here."""
UNLIMITED = 2**62
PROVEN_SCORE = 15_000
"""Centipawns of a proven win; this bot does not know in how many plies."""
MAX_LEAD = 0.98
"""Largest lead of a move that is not proven, from 0 (even) to 1 (won): 12,250 centipawns."""


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
        search, tree = self._search, self._tree
        tree.work[search.SIMULATION_LIMIT] = _simulation_limit(clock)
        with clock.stops(tree.work, search.STOP):
            search.simulate(tree, position.ruleset.config)
        best = int(search.best_child(tree, 0))
        weight = search.PRIOR_WEIGHT
        share = (tree.value[best] + weight * tree.prior[best]) / (tree.visits[best] + weight)
        proof = int(tree.proof[0])
        # The inverse of how the search makes a share of a score; not proven, it stays below the score of a proof.
        lead = min(max(2 * float(share) - 1, -MAX_LEAD), MAX_LEAD)
        self.info(
            depth=int(tree.work[search.MAX_DEPTH_REACHED]),
            nodes=int(tree.work[search.SIMULATIONS]),
            score=-PROVEN_SCORE * proof if abs(proof) == 1 else round(lead * search.HALF_SCORE / (1 - abs(lead))),
            pv=self._principal_variation(position),
        )
        return int(tree.move[best])

    def _principal_variation(self, position: Position) -> list[str]:
        """Return the best moves from the root on, as far as the tree reaches."""
        write, node = position.ruleset.rules.notation.write_move, 0
        line: list[str] = []
        while len(line) < 6 and (best := int(self._search.best_child(self._tree, node))) >= 0:
            line.append(write(int(self._tree.move[best])))
            node = best
        return line


def _simulation_limit(clock: Clock) -> int:
    """Return how many simulations a move may take: as asked, without a limit on the clock, else the default."""
    if clock.nodes is not None:
        return clock.nodes
    return UNLIMITED if clock.is_timed or clock.infinite else DEFAULT_SIMULATIONS


if __name__ == "__main__":
    run(MonteCarlo())
