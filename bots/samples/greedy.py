"""A bot that searches one ply: it plays a winning move, else avoids moves that let the opponent win at once.

Among the other moves it plays the one with the best static score.

Ties are broken by a random number that depends only on the start position, the moves so far and the option `Seed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bots.samples.random_mover import SEED, draw_below
from bots.sdk import Bot, Clock, run

if TYPE_CHECKING:
    from referee.rules.position import Position
    from referee.rules.rules import Ruleset, State

WIN = 30_000
"""Score above any static score."""


def successors(ruleset: Ruleset, state: State, moves: tuple[int, ...]) -> Iterator[State]:
    """Yield the positions after `moves`, in one array that is overwritten each time."""
    import numpy as np

    after = np.empty_like(state)
    for move in moves:
        ruleset.rules.kernel.play(state, ruleset.config, move, after)
        yield after


def loses_at_once(ruleset: Ruleset, state: State, mover: int) -> bool:
    """Return whether the opponent of `mover` (0 or 1), to move in `state`, has a winning reply."""
    import numpy as np

    kernel, config = ruleset.rules.kernel, ruleset.config
    replies = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    count = kernel.legal(state, config, replies)
    after_all = successors(ruleset, state, tuple(replies[:count].tolist()))
    return any(int(kernel.result(after, config, 1, 0)) % 4 == 2 - mover for after in after_all)


class Greedy(Bot):
    """One ply of search with the family's own evaluation."""

    name = "greedy"
    author = "the arena"
    options = (SEED,)

    def warm_up(self, position: Position) -> None:
        """Compile the functions that `choose` calls."""
        super().warm_up(position)
        position.ruleset.rules.kernel.evaluate(position.state, position.ruleset.config)

    def choose(self, position: Position, clock: Clock) -> int:
        """Return the best move by one ply of search."""
        ruleset, kernel, config = position.ruleset, position.ruleset.rules.kernel, position.ruleset.config
        mover = 0 if position.side == "first" else 1
        size, history = kernel.KEY_SIZE, position.history
        scores: dict[int, int] = {}
        states: dict[int, State] = {}
        for move, after in zip(position.moves, successors(ruleset, position.state, position.moves), strict=True):
            winner = int(kernel.result(after, config, *history.if_next(after[:size].tobytes()))) % 4
            scores[move] = (-int(kernel.evaluate(after, config)), *((WIN, -WIN) if mover == 0 else (-WIN, WIN)), 0)[
                winner
            ]
            states[move] = after.copy()
        order = sorted(scores, key=lambda move: -scores[move])
        shift = draw_below(position, self.number("Seed"), len(order))
        while True:
            top = scores[order[0]]
            ties = [move for move in order if scores[move] == top]
            best = ties[shift % len(ties)]
            hopeless = top == WIN or top <= -WIN or len(order) == 1
            if hopeless or clock.should_stop() or not loses_at_once(ruleset, states[best], mover):
                break
            order.remove(best)
        win_in = 1 if top == WIN else None
        self.info(depth=1, nodes=len(scores), score=top, win_in=win_in, pv=[ruleset.rules.notation.write_move(best)])
        return best


if __name__ == "__main__":
    run(Greedy())
