"""How well an engine with few nodes finds the blunders that one with a hundred times as many finds.

    python -m tests.tools.bench.analysis [FAMILY …] [--positions N] [--nodes N] [--times T]

Positions come from games of the samples with few nodes. In every second one the move is random, so that there are many
blunders. Precision: how many of the moves marked `??` the deep engine marks so too; recall: how many of its `??` were
found. `--nodes` may be given several times, to choose the usual budget by.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from arena.analysis.engine import AnalysisEngine, Evaluations, PositionRef, sample_engine
from arena.analysis.game_analysis import DEFAULT_NODES, _GameEvaluations, first_pass_nodes, second_pass_nodes
from arena.analysis.marking import BLUNDER
from arena.analysis.win_model import shipped
from arena.documents.analysis import AnalysedMove
from referee.bot.argument import read_bot
from referee.game.openings import random_openings
from referee.game.record import GameRecord, positions
from referee.game.spec import GameSpec, PlannedGame, TimeControl
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import families, load
from referee.sandbox import open_sandbox
from tests.tools.bench.figure import Figure

PLAYERS = ("alpha=sample:alphabeta;option.Nodes=1500", "beta=sample:alphabeta;option.Nodes=300")
OPENING_PLIES = 4
MAX_PLIES = 160


@dataclass(slots=True)
class Agreement:
    """How often two engines mark a move `??`: both, the quick one alone, the deep one alone."""

    both: int = 0
    quick: int = 0
    deep: int = 0
    seconds: list[float] = field(default_factory=list)
    """What the quick one took for a move."""

    def add(self, quick: AnalysedMove, deep: AnalysedMove) -> None:
        """One more move."""
        match quick.mark == BLUNDER, deep.mark == BLUNDER:
            case True, True:
                self.both += 1
            case True, False:
                self.quick += 1
            case False, True:
                self.deep += 1

    @property
    def precision(self) -> float:
        """Of what the quick engine marks, how much is so."""
        return self.both / max(1, self.both + self.quick)

    @property
    def recall(self) -> float:
        """Of what is so, how much the quick engine marks."""
        return self.both / max(1, self.both + self.deep)


def run(quick: bool) -> Iterator[Figure]:
    """Precision and recall in every family."""
    for family in families():
        agreement = compare(family, 20 if quick else 500, DEFAULT_NODES, 100)
        for name in ("precision", "recall"):
            yield Figure(
                "analysis",
                f"{family}: {name} of ?? at {DEFAULT_NODES} nodes",
                getattr(agreement, name),
                "share",
                goal=">= 0.9",
            )


def compare(family: str, count: int, nodes: int, times: int, seed: int = 1) -> Agreement:
    """Analyse the moves of this number of positions twice."""
    agreement, source = Agreement(), random.Random(seed)
    with Roster(open_sandbox("none"), spare=2) as roster:
        for record in samples(family, count, roster, source):
            with AnalysisEngine(sample_engine(family), roster, record, record.moves) as engine:
                begin = time.perf_counter()
                shallow = analysed(engine, record, nodes)
                agreement.seconds.append(time.perf_counter() - begin)
                agreement.add(shallow, analysed(engine, record, times * nodes, is_plain=True))
    return agreement


def analysed(engine: AnalysisEngine, record: GameRecord, nodes: int, *, is_plain: bool = False) -> AnalysedMove:
    """The last move of a game as it is analysed, or by one search of so many nodes."""
    before, win_model = len(record.moves) - 1, shipped(record.family)

    def evaluate_there(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return engine.evaluate_all([(before + place, move) for place, move in spots], nodes)

    evaluations = _GameEvaluations(evaluate_there, record.moves[-1:], ())
    deque(evaluations.evaluate(nodes if is_plain else first_pass_nodes(nodes)), 0)
    if not is_plain and evaluations.borderline(win_model):
        deque(evaluations.evaluate(second_pass_nodes(nodes)), 0)
    return evaluations.analysed(win_model)[0]


def samples(family: str, count: int, roster: Roster, source: random.Random) -> Iterator[GameRecord]:
    """So many games, each broken off behind the move that is to be analysed."""
    left, seed = count, 0
    while left > 0:
        seed += 1
        whole = _game(family, seed, roster)
        line = positions(whole)[:-1]
        places = [n for n, at in enumerate(line) if n >= OPENING_PLIES and len(at.moves) > 1]
        for place in source.sample(places, min(len(places), 8, left)):
            move = whole.moves[place]
            if left % 2:
                move = source.choice(line[place].texts)
            left -= 1
            yield replace(whole, moves=(*whole.moves[:place], move), plies=whole.plies[: place + 1])


def _game(family: str, seed: int, roster: Roster) -> GameRecord:
    ruleset = load(family).settle()
    first, second = (read_bot(text, family) for text in PLAYERS)
    opening = random_openings(ruleset, OPENING_PLIES, 1, seed)[0]
    spec = GameSpec(
        family,
        ruleset.variant.name,
        *((first, second) if seed % 2 else (second, first)),
        opening=tuple(opening.moves),
        time=TimeControl("nodes", 0, 0, 1500),
        seed=seed,
    )
    record = play(PlannedGame.of(spec), roster)
    return replace(record, moves=record.moves[:MAX_PLIES], plies=record.plies[:MAX_PLIES])


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.analysis", description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    parser.add_argument("--positions", type=int, default=500, metavar="N")
    parser.add_argument("--nodes", type=int, action="append", metavar="N")
    parser.add_argument("--times", type=int, default=100, metavar="T")
    arguments = parser.parse_args()
    print("family     nodes  moves  ?? both  quick  deep  precision  recall  s/move")
    for family in arguments.families or families():
        for nodes in arguments.nodes or [DEFAULT_NODES]:
            seen = compare(family, arguments.positions, nodes, arguments.times)
            print(
                f"{family:<9} {nodes:>6} {len(seen.seconds):>6} {seen.both:>8} {seen.quick:>6} {seen.deep:>5} "
                f"{seen.precision:>10.2f} {seen.recall:>7.2f} {sum(seen.seconds) / len(seen.seconds):>7.2f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
