"""Simulation of races: games saved, and how often a race stops at the wrong bots; prints a table.

    python -m tests.tools.race [--runs 100] [--confidence 0.95] [--seed 1]

The baseline is a round robin that applies the same stopping rule after every cycle. Each field is a matrix of expected
points. One field has a cycle at the edge of the best three; in another all bots are equal there.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from referee.ratings.race import Race, RaceState
from referee.tournament.formats import race
from referee.tournament.match import PlannedMatch, Seed, TournamentGame
from tests.referee.tournament.simulation import planned

Chances = Sequence[Sequence[float]]
"""Expected points per game of the row against the column."""


@dataclass(frozen=True)
class Run:
    """One simulated tournament: its games, and whether it decided wrongly."""

    games: int
    is_settled: bool
    is_wrong: bool


def of_elo(*elo: float) -> list[list[float]]:
    """Return the expected points of bots with these ratings."""
    return [[1 / (1 + 10 ** ((two - one) / 400)) for two in elo] for one in elo]


def cyclic(*elo: float, among: Sequence[int], by: float) -> list[list[float]]:
    """Return them with a cycle: each bot of `among` gains `by` against the next one, the last against the first."""
    chances = of_elo(*elo)
    for one, two in zip(among, [*among[1:], among[0]], strict=True):
        chances[one][two] = min(0.98, chances[one][two] + by)
        chances[two][one] = 1 - chances[one][two]
    return chances


FIELDS: dict[str, tuple[int, Chances]] = {
    "8 bots, 60 Elo apart": (3, of_elo(*range(420, -1, -60))),
    "8 bots, 60 Elo apart, the first": (1, of_elo(*range(420, -1, -60))),
    "8 bots, close at the edge": (3, of_elo(300, 200, 150, 90, 60, 0, -50, -100)),
    "12 bots, 50 Elo apart": (3, of_elo(*range(550, -1, -50))),
    "8 bots, a cycle at the edge": (3, cyclic(300, 220, 160, 80, 60, 20, -60, -100, among=(2, 3, 4), by=0.2)),
    "6 bots, a gap at the edge": (2, of_elo(150, 140, 0, -10, -20, -30)),
    "6 bots, nobody differs at the edge": (2, of_elo(200, 50, 50, 50, -50, -100)),
}
DRAW_SHARE = 0.3
"""Share of draws between equal bots."""
MAX_GAMES = 12_000
"""Games after which a tournament stops undecided."""


def simulate(
    question: Race, chances: Chances, seed: int, *, is_race: bool, ahead: int = 16, most: int = MAX_GAMES
) -> Run:
    """Play until the race is decided or out of games. A seed gives each pairing the same results in both formats."""
    seeds = [Seed(number) for number in range(len(chances))]
    games: list[TournamentGame] = []
    results: dict[tuple[int, int], random.Random] = {}
    while True:
        if is_race:
            next_step = race.step(question, most, seeds, games, ahead)
            matches: Sequence[PlannedMatch] = next_step.matches
        else:
            is_over = race.state(question, seeds, games).is_settled or len(games) >= most
            matches = () if is_over else [PlannedMatch(1, *pair) for pair in combinations(range(len(seeds)), 2)]
        if not matches:
            return _result(race.state(question, seeds, games), len(games), question.first, chances)
        for game in planned(matches, games):
            low, high = min(game.first, game.second), max(game.first, game.second)
            rng = results.setdefault((low, high), random.Random(f"{seed} {low} {high}"))
            games.append(_played(rng, game, low, chances))


def _played(rng: random.Random, game: TournamentGame, low: int, chances: Chances) -> TournamentGame:
    """Return the game with its result, drawn for the lower seat whatever the sides."""
    chance = chances[game.first][game.second]
    half = DRAW_SHARE * min(chance, 1 - chance)
    lot = rng.random() if game.first == low else 1 - rng.random()
    points = 1.0 if lot < chance - half else 0.5 if lot < chance + half else 0.0
    return game._replace(state="done", points=points, order=game.sequence)


def _result(found: RaceState, games: int, first: int, chances: Chances) -> Run:
    shares = [sum(row) - 0.5 for row in chances]
    ranked = sorted((round(share, 9) for share in shares), reverse=True)
    wrong = [one for one in found.leaders if round(shares[one], 9) <= ranked[first]]
    wrong += [one for one in found.others if round(shares[one], 9) >= ranked[first - 1]]
    return Run(games, found.is_settled, bool(wrong))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.race", description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="tournaments of each field and kind (default 100)")
    parser.add_argument("--confidence", type=float, default=0.95, help="default 0.95")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    arguments = parser.parse_args()
    print(f"{'field':36} {'round robin':>12} {'race':>8} {'fewer':>7} {'settled':>8} {'wrong':>6}")
    whole: list[tuple[float, float]] = []
    wrong = 0
    for name, (first, chances) in FIELDS.items():
        question = Race(first, 1 - arguments.confidence)
        seeds = range(arguments.seed, arguments.seed + arguments.runs)
        plain = [simulate(question, chances, seed, is_race=False) for seed in seeds]
        raced = [simulate(question, chances, seed, is_race=True) for seed in seeds]
        before, after = (sum(run.games for run in runs) / len(runs) for runs in (plain, raced))
        if any(run.is_settled for run in plain):  # where both only give up there is nothing to compare
            whole.append((before, after))
        wrong += sum(run.is_wrong for run in raced)
        settled = sum(run.is_settled for run in raced)
        mistakes = sum(run.is_wrong for run in raced)
        fewer = 100 * (1 - after / before)
        print(f"{name:36} {before:12.0f} {after:8.0f} {fewer:5.0f} % {settled:8} {mistakes:6}", flush=True)
    fewer = 100 * (1 - sum(after / before for before, after in whole) / len(whole))
    print(
        f"on average {fewer:.0f} % fewer games; {wrong} of {len(FIELDS) * arguments.runs} races settled on wrong bots"
    )


if __name__ == "__main__":
    main()
