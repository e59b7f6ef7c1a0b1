"""Evaluate the games of a run: the first side's advantage in each start, with intervals, and shrunk towards the mean.

Raw figures of thousands of starts mislead: the most extreme ones are extreme by luck. So each advantage is given twice.
`advantage` with Wilson's interval is that of the start's own games. `shrunk` is the empirical Bayes estimate. The
starts of a family are taken as drawn from one normal distribution, whose mean and variance are estimated by the method
of moments. Each start is shrunk towards the mean according to the uncertainty of its own games (James and Stein; Efron
and Morris 1975). Its interval covers the error of the estimated variance and may be read for all starts at once; fair
starts and handicaps are selected by it. Uneven starts are found by tests of all starts together: Benjamini and
Hochberg's procedure bounds the expected share of false findings to 5 %.

Elo differences are those of Davidson's model, in which draws carry no information about strength: 400
log10(wins/losses).
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from math import erf, log, log10, sqrt
from pathlib import Path
from typing import Any

from arena.documents.table import Column, Interval, text_column
from arena.features.atlas.plan import AtlasPlan, Start, starts_of
from arena.features.atlas.run import AtlasBatch, RunError, read_claimed, read_games
from referee.csv_text import safe
from referee.families import folder
from referee.game.starts import StartFigures
from referee.ratings.interval import Z95, wilson
from referee.rules import load

FALSE_DISCOVERY_RATE = 0.05
"""Greatest expected share of even starts among those called uneven."""
SOURCES = (
    "bots/search/alphabeta.py",
    "bots/search/evaluation.py",
    "bots/search/ordering.py",
    "bots/search/pruning.py",
    "bots/search/quiescence.py",
    "bots/search/repetition.py",
    "bots/search/search_state.py",
    "bots/search/table.py",
    "bots/training/selfplay.py",
)
"""Sources of the engine; the checksum covers them and the files of the rules."""


STARTS: tuple[Column[StartFigures], ...] = (
    text_column("variant", "Start", lambda start: start.variant, "start_link", is_heading=True),
    Column("games", "Games", lambda start: start.games),
    Column("results", "Results", lambda start: f"{start.first} / {start.draw} / {start.second}", is_sortable=False),
    Column(
        "shrunk",
        "Advantage",
        lambda start: start.shrunk,
        "advantage",
        hint="share of points of the first side minus one half, shrunk towards the mean of all starts",
    ),
    Column("interval", "95 %", lambda start: (start.shrunk_low, start.shrunk_high), "share_range", is_sortable=False),
    Column("advantage", "Without shrinkage", lambda start: start.advantage, "share_of_points", drop=1),
    Column("elo", "Elo", lambda start: Interval(start.elo, start.elo_error), "elo", drop=2),
    Column("plies", "Plies", lambda start: start.plies, "strength", drop=3),
)
"""Columns of the list of starts."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Summary of the games at one strength: the mean advantage, the standard deviation of the true advantages, the
    number of uneven starts, and the p-value of the differences between symmetric starts.
    """

    nodes: int
    starts: int
    games: int
    mean: float
    deviation: float
    uneven: int
    images_agree: float | None


@dataclass(frozen=True, slots=True)
class AtlasReport:
    """Results of a run: every start by its own games, and symmetric starts pooled."""

    family: str
    plan: AtlasPlan
    checksum: str
    starts: list[StartFigures]
    pooled: list[StartFigures]
    spreads: list[Spread]
    missing: int = 0
    """Number of batches (a start at one strength) not played yet."""

    def as_json(self) -> dict[str, Any]:
        return {
            "family": self.family,
            "plan": self.plan.model_dump(),
            "checksum": self.checksum,
            "starts": [asdict(start) for start in self.starts],
            "pooled": [asdict(start) for start in self.pooled],
            "spreads": [asdict(spread) for spread in self.spreads],
        }


@dataclass(slots=True)
class _Tally:
    start: Start
    name: str
    first: int = 0
    draw: int = 0
    second: int = 0
    plies: int = 0
    members: int = 0
    endings: Counter[str] = field(default_factory=Counter)

    @property
    def games(self) -> int:
        return self.first + self.draw + self.second

    @property
    def share(self) -> float:
        return (self.first + self.draw / 2) / self.games

    def add(self, games: Iterable[Sequence[Any]]) -> None:
        for result, plies, reason in games:
            self.first += result == 1
            self.second += result == 2
            self.draw += result == 3
            self.plies += plies
            self.endings[reason] += 1
        self.members += 1


def report(run_folder: Path) -> AtlasReport:
    """Evaluate the finished batches of a run. Raises RunError."""
    plan = read_claimed(run_folder)
    games = read_games(run_folder)
    starts = starts_of(plan)
    per_start, pooled, spreads = [], [], []
    for nodes in plan.nodes:
        tallies, groups = _tallies(starts, nodes, games)
        if not tallies:
            continue
        own = _figures(tallies, nodes)
        per_start += own
        pooled += _figures(list(groups.values()), nodes)
        mean, deviation = _estimate_spread(tallies)
        spreads.append(
            Spread(
                nodes,
                len(tallies),
                sum(tally.games for tally in tallies),
                round(mean - 0.5, 4),
                round(deviation, 4),
                sum(figures.is_uneven for figures in pooled if figures.nodes == nodes),
                _agreement(tallies, groups),
            )
        )
    if not per_start:
        raise RunError(f"no games in {run_folder} yet", hint="continue with `arena atlas run`")
    missing = len(starts) * len(plan.nodes) - len(per_start)
    return AtlasReport(plan.family, plan, checksum(plan.family), per_start, pooled, spreads, missing)


def _tallies(starts: Sequence[Start], nodes: int, games: Mapping[str, Any]) -> tuple[list[_Tally], dict[str, _Tally]]:
    """Return the tallies of the results of each start, and those of each group of symmetric starts."""
    tallies: list[_Tally] = []
    groups: dict[str, _Tally] = {}
    for start in starts:
        played = games.get(AtlasBatch(start, nodes).key)
        if played:
            tallies.append(_Tally(start, start.name))
            for tally in (tallies[-1], groups.setdefault(start.key, _Tally(start, start.name))):
                tally.add(played)
    return tallies, groups


def _variance(tallies: Sequence[_Tally]) -> float:
    """Estimate the variance of the points in a game of one start. Half a point added for each side keeps it above
    zero.
    """
    points = sum(one.first + one.draw / 4 for one in tallies) + 0.5
    squares = sum(one.games * one.share**2 for one in tallies) + 0.25
    return max(0.01, (points - squares) / (sum(one.games for one in tallies) + 1))


def _estimate_spread(tallies: Sequence[_Tally]) -> tuple[float, float]:
    """Estimate mean and standard deviation of the true shares of points by the method of moments."""
    games = sum(tally.games for tally in tallies)
    mean = sum(tally.games * tally.share for tally in tallies) / games
    if len(tallies) < 2:
        return mean, 0.0
    between = sum(tally.games * (tally.share - mean) ** 2 for tally in tallies)
    scale = games - sum(tally.games**2 for tally in tallies) / games
    return mean, sqrt(max(0.0, (between - (len(tallies) - 1) * _variance(tallies)) / scale))


def _figures(tallies: Sequence[_Tally], nodes: int) -> list[StartFigures]:
    mean, deviation = _estimate_spread(tallies)
    variance, prior = _variance(tallies), deviation**2
    uneven = _find_uneven(tallies)
    figures = []
    for tally, is_uneven in zip(tallies, uneven, strict=True):
        doubt = variance / tally.games
        is_alone = len(tallies) < 2  # no family mean to shrink towards
        weight = 1.0 if is_alone else prior / (prior + doubt)
        middle = mean + weight * (tally.share - mean)
        # The interval includes the uncertainty of the spread and of the mean: an estimated spread of 0 may be chance.
        spread = prior if is_alone else prior + doubt * sqrt(2 / (len(tallies) - 1))
        width = 1.0 if is_alone else spread / (spread + doubt)
        error = Z95 * sqrt(width * doubt + (1 - weight) ** 2 * variance / sum(other.games for other in tallies))
        low, high = wilson(tally.first + tally.draw / 2, tally.games)
        won, lost = tally.first + 0.5, tally.second + 0.5
        figures.append(
            StartFigures(
                variant=tally.name,
                nodes=nodes,
                games=tally.games,
                first=tally.first,
                draw=tally.draw,
                second=tally.second,
                advantage=round(tally.share - 0.5, 4) + 0.0,
                low=round(low - 0.5, 4) + 0.0,
                high=round(high - 0.5, 4) + 0.0,
                elo=round(400 * log10(won / lost)),
                elo_error=round(Z95 * 400 / log(10) * sqrt(1 / won + 1 / lost)),
                shrunk=round(middle - 0.5, 4) + 0.0,
                shrunk_low=round(max(-0.5, middle - 0.5 - error), 4) + 0.0,
                shrunk_high=round(min(0.5, middle - 0.5 + error), 4) + 0.0,
                is_uneven=is_uneven,
                group=tally.start.key,
                plies=round(tally.plies / tally.games, 1),
                endings=" ".join(f"{reason}:{count}" for reason, count in sorted(tally.endings.items())),
            )
        )
    return figures


def _find_uneven(tallies: Sequence[_Tally]) -> list[bool]:
    """Find starts that are not even: score tests of wins against losses, by Benjamini and Hochberg's procedure."""
    chances = []
    for tally in tallies:
        decisive = tally.first + tally.second
        chances.append(_two_sided((tally.first - tally.second) / sqrt(decisive)) if decisive else 1.0)
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    last = max(
        (rank for rank, place in enumerate(order, 1) if chances[place] <= FALSE_DISCOVERY_RATE * rank / len(order)),
        default=0,
    )
    chosen = set(order[:last])
    return [place in chosen for place in range(len(chances))]


