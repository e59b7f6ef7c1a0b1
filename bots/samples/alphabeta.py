"""An alpha-beta bot: iterative deepening on compiled code with the family's own evaluation.

With a limit of nodes or depth the move depends only on the game so far and the limit, not on the machine or on earlier
games.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from bots.sdk import Bot, Clock, OptionDecl, run
from bots.sdk.clock import NODES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bots.search.net import Net
    from referee.rules.position import Position

CONTEMPT = OptionDecl("Contempt", "spin", "150", 0, 10_000)
MAX_DEPTH = 60
BUDGET_SHARE = 0.55
"""Share of the time budget after which no new iteration starts, because it would not finish."""
MAX_PV_MOVES = 8
"""Moves of the principal variation that are sent."""


class AlphaBeta(Bot):
    name = "alphabeta"
    author = "the arena"
    options: ClassVar[tuple[OptionDecl, ...]] = (
        NODES,
        OptionDecl("Hash", "spin", "16", 1, 4096),
        CONTEMPT,
    )

    def __init__(self) -> None:
        self._family = ""
        self._search: Any = None
        self._search_state: Any = None

    def option_changed(self, name: str) -> None:
        """Discard the search state: the table has another size, or its scores are no longer comparable."""
        if name != NODES.name:
            self._search_state = None

    def new_game(self) -> None:
        """Invalidate the transposition table."""
        if self._search_state is not None:
            self._search_state.work[self._search.GENERATION] += 1

    def warm_up(self, position: Position) -> None:
        """Compile the search, or load it from the cache."""
        super().warm_up(position)
        self._prepare(position)
        self._search_state.work[self._search.NODE_LIMIT] = 1
        self._search.search_iteration(self._search_state, position.ruleset.config, 1)
        self._search.probe(self._search_state, 1)  # the principal variation calls it from Python

    def _prepare(self, position: Position) -> None:
        from bots.search import earlier_keys, search

        family = position.ruleset.rules.family
        if self._search is None or family != self._family:
            self._family, self._search, self._search_state = family, search("alphabeta", family), None
        if self._search_state is None:
            self._search_state = self.new_search_state(position)
            self._search_state.work[self._search.GENERATION] = 1
            self._search_state.work[self._search.CONTEMPT] = self.number(CONTEMPT.name)
        side = 0 if position.side == "first" else 1
        self.start_search(position, earlier_keys(position), side)

    def new_search_state(self, position: Position) -> Any:
        """Allocate the search state for games under the rules of `position`."""
        return self._search.new_search_state(self.number("Hash") << 20, self.load_net(position))

    def load_net(self, position: Position) -> Net:
        """Return the net for the rules of `position`: here an empty one, with all optional search features off."""
        from bots.search.net import PLAIN, empty_net

        return empty_net(None, PLAIN)

    def start_search(self, position: Position, earlier: NDArray[np.uint64], side: int) -> None:
        """Set up the search of `position`; `earlier` holds the digests of the positions before it."""
        self._search.start_search(self._search_state, earlier, position.state, side, position.moves[0])

    def choose(self, position: Position, clock: Clock) -> int:
        """Return the best move found so far, even if the last iteration was cut short."""
        clock.cap_nodes(self.number(NODES.name))
        s = self._search
        if s is None or self._search_state is None or position.ruleset.rules.family != self._family:
            self.warm_up(position)
            s = self._search
        work = self._search_state.work
        if clock.nodes is not None or clock.depth is not None:
            work[s.GENERATION] += 1  # earlier searches must not influence this one
        self._prepare(position)
        work[s.NODE_LIMIT] = clock.nodes if clock.nodes is not None else 2**62
        with clock.stops(work, s.STOP):
            self._iterative_deepening(position, clock)
        return int(work[s.BEST_MOVE])

    def _iterative_deepening(self, position: Position, clock: Clock) -> None:
        """Search deeper and deeper, and send an info line after each iteration."""
        s, work, config = self._search, self._search_state.work, position.ruleset.config
        write = position.ruleset.rules.notation.write_move
        deepest = min(clock.depth or MAX_DEPTH, s.MAX_DEPTH)
        for depth in range(1, deepest + 1):
            s.search_iteration(self._search_state, config, depth)
            if work[s.ABORTED]:
                return
            score = int(work[s.SCORE])
            distance = s.WIN - abs(score)
            win_in = None if distance > s.MAX_DEPTH else distance if score > 0 else -distance
            pv = [write(code) for code in s.principal_variation(self._search_state, config, min(depth, MAX_PV_MOVES))]
            self.info(depth=depth, nodes=self.nodes(), score=score, win_in=win_in, pv=pv)
            if (win_in is not None and abs(win_in) <= depth) or len(position.moves) == 1:
                return
            budget_ms = clock.budget_ms()
            if budget_ms is not None and clock.elapsed_ms() > self.budget_share(clock) * budget_ms:
                return

    def nodes(self) -> int:
        return int(self._search_state.work[self._search.NODES])

    def budget_share(self, clock: Clock) -> float:
        """Return the share of the time budget after which no new iteration starts. Called once after each iteration."""
        return BUDGET_SHARE


if __name__ == "__main__":
    run(AlphaBeta())
