"""How strong the sample bots are: `python -m tests.tools.strength --games 200 --out DIR` prints a row for each match.

    python -m tests.tools.strength [--games 200] [--concurrency 1] [--only PART] [--out DIR] [--report FILE] [FAMILY …]

Every row is one match by `arena play` with a limit of nodes, so it comes out the same on any machine. With --out an
interrupted run continues, and finished matches are only read. --report writes the rows to a Markdown page with machine
and command; the date belongs into its name.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from bots.samples.champion import LEVELS
from bots.sdk import families
from referee.ratings.strength import elo_words, estimate
from tests.bots.runs import UNEXPECTED, command, run, warm

PLIES = {"abalone": 4, "baroque": 4, "loa": 4, "pijersi": 2, "tablut": 4}
"""Plies drawn at random before the bots begin. Two in Pijersi: after four, one side in six can win at once."""
RAICHI = "perpetual_raichi=defenders_lose"
DEEP = {"pijersi": 100_000, "tablut": 50_000}
"""Nodes for alpha-beta against greedy where moves are many."""
VARIANTS = {"tablut": ("", "ashton")}
"""Variants whose strength is shown, "" the default one: in Tablut's default rules a king can often force a draw."""
CHAMPION_VARIANTS = {"tablut": ("", "linnaeus", "ashton")}
DOUBLINGS = ((100, 400), (400, 1600))
LEVEL_VARIANTS = {"tablut": "linnaeus"}
"""Variants in which levels are measured. In Tablut's default one nearly all games of equal bots have one winner."""
PARTS = ("greedy", "levels", "champion", "alphabeta", "mcts")
"""Parts of the table, the longest last."""


@dataclass(frozen=True)
class Match:
    """Two bots, the first of which should win, and the rest of the words of `arena play`."""

    one: str
    two: str
    family: str
    tc: str
    variant: str = ""
    option: str = ""

    def words(self, games: int) -> list[str]:
        """The command, without `--json`."""
        more = ["--games", str(games), "--tc", self.tc, "--openings", f"random:{PLIES.get(self.family, 4)}:1"]
        rules = [("--variant", self.variant), ("--option", self.option)]
        return command(self.one, self.two, self.family, *more, *(word for rule in rules if rule[1] for word in rule))

    @property
    def name(self) -> str:
        """A file name for it."""
        words = (self.family, self.one.partition("=")[0], self.two.partition("=")[0])
        return re.sub(r"[^A-Za-z0-9.-]+", "_", " ".join((*words, self.tc, self.variant, self.option)))


def mcts(folder: Path, nodes: int) -> str:
    """Monte Carlo tree search that never does more than `nodes` simulations, as `NAME=FOLDER`."""
    place = folder / f"mcts-{nodes}"
    place.mkdir(parents=True, exist_ok=True)
    words = json.dumps([sys.executable, "-m", "bots.samples.mcts"])
    (place / "bot.toml").write_text(f"command = {words}\noptions = {{ Nodes = {nodes} }}\n", encoding="utf-8")
    return f"mcts-{nodes}={place}"


def matches(family: str, part: str, folder: Path) -> list[Match]:
    """The matches of a part of the table in a family."""
    variants = VARIANTS.get(family, ("",))
    if part == "levels":
        steps = pairwise(f"level-{level}=sample:champion;option.Level={level}" for level in range(1, LEVELS + 1))
        return [Match(high, low, family, "nodes:20000", LEVEL_VARIANTS.get(family, "")) for low, high in steps]
    if part == "champion":
        return [
            Match("champion", "alphabeta", family, "nodes:20000", variant)
            for variant in CHAMPION_VARIANTS.get(family, ("",))
        ]
    if part == "alphabeta":
        tc = f"nodes:{DEEP.get(family, 20_000)}"
        plain = [Match("alphabeta", "greedy", family, tc, variant) for variant in variants]
        return [*plain, Match("alphabeta", "greedy", family, tc, option=RAICHI)] if family == "tablut" else plain
    if part == "greedy":
        return [Match("greedy", "random", family, "nodes:1")]
    return [
        Match(mcts(folder, high), mcts(folder, low), family, f"nodes:{high}", variant)
        for variant in variants
        for low, high in DOUBLINGS
    ]


def row(match: Match, games: Sequence[dict[str, Any]]) -> str:
    """A row of the table: the match, games, wins, draws, losses, score and Elo of the first bot."""
    first, second = (bot.partition("=")[0] for bot in (match.one, match.two))
    wrong = [game["id"] for game in games if game["termination"] in UNEXPECTED]
    if wrong:
        raise SystemExit(f"{match.name}: not decided by the rules: {' '.join(wrong)}")
    names = [game[game["winner"]] if game["winner"] in ("first", "second") else "draw" for game in games]
    count = Counter(names)
    wins, draws, losses = count[first], count["draw"], count[second]
    share = (wins + draws / 2) / len(games)
    points = [1.0 if name == first else 0.5 if name == "draw" else 0.0 for name in names]
    strength = estimate([sum(points[at : at + 2]) for at in range(0, len(points) - 1, 2)])
    rules = f" (`{match.variant or match.option}`)" if match.variant or match.option else ""
    elo = elo_words(strength.elo, strength.elo_low, strength.elo_high)
    return (
        f"| {match.family}{rules} | {first} v {second} | `{match.tc}` | {len(games)} | {wins}-{draws}-{losses} "
        f"| {share:.1%} | {elo} |"
    )


def table(rows: Sequence[str]) -> str:
    """The rows with their heading."""
    return "\n".join(
        ("| family | match | limit | games | won-drawn-lost | score | Elo |", "|---|---|---|---|---|---|---|", *rows)
    )


def report(rows: Sequence[str], words: Sequence[str]) -> str:
    """The table as a page, with the machine and the command."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
    return (
        f"# Strength of the samples\n\n"
        f"Measured until {datetime.now(UTC):%Y-%m-%d %H:%M} UTC with Python {platform.python_version()}, {libraries}, "
        f"on {platform.machine()}. Limits are nodes, so the load of the machine changes nothing.\n\n"
        f"    {' '.join(words)}\n\n"
        f"Every opening is played twice, with sides swapped. Elo differences are those of the first bot, with 95 % "
        f"confidence intervals from the pairs.\n\n{table(rows)}\n"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.strength")
    parser.add_argument("family", nargs="*", default=[], help="default: all of them")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--concurrency", default="1")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path, help="write the table to this page, after every match")
    given = parser.parse_args(argv)
    rows = []
    warm(given.family or families())
    with tempfile.TemporaryDirectory(prefix="strength") as name:
        folder = Path(name) if given.out is None else given.out.resolve()
        for part in (given.only,) if given.only else PARTS:
            for family in given.family or families():
                for match in matches(family, part, folder):
                    words = [*match.words(given.games), "--concurrency", given.concurrency]
                    sys.stderr.write(" ".join(words) + "\n")
                    rows.append(row(match, run(words, given.out / match.name if given.out else None)))
                    sys.stderr.write(rows[-1] + "\n")
                    if given.report:
                        own = ["python", "-m", "tests.tools.strength", *(sys.argv[1:] if argv is None else argv)]
                        given.report.parent.mkdir(parents=True, exist_ok=True)
                        given.report.write_text(report(rows, own), encoding="utf-8")
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
