"""The share of the champion's time that an engine without clocks uses: `python -m tests.engines.shares [FAMILY …]`.

Games of the champion, with a clock, against alpha-beta, which gets move times and uses them up. Time is counted in
nodes, `NODES_PER_MS` of them a millisecond, so the load of the machine changes nothing. Both get the times that the
referee would send. A cell has the share of the champion's time that the other used in all games, the mean number of
moves of a side, and the share of its time budgets that the champion used.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from bots.samples.alphabeta import AlphaBeta
from bots.samples.champion import Champion
from bots.sdk.clock import Clock
from protocol.capabilities import movetime_for, shares_of_game
from protocol.messages import Go
from referee.bot.seat import UNKNOWN_MS
from referee.game.spec import TimeControl, read_time_control
from referee.rules import families, load
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from tests.tools.strength import PLIES

CONTROLS = ("2+0.1", "10+0.1", "60+0.6")
NODES_PER_MS = 10
MAX_PLIES = 400


class NodeClock(Clock):
    """A clock that counts the nodes of a bot as time."""

    def __init__(self, go: Go, side: int, bot: AlphaBeta) -> None:
        self._bot = bot
        super().__init__(go, side)

    def elapsed_ms(self) -> float:
        """The nodes as milliseconds."""
        return self._bot.nodes() / NODES_PER_MS

    def remaining_ms(self) -> float:
        """Nothing but the nodes ends a search."""
        return math.inf

    def plan(self, moves: float, added: float) -> None:
        """The plan of the bot, as a number of nodes."""
        super().plan(moves, added)
        self.nodes = int((self.budget_ms() or 0) * NODES_PER_MS)


@dataclass(frozen=True)
class Played:
    """Moves of a side, the time that both used, and the time that the champion had planned."""

    moves: float
    champion_ms: float
    engine_ms: float
    planned_ms: float

    def __add__(self, other: Played) -> Played:
        return Played(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    @property
    def share(self) -> float:
        """The engine's time by the champion's."""
        return self.engine_ms / self.champion_ms


def games(ruleset: Ruleset, control: str, count: int) -> Played:
    """The sum of some games."""
    return sum((game(ruleset, read_time_control(control), seed) for seed in range(count)), Played(0, 0, 0, 0))


def game(ruleset: Ruleset, time: TimeControl, seed: int) -> Played:
    """One game; even seeds give the champion the first move."""
    rng, at = random.Random(seed // 2), Position.start(ruleset)
    for _ in range(PLIES.get(ruleset.rules.family, 4)):
        at = after if (after := at.play(rng.choice(at.moves))).outcome is None else at
    champion, engine = Champion(), AlphaBeta()
    left, used, budgets, plies = [time.base_ms, time.base_ms], [0.0, 0.0], 0.0, 0
    shares = shares_of_game(ruleset.rules.game_moves)
    champions = ("first", "second")[seed % 2]
    while at.outcome is None and plies < MAX_PLIES:
        if at.side == champions:
            clock = NodeClock(Go(int(left[0]), int(left[0]), time.increment_ms, time.increment_ms), 0, champion)
            at, ms = at.play(champion.choose(at, clock)), champion.nodes() / NODES_PER_MS
            budgets += (clock.nodes or 0) / NODES_PER_MS
            side = 0
        else:
            ms = movetime_for(int(left[1]), time.increment_ms, 0, UNKNOWN_MS, shares=shares)
            at = at.play(engine.choose(at, Clock(Go(nodes=int(ms * NODES_PER_MS)), 0)))
            side = 1
        used[side], left[side], plies = used[side] + ms, left[side] + time.increment_ms - ms, plies + 1
    return Played(plies / 2, used[0], used[1], budgets)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines.shares")
    parser.add_argument("family", nargs="*", help="default: all of them")
    parser.add_argument("--variant")
    parser.add_argument("--games", type=int, default=20)
    given = parser.parse_args(argv)
    for family in given.family or families():
        ruleset, cells = load(family).settle(given.variant), []
        for control in CONTROLS:
            use = games(ruleset, control, given.games)
            used = use.champion_ms / use.planned_ms
            cells.append(f"{control} {use.share:.0%} ({use.moves / given.games:.0f} moves, {used:.0%} used)")
        sys.stdout.write(f"{family:<10}{'  '.join(cells)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
