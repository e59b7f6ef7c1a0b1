"""`python -m bots.training.selfplay_data --family FAMILY --positions COUNT --out DIR`: self-play data of the champion.

It makes the same kind of folder as `arena datagen` does with any bot, but in one process and several times as fast. A
game begins with some random moves, and a share of its later moves is random too: games of two strong players do not
show what bad moves lead to. The content of a folder depends only on the arguments.
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
from bots.search.repetition import key_of
from referee.rules import load
from referee.rules.history import LineOfPlay
from referee.rules.rules import Ruleset
from referee.rules.symmetry import keys_of

FILE, SCHEMA = "shard-0001.npz", "schema.json"
OPENING_PLIES = (2, 9)
MAX_PLIES = 300
"""A game that is not over by then is a draw."""
TABLE_BYTES = 1 << 20
GAMES_PER_BATCH = 100
"""Games between two removals of duplicate positions."""


@dataclass(frozen=True, slots=True)
class SelfPlaySettings:
    nodes: int
    """Nodes for each move."""
    random_move_percent: int
    """Share of random moves."""
    seed: int


class ChampionSelfPlay:
    """The champion's search, playing against itself."""

    def __init__(self, ruleset: Ruleset, net: Net, settings: SelfPlaySettings) -> None:
        self._ruleset, self._settings = ruleset, settings
        self._search: Any = search("alphabeta", ruleset.rules.family)
        self._search_state = self._search.new_search_state(TABLE_BYTES, net)
        self._search_state.work[self._search.CONTEMPT] = int(CONTEMPT.default or 0)
        self._keys = np.zeros(MAX_PLIES + 1, dtype=np.uint64)

    def play(self, number: int) -> dict[str, list[Any]]:
        """Play a game and return the columns of its positions that have a search score."""
        rng, line = random.Random(f"lesson {self._settings.seed} {number}"), LineOfPlay(self._ruleset)
        columns: dict[str, list[Any]] = {name: [] for name in ("state", "side", "score", "game", "ply")}
        opening = rng.randint(*OPENING_PLIES)
        while line.outcome is None and line.plies < MAX_PLIES:
            self._keys[line.plies] = key_of(line.state, self._ruleset.rules.kernel.KEY_SIZE)
            moves = line.legal()
            drawn = int(moves[rng.randrange(len(moves))])
            if line.plies < opening or rng.randrange(100) < self._settings.random_move_percent:
                line.push(drawn)
                continue
            move, score = self._search_move(line, int(moves[0]), len(moves))
            if score is not None:
                row = (line.state.copy(), int(line.side == "second"), score, number, line.plies)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
            line.push(move)
        winner = None if line.outcome is None else line.outcome.winner
        won = {"first": 1, "second": -1}.get(winner or "", 0)
        columns["result"] = [-won if side else won for side in columns["side"]]
        return columns

    def _search_move(self, line: LineOfPlay, first: int, count: int) -> tuple[int, int | None]:
        """Return the best move, and the score of the last finished iteration."""
        s, work, config = self._search, self._search_state.work, self._ruleset.config
        work[s.GENERATION] += 1  # earlier searches must not influence this one
        s.start_search(self._search_state, self._keys[: line.plies], line.state, int(line.side == "second"), first)
        work[s.NODE_LIMIT], score = self._settings.nodes, None
        for depth in range(1, s.MAX_DEPTH + 1):
            s.search_iteration(self._search_state, config, depth)
            if work[s.ABORTED]:
                break
            score = int(work[s.SCORE])
            if s.WIN - abs(score) <= depth or count == 1:
                break
        return int(work[s.BEST_MOVE]), score


def make_positions(player: ChampionSelfPlay, ruleset: Ruleset, count: int) -> tuple[dict[str, npt.NDArray[Any]], int]:
    """Return `count` positions, distinct up to symmetry, and the number of games played for them."""
    kernel = ruleset.rules.kernel
    types = {"state": kernel.DTYPE, "side": np.int8, "score": np.int32, "result": np.int8, "game": np.int32}
    parts: list[dict[str, npt.NDArray[Any]]] = []
    keys, games, total = np.empty(0, dtype=np.uint64), 0, 0
    while total < count:
        played = [player.play(number) for number in range(games, games + GAMES_PER_BATCH)]
        games += GAMES_PER_BATCH
        part: dict[str, npt.NDArray[Any]] = {
            name: np.array([value for game in played for value in game[name]], dtype=types.get(name, np.int16))
            for name in (*types, "ply")
        }
        own = keys_of(ruleset, part["state"].reshape(-1, kernel.STATE_SIZE))
        _, rows = np.unique(own, return_index=True)
        rows = np.sort(rows)
        rows = rows[~np.isin(own[rows], keys)][: count - total]
        keys = np.concatenate([keys, own[rows]])
        parts.append({name: column[rows] for name, column in part.items()})
        total += len(rows)
        sys.stderr.write(f"\r{total:,} of {count:,} positions, {games:,} games")
    sys.stderr.write("\n")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, games


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bots.training.selfplay_data",
        description="Make labelled positions by self-play of the champion.",
    )
    parser.add_argument("--family", required=True, metavar="FAMILY", help="family of games")
    parser.add_argument("--variant", metavar="NAME", help="variant of the family (default: its first)")
    parser.add_argument("--positions", required=True, type=int, metavar="COUNT", help="positions to make")
    parser.add_argument("--nodes", type=int, default=800, metavar="COUNT", help="nodes for each move (default 800)")
    parser.add_argument(
        "--weights", default="", metavar="FILE", help="file of the champion's weights, or none (default: the family's)"
    )
    parser.add_argument(
        "--random-move-percent", type=int, default=8, metavar="PERCENT", help="percentage of random moves (default 8)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="SEED", help="seed of the games (default 1)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to create")
    arguments = parser.parse_args(argv)
    ruleset = load(arguments.family).settle(arguments.variant)
    try:
        net = load_named_net(ruleset, arguments.weights)
        arguments.out.mkdir(parents=True)
    except OSError as error:
        parser.error(str(error))
    settings = {name: getattr(arguments, name) for name in ("nodes", "random_move_percent", "seed")}
    player = ChampionSelfPlay(ruleset, net, SelfPlaySettings(**settings))
    columns, games = make_positions(player, ruleset, arguments.positions)
    np.savez_compressed(arguments.out / FILE, **columns)  # type: ignore[arg-type]
    family = {"family": arguments.family, "variant": ruleset.variant.name, "options": dict(ruleset.overrides)}
    shards = [{"file": FILE, "positions": arguments.positions}]
    bot = {"bot": "champion", "weights": Path(arguments.weights).name, **settings}
    kept = {"format": 1, **family, **bot, "positions": arguments.positions, "games": games}
    (arguments.out / SCHEMA).write_text(json.dumps({**kept, "shards": shards}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