def _two_sided(z: float) -> float:
    return 1 - erf(abs(z) / sqrt(2))


def _agreement(tallies: Sequence[_Tally], groups: Mapping[str, _Tally]) -> float | None:
    """Return the p-value of a test whether symmetric starts are equally fair; None without symmetric starts.

    The test is chi-square, with the cube-root approximation of Wilson and Hilferty.
    """
    freedom = sum(tally.members - 1 for tally in groups.values())
    if not freedom:
        return None
    shared = [tally for tally in groups.values() if tally.members > 1]
    within = sum(tally.first + tally.draw / 4 - tally.games * tally.share**2 for tally in shared) / sum(
        tally.games - 1 for tally in shared
    )
    if within <= 0:
        return 1.0
    chi = sum(tally.games * (tally.share - groups[tally.start.key].share) ** 2 for tally in tallies) / within
    z = ((chi / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom))
    return round(0.5 * (1 - erf(z / sqrt(2))), 4)


def checksum(family: str) -> str:
    total = sha256()
    root = Path(__file__).resolve().parents[3]
    files = [*(root / name for name in SOURCES), *sorted(Path(folder(family)).rglob("*.py"))]
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:16]


HEAD = """\
# How fair are the starts of {family}? {count} starts, {games} games of each at each strength.
# Games of the sample alphabeta against itself, {plies} random plies first, then a fixed number of positions (nodes)
# for each move; rules version {version}, sources {checksum}.
# Made by: arena atlas run {family}.toml --out DIR && arena atlas report DIR --csv {family}.csv
# Plan: {plan}
# Public domain (CC0 1.0). Columns: advantage = share of points of the first side less a half, low and high its 95 %
# interval (Wilson) from the start's own games; elo by Davidson's model with its 95 % error; shrunk, shrunk_low and
# shrunk_high the empirical Bayes estimate over all starts, to be preferred; is_uneven by Benjamini and Hochberg at 5 %;
# starts of one group are images of each other and stand together in the line of the first of them; \
plies is the mean length,
# endings count the terminations.
{findings}"""


