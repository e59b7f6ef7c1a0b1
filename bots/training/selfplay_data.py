"""`python -m bots.training.selfplay_data --family F --positions N --out DIR`: games of the champion against itself, to
learn from.

What `arena datagen` makes of any bot, this makes of the champion in one process, several times as fast: a folder for
`python -m bots.training`. A game begins with some random moves, and so many of a hundred later ones are drawn by lot
too: of games in which both play well nobody learns what bad moves lead to. A folder follows from the arguments alone.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bots.samples.alphabeta import CONTEMPT
from bots.search import search
from bots.search.net import Net, load_named_net
from referee.rules import load
from referee.rules.history import LineOfPlay
from referee.rules.rules import Ruleset
from referee.rules.symmetry import keys_of

FILE, SCHEMA = "shard-0001.npz", "schema.json"
OPENING_PLIES = (2, 9)
MOST_PLIES = 300
"""A game that is not over by then is a draw."""
HASH = 1 << 20
AT_ONCE = 100
"""So many games are played before it is asked which of their positions are new."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How the games are played."""

    nodes: int
    """A move."""
    stray: int
    """So many moves of a hundred are drawn by lot."""
    seed: int


class Player:
    """The champion's search, playing against itself."""

    def __init__(self, ruleset: Ruleset, net: Net, habits: Habits) -> None:
        self._ruleset, self._habits = ruleset, habits
        self._search: Any = search("champion", ruleset.rules.family)
        self._search_state = self._search.new_search_state(HASH, net)
        self._search_state.work[self._search.CONTEMPT] = int(CONTEMPT.default or 0)
        self._keys = np.zeros(MOST_PLIES + 1, dtype=np.uint64)

    def play(self, number: int) -> dict[str, list[Any]]:
        """Columns of the positions of a game, those of which a search thought something; none of a game that failed."""
        lot, line = random.Random(f"lesson {self._habits.seed} {number}"), LineOfPlay(self._ruleset)
        found: dict[str, list[Any]] = {name: [] for name in ("state", "side", "score", "game", "ply")}
        opening = lot.randint(*OPENING_PLIES)
        while line.outcome is None and line.plies < MOST_PLIES:
            self._keys[line.plies] = self._search.key_of(line.state)
            moves = line.legal()
            drawn = int(moves[lot.randrange(len(moves))])
            if line.plies < opening or lot.randrange(100) < self._habits.stray:
                line.push(drawn)
                continue
            move, score = self._think(line, int(moves[0]), len(moves))
            if score is not None:
                row = (line.state.copy(), int(line.side == "second"), score, number, line.plies)
                for column, value in zip(found.values(), row, strict=True):
                    column.append(value)
            line.push(move)
        winner = None if line.outcome is None else line.outcome.winner
        won = {"first": 1, "second": -1}.get(winner or "", 0)
        found["result"] = [-won if side else won for side in found["side"]]
        return found

    def _think(self, line: LineOfPlay, first: int, count: int) -> tuple[int, int | None]:
        """The move, and the score of the last depth that was finished."""
        s, work, config = self._search, self._search_state.work, self._ruleset.config
        work[s.GENERATION] += 1  # what was learned before must not show
        s.start_search(
            self._search_state, self._keys[: line.plies], line.state, config, int(line.side == "second"), first
        )
        work[s.NODE_LIMIT], score = self._habits.nodes, None
        for depth in range(1, s.MAX_DEPTH + 1):
            s.search_iteration(self._search_state, config, depth)
            if work[s.ABORTED]:
                break
            score = int(work[s.SCORE])
            if s.WIN - abs(score) <= depth or count == 1:
                break
        return int(work[s.BEST_MOVE]), score


def lessons(player: Player, ruleset: Ruleset, count: int) -> tuple[dict[str, npt.NDArray[Any]], int]:
    """`count` positions, none twice up to symmetry, and of how many games they are."""
    kernel = ruleset.rules.kernel
    types = {"state": kernel.DTYPE, "side": np.int8, "score": np.int32, "result": np.int8, "game": np.int32}
    parts: list[dict[str, npt.NDArray[Any]]] = []
    keys, games, have = np.empty(0, dtype=np.uint64), 0, 0
    while have < count:
        lot = [player.play(number) for number in range(games, games + AT_ONCE)]
        games += AT_ONCE
        part: dict[str, npt.NDArray[Any]] = {
            name: np.array([value for game in lot for value in game[name]], dtype=types.get(name, np.int16))
            for name in (*types, "ply")
        }
        own = keys_of(ruleset, part["state"].reshape(-1, kernel.STATE_SIZE))
        _, rows = np.unique(own, return_index=True)
        rows = np.sort(rows)
        rows = rows[~np.isin(own[rows], keys)][: count - have]
        keys = np.concatenate([keys, own[rows]])
        parts.append({name: column[rows] for name, column in part.items()})
        have += len(rows)
        sys.stderr.write(f"\r{have:,} of {count:,} positions, {games:,} games")
    sys.stderr.write("\n")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, games


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bots.training.selfplay_data", description="Games of the champion to learn from."
    )
    parser.add_argument("--family", required=True, metavar="F")
    parser.add_argument("--variant", metavar="V", help="a variant of the family (its first)")
    parser.add_argument("--positions", required=True, type=int, metavar="N", help="how many")
    parser.add_argument("--nodes", type=int, default=800, metavar="K", help="a move (800)")
    parser.add_argument("--weights", default="", metavar="FILE", help="of the champion (the family's), or none")
    parser.add_argument(
        "--random-move-percent", type=int, default=8, metavar="P", help="moves of a hundred drawn by lot (8)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder")
    given = parser.parse_args(argv)
    ruleset = load(given.family).settle(given.variant)
    try:
        net = load_named_net(ruleset.rules, ruleset.config, given.weights)
        given.out.mkdir(parents=True)
    except OSError as error:
        parser.error(str(error))
    player = Player(ruleset, net, Habits(nodes=given.nodes, stray=given.stray, seed=given.seed))
    columns, games = lessons(player, ruleset, given.positions)
    np.savez_compressed(given.out / FILE, **columns)  # type: ignore[arg-type]
    told = {name: getattr(given, name) for name in ("nodes", "weights", "stray", "seed")}
    told["weights"] = Path(given.weights).name
    family = {"family": given.family, "variant": ruleset.variant.name, "options": dict(ruleset.overrides)}
    shards = [{"file": FILE, "positions": given.positions}]
    kept = {"format": 1, **family, "bot": "champion", **told, "positions": given.positions, "games": games}
    (given.out / SCHEMA).write_text(json.dumps({**kept, "shards": shards}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
