"""The strongest bot here: alpha-beta with a learned evaluation and with pruning, reductions and quiescence search.

The file of weights says which of these are switched on for a family (see `bots.search.net`). The option `Strength`
weakens the bot, and `Level` sets it to a measured value of the family (`Rules.level_strengths`). With a limit of nodes
or depth the move depends only on the game so far, the limit and the options, and one thread searches. With a time
limit, `Threads` threads share a transposition table (lazy SMP).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from bots.samples.alphabeta import AlphaBeta
from bots.samples.random_mover import draw_bits
from bots.sdk import Clock, OptionDecl, run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bots.search.net import Net
    from referee.rules.position import Position
    from referee.rules.rules import Config

LEVELS = 8
STRENGTH = OptionDecl("Strength", "spin", "100", 0, 100)
LEVEL = OptionDecl("Level", "spin", "0", 0, LEVELS)
"""Sets the strength to that of a level, in every family; at 0 the strength is that of `Strength`."""
WEIGHTS = OptionDecl("Weights", "string", "")
"""File of weights instead of the family's own, or `none`."""
RANDOM_MOVE_PERCENT = OptionDecl("RandomMovePercent", "spin", "0", 0, 100)
"""Share of moves that are random. Training games need them: they show what bad moves lead to."""
THREADS = OptionDecl("Threads", "spin", "1", 1, 64)
SEARCH_PARAMETERS = (
    OptionDecl("SearchFeatures", "spin", "-1", -1, 4095),
    OptionDecl("Tempo", "spin", "-1", -1, 1000),
    OptionDecl("EvalMargin", "spin", "-1", -1, 1000),
    OptionDecl("LmrFirstMove", "spin", "-1", -1, 255),
)
"""Parameters of the search instead of those stored with the weights (-1): see `bots.search.net`."""
MIN_NODES = 40
POINTS_PER_DOUBLING = 10
"""Points of strength that double the number of nodes."""
POINTS_PER_MARGIN = 25
"""Points below full strength that add random errors of one evaluation margin to root moves."""
STABLE_SHARE, UNSTABLE_SHARE, SHARE_STEP = 0.4, 1.0, 0.15
"""Share of the time budget after which no new iteration starts: it shrinks by a step with each iteration that keeps the
best move.
"""
MOVES_TO_GO, MOVES_TO_GO_SUDDEN_DEATH, INCREMENT_SHARE = 10, 25, 0.9
"""Time management: a clock with increment is divided by the first number of moves, one without by the second, and this
share of the increment is used at once. Games are decided early, and time left on a clock at the end was of no use.
"""


def nodes_at(strength: int) -> int:
    """Return the greatest number of nodes for a move at this strength; 0 for no limit."""
    return 0 if strength >= 100 else int(MIN_NODES * 2 ** (strength / POINTS_PER_DOUBLING))


