"""Results of games as the terminal shows them: a line per game, standings, crosstable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.cli.local.match_report import result_lines
from arena.cli.terminal import output
from arena.cli.terminal.result_statistics import show as show_findings
from referee.game.record import GameRecord
from referee.ratings.bradley_terry import fit
from referee.ratings.cycle import analyse_cycles
from referee.ratings.sprt import SprtVerdict
from referee.ratings.standings import crosstable, standings, terminations
from referee.ratings.strength import Estimate, elo_words, estimates
from referee.ratings.trueskill import fold, leaderboard
from referee.rules import load


def summarise(
    records: list[GameRecord], fresh: list[GameRecord], names: list[str], elapsed: float, verdict: SprtVerdict | None
) -> dict[str, Any]:
    """Return the summary of a run as JSON data; `fresh` are the games of the last `elapsed` seconds."""
    moves = sum(len(record.moves) for record in fresh)
    draw_probability = load(records[0].family).draw_probability if records else 0.0
    found: dict[str, Any] = {
        "standings": [standing.as_json() for standing in standings(records, names)],
        "crosstable": crosstable(records, names),
        "ratings": leaderboard(fold(records, draw_probability)),
        "terminations": terminations(records),
        "elapsed_s": round(elapsed, 3),
        "moves": moves,
        "moves_per_second": round(moves / elapsed, 1) if elapsed else 0.0,
        **_strengths(records, names),
        **_beyond(records),
    }
    if verdict:
        found["sprt"] = verdict.as_json()
    return found


def _beyond(records: Sequence[GameRecord]) -> dict[str, Any]:
    """Return `first`, the first-move advantage in Elo, and `findings`, the analysis of cycles (A beats B beats C beats
    A), which is None with too few bots.
    """
    points = {"first": 1.0, "draw": 0.5, "second": 0.0}
    results = [(one.first, one.second, points[one.winner]) for one in records if one.winner]
    fitted = fit(results, with_advantage=True)
    found = analyse_cycles(results, fitted)
    beside = fitted.as_json()
    return {
        "first": {key: beside[key] for key in ("advantage", "advantage_interval")},
        "findings": found.as_json() if found else None,
    }


def _strengths(records: Sequence[GameRecord], names: Sequence[str]) -> dict[str, Any]:
    """Return `elo` of the first of two bots; for more bots `performance` of each against all others, best first.

    `diff` and `elo` are Elo differences, `error` the half-width of their 95 % interval from `low` to `high`; values
    that round to zero are 0, not -0 (`+ 0.0`). `pentanomial` counts pairs that gave 0, ½, 1, 1½, 2 points.
    """
    found = estimates(records, names)
    if len(names) == 2:
        own = found[names[0]]
        pairs = list(own.pentanomial)
        return {"elo": {"name": names[0], "diff": round(own.elo, 1) + 0.0, **_error(own), "pentanomial": pairs}}
    best_first = sorted(names, key=lambda name: -found[name].score)
    return {
        "performance": [
            {"name": name, "elo": round(found[name].elo, 1) + 0.0, "games": found[name].games, **_error(found[name])}
            for name in best_first
        ]
    }


def _error(found: Estimate) -> dict[str, float]:
    return {
        "error": round((found.elo_high - found.elo_low) / 2, 1),
        "los": round(found.los, 4),
        "low": round(found.elo_low, 1) + 0.0,
        "high": round(found.elo_high, 1) + 0.0,
        "score": round(found.score, 4),
    }


def show(found: Mapping[str, Any]) -> None:
    """Print the summary of a run."""
    ratings = {line["name"]: line for line in found["ratings"]}
    performances = {line["name"]: line for line in found.get("performance", ())}
    output.table(
        ("#", "bot", "points", "games", "W", "D", "L", "score", "Elo ±", "SB", "forfeits", "rating", "mu", "±2σ"),
        [
            (
                str(line["rank"]),
                line["name"],
                f"{line['points']:g}",
                str(line["games"]),
                str(line["wins"]),
                str(line["draws"]),
                str(line["losses"]),
                f"{100 * line['score']:.1f} %",
                _performance(performances.get(line["name"])),
                f"{line['sonneborn_berger']:g}",
                str(line["forfeits"]),
                *_rating(ratings.get(line["name"])),
            )
            for line in found["standings"]
        ],
        numbers=("#", "points", "games", "W", "D", "L", "score", "Elo ±", "SB", "forfeits", "rating", "mu", "±2σ"),
        drop=("mu", "SB", "±2σ", "forfeits", "rating", "D", "L", "W"),
    )
    output.text("")
    if "elo" in found and found["terminations"]:
        output.text(*result_lines(found))
        show_findings(found["first"], found["findings"])
        return
    show_crosstable(found["crosstable"])
    output.text("", "rating = mu - 3 sigma (TrueSkill); SB = Sonneborn-Berger; W D L from the row's view")
    if "performance" in found:
        output.text("Elo ± = performance against the others together, with its 95 % interval")
    show_findings(found["first"], found["findings"])
    reasons = ", ".join(f"{name} {count}" for name, count in found["terminations"].items())
    output.text(f"terminations: {reasons or 'none'}")


def _performance(line: dict[str, Any] | None) -> str:
    if not line or not line["games"]:
        return ""
    return elo_words(line["elo"], line["low"], line["high"])


def _rating(line: dict[str, Any] | None) -> tuple[str, str, str]:
    if line is None:
        return "-", "-", "-"
    return f"{line['conservative']:z.2f}", f"{line['mu']:z.2f}", f"{2 * line['sigma']:.2f}"


def show_crosstable(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows of `referee.ratings.standings.crosstable`; long results are shown as W-D-L counts."""
    columns = [str(number) for number in range(1, len(rows) + 1)]
    lines = []
    for number, row in enumerate(rows, 1):
        cells = ["·" if cell is None else _cell(cell) for cell in row["cells"]]
        lines.append((str(number), row["name"], *cells, f"{row['points']:g}"))
    output.table(("#", "crosstable", *columns, "points"), lines, numbers=("#", "points"), drop=columns[::-1])


def _cell(cell: Mapping[str, Any]) -> str:
    results = cell["results"]
    if len(results) > 12:
        results = f"+{results.count('W')} ={results.count('D')} -{results.count('L')}"
    return f"{cell['points']:g} {results}".strip()