def describe(one: Spread) -> str:
    """Describe the results at one strength in one sentence."""
    agree = "" if one.images_agree is None else f"; images of one start agree (chance {one.images_agree:.0%})"
    return (
        f"{one.nodes} nodes: {one.starts} starts, {one.games:,} games, first side {one.mean:+z.1%} on average, "
        f"starts differ by {one.deviation:.1%}, {one.uneven} certainly uneven{agree}"
    )


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return safe(value) if isinstance(value, str) else value


def to_csv(report: AtlasReport) -> str:
    """Format the published file: comments, a header, a row for each start (symmetric starts pooled) and strength.

    Raises RunError for an unfinished run: the file would not match its plan.
    """
    if report.missing:
        raise RunError(f"{report.missing} batches are not played yet", hint="continue with `arena atlas run`")
    out = io.StringIO()
    plan = report.plan
    out.write(
        HEAD.format(
            family=report.family,
            count=len({start.variant for start in report.starts}),
            games=plan.games,
            plies=plan.random_plies,
            version=load(report.family).version,
            checksum=report.checksum,
            plan=plan.model_dump_json(),
            findings="".join(f"# {describe(spread)}\n" for spread in report.spreads),
        )
    )
    names = [column.name for column in fields(StartFigures)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in report.pooled:
        writer.writerow([_cell(getattr(row, name)) for name in names])
    return out.getvalue()
