"""Self-play games of the sample `alphabeta`, many in one process: the same search, without pipes and clocks.

Each line of standard input is a task:

    {"key": …, "family": …, "variant": …, "options": {…}, "nodes": N, "plies": N, "max_plies": N, "seeds": [str, …]}

The answer to a task is one line on standard output: `{"key": …, "games": [[result, plies, reason], …]}`, a game for
each seed. The result is 1 if the first side won, 2 if the second side won, 3 for a draw. A game begins with `plies`
random legal moves drawn by its seed, like random openings of tournaments; the position after them is level by the
static score and has no win in one move. Then every move is that of `alphabeta` after `go nodes N`. A game depends only
on its task.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any

import numpy as np

from bots.samples.alphabeta import MAX_DEPTH, AlphaBeta
from bots.search import search
from bots.search.net import PLAIN, empty_net
from bots.search.repetition import MAX_GAME_PLIES, key_of
from referee.rules import load
from referee.rules.history import LineOfPlay
from referee.rules.rules import Ruleset

MAX_OPENING_SCORE = 300
"""Greatest change of the static score by the random moves, in centipawns."""
MAX_OPENING_ATTEMPTS = 100
MAX_PLIES = "max-plies"
"""Reason of a game that reaches the maximum of plies: a draw."""
TABLE_MEGABYTES = 1
_RESULTS = {"first": 1, "second": 2, "draw": 3}


class SelfPlay:
    """The search of one family, ready to choose moves."""

    def __init__(self, family: str) -> None:
        self._search: Any = search("alphabeta", family)
        self._search_state = self._search.new_search_state(TABLE_MEGABYTES << 20, empty_net(None, PLAIN))
        contempt = next(one.default for one in AlphaBeta.options if one.name == "Contempt")
        self._search_state.work[self._search.CONTEMPT] = int(contempt or "0")

    def choose(self, line: LineOfPlay, keys: np.ndarray[Any, Any], nodes: int) -> int:
        """Return the move of `alphabeta` with a node limit; `keys[:line.plies]` are the digests of the game so far."""
        s, work, config = self._search, self._search_state.work, line.ruleset.config
        moves = line.legal()
        side = 0 if line.side == "first" else 1
        work[s.GENERATION] += 1  # earlier searches must not influence this one
        s.start_search(self._search_state, keys[: line.plies], line.state, side, moves[0])
        work[s.NODE_LIMIT] = nodes
        for depth in range(1, min(MAX_DEPTH, s.MAX_DEPTH) + 1):
            s.search_iteration(self._search_state, config, depth)
            if work[s.ABORTED]:
                break
            distance = s.WIN - abs(int(work[s.SCORE]))
            if distance <= min(depth, s.MAX_DEPTH) or len(moves) == 1:
                break
        return int(work[s.BEST_MOVE])

    def play(self, ruleset: Ruleset, nodes: int, plies: int, max_plies: int, seed: str) -> list[Any]:
        """Play one game and return `[result, plies, reason]`."""
        line = _random_opening(ruleset, plies, seed)
        keys = np.zeros(max(max_plies, MAX_GAME_PLIES) + 1, dtype=np.uint64)
        key_size = ruleset.rules.kernel.KEY_SIZE
        replayed = LineOfPlay(ruleset)
        for number, move in enumerate(line):
            keys[number] = key_of(replayed.state, key_size)
            replayed.push(move)
        while replayed.outcome is None and replayed.plies < min(max_plies, MAX_GAME_PLIES):
            keys[replayed.plies] = key_of(replayed.state, key_size)
            replayed.push(self.choose(replayed, keys, nodes))
        outcome = replayed.outcome
        if outcome is None:
            return [3, replayed.plies, MAX_PLIES]
        return [_RESULTS[outcome.winner], replayed.plies, str(outcome.reason)]


def _random_opening(ruleset: Ruleset, plies: int, seed: str) -> list[int]:
    """Draw random moves to an undecided, balanced position; return no moves if MAX_OPENING_ATTEMPTS draws fail."""
    rng, kernel, config = random.Random(seed), ruleset.rules.kernel, ruleset.config
    for _ in range(MAX_OPENING_ATTEMPTS):
        line = LineOfPlay(ruleset)
        origin = int(kernel.evaluate(line.state, config))
        moves: list[int] = []
        while len(moves) < plies and line.outcome is None:
            legal = line.legal()
            moves.append(int(legal[rng.randrange(len(legal))]))
            line.push(moves[-1])
        sign = 1 if plies % 2 == 0 else -1
        is_level = abs(sign * int(kernel.evaluate(line.state, config)) - origin) <= MAX_OPENING_SCORE
        if line.outcome is None and (not plies or (is_level and not _has_win_in_one(line))):
            return moves
    return []


def _has_win_in_one(line: LineOfPlay) -> bool:
    kernel, config = line.ruleset.rules.kernel, line.ruleset.config
    after = np.empty_like(line.state)
    for move in line.legal().tolist():
        kernel.play(line.state, config, move, after)
        if int(kernel.result(after, config, 1, 0)) % 4 in (1, 2):
            return True
    return False


def main() -> None:
    """Answer tasks until the input ends."""
    players: dict[str, SelfPlay] = {}
    for text in sys.stdin:
        task = json.loads(text)
        family = task["family"]
        if family not in players:
            players[family] = SelfPlay(family)
        player = players[family]
        ruleset = load(family).settle(task["variant"], task["options"])
        games = [player.play(ruleset, task["nodes"], task["plies"], task["max_plies"], seed) for seed in task["seeds"]]
        try:
            sys.stdout.write(json.dumps({"key": task["key"], "games": games}, separators=(",", ":")) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the parent process has ended
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return


if __name__ == "__main__":
    main()