class Champion(AlphaBeta):
    """The champion of any family. Without weights for the rules it uses the family's static score alone."""

    name = "champion"
    options = (
        *AlphaBeta.options,
        THREADS,
        STRENGTH,
        LEVEL,
        OptionDecl("Seed", "spin", "0", 0, 2**31 - 1),
        WEIGHTS,
        RANDOM_MOVE_PERCENT,
        *SEARCH_PARAMETERS,
    )

    def __init__(self) -> None:
        super().__init__()
        self._rules: Any = None
        """Variant and configuration for which the weights were loaded."""
        self._last, self._streak = -1, 0
        self._helper_states: list[Any] = []
        """Search states of the helper threads."""
        self._running_helpers: list[Any] = []
        """States of the helpers that are searching."""

    def new_search_state(self, position: Position) -> Any:
        """Allocate the search states of all threads."""
        search_state = super().new_search_state(position)
        self._helper_states = [
            self._search.new_helper_state(search_state) for _ in range(self.number(THREADS.name) - 1)
        ]
        return search_state

    def load_net(self, position: Position) -> Net:
        """Return the net for the rules of `position`; options override the search parameters stored with it."""
        from bots.search.net import SEARCH_FEATURES, load_named_net

        self._rules = _rules_of(position)
        try:
            net = load_named_net(position.ruleset, self.value(WEIGHTS.name))
        except FileNotFoundError as error:
            raise SystemExit(f"option Weights: {error}") from None
        for column, option in enumerate(SEARCH_PARAMETERS, SEARCH_FEATURES):
            if (value := self.number(option.name)) >= 0:
                net.maps[0, column] = value
        return net

    def strength(self, position: Position) -> int:
        """Return the strength that the options set for the family of `position`."""
        level = self.number(LEVEL.name)
        return position.ruleset.rules.level_strengths[level - 1] if level else self.number(STRENGTH.name)

    def start_search(self, position: Position, earlier: NDArray[np.uint64], side: int) -> None:
        """Set up the search of `position`."""
        from bots.search.net import EVAL_MARGIN

        super().start_search(position, earlier, side)
        s, search_state = self._search, self._search_state
        self._last, self._streak = -1, 0
        weakness = 100 - self.strength(position)
        search_state.work[s.NOISE] = weakness * int(search_state.maps[0, EVAL_MARGIN]) // POINTS_PER_MARGIN
        search_state.work[s.SEED] = draw_bits(position, self.number("Seed")) >> 1

    def choose(self, position: Position, clock: Clock) -> int:
        """Return a random move with the probability that an option sets, else the best move of the search."""
        if _rules_of(position) != self._rules:  # the weights may differ
            self._search_state = None
        drawn = draw_bits(position, self.number("Seed"))
        if drawn % 100 < self.number(RANDOM_MOVE_PERCENT.name):
            return position.moves[drawn // 100 % len(position.moves)]
        clock.cap_nodes(nodes_at(self.strength(position)))
        clock.plan(MOVES_TO_GO if clock.increment_ms else MOVES_TO_GO_SUDDEN_DEATH, INCREMENT_SHARE)
        return super().choose(position, clock)

    def _iterative_deepening(self, position: Position, clock: Clock) -> None:
        """Search deeper and deeper, with helper threads unless limits require a reproducible move."""
        if clock.nodes is not None or clock.depth is not None:
            super()._iterative_deepening(position, clock)
            return
        with self._helper_threads(position):
            super()._iterative_deepening(position, clock)

    @contextmanager
    def _helper_threads(self, position: Position) -> Iterator[None]:
        """Run helper threads on the same position while the context is open."""
        s, config = self._search, position.ruleset.config
        threads: list[threading.Thread] = []
        try:
            for helper in self._helper_states:
                s.copy_root(helper, self._search_state)
                helper.work[s.STOP] = 0
                first = 2 - len(threads) % 2  # every other thread starts one ply deeper
                thread = threading.Thread(target=_run_helper, args=(s, helper, config, first), daemon=True)
                with suppress(RuntimeError):  # the system allows no more threads
                    thread.start()
                    threads.append(thread)
                    self._running_helpers.append(helper)
            yield
        finally:
            for helper in self._running_helpers:
                helper.work[s.STOP] = 1
            for thread in threads:
                thread.join()
            self._running_helpers = []

    def nodes(self) -> int:
        """Return the number of nodes searched by all threads."""
        return super().nodes() + sum(int(helper.work[self._search.NODES]) for helper in self._running_helpers)

    def budget_share(self, clock: Clock) -> float:
        """Return a smaller share of the budget if the best move is stable and the saved time can be used later."""
        if clock.movetime_ms is not None:
            return UNSTABLE_SHARE
        best = int(self._search_state.work[self._search.BEST_MOVE])
        self._last, self._streak = best, self._streak + 1 if best == self._last else 0
        return max(STABLE_SHARE, UNSTABLE_SHARE - SHARE_STEP * self._streak)


def _rules_of(position: Position) -> tuple[str, tuple[int, ...]]:
    return position.ruleset.variant.name, tuple(position.ruleset.config)


def _run_helper(search: Any, helper: Any, config: Config, first: int) -> None:
    """Search in the state of a helper thread, from depth `first` on, until the search is stopped."""
    for depth in range(first, search.MAX_DEPTH + 1):
        search.search_iteration(helper, config, depth)
        if helper.work[search.ABORTED]:
            return


if __name__ == "__main__":
    run(Champion())
